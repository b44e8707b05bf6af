//! External text in messages, tables and reports: it can't move a terminal's cursor, reverse the
//! order of letters, or begin a new line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use cli_support::text::is_unsafe_for_terminals;

use super::programs::{path, rcflash};
use super::reports::WrittenReport;
use super::{command, run_command};

/// A forged verdict on a cleared screen, a title, reversed letters, a C1 control and invalid
/// UTF-8.
const HOSTILE: &[u8] =
    b"x\x1B[2J\x1B[H\nPASS: 99 of 99 cases passed\n\x1B]0;t\x07\xE2\x80\xAE\xC2\x9B1m\r\xFF";

fn hostile() -> &'static OsStr {
    OsStr::from_bytes(HOSTILE)
}

/// The same as text.
fn hostile_text() -> String {
    String::from_utf8_lossy(HOSTILE).into_owned()
}

/// Checks that no printed text is hidden and no line is forged.
fn check(shown: &[u8], what: &str) {
    let text = std::str::from_utf8(shown).unwrap_or_else(|_| panic!("{what}: no UTF-8: {shown:?}"));
    let is_bad = |letter: char| is_unsafe_for_terminals(letter) && letter != '\n' && letter != '\t';
    assert!(!text.chars().any(is_bad), "{what}: {text:?}");
    assert!(!text.lines().any(|line| line.starts_with("PASS: 99 of 99")), "{what}: {text}");
}

/// Runs a program with a hostile argument and checks its output.
fn run(mut program: Command, before: &[&str]) {
    let output = program.args(before).arg(hostile()).output().expect("it starts");
    let what = format!("{program:?}");
    assert!(!output.status.success(), "{what}");
    assert!(!output.stderr.is_empty(), "{what} says nothing");
    check(&[output.stdout, output.stderr].concat(), &what);
}

#[test]
fn no_argument_of_hw_tests_reaches_the_terminal_as_it_is() {
    let arguments: [&[&str]; 10] = [
        &["run"],
        &["run", "--corpus"],
        &["run", "--port"],
        &["run", "--board"],
        &["run", "--app"],
        &["run", "--rom"],
        &["run", "--rig"],
        &["run", "--rig-file", "rig", "--port"],
        &["run", "--repeat"],
        &["run", "--rig", "direct", "byte.figure4", "--sargon-dir"],
    ];
    for before in arguments {
        run(command(&[]), before);
    }
}

#[test]
fn no_argument_of_the_other_programs_reaches_the_terminal_as_it_is() {
    for before in [&["write"][..], &["write", "--port"], &["probe", "--port"], &["read", "--port"]]
    {
        run(rcflash(), before);
    }
    run(Command::new(path("sargon")), &["exhaust", "--range"]);
    run(Command::new(path("hw-inspect")), &["coverage", "--board"]);
    for before in
        [&["asm"][..], &["link"], &["disasm"], &["fmt"], &["convert"], &["asm", "--format"]]
    {
        run(Command::new(path("tdlasm")), before);
    }
    let fen = "8/8/8/8/8/8/8/8 w - -";
    let residues = [&["residues"][..], &["residues", "--fen"], &["explain", fen]];
    for before in [&["positions"][..], &["captures", "--fen"], &["swap", fen], &["compare-see"]]
        .into_iter()
        .chain(residues)
    {
        run(Command::new(path("sargon")), before);
    }
}

/// A file of positions whose name, tags and position are hostile.
fn corpus(folder: &Path) -> String {
    let file = folder.join("hostile.epd");
    // Characters that end a line or a name in EPD can't be in a name.
    let name = hostile_text().replace(['\n', '\r', ';'], "");
    let line = format!("4k3/8/8/3p4/4N3/8/8/4K3 w - - id \"{name}\"; tags \"{name}\";\n");
    std::fs::write(&file, line).expect("a scratch file");
    file.to_string_lossy().into_owned()
}

#[test]
fn names_of_cases_are_shown_in_tables_lists_and_messages() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let corpus = corpus(folder.path());
    for more in [&["--list"][..], &[], &["--shard", "2/2"], &["nothing"]] {
        let arguments = [&["run", "--rig", "direct", "--corpus", &corpus], more].concat();
        let (_, messages) = run_command(&arguments);
        check(messages.as_bytes(), &format!("{more:?}"));
    }
}

#[test]
fn reports_have_nothing_hidden_in_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let corpus = corpus(folder.path());
    let written = WrittenReport::from_run(&["--rig", "direct", "--corpus", &corpus]);
    for file in ["report.json", "junit.xml", "report.html", "report.md"] {
        check(written.text(file).as_bytes(), file);
    }
    assert_eq!(written.report().counts.cases, 1, "and it is still read back");
}
