//! Coverage: the lines that run for given requests, and the command.

use board_debugger::profiling::{Coverage, FileCoverage, StepCounter};
use firmware::ProgramKind;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_debugging::EvaluatorMachine;

use crate::hw_tests;

fn figures(coverage: &Coverage, file: &str) -> FileCoverage {
    let files = coverage.files();
    files.iter().find(|one| one.file == file).unwrap_or_else(|| panic!("no {file}")).clone()
}

#[test]
fn a_line_has_run_when_the_board_had_a_reason() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let machine = EvaluatorMachine::new(&profile, ProgramKind::Application, &Evaluator::default());
    let mut machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let mut meter = StepCounter::new(&machine.code());
    let mut coverage = Coverage::default();
    meter.run(&mut machine.board, 50_000_000);
    coverage.add(&meter, &machine.code());
    let ring = figures(&coverage, "firmware:/ring.asm");
    let before = figures(&coverage, "firmware:/frame.asm");
    assert!(
        ring.covered > 20 && ring.covered < ring.lines,
        "a banner leaves by the ring: {ring:?}"
    );
    assert_eq!(before.missed.len() + before.covered, before.lines);
    assert_eq!(figures(&coverage, "firmware:/xchng.asm").covered, 0);
    assert!(
        figures(&coverage, "firmware:/xchng.asm").partial.is_empty(),
        "what never ran has no way out"
    );
    machine.send(&Request::Identify);
    meter.run(&mut machine.board, 50_000_000);
    coverage.add(&meter, &machine.code());
    let after = figures(&coverage, "firmware:/frame.asm");
    assert!(
        after.covered > before.covered + 60,
        "a frame came, and one went: {before:?} {after:?}"
    );
    assert!(after.taken > before.taken && after.taken <= after.branches);
}

#[test]
fn the_command_lists_what_did_not_run_and_judges_it() {
    let arguments = ["--board", "rc2014-classic", "--every", "300", "--json", "--least", "99.99"];
    let (code, json, printed) = hw_tests(&[&["coverage"][..], &arguments].concat());
    assert!(code == Some(1) && printed.contains("at least 99.99 %"), "{printed}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let count = |name: &str| value["total"][name].as_f64().expect("a number");
    assert!(
        count("covered") / count("lines") > 0.9 && count("taken") < count("branches"),
        "{json}"
    );
    let files = value["files"].as_array().expect("files");
    let reset =
        files.iter().find(|file| file["file"] == "firmware:/reset.asm").expect("it is there");
    let missed = reset["missed"].as_array().expect("lines").iter();
    let source = firmware::source("reset.asm").expect("it ships");
    let line = |number: u64| source.lines().nth(number as usize - 1).expect("the line").trim();
    let missed: Vec<&str> = missed.map(|one| line(one.as_u64().expect("a line"))).collect();
    assert_eq!(missed, ["JMP KVECT", "RETN"], "no debug kernel is there, and nothing makes an NMI");
}

#[test]
fn the_tracefile_has_the_totals_and_the_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let info = folder.path().join("cover.info");
    let path = info.display().to_string();
    let arguments =
        ["--board", "rc2014-classic", "--every", "400", "--least", "50", "--json", "--lcov", &path];
    let (code, json, printed) = hw_tests(&[&["coverage"][..], &arguments].concat());
    assert_eq!(code, Some(0), "{printed}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let text = std::fs::read_to_string(&info).expect("the tracefile");
    let sum = |key: &str| -> u64 {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key));
        lines.filter_map(|number| number.parse::<u64>().ok()).sum()
    };
    let total = &value["total"];
    assert_eq!((sum("LF:"), sum("LH:")), (count(total, "lines"), count(total, "covered")));
    assert_eq!((sum("BRF:"), sum("BRH:")), (count(total, "branches"), count(total, "taken")));
    let files: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("SF:")).collect();
    assert!(files.len() > 20 && files.iter().all(|file| std::path::Path::new(file).is_file()));
}

fn count(value: &serde_json::Value, name: &str) -> u64 {
    value[name].as_u64().expect("a number")
}

#[test]
fn a_program_of_the_users_is_measured_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.asm");
    let text = "\t.LOC .PROG.\nSTART:\tMVI B,5\n..NEXT:\tCALL TWICE\n\tDJNZ ..NEXT\n\tHLT\n\
                NEVER:\tRET\nTWICE:\tCALL ONCE\nONCE:\tNOP\n\tRET\n\t.END START\n";
    std::fs::write(&file, text).expect("written");
    let file = file.display().to_string();
    let (code, json, printed) = hw_tests(&["profile", "--program", &file, "--json"]);
    assert_eq!(code, Some(0), "{printed}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let routine = |name: &str| -> serde_json::Value {
        let rows = value["routines"].as_array().expect("routines");
        rows.iter()
            .find(|row| row["name"].as_str().is_some_and(|one| one.starts_with(name)))
            .unwrap_or_else(|| panic!("no {name} in {json}"))
            .clone()
    };
    // ONCE is called five times and run into five times; CALL takes 17 T-states, NOP 4 and RET 10.
    assert_eq!(routine("ONCE")["calls"], 10);
    assert_eq!(routine("ONCE")["self_t_states"], 10 * 14);
    assert_eq!(routine("TWICE")["total_t_states"], 5 * 17 + 10 * 14);
    let arguments = ["coverage", "--program", &file, "--board", "rc2014-classic"];
    let (code, table, printed) = hw_tests(&arguments);
    assert!(
        code == Some(0) && table.contains("not run") && table.contains("NEVER:"),
        "{table}{printed}"
    );
}
