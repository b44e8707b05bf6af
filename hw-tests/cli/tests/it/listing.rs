//! `--listing`: a user's routines in one file, run as the original program.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

/// Returns the article's two routines as typed in: without the directives of modules, XCHNG last.
fn article() -> String {
    let text = ["nextad.asm", "xchng.asm"].map(|file| firmware::source(file).expect("built in"));
    let lines = text.iter().flat_map(|text| text.lines());
    let of_module = [".IDENT", ".INTERN", ".EXTERN", ".INSERT", ".END"];
    let is_of_module = |line: &str| of_module.iter().any(|one| line.trim().starts_with(one));
    let lines: Vec<_> = lines.filter(|line| !is_of_module(line)).collect();
    format!("PAWN = 1\n .LOC 400H\n{}\n", lines.join("\n"))
}

/// The exit code and the output of a run with a listing.
fn run(file: &Path, options: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let output = command.arg("run").args(options).arg("--listing").arg(file).output();
    let output = output.expect("it starts");
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn run_text(text: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("book.asm");
    std::fs::write(&file, text).expect("a file");
    run(&file, options)
}

#[test]
fn the_corpus_passes_as_the_original_and_the_routines_are_named() {
    let (code, shown) = run_text(&article(), &["--rig", "direct"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("with routines of your own: XCHNG, NEXTAD"), "{shown}");
    let others = "the others are built in: ATTACK, ATKSAV, PINFND, PNCK, POINTS, NEWLST, TBASE";
    assert!(shown.contains(others), "{shown}");
}

#[test]
fn a_wrong_listing_fails_with_commands_that_take_it() {
    let wrong = article().replace("JRC DEARER", "JRC DEARER\n        JRZ DEARER");
    assert_ne!(wrong, article());
    let (code, shown) = run_text(&wrong, &["--rig", "direct", "byte.figure4"]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("--behaviour original --sargon-dir /"), "{shown}");
    assert!(shown.contains("/book.asm "), "{shown}");
}

#[test]
fn mistakes_in_a_listing_have_lines_and_exit_codes() {
    let missing = article().replace("GUARD:  CALL", "GAURD:  CALL");
    let (code, shown) = run_text(&missing, &["--rig", "direct"]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("book.asm:") && shown.contains("GUARD is not defined"), "{shown}");
    let (code, shown) = run_text("OTHER: RET\n", &["--rig", "direct"]);
    assert_eq!(code, Some(4), "{shown}");
    assert!(shown.contains("book.asm has a label for none of XCHNG"), "{shown}");
    let (code, shown) = run(Path::new("nowhere.asm"), &["--rig", "direct"]);
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("nowhere.asm"), "{shown}");
}
