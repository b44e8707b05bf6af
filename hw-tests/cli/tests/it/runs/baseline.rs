//! Runs with a baseline: only what is new fails, and every form of the report agrees.

use hil_harness::runner::{Conclusion, Verdict};
use sargon_suite::Report;

use super::reports::{WrittenReport, suites};
use super::run_command;

/// The documented cases, in some of which the wrong value of a rook causes a wrong result.
const DOCUMENTS: [&str; 2] = ["--tag", "document"];
/// The same, and a hundred cases from games.
const WITH_PLAYED: [&str; 6] =
    ["byte.figure1", "byte.figure5", "byte.box", "cpw.*", "original.*", "play.00*"];

/// A run with the wrong value of a rook against this baseline.
fn cheap_after(baseline: &WrittenReport, file: &str, cases: &[&str]) -> WrittenReport {
    let path = baseline.path(file);
    WrittenReport::of_a_cheap_rook(&[&["--baseline", &path.to_string_lossy()], cases].concat())
}

fn failed(report: &Report) -> Vec<&str> {
    let failed = report.cases.iter().filter(|case| case.verdict == Verdict::Fail);
    failed.map(|case| case.id.as_str()).collect()
}

fn printed(written: &WrittenReport) -> String {
    String::from_utf8_lossy(&written.output.stdout).into_owned()
}

#[test]
fn a_failure_equal_to_the_baseline_is_not_a_failure() {
    let before = WrittenReport::of_a_cheap_rook(&DOCUMENTS);
    let wrong = before.report();
    assert_eq!(wrong.outcome, Conclusion::Fail);
    let after = cheap_after(&before, "report.json", &DOCUMENTS);
    let report = after.report();
    assert_eq!((after.output.status.code(), report.outcome), (Some(0), Conclusion::Pass));
    assert_eq!(report.counts, wrong.counts, "a verdict stays what it is");
    let compared = report.baseline.as_ref().expect("it is compared");
    assert_eq!(compared.file, before.path("report.json").to_string_lossy());
    assert_eq!(compared.known, failed(&wrong));
    assert!(compared.new.is_empty() && compared.fixed.is_empty());
    let [_, cases] = suites(&after);
    assert_eq!((cases.failures, cases.skipped), (0, compared.known.len()));
    let head = format!("# PASS: {} known, ", compared.known.len());
    assert!(after.text("report.md").starts_with(&head), "{}", after.text("report.md"));
    assert!(after.text("report.md").contains(&format!("## fail (known): {}\n", compared.known[0])));
    let shown = printed(&after);
    assert!(shown.contains("baseline: ") && shown.contains(" known, 0 new, 0 fixed"), "{shown}");
}

#[test]
fn a_case_missing_in_the_baseline_fails_and_so_does_another_wrong_result() {
    let before = WrittenReport::of_a_cheap_rook(&DOCUMENTS);
    let known = failed(&before.report()).len();
    let after = cheap_after(&before, "report.json", &WITH_PLAYED);
    let report = after.report();
    assert_eq!((after.output.status.code(), report.outcome), (Some(1), Conclusion::Fail));
    let compared = report.baseline.as_ref().expect("it is compared");
    assert_eq!(compared.known.len(), known);
    assert!(!compared.new.is_empty() && compared.new.iter().all(|id| id.starts_with("play")));
    let [_, cases] = suites(&after);
    assert_eq!((cases.failures, cases.skipped), (compared.new.len(), known));
    // The same cases, but with another residue each.
    let file = before.path("changed.json");
    let text = before.text("report.json");
    std::fs::write(&file, text.replace("\"field\":\"residue\"", "\"field\":\"status\""))
        .expect("a file");
    let after = cheap_after(&before, "changed.json", &DOCUMENTS);
    assert_eq!(after.output.status.code(), Some(1), "{}", printed(&after));
}

#[test]
fn a_results_file_is_a_baseline_and_newly_passing_cases_are_reported() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let file = scratch.path().join("before.jsonl").to_string_lossy().into_owned();
    let before = WrittenReport::of_a_cheap_rook(&["--tag", "document", "--results", &file]);
    let wrong = before.report();
    let right =
        WrittenReport::from_run(&["--rig", "direct", "--tag", "document", "--baseline", &file]);
    let report = right.report();
    assert_eq!(right.output.status.code(), Some(0));
    let compared = report.baseline.as_ref().expect("it is compared");
    assert_eq!(compared.file, file);
    assert_eq!(compared.fixed, failed(&wrong));
    let same = WrittenReport::of_a_cheap_rook(&["--tag", "document", "--baseline", &file]);
    assert_eq!(same.output.status.code(), Some(0), "{}", printed(&same));
}

#[test]
fn known_failures_do_not_end_a_fail_fast_run() {
    let before = WrittenReport::of_a_cheap_rook(&WITH_PLAYED);
    let more = [&WITH_PLAYED[..], &["--fail-fast"]].concat();
    assert!(WrittenReport::of_a_cheap_rook(&more).report().counts.not_run > 0);
    let after = cheap_after(&before, "report.json", &more);
    assert_eq!(after.output.status.code(), Some(0), "{}", printed(&after));
    assert_eq!(after.report().counts.not_run, 0);
}

#[test]
fn an_interrupted_run_is_incomplete_regardless_of_the_baseline() {
    let before = WrittenReport::of_a_cheap_rook(&DOCUMENTS);
    let path = before.path("report.json").to_string_lossy().into_owned();
    let lost = WrittenReport::from_run(&[
        "--port",
        "/dev/no-such-board",
        "--baseline",
        &path,
        "--tag",
        "odd",
    ]);
    assert_eq!(lost.output.status.code(), Some(3));
    assert_eq!(lost.report().outcome, Conclusion::Incomplete);
}

#[test]
fn an_invalid_baseline_is_refused_before_any_case_is_run() {
    let before = WrittenReport::from_run(&["--rig", "direct", "byte.*"]);
    let file = |name: &str| before.path(name).to_string_lossy().into_owned();
    let json = file("report.json");
    let results = file("results.jsonl");
    let refusals = [
        (vec!["--baseline", &*json, "--behaviour", "original"], 2, "--behaviour"),
        (vec!["--baseline", &*results, "--results", &*results], 2, "name the same file"),
    ];
    let page = file("report.html");
    let gone = file("gone");
    let folder = file("");
    let others = [
        (vec!["--baseline", &*page], 2, "neither a results file"),
        (vec!["--baseline", &*gone], 2, "does not exist"),
        (vec!["--baseline", &*folder], 3, "can't read the baseline"),
    ];
    for (more, code, why) in refusals.into_iter().chain(others) {
        let (found, shown) =
            run_command(&[&["run", "--rig", "direct", "byte.*"], &more[..]].concat());
        assert_eq!(found, Some(code), "{shown}");
        assert!(shown.contains(why) && !shown.contains("compared, in"), "{shown}");
    }
}
