//! Corrupted input from clients: the servers of gdb's remote protocol and of the Debug Adapter
//! Protocol reply to everything, and every session ends with its input. Commands and expressions
//! may be any text.

mod commands;
#[path = "../../../../../assembler/tdlasm/tests/it/corrupted_input.rs"]
mod corrupted_input;
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
    open_program(&profile, loaded, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Characters of two, three and four bytes, one of which has other lengths in other cases.
const CHARACTERS: [char; 4] = ['\u{e9}', '\u{20ac}', '\u{149}', '\u{1f600}'];

/// Command lines with every kind of argument.
const LINES: [&str; 20] = [
    "print HL + 1",
    "print TABLE.s",
    "print [TABLE;4]",
    "print {SP;2}",
    "print 'A'",
    "print sb([TABLE])",
    "display A.b",
    "step 2",
    "to LOOP..L",
    "lastchange TABLE",
    "break program.asm:5 if A == 1 hits >= 2 log at {HL}",
    "break COUNT do print A; step",
    "watch TABLE,2 rw if A == 1",
    "watch port 80H r",
    "delete COUNT",
    "set HL = 0x12",
    "set [TABLE] = 1, 2",
    "send a\\x41",
    "/LXI",
    "help print",
];

/// Returns a text with each of the characters at each place, and in place of each character.
fn with_characters(text: &str) -> Vec<String> {
    let places = text.char_indices().map(|(at, one)| (at, at + one.len_utf8()));
    let places = places.chain([(text.len(), text.len())]);
    let changed = |(at, end): (usize, usize), one: char| {
        [at, end].map(|end| format!("{}{one}{}", &text[..at], &text[end..]))
    };
    places
        .flat_map(|place| CHARACTERS.into_iter().flat_map(move |one| changed(place, one)))
        .collect()
}

/// Returns short texts with each of the characters, as arguments of commands and as expressions.
fn pieces() -> Vec<String> {
    let of = |one: char| {
        [
            format!("{one}"),
            format!("'{one}'"),
            format!("[{one}]"),
            format!("TAB{one}LE"),
            format!("{one}.s"),
            format!("{one} TAB"),
        ]
    };
    CHARACTERS.into_iter().flat_map(of).collect()
}
