//! A program under the debugger.

use std::path::PathBuf;
use std::sync::LazyLock;

use board_debugger::{Debugger, ProgramFile, open_program};
use firmware::profile::BoardProfile;

#[path = "scratch.rs"]
mod scratch;

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
static PATH: LazyLock<PathBuf> = LazyLock::new(|| scratch::file("program.asm", PROGRAM.as_bytes()));

/// The program on a board, at its first instruction.
pub(crate) fn debugger() -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let file = ProgramFile { path: PATH.clone(), ..ProgramFile::default() };
    let loaded = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
    open_program(&profile, loaded, None).unwrap_or_else(|error| panic!("{error}"))
}
