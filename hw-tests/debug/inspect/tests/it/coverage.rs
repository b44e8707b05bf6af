//! Coverage: the lines that run for given requests, and the command.

use board_debugger::Machine;
use board_simulator::profiling::{Coverage, FileCoverage, StepCounter};
use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::code_map::CodeMap;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;

use crate::hw_tests;

fn figures(coverage: &Coverage, file: &str) -> FileCoverage {
    let files = coverage.files();
    files.iter().find(|one| one.file == file).unwrap_or_else(|| panic!("no {file}")).clone()
}

#[test]
fn a_line_has_run_when_the_board_had_a_reason() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let application = build_with(&profile, ProgramKind::Application, &Evaluator::default());
    let mut machine = Machine::new(&profile).expect("it is built");
    let code = CodeMap::new(&[&machine.monitor, &application.expect("it is built")]);
    let mut meter = StepCounter::new(&code);
    let mut coverage = Coverage::default();
    meter.run(&mut machine.board, 50_000_000);
    coverage.add(&meter, &code);
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
    coverage.add(&meter, &code);
    let after = figures(&coverage, "firmware:/frame.asm");
    assert!(
        after.covered > before.covered + 60,
        "a frame came, and one went: {before:?} {after:?}"
    );
    assert!(after.taken > before.taken && after.taken <= after.branches);
}

/// The article's Figure 1.
const FIGURE_1: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";

#[test]
fn the_command_measures_positions_on_each_board_and_judges_them() {
    let one = ["coverage", "--board", "rc2014-classic", "--json", FIGURE_1];
    let (code, json, printed) = hw_tests(&[&one[..], &["--least", "99.99"]].concat());
    assert!(code == Some(1) && printed.contains("at least 99.99 %"), "{printed}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let files = value["files"].as_array().expect("files");
    let covered = |name: &str| {
        let file = files.iter().find(|file| file["file"] == name).expect("it is there");
        count(file, "covered") as f64 / count(file, "lines") as f64
    };
    assert!(covered("firmware:/xchng.asm") > 0.5, "{json}");
    assert_eq!(covered("firmware:/exhaust.asm"), 0.0, "no such request was sent");
    let (code, both, printed) = hw_tests(&["coverage", "--json", FIGURE_1]);
    assert_eq!(code, Some(0), "{printed}");
    let both: serde_json::Value = serde_json::from_str(&both).expect("JSON");
    assert!(count(&both["total"], "lines") > count(&value["total"], "lines"), "other drivers");
}

#[test]
fn the_tracefile_has_the_totals_and_the_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let info = folder.path().join("cover.info");
    let path = info.display().to_string();
    let arguments = ["coverage", "--json", "--lcov", &path, FIGURE_1];
    let (code, json, printed) = hw_tests(&arguments);
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
