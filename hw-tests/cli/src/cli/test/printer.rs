//! Prints the results of test files: what failed, was skipped or has a remark, and a line for each
//! file.

use std::collections::{BTreeSet, HashMap};

use cli_support::output::{pluralize, print};
use cli_support::text::{Escape, eprint_message};
use hil_harness::campaign::{ConnectedBoard, Observer};
use hil_harness::suite::{CaseResult, Verdict};
use testfile_suite::{TestCase, TestFiles};

/// Prints results as they arrive.
#[derive(Default)]
pub(super) struct Printer {
    /// The board or boards.
    name: String,
    /// The index of each case's file among `files`.
    file_of: HashMap<String, usize>,
    files: Vec<FileSummary>,
    /// Whether the cases are repeated: then only what does not pass is printed.
    is_soak: bool,
}

/// The results of a file.
#[derive(Default)]
struct FileSummary {
    path: String,
    /// The number of cases without a result.
    missing: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    /// The number of cases that ended without a verdict, by an error.
    unfinished: usize,
    not_checked: BTreeSet<String>,
}

impl Printer {
    /// Creates the printer for a run of these cases, on several boards if there are any.
    pub(super) fn new(cases: &[TestCase], boards: usize, is_soak: bool) -> Self {
        let mut printer = Self { name: pluralize(boards, "board"), is_soak, ..Self::default() };
        for case in cases {
            let path = case.file.path.escaped();
            if printer.files.last().is_none_or(|file| file.path != path) {
                printer.files.push(FileSummary { path, ..FileSummary::default() });
            }
            let index = printer.files.len() - 1;
            printer.files[index].missing += 1;
            printer.file_of.insert(case.id.clone(), index);
        }
        printer
    }
}

impl Observer<TestFiles> for Printer {
    fn on_ready(&mut self, board: &ConnectedBoard) {
        self.name = board.name.escaped();
    }

    fn on_board_message(&mut self, text: &str) {
        eprint_message(text);
    }

    fn on_result(&mut self, result: &CaseResult<TestFiles>) {
        let Some(file) = self.file_of.get(&result.id).map(|index| &mut self.files[*index]) else {
            return;
        };
        // The summary at the end is printed the same way, and returns the error.
        let is_shown = !self.is_soak || result.verdict != Verdict::Pass;
        let _ = print(&if is_shown { lines(&file.path, result) } else { String::new() });
        match result.verdict {
            Verdict::Pass => file.passed += 1,
            Verdict::Fail | Verdict::Flaky => file.failed += 1,
            Verdict::Skipped => file.skipped += 1,
            Verdict::Timeout | Verdict::Error | Verdict::NotRun => file.unfinished += 1,
        }
        file.not_checked.extend(result.details.not_checked.iter().cloned());
        file.missing = file.missing.saturating_sub(1);
        if file.missing == 0 && !self.is_soak {
            file.print(&self.name);
        }
    }

    fn on_iteration_end(&mut self) {
        let unfinished = self.files.iter_mut().filter(|file| file.missing > 0 && !self.is_soak);
        unfinished.for_each(|file| file.print(&self.name));
    }
}

impl FileSummary {
    fn print(&self, board: &str) {
        let Self { path, passed, failed, skipped, unfinished, not_checked: names, .. } = self;
        if passed + failed + skipped == 0 {
            return;
        }
        let (verdict, part) = match (*failed, *unfinished) {
            (0, 0) => ("PASS", passed),
            (0, _) => ("INCOMPLETE", passed),
            _ => ("FAIL", failed),
        };
        let cases = pluralize(passed + failed + unfinished, "case");
        let counts = [(skipped, "skipped"), (unfinished, "without a result")];
        let counts = counts.into_iter().filter(|(count, _)| **count > 0);
        let remarks = counts.map(|(count, what)| format!("{count} {what}"));
        let remarks = remarks.chain(not_checked(names.iter().map(String::as_str)));
        let remarks: String = remarks.map(|remark| format!(", {remark}")).collect();
        let _ = print(&format!("{verdict} {part} of {cases} in {path}, {board}{remarks}\n"));
    }
}

/// Returns the line about a case that does not run.
pub(super) fn skipped(name: &str, reason: Option<&str>) -> String {
    format!("skip  {}: {}\n", name.escaped(), reason.unwrap_or_default().escaped())
}

/// Returns the lines about a result; none if there is nothing to report.
fn lines(path: &str, result: &CaseResult<TestFiles>) -> String {
    let details = &result.details;
    let name = result.id.rsplit("::").next().unwrap_or_default();
    let reason = result.reason.as_deref().or(details.tried.as_deref()).map(Escape::escaped);
    let remarks = not_checked(details.not_checked.iter().map(String::as_str));
    match result.verdict {
        Verdict::Pass => {
            let remarks: Vec<_> = reason.into_iter().chain(remarks).collect();
            if remarks.is_empty() {
                return String::new();
            }
            format!("ok    {}: {}\n", name.escaped(), remarks.join("; "))
        }
        Verdict::Skipped => skipped(name, result.reason.as_deref()),
        Verdict::Fail | Verdict::Flaky => {
            let word = if result.verdict == Verdict::Fail { "FAIL" } else { "FLAKY" };
            let mut text = format!("{word}  {path}:{}: {}\n", details.line, name.escaped());
            let differences = result.differences.iter().map(ToString::to_string);
            let routine = details.location.as_ref().map(|location| format!("calling {location}"));
            let fault = result.fault.as_ref().map(|fault| format!("at fault: {fault}").escaped());
            let all = reason.into_iter().chain(differences).chain(remarks).chain(routine);
            for line in all.chain(fault) {
                text += &format!("      {line}\n");
            }
            if let Some(case) = &details.case {
                text += &format!("\n{case}\n");
            }
            text
        }
        // The executor has printed errors.
        Verdict::Timeout | Verdict::Error | Verdict::NotRun => String::new(),
    }
}

/// Returns a remark on what could not be checked.
fn not_checked<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<_> = names.collect();
    (!names.is_empty()).then(|| format!("not checked here: {}", names.join(", ")))
}
