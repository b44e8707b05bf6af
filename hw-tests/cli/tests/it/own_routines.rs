//! `--sargon-dir` and `--behaviour`: a user's routines in place of ours, and both behaviours of
//! ours.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use sargon_reference::Square;
use tempfile::TempDir;

use crate::programs::path;

const XCHNG: &str = include_str!("../../../../sargon-src/xchng.asm");
const ALL: [(&str, &str); 9] = [
    ("xchng.asm", XCHNG),
    ("nextad.asm", include_str!("../../../../sargon-src/nextad.asm")),
    ("attack.asm", include_str!("../../../../sargon-src/attack.asm")),
    ("atksav.asm", include_str!("../../../../sargon-src/atksav.asm")),
    ("pinfnd.asm", include_str!("../../../../sargon-src/pinfnd.asm")),
    ("pnck.asm", include_str!("../../../../sargon-src/pnck.asm")),
    ("points.asm", include_str!("../../../../sargon-src/points.asm")),
    ("newlst.asm", include_str!("../../../../sargon-src/newlst.asm")),
    ("tables.asm", include_str!("../../../../sargon-src/tables.asm")),
];

/// An exchange evaluator as a user may write it: simple, with values on the stack and one loop,
/// XCHNG and NEXTAD in one file. It uses only what the table of the calling contract states.
const PLAIN: &str = include_str!("../data/plain.asm");

/// A PNCK that walks through the pins by the index variable, from the newest to the first, as the
/// original program reaches them.
const BY_INDEX: &str = include_str!("../data/by_index.asm");

/// Names and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A part of the corpus with pins, batteries, overflow and arrays.
const SOME: [&str; 6] = ["--tag", "document", "--tag", "odd", "--tag", "array"];

fn folder(files: Files) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// The exit code, standard output and standard error of a run of `hw-tests`.
fn hw_tests(arguments: &[&str]) -> (Option<i32>, String, String) {
    let program = Command::cargo_bin("hw-tests").expect("it is built");
    output_of(program, arguments)
}

/// The same of `sargon`.
fn sargon(arguments: &[&str]) -> (Option<i32>, String, String) {
    output_of(Command::new(path("sargon")), arguments)
}

fn output_of(mut program: Command, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program.args(arguments).output().expect("it starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The same of `residues`.
fn residues_with(folder: &Path) -> (Option<i32>, String, String) {
    let folder = folder.to_string_lossy();
    sargon(&["residues", "--sargon-dir", &folder, "--fen", "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -"])
}

fn run_with(folder: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    hw_tests(&[&["run", "--sargon-dir", &folder.to_string_lossy()], more].concat())
}

#[test]
fn a_copy_of_our_xchng_passes_and_has_its_own_build() {
    let mine = folder(&[("XCHNG.ASM", XCHNG)]);
    let (code, shown, messages) = run_with(mine.path(), &["--tag", "document"]);
    assert_eq!(code, Some(0), "{shown}{messages}");
    assert!(messages.contains("with routines of your own: XCHNG"), "{messages}");
    assert!(
        shown.contains(", 0 frames corrupted at the host,"),
        "greetings are no frames: {shown}"
    );
    let (_, _, ours) = hw_tests(&["run", "byte.figure4"]);
    let build = |messages: &str| messages.split("build ").nth(1).map(|rest| rest[..8].to_owned());
    assert!(build(&messages).is_some());
    // Another folder with the same text is the same program; ours has other addresses.
    let again = folder(&[("xchng.asm", XCHNG)]);
    let (_, _, same) = run_with(again.path(), &["byte.figure4"]);
    assert_eq!(build(&messages), build(&same));
    assert_ne!(build(&messages), build(&ours));
}

#[test]
fn copies_of_all_our_routines_pass_in_both_behaviours() {
    let mine = folder(&ALL);
    for behaviour in ["corrected", "original"] {
        let (code, shown, messages) =
            run_with(mine.path(), &[&SOME[..], &["--behaviour", behaviour]].concat());
        assert_eq!(code, Some(0), "{shown}{messages}");
        assert!(messages.contains("PINFND, PNCK, POINTS, NEWLST, TBASE"), "{messages}");
    }
}

/// The article's example, and the square of its exchange.
const FIGURE_4: [&str; 2] = ["6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -", "e4"];

/// Output of `explain` for the article's example, with the routines in a folder.
fn explain_with(folder: &Path) -> (Option<i32>, String, String) {
    sargon(&[&["explain", "--sargon-dir", &folder.to_string_lossy()], &FIGURE_4[..]].concat())
}

/// The rows of XCHNG's own steps.
fn rows(shown: &str) -> Vec<&str> {
    shown.lines().filter(|line| line.contains(" fetches ")).collect()
}

#[test]
fn explain_marks_the_first_wrong_step_of_the_users_own_xchng() {
    // The stake equals the value of the capturer: it stops where it should capture.
    let wrong = XCHNG.replace("JRC DEARER", "JRC DEARER\n        JRZ DEARER");
    assert_ne!(wrong, XCHNG);
    let (code, shown, messages) = explain_with(folder(&[("xchng.asm", &wrong)]).path());
    assert_eq!(code, Some(1), "{shown}{messages}");
    let rows = rows(&shown);
    assert_eq!(rows.len(), 6, "{shown}");
    let marked: Vec<_> = rows.iter().map(|row| row.ends_with("first difference")).collect();
    assert_eq!(marked, [false, false, true, false, false, false], "{shown}");
    assert!(rows[2].contains("no call"), "{shown}");
    assert!(messages.contains("a residue of 0, not 1: it first differs in row 3"), "{messages}");
}

#[test]
fn explain_shows_a_wrong_booking_where_it_was_made() {
    // The owner's capture is booked as a loss.
    let wrong = XCHNG.replace("WINBAK: MOV A,E\n        SUB B", "WINBAK: MOV A,E\n        ADD B");
    assert_ne!(wrong, XCHNG);
    let (code, shown, _) = explain_with(folder(&[("xchng.asm", &wrong)]).path());
    assert_eq!(code, Some(1), "{shown}");
    // After the second capture the residue is 3 + 3 instead of 3 - 3.
    let row = rows(&shown)[3];
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[4..], ["1", "3", "0", "9", "1", "3", "6", "9", "first", "difference"]);
}

#[test]
fn explain_shows_where_an_exchange_hangs() {
    let endless = XCHNG.replace("LAST:   MOV A,B ", "LAST:   JMP LAST\n        MOV A,B ");
    assert_ne!(endless, XCHNG);
    let (code, shown, messages) = explain_with(folder(&[("xchng.asm", &endless)]).path());
    assert_eq!(code, Some(3), "{shown}{messages}");
    assert!(rows(&shown).len() == 6 && shown.contains("XCHNG does not return"), "{shown}");
    let line = 1 + endless.lines().position(|line| line.contains("JMP LAST")).expect("a line");
    assert!(messages.contains(&format!("xchng.asm:{line})")), "{messages}");
}

#[test]
fn an_exchange_without_nextad_is_explained_by_its_residue() {
    let (code, shown, messages) = explain_with(folder(&[("xchng.asm", PLAIN)]).path());
    assert_eq!(code, Some(0), "{shown}{messages}");
    assert!(shown.contains("XCHNG does not call NEXTAD"), "{shown}");
}

#[test]
fn a_run_ends_with_commands_that_reproduce_the_wrong_result() {
    let wrong = XCHNG.replace("JRC DEARER", "JRC DEARER\n        JRZ DEARER");
    let mine = folder(&[("xchng.asm", &wrong)]);
    let report = tempfile::tempdir().expect("a scratch folder");
    let report_dir = report.path().to_string_lossy().into_owned();
    let filter = ["*figure4*", "play.0039*", "play.0092*"];
    let more = [&filter[..], &["--rig", "direct", "--report-dir", &report_dir]].concat();
    let (code, shown, messages) = run_with(mine.path(), &more);
    assert_eq!(code, Some(1), "{shown}{messages}");
    let commands: Vec<_> = shown.lines().rev().take(2).map(str::trim).collect();
    let folder = mine.path().display();
    let debug = format!("hw-inspect debug --sargon-dir {folder} '");
    let explain = format!("sargon explain --sargon-dir {folder} '");
    assert!(commands[0].starts_with(&debug) && commands[1].starts_with(&explain), "{shown}");
    for file in ["report.md", "report.html"] {
        let text = std::fs::read_to_string(report.path().join(file)).expect("a report");
        assert!(text.contains("sargon explain --sargon-dir"), "{file}: {text}");
    }
    let json = std::fs::read(report.path().join("report.json")).expect("a report");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let again = json["follow_ups"].as_array().expect("a list").iter();
    let again: Vec<_> = again.flat_map(|one| one["commands"].as_array().expect("a list")).collect();
    assert!(again.iter().any(|command| *command == commands[1]), "{again:?}");
    // The command in shell syntax, without the program's path.
    let program = path("sargon");
    let line = commands[1].replacen("sargon", &format!("'{}'", program.display()), 1);
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("first difference"), "{line}");
}

#[test]
fn a_users_nextad_is_called() {
    let nextad = ALL[1].1;
    let without_interrupts =
        nextad.replace("NEXTAD: INR C", "NEXTAD: XRA A\n        RET\n        INR C");
    assert_ne!(without_interrupts, nextad);
    let mine = folder(&[("nextad.asm", &without_interrupts)]);
    let (code, shown, _) = run_with(mine.path(), &["byte.figure4"]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("residue: board 0, reference 1"), "{shown}");
}

#[test]
fn an_exchange_evaluator_written_from_the_contract_passes() {
    let mine = folder(&[("xchng.asm", PLAIN)]);
    let (code, shown, messages) = run_with(mine.path(), &SOME);
    assert_eq!(code, Some(0), "{shown}{messages}");
    assert!(messages.contains("not judged: short"), "{messages}");
}

#[test]
fn a_wrong_constant_fails_with_the_square() {
    let wrong = PLAIN.replace("MVI B,SECTN-1", "MVI B,SECTN-3");
    assert_ne!(wrong, PLAIN);
    let mine = folder(&[("xchng.asm", &wrong)]);
    let (code, shown, messages) = run_with(mine.path(), &SOME);
    assert_eq!(code, Some(1), "{shown}{messages}");
    let names_square = shown.lines().any(|line| {
        let line = line.trim();
        line.get(..2).is_some_and(|at| Square::named(at).is_some()) && line.contains(": residue:")
    });
    assert!(names_square, "{shown}");
}

#[test]
fn what_is_wrong_with_a_file_is_located_and_has_its_exit_code() {
    let hidden = PLAIN.replace(".INTERN XCHNG", "");
    let line = 1 + hidden.lines().position(|line| line.starts_with("XCHNG:")).expect("it is there");
    let hidden_at = format!("xchng.asm:{line}: XCHNG is not exported");
    let cases: [(Files, i32, &str); 6] = [
        (&[("xchng.asm", " .IDENT X\n MVI A,\n .END\n")], 1, "xchng.asm:2:"),
        (&[("xchng.asm", " .IDENT X\nOTHER:: RET\n .END\n")], 1, "does not define XCHNG"),
        (&[("xchng.asm", &hidden)], 1, &hidden_at),
        (
            &[("xchng.asm", " .IDENT X\nXCHNG:: JMP NOBODY#\n .END\n")],
            1,
            "no module defines NOBODY",
        ),
        (&[("nextad.asm", " .INSERT nowhere.asm\n")], 1, "nextad.asm:1:"),
        (
            &[("readme.txt", "")],
            4,
            "contains no override file; expected at least one of xchng.asm, nextad.asm",
        ),
    ];
    for (files, code, message) in cases {
        let mine = folder(files);
        let (got, shown, messages) = residues_with(mine.path());
        assert_eq!(got, Some(code), "{message}: {shown}{messages}");
        assert!(messages.contains(message), "{message}: {messages}");
        let (got, _, messages) = run_with(mine.path(), &["byte.figure4"]);
        assert_eq!((got, messages.contains(message)), (Some(code), true), "{message}: {messages}");
    }
    let (code, _, messages) = run_with(Path::new("/nonexistent"), &[]);
    assert_eq!(code, Some(3), "{messages}");
    assert!(messages.contains("can't read the folder /nonexistent"), "{messages}");
}

#[test]
fn the_whole_corpus_passes_in_the_original() {
    let (code, shown, messages) = hw_tests(&["run", "--behaviour", "original"]);
    assert_eq!(code, Some(0), "{shown}{messages}");
}

#[test]
fn a_program_of_the_other_behaviour_is_refused() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { behaviour: Behaviour::Original, own: None };
    let printed = build_with(&profile, ProgramKind::Application, &evaluator)
        .unwrap_or_else(|error| panic!("{error}"));
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let file = scratch.path().join("printed.bin");
    std::fs::write(&file, printed.bytes).expect("a file");
    let file = file.to_string_lossy();
    let (code, _, messages) = hw_tests(&["run", "--app", &file, "original.example*"]);
    assert_eq!(code, Some(3), "{messages}");
    assert!(messages.contains("implements --behaviour original"), "{messages}");
    let given = ["run", "--app", &file, "--behaviour", "original", "original.example*"];
    let (code, shown, messages) = hw_tests(&given);
    assert_eq!(code, Some(0), "{shown}{messages}");
}

#[test]
fn a_file_that_nothing_uses_is_named_and_one_that_is_inserted_is_not() {
    let misspelt = folder(&[("xchng.asm", XCHNG), ("nxtad.asm", ALL[1].1)]);
    let (code, shown, messages) = run_with(misspelt.path(), &["byte.figure4"]);
    assert_eq!(code, Some(3), "{shown}{messages}");
    assert!(messages.contains("nxtad.asm: unknown file name"), "{messages}");
    let parts = XCHNG.replacen(".INSERT sargon.asm", ".INSERT mine.inc", 1);
    assert_ne!(parts, XCHNG);
    let inserted = [
        ("xchng.asm", parts.as_str()),
        ("mine.inc", " .INSERT sargon.asm\n"),
        (".hidden", ""),
        ("xchng.asm~", "an older state"),
    ];
    let (code, shown, messages) = run_with(folder(&inserted).path(), &["byte.figure4"]);
    assert_eq!(code, Some(0), "{shown}{messages}");
}

#[test]
fn a_listing_without_its_header_gets_a_hint_at_the_names() {
    let bare = folder(&[("xchng.asm", "XCHNG:: LDA P1\n LXI H,WACT\n MVI E,0\n RET\n .END\n")]);
    let (code, shown, messages) = residues_with(bare.path());
    assert_eq!(code, Some(1), "{shown}{messages}");
    assert!(
        messages.contains("xchng.asm:1:") && messages.contains(".INSERT names.asm"),
        "{messages}"
    );
}

#[test]
fn pins_are_reached_by_index_as_in_the_original() {
    let own = folder(&[("pnck.asm", BY_INDEX)]);
    for behaviour in ["corrected", "original"] {
        let (code, shown, messages) = run_with(own.path(), &["--behaviour", behaviour]);
        assert_eq!(code, Some(0), "{behaviour}: {shown}{messages}");
    }
    for (right, wrong) in [("PLIST(X)", "PLIST+1(X)"), ("PLISTD(X)", "PLISTD-1(X)")] {
        let beside = BY_INDEX.replacen(right, wrong, 1);
        assert_ne!(beside, BY_INDEX);
        let (code, shown, _) = run_with(folder(&[("pnck.asm", &beside)]).path(), &[]);
        assert_eq!(code, Some(1), "{wrong}: {shown}");
    }
}

#[test]
fn a_users_tables_are_used_and_must_start_a_page() {
    let tables = ALL[8].1;
    let dear = tables.replacen("1,3,3,5,9,10", "1,3,4,5,9,10", 1);
    assert_ne!(dear, tables);
    let (code, shown, _) = run_with(folder(&[("tables.asm", &dear)]).path(), &SOME);
    assert_eq!(code, Some(1), "{shown}");
    let elsewhere = tables.replacen(".IDENT TABLES", ".IDENT MINE", 1);
    assert_ne!(elsewhere, tables);
    let (code, shown, messages) = residues_with(folder(&[("tables.asm", &elsewhere)]).path());
    assert_eq!(code, Some(1), "{shown}{messages}");
    assert!(messages.contains("'.IDENT TABLES'"), "{messages}");
}
