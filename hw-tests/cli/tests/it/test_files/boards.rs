//! Test files on simulated boards, and what all runs have: results, report, baseline, shards.

use std::path::Path;

use super::{CASES, examples, hw_tests, project};

/// The folder's file with this name, as text.
fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn boards_give_the_verdicts_of_the_simulated_machine() {
    let folder = project(CASES);
    for board in [
        &["--rig", "direct"][..],
        &["--rig", "direct", "--board", "rc2014-zed"],
        &["--board", "rc2014-classic"],
    ] {
        let arguments = [&["test", "twice.test.toml"], board].concat();
        let (code, shown, errors) = hw_tests(folder.path(), &arguments);
        assert_eq!((code, errors.as_str()), (1, ""), "{board:?}: {shown}");
        let failure = "FAIL  twice.test.toml:8: large\n      A: expected 1, got 0\n";
        assert!(shown.contains(failure), "{board:?}: {shown}");
        assert!(
            shown.contains("FAIL 1 of 2 cases in twice.test.toml, simulated rc2014-"),
            "{shown}"
        );
        assert!(shown.contains("\nFAIL: 1 of 2 cases passed, 2 calls compared, in "), "{shown}");
    }
}

#[test]
fn the_example_of_a_console_passes_on_boards_without_cpm() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let arguments = ["test", "decimal.test.toml", "--rig", "direct", "--board", board];
        let (code, shown, errors) = hw_tests(&examples(), &arguments);
        assert_eq!((code, errors.as_str()), (0, ""), "{board}: {shown}");
        assert!(shown.contains("\nPASS: 5 of 5 cases passed, 5 calls compared, in "), "{shown}");
    }
}

#[test]
fn what_a_board_does_not_show_is_named_for_the_case_the_file_and_the_run() {
    let folder =
        project("[[case]]\nname = \"fast\"\ncall = \"TWICE\"\nexpect = { A = 0xB4, cycles = 1 }\n");
    let (code, shown, _) = hw_tests(folder.path(), &["test", "twice.test.toml", "--rig", "direct"]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("ok    fast: not checked here: cycles\n"), "{shown}");
    let file = "PASS 1 of 1 case in twice.test.toml, simulated rc2014-classic within this \
                program, not checked here: cycles\n";
    assert!(shown.contains(file) && shown.contains(", not judged: cycles\n"), "{shown}");
    let (code, shown, _) = hw_tests(folder.path(), &["test", "twice.test.toml"]);
    assert_eq!(code, 1, "a simulated machine counts: {shown}");
}

#[test]
fn a_file_for_other_boards_is_skipped_and_one_that_does_not_fit_is_an_error() {
    let folder = project(&format!("boards = [\"rc2014-zed\"]\n{CASES}"));
    let (code, shown, _) = hw_tests(folder.path(), &["test", "twice.test.toml", "--rig", "direct"]);
    let skipped = "skip  small: its file is for rc2014-zed, not rc2014-classic\n";
    assert!(code == 5 && shown.contains(skipped), "{code} {shown}");
    let folder = project(&format!("origin = 0xE000\n{CASES}"));
    let (code, _, errors) =
        hw_tests(folder.path(), &["test", "twice.test.toml", "--rig", "direct"]);
    let message = "hw-tests: twice.test.toml: the program occupies E000H to E001H, but the caller \
                   on the board leaves 8000H to DDFFH to programs";
    assert!(code == 3 && errors.contains(message), "{code} {errors}");
}

#[test]
fn a_routine_that_does_not_return_is_located_and_the_board_restarted() {
    let folder = project(&format!(
        "[[case]]\nname = \"stuck\"\ncall = \"STUCK\"\ntimeout = 50000\n{}",
        CASES.replace("A = 1,", "A = 0,")
    ));
    let source = "TWICE: ADD A\n RET\nSTUCK: JMP STUCK\n .INTERN TWICE,STUCK\n .END\n";
    std::fs::write(folder.path().join("twice.asm"), source).expect("a file");
    // On the Z180 a timer ends the call.
    for board in ["rc2014-classic", "sc126"] {
        let arguments = ["test", "twice.test.toml", "--rig", "direct", "--board", board];
        let (code, shown, _) = hw_tests(folder.path(), &arguments);
        let finding = "did not return within 50000 T-states; last at 8002H, STUCK (twice.asm:3)";
        assert!(code == 1 && shown.contains(finding), "{code} {shown}");
        assert!(shown.contains("FAIL: 2 of 3 cases"), "the others ran: {shown}");
    }
}

#[test]
fn results_are_resumed_reported_and_compared_with_a_baseline() {
    let folder = project(CASES);
    let test = |arguments: &[&str]| {
        hw_tests(folder.path(), &[&["test", "twice.test.toml"], arguments].concat())
    };
    let first = test(&["--results", "r.jsonl", "--report-dir", "out", "--repeat", "2"]);
    assert_eq!(first.0, 1, "{first:?}");
    let results = read(folder.path(), "r.jsonl");
    let case = "\"id\":\"twice.test.toml::large\",\"tags\":[],\"verdict\":\"fail\",\"differences\":\
                [{\"subject\":\"A\",\"expected\":\"1\",\"actual\":\"0\"}]";
    assert!(results.contains(case) && results.contains("\"attempts\":2"), "{results}");
    for (name, text) in [
        ("out/report.html", "twice.test.toml::large"),
        ("out/report.json", "\"t_states\":14"),
        ("out/report.md", "twice.test.toml::large"),
        ("out/junit.xml", "A: expected 1, got 0"),
    ] {
        assert!(read(folder.path(), name).contains(text), "{name}");
    }
    let resumed = test(&["--results", "r.jsonl", "--repeat", "2", "--resume"]);
    assert!(resumed.0 == 1 && !resumed.1.contains("FAIL  "), "nothing runs again: {resumed:?}");
    let known = test(&["--baseline", "r.jsonl"]);
    assert!(known.0 == 0 && known.1.contains("1 known failure"), "{known:?}");
    let other = test(&["--results", "r.jsonl", "--repeat", "2", "--resume", "--tag", "fast"]);
    assert_eq!(other.0, 2, "other cases: {other:?}");
}

#[test]
fn shards_and_the_first_failure_end_a_run_early() {
    let folder = project(&CASES.replace("A = 4", "A = 5"));
    let test = |arguments: &[&str]| {
        hw_tests(folder.path(), &[&["test", "twice.test.toml"], arguments].concat()).1
    };
    let shown = test(&["--fail-fast"]);
    assert!(
        shown.contains("FAIL  twice.test.toml:2: small") && !shown.contains("large"),
        "{shown}"
    );
    let shown = test(&["--shard", "2/2"]);
    assert!(!shown.contains("small") && shown.contains(": large"), "{shown}");
}

#[test]
fn options_of_the_evaluator_are_refused() {
    let folder = project(CASES);
    for option in [&["--faults", "1"][..], &["--behaviour", "original"]] {
        let arguments = [&["test", "twice.test.toml"], option].concat();
        let (code, _, errors) = hw_tests(folder.path(), &arguments);
        let message = format!("unexpected argument '{}'", option[0]);
        assert!(code == 2 && errors.contains(&message), "{option:?}: {code} {errors}");
    }
}

#[test]
fn several_boards_share_the_cases_of_all_files() {
    let folder = project(CASES);
    let rows = "[[case]]\nname = \"row\"\ncall = \"TWICE\"\nrows = [[\"in.A\", \"expect.A\"], ";
    let rows: String = (0..40)
        .fold(rows.to_owned(), |text, number| text + &format!("[{number}, {}],", 2 * number));
    let text = format!("sources = [\"twice.asm\"]\n{rows}]\n");
    std::fs::write(folder.path().join("rows.test.toml"), text).expect("a file");
    let arguments = ["test", ".", "--rig", "direct", "--rig", "direct", "--report-dir", "out"];
    let (code, shown, errors) = hw_tests(folder.path(), &arguments);
    assert_eq!(code, 1, "{shown}{errors}");
    assert!(shown.contains("PASS 40 of 40 cases in rows.test.toml, 2 boards\n"), "{shown}");
    assert!(shown.contains("FAIL 1 of 2 cases in twice.test.toml, 2 boards\n"), "{shown}");
    let fault = "at fault: the code, or something that the boards share: same outcome on 2 boards";
    assert!(shown.contains(fault) && shown.contains("      A: expected 1, got 0\n"), "{shown}");
    assert!(shown.contains("FAIL: 41 of 42 cases passed, 42 calls compared"), "{shown}");
    assert!(errors.contains("direct: Z80 routine caller 1,") && errors.contains("direct 2: Z80"));
    let report = read(folder.path(), "out/report.json");
    assert!(report.contains("\"name\":\"direct 2\"") && report.contains("twice.test.toml::large"));
    let (code, shown, _) = hw_tests(folder.path(), &[&arguments[..6], &["--count", "90"]].concat());
    assert!(code == 1 && shown.contains("FAIL: 88 of 90 cases passed, "), "{shown}");
    let failures = shown.matches("FAIL  twice.test.toml:8: large\n").count();
    assert!(failures == 2 && !shown.contains("PASS 40"), "one a round: {shown}");
}

#[test]
fn a_soak_test_repeats_the_cases_and_prints_failures_only() {
    let folder = project(CASES);
    let test = |arguments: &[&str]| {
        hw_tests(folder.path(), &[&["test", "twice.test.toml", "--count", "7"], arguments].concat())
    };
    let (code, shown, _) = test(&["--tag", "fast"]);
    assert_eq!((code, shown.lines().count()), (0, 1), "{shown}");
    assert!(shown.starts_with("PASS: 7 of 7 cases"), "{shown}");
    let (code, shown, _) = test(&["--rig", "direct"]);
    let failures = shown.matches("FAIL  twice.test.toml:8: large\n").count();
    assert_eq!((code, failures), (1, 3), "each second of 7: {shown}");
}

#[test]
fn a_recorded_run_is_replayed_without_its_board() {
    let folder = project(CASES);
    let test = |arguments: &[&str]| {
        hw_tests(folder.path(), &[&["test", "twice.test.toml"], arguments].concat())
    };
    let recorded = test(&["--rig", "direct", "--record", "t"]);
    assert_eq!(recorded.0, 1, "{recorded:?}");
    let (code, shown, errors) = test(&["--rig", "replay:t"]);
    assert_eq!((code, errors.as_str()), (1, ""), "{shown}");
    assert!(shown.contains("FAIL 1 of 2 cases in twice.test.toml, transcript t\n"), "{shown}");
    let other = format!("sources = [\"twice.asm\"]\n{}", CASES.replace("A = 2", "A = 3"));
    std::fs::write(folder.path().join("twice.test.toml"), other).expect("a file");
    let (code, shown, _) = test(&["--rig", "replay:t"]);
    assert!(code == 3 && shown.contains("but when this was recorded"), "{code} {shown}");
}

#[test]
fn a_program_that_calls_the_bdos_at_5_is_refused_before_a_board_is_opened() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // At 8000H: LD C,2; LD E,41H; JP 5.
    let hex = ":078000000E021E41C3050042\n:00000001FF\n";
    std::fs::write(folder.path().join("a.hex"), hex).expect("a file");
    let test = "program = \"a.hex\"\nconsole = \"cpm\"\n[[case]]\nname = \"a\"\ncall = 0x8000\n\
                expect.console = \"A\"\n";
    std::fs::write(folder.path().join("a.test.toml"), test).expect("a file");
    let (code, shown, errors) = hw_tests(folder.path(), &["test", "."]);
    assert_eq!((code, errors.as_str()), (0, ""), "{shown}");
    // There is no such port: nothing was opened.
    let (code, shown, errors) = hw_tests(folder.path(), &["test", ".", "--port", "/dev/none"]);
    let message = "hw-tests: a.test.toml: console = \"cpm\" of a program that another tool linked is \
                   simulated only: it calls the BDOS at 0005H, which is ROM on a board; test it \
                   without a board, or name its routine that prints A, as in console = { routine = \
                   \"PUTC\" }\n";
    assert!(code == 3 && errors.starts_with(message), "{code} {shown}{errors}");
    assert!(!errors.contains("/dev/none"), "{errors}");
}
