//! Which lines have run: against what a board was asked, and the command.

use firmware::ProgramKind;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware::wire::Request;
use hw_tests::debug::Machine;
use hw_tests::measure::{Coverage, FileCoverage, Meter};

use crate::hw_tests;

fn figures(coverage: &Coverage, file: &str) -> FileCoverage {
    let files = coverage.files();
    files.iter().find(|one| one.file == file).unwrap_or_else(|| panic!("no {file}")).clone()
}

#[test]
fn a_line_has_run_when_the_board_had_a_reason() {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let machine = Machine::new(&profile, ProgramKind::Application, &Evaluator::default());
    let mut machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let (mut meter, mut coverage) = (Meter::default(), Coverage::default());
    meter.run(&mut machine.board, 50_000_000);
    coverage.add(&meter, &machine.code());
    let (ring, before) = (figures(&coverage, "ring.asm"), figures(&coverage, "frame.asm"));
    assert!(
        ring.covered > 20 && ring.covered < ring.lines,
        "a banner leaves by the ring: {ring:?}"
    );
    assert_eq!(before.missed.len() + before.covered, before.lines);
    assert_eq!(figures(&coverage, "xchng.asm").covered, 0);
    assert!(figures(&coverage, "xchng.asm").partial.is_empty(), "what never ran has no way out");
    machine.send(&Request::Identify);
    meter.run(&mut machine.board, 50_000_000);
    coverage.add(&meter, &machine.code());
    let after = figures(&coverage, "frame.asm");
    assert!(
        after.covered > before.covered + 60,
        "a frame came, and one went: {before:?} {after:?}"
    );
    assert!(after.taken > before.taken && after.taken <= after.branches);
}

#[test]
fn the_command_lists_what_did_not_run_and_judges_it() {
    let arguments = ["--board", "rc2014-classic", "--every", "300", "--json", "--least", "99.99"];
    let (code, json, said) = hw_tests(&[&["coverage"][..], &arguments].concat());
    assert!(code == Some(1) && said.contains("not 99.99 %"), "{said}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let count = |name: &str| value["total"][name].as_f64().expect("a number");
    assert!(
        count("covered") / count("lines") > 0.9 && count("taken") < count("branches"),
        "{json}"
    );
    let files = value["files"].as_array().expect("files");
    let reset = files.iter().find(|file| file["file"] == "reset.asm").expect("it is there");
    let missed = reset["missed"][0].as_u64().expect("a line");
    let source = firmware::source("reset.asm").expect("it ships");
    let line = source.lines().nth(missed as usize - 1).expect("the line");
    assert!(line.contains("RETN"), "nothing makes an NMI: {line}");
}
