//! GNU gdb built for the Z80, which `.ci/gdb` runs: it takes ten minutes to build.

use std::path::PathBuf;
use std::process::Command;

use crate::system::gdb::{assert_in_order, session};

/// The gdb that `.ci/install/gdb-z80` builds.
fn gdb_for_z80() -> Command {
    let folder = std::env::var_os("GDB_Z80_BIN").map(PathBuf::from);
    let path = folder.map(|folder| folder.join("z80-unknown-elf-gdb"));
    Command::new(path.expect("export GDB_Z80_BIN=$(.ci/install/gdb-z80)"))
}

#[test]
fn gdb_built_for_the_z80_steps_unwinds_sets_and_watches_both_ways() {
    let commands = [
        "break SUBR",
        "continue",
        "backtrace",
        "stepi",
        "print/x $pc",
        "reverse-stepi",
        "print/x $pc",
        "reverse-continue",
        "set $hl = 0x1234",
        "print/x $hl",
        "set {char}0x9100 = 0x55",
        "x/1bx 0x9100",
        "delete",
        "watch *(char *) 0xffee",
        "continue",
    ];
    let expected = [
        "Breakpoint 1, SUBR () at prog.asm:4",
        "#0  SUBR () at prog.asm:4",
        "#1  0x00008006 in START () at prog.asm:2",
        "$1 = 0x800a",
        "$2 = 0x8009",
        "No more reverse-execution history",
        "$3 = 0x1234",
        "0x9100:\t0x55",
        "Hardware watchpoint 2",
        "New value = 6",
        "SUBR () at prog.asm:4",
    ];
    assert_in_order(&session(gdb_for_z80(), &commands), &expected);
}

#[test]
fn what_a_breakpoint_of_the_debugger_logs_appears_in_gdb() {
    let commands = [
        "monitor break SUBR hits 3 do print A",
        "monitor break NEXT log back with {A}",
        "continue",
    ];
    let printed = session(gdb_for_z80(), &commands);
    assert_in_order(&printed, &["back with ", "back with ", "H = 2"]);
    assert_in_order(&printed, &["SIGTRAP", "SUBR () at prog.asm:4"]);
}
