//! GNU gdb with our server: Debian 13's, and one built for the Z80.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;

use super::debian::program;

/// gdb looks for return addresses up to the end of memory, which is near.
const SOURCE: &str = "\
START:  LXI SP,0FFF0H
        CALL SUBR
NEXT:   JMP START
SUBR:   INR A
        RET
        .END START
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Assembles the source to an ELF executable at 8000H.
fn linked(folder: &Path) {
    let source = folder.join("prog.asm");
    std::fs::write(&source, SOURCE).expect("written");
    let options = tdlasm::Options { lines: true, ..Default::default() };
    // The name has no folder; gdb searches in its working folder.
    let loader = tdlasm::source::MemoryLoader::new().with("prog.asm", SOURCE);
    let assembly = tdlasm::assemble(&loader, &["prog.asm".into()], &options);
    let assembly = assembly.unwrap_or_else(|error| panic!("{error}"));
    let layout = tdlasm::link::Layout::flat(0x8000);
    let linked = tdlasm::link::link(&assembly.modules, &layout);
    let linked = linked.unwrap_or_else(|error| panic!("{error}"));
    let elf = tdlasm::object::write_executable(&linked);
    std::fs::write(folder.join("prog.elf"), elf).expect("written");
}

/// Runs commands of gdb against a server with the program; gdb's `kill` ends both. Returns what gdb
/// has printed.
fn session(mut gdb: Command, commands: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    linked(folder.path());
    let mut server = Command::cargo_bin("hw-inspect").expect("it is built");
    server.args(["gdb", "--listen", "127.0.0.1:0", "prog.elf"]).current_dir(folder.path());
    let mut server =
        server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut address = String::new();
    let out = server.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut address).expect("its address");
    gdb.args(["-q", "-nx", "-batch", "prog.elf"]);
    let connect = format!("target remote {}", address.trim());
    for command in [&*connect].iter().chain(commands).chain(&["kill"]) {
        gdb.args(["-ex", command]);
    }
    let output = gdb.current_dir(folder.path()).output().expect("gdb starts");
    let printed = text(&output.stdout) + &text(&output.stderr);
    let is_killed = printed.contains("killed]");
    if !is_killed {
        let _ = server.kill();
    }
    let code = server.wait().expect("it ends").code();
    assert!(!printed.contains("internal-error"), "{printed}");
    assert!(is_killed && code == Some(0), "kill ends the server: {printed}");
    printed
}

fn assert_in_order(printed: &str, expected: &[&str]) {
    let mut rest = printed;
    for text in expected {
        let found = rest.find(text).unwrap_or_else(|| panic!("{text} is missing:\n{printed}"));
        rest = &rest[found + text.len()..];
    }
}

/// The commands of gdb 16.3 that work on a Z80. It aborts when it unwinds the stack, so `stepi`,
/// `next`, `bt`, `finish` and `set $hl` are not tested.
#[test]
fn gdb_of_debian_13_stops_at_lines_both_ways_and_sees_registers_and_memory() {
    let commands = [
        "break prog.asm:4",
        "continue",
        "info line",
        "print/x $pc",
        "print/x $sp",
        "x/2bx 0xffef-1",
        "x/2i $pc",
        "break prog.asm:3",
        "continue",
        "print/x $pc",
        "reverse-continue",
        "print/x $pc",
        "monitor step",
        "monitor set HL = 1234H",
        "maintenance flush register-cache",
        "print/x $pc",
        "print/x $hl",
    ];
    let expected = [
        "Breakpoint 1, SUBR () at prog.asm:4",
        "Line 4 of \"prog.asm\"",
        "$1 = 0x8009",
        "$2 = 0xffee",
        "0x06\t0x80",
        "inc a",
        "Breakpoint 2, NEXT () at prog.asm:3",
        "$3 = 0x8006",
        "$4 = 0x8009",
        "$5 = 0x800a",
        "$6 = 0x1234",
    ];
    assert_in_order(&session(program("gdb-multiarch"), &commands), &expected);
}

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
