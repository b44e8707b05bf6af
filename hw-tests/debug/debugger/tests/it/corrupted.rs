//! Corrupted input from clients: the servers of gdb's remote protocol and of the Debug Adapter
//! Protocol reply to everything, and every session ends with its input.

mod dap;
mod gdb;

use board_debugger::{Debugger, ProgramFile, open_program};
use firmware::profile::BoardProfile;

/// A program that never ends, with calls, labels and writes to memory.
const PROGRAM: &str = "        .LOC .PROG.
START:  LXI SP,0FF00H
        LXI H,TABLE
LOOP:   CALL COUNT
        JMPR LOOP
COUNT:  INR M
        RNZ
        INX H
        RET
TABLE:  .BLKB 16
        .END START
";

/// The program on a board, at its first instruction.
fn debugger() -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.asm");
    std::fs::write(&path, PROGRAM).expect("it is written");
    let file = ProgramFile { path, ..ProgramFile::default() };
    let loaded = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
    open_program(&profile, loaded).unwrap_or_else(|error| panic!("{error}"))
}
