//! Reports of runs: the files are complete and consistent, however a run ends.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::runner::{Conclusion, Verdict};
use quick_junit::{TestCaseStatus, TestSuite};
use rustix::process::{Pid, Signal, kill_process};
use sargon_suite::residues::SquareEntry;
use sargon_suite::{Report, VerdictCounts};
use tempfile::TempDir;

use super::{command, hw_tests};

/// A folder with a report, and the output of the program.
pub(super) struct WrittenReport {
    scratch: TempDir,
    pub(super) output: Output,
}

impl WrittenReport {
    /// The report of a run with these arguments.
    pub(super) fn from_run(arguments: &[&str]) -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let folder = folder_in(&scratch).to_string_lossy().into_owned();
        let output = hw_tests(&[&["run", "--report-dir", &folder], arguments].concat());
        Self { scratch, output }
    }

    /// The report of a run in which a rook is worth 4 points on the board instead of 5.
    pub(super) fn of_a_cheap_rook(arguments: &[&str]) -> Self {
        Self::of_a_cheap_rook_on(&["--rig", "direct"], arguments)
    }

    /// The same on other boards.
    pub(super) fn of_a_cheap_rook_on(boards: &[&str], arguments: &[&str]) -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = cheap_rook_in(scratch.path());
        Self::from_run(&[boards, &["--app", &file], arguments].concat())
    }

    /// Returns the path of a file of the report.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        folder_in(&self.scratch).join(file)
    }

    pub(super) fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(super) fn report(&self) -> Report {
        serde_json::from_str(&self.text("report.json")).expect("it is a report")
    }

    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }
}

/// The path of a folder that the program creates.
fn folder_in(scratch: &TempDir) -> PathBuf {
    scratch.path().join("made/by/us")
}

/// Creates a file in this folder with an evaluator in which a rook is worth 4 points.
pub(super) fn cheap_rook_in(folder: &Path) -> String {
    let file = folder.join("cheap.bin");
    std::fs::write(&file, application_with_a_cheap_rook()).expect("a scratch file");
    file.to_string_lossy().into_owned()
}

fn application_with_a_cheap_rook() -> Vec<u8> {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).expect("it builds");
    let symbol = |name| image.program.symbol(name).expect("a symbol of the table page");
    let rook = usize::from(symbol("TBASE") - image.address + symbol("PVALUE") + 4);
    let mut bytes = image.bytes.clone();
    assert_eq!(bytes[rook], 5);
    bytes[rook] = 4;
    bytes
}

#[test]
fn a_patched_application_has_the_build_id_of_its_bytes() {
    let image = WrittenReport::of_a_cheap_rook(&["byte.*"]).report().image.expect("its identity");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let built = build(&profile, ProgramKind::Application).expect("it builds");
    let at = usize::from(built.program.symbol("BUILD").expect("its place") - built.address);
    let mut bytes = application_with_a_cheap_rook();
    bytes[at..at + 4].fill(0);
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
    assert_eq!(image.build_id, crc.checksum(&bytes));
    assert_ne!(image.build_id, built.build);
}

/// A file of positions, with one case of this name.
pub(super) fn case_called(name: &str, scratch: &Path) -> String {
    let file = scratch.join("named.epd");
    let line = format!("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"{name}\"; tags \"<b>odd</b>\";\n");
    std::fs::write(&file, line).expect("a scratch file");
    file.to_string_lossy().into_owned()
}

/// The suites of a JUnit file: that of the run, and that of the cases.
pub(super) fn suites(written: &WrittenReport) -> [TestSuite; 2] {
    let read = quick_junit::Report::deserialize_from_str(&written.text("junit.xml"));
    let suites = read.expect("it is well-formed").test_suites;
    suites.try_into().expect("two suites")
}

#[test]
fn a_run_that_passes_is_reported_square_by_square() {
    let written = WrittenReport::from_run(&["--rig", "direct", "byte.*"]);
    let report = written.report();
    assert_eq!((written.code(), report.outcome), (Some(0), Conclusion::Pass));
    assert_eq!(report.incomplete, None);
    // The article's Figure 4: four points at stake, of which one is lost.
    let figure4 = report.cases.iter().find(|case| case.id == "byte.figure4").expect("it ran");
    assert_eq!((figure4.details.squares[0].piece, figure4.details.squares[0].board), ('n', 1));
    assert!(report.cases.iter().all(|case| case.verdict == Verdict::Pass));
    assert!(
        report.link.is_some_and(|link| link.requests > 0 && link.bytes.0 > 0 && link.bytes.1 > 0)
    );
    assert!(report.image.is_some_and(|image| image.name.contains("Sargon")));
    assert!(written.text("report.md").starts_with("# PASS: 4 of 4 cases pass\n"));
}

#[test]
fn junit_counts_what_the_verdicts_count() {
    for written in [
        WrittenReport::of_a_cheap_rook(&["--tag", "document"]),
        WrittenReport::from_run(&["byte.*"]),
    ] {
        let (report, [run, cases]) = (written.report(), suites(&written));
        let VerdictCounts { cases: all, fail, flaky, timeout, error, skipped, not_run, .. } =
            report.counts;
        assert_eq!((run.tests, run.errors), (1, 0));
        let counted = [cases.tests, cases.failures, cases.errors, cases.skipped];
        let expected = [all, fail, timeout + error + flaky, skipped + not_run];
        assert_eq!(counted.map(|count| count as u64), expected);
        assert_eq!((written.code() == Some(1)), fail > 0, "only the cheap rook is wrong");
        for (test, case) in cases.test_cases.iter().zip(&report.cases) {
            assert_eq!(test.name.as_str(), case.id);
            let is_success = matches!(test.status, TestCaseStatus::Success { .. });
            assert_eq!(is_success, case.verdict == Verdict::Pass, "{}", case.id);
        }
    }
}

#[test]
fn a_wrong_residue_stands_beside_the_right_one() {
    let written = WrittenReport::of_a_cheap_rook(&["--tag", "document"]);
    let report = written.report();
    assert_eq!((written.code(), report.outcome), (Some(1), Conclusion::Fail));
    let markdown = written.text("report.md");
    for case in report.cases.iter().filter(|case| case.verdict == Verdict::Fail) {
        let is_wrong = |at: &SquareEntry| {
            at.reference != Some(at.board)
                || at.reference_array.is_some_and(|right| right != at.array)
        };
        assert!(case.details.squares.iter().any(is_wrong), "{case:?}");
        assert!(markdown.contains(&format!("## fail: {}\n", case.id)), "{markdown}");
    }
}

#[test]
fn a_failed_set_up_is_in_the_report() {
    let no_port = ["--port", "/dev/no-such-board", "--tag", "document"];
    let no_file = ["--app", "/no/such/image.hex", "--tag", "document"];
    for (arguments, what) in [(no_port, "no-such-board"), (no_file, "/no/such/image.hex")] {
        let written = WrittenReport::from_run(&arguments);
        let report = written.report();
        assert_eq!((written.code(), report.outcome), (Some(3), Conclusion::Incomplete));
        let why = report.incomplete.expect("why");
        assert!(why.starts_with("set-up failed: ") && why.contains(what), "{why}");
        assert_eq!((report.counts.cases, report.counts.not_run), (6, 6));
        assert!(report.image.is_none() && report.link.is_none());
        let [run, cases] = suites(&written);
        assert_eq!((run.errors, cases.skipped), (1, 6), "it is not green");
        assert!(written.text("report.md").contains("**Incomplete:** set-up failed"));
    }
}

#[test]
fn routines_that_do_not_build_end_with_one_and_a_report_without_a_failure() {
    let unknown = "XCHNG::\tFOO\tA\n\t.END\n";
    let unresolved = "\t.EXTERN\tNOWHER\nXCHNG::\tJMP\tNOWHER\n\t.END\n";
    for (source, what) in [(unknown, "FOO"), (unresolved, "NOWHER")] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("xchng.asm"), source).expect("a scratch file");
        let mine = folder.path().to_string_lossy();
        let written = WrittenReport::from_run(&[
            "--rig",
            "direct",
            "--sargon-dir",
            &mine,
            "--tag",
            "document",
        ]);
        let shown = String::from_utf8_lossy(&written.output.stderr);
        assert!(shown.contains("xchng") && shown.contains(what), "{shown}");
        let report = written.report();
        assert_eq!((written.code(), report.outcome), (Some(1), Conclusion::Incomplete), "{shown}");
        assert_eq!((report.counts.cases, report.counts.not_run), (6, 6));
        let [run, cases] = suites(&written);
        assert_eq!((run.errors, cases.failures, cases.errors), (1, 0, 0));
    }
}

#[test]
fn an_interrupted_run_reports_its_results_and_a_killed_one_is_marked_as_killed() {
    for (sent, why) in [(Signal::INT, "interrupted"), (Signal::KILL, "has not ended")] {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let folder = folder_in(&scratch);
        let log = scratch.path().join("results");
        let folder = folder.to_string_lossy();
        let log = log.to_string_lossy();
        let arguments = ["run", "--rig", "direct", "--results", &log, "--report-dir", &folder];
        let mut run = command(&arguments);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let began = Instant::now();
        while super::records(Path::new(&*log)).len() < 20 {
            assert!(began.elapsed() < Duration::from_secs(60), "no results");
            std::thread::sleep(Duration::from_millis(2));
        }
        kill_process(Pid::from_child(&run), sent).expect("it runs");
        run.wait().expect("it ends");
        let text = std::fs::read_to_string(folder_in(&scratch).join("report.json"));
        let report: Report = serde_json::from_str(&text.expect("it is there")).expect("a report");
        assert!(report.incomplete.is_some_and(|reason| reason.contains(why)));
        let all = sargon_corpus::builtin_corpus().expect("it ships").len() as u64;
        assert_eq!((report.outcome, report.counts.cases), (Conclusion::Incomplete, all));
        assert!(report.counts.is_consistent() && report.counts.not_run > 0);
        assert_eq!(report.counts.pass > 10, sent == Signal::INT, "{:?}", report.counts);
    }
}

#[test]
fn a_resumed_run_reports_the_cases_of_both_and_a_long_one_each_case_once() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let log = scratch.path().join("results");
    let log = ["--rig", "direct", "--results", &*log.to_string_lossy(), "byte.*"];
    assert_eq!(WrittenReport::from_run(&log).report().counts.pass, 4);
    let resumed = WrittenReport::from_run(&[&log[..], &["--resume"]].concat());
    assert_eq!((resumed.code(), resumed.report().counts.pass), (Some(0), 4));
    let soaked = WrittenReport::from_run(&["--rig", "direct", "byte.*", "--for", "1s"]).report();
    assert_eq!((soaked.counts.cases, soaked.counts.pass), (4, 4));
    assert!(soaked.rounds.is_some_and(|rounds| rounds.pass > 8 && rounds.pass == rounds.cases));
}

#[test]
fn a_report_that_can_t_be_written_is_reported_before_the_run() {
    let output = hw_tests(&["run", "--rig", "direct", "byte.*", "--report-dir", "/dev/null/x"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty(), "no case was run");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/null/x"));
}

#[test]
fn case_names_with_markup_are_escaped() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let name = "</script><script>alert(1)</script>&|`x";
    let file = case_called(name, scratch.path());
    let written = WrittenReport::from_run(&["--rig", "direct", "--corpus", &file]);
    assert_eq!(written.report().cases[0].id, name);
    let [_, cases] = suites(&written);
    assert_eq!(cases.test_cases[0].name.as_str(), name);
    let markdown = written.text("report.md");
    assert!(markdown.contains("&lt;b&gt;odd&lt;/b&gt;"), "the tag is in the table: {markdown}");
    assert!(!markdown.contains("<script") && !markdown.contains("<b>"), "{markdown}");
}
