//! Invariants of simulated runs. Each check returns a description of its violation.

use std::collections::BTreeMap;
use std::path::Path;

use cli_support::exit::{
    BUG, ENVIRONMENT, FAILED, INCOMPLETE, INTERRUPTED, NOTHING_SELECTED, USAGE,
};
use hil_harness::report::Report;
use hil_harness::results::Record;
use hil_harness::results::line::decode_line;
use hil_harness::runner::{Conclusion, VerdictCounts};
use hil_harness::suite::Verdict;

use super::scenario::Setup;
use super::suite::Products;
use super::{
    REPORT_PATH, RESULTS_PATH, SimulatedRun, UNRELATED_CONTENT, UNRELATED_PATH, case, name,
};
use crate::simulation::invariants::check_unrelated_files;

/// Statistics of simulated runs.
#[derive(Debug, Clone, Default)]
pub struct RunStats {
    /// The number of runs.
    pub runs: u64,
    /// The number of verdicts, by their name.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// The number of runs, by exit code.
    pub exit_codes: BTreeMap<u8, u64>,
}

impl RunStats {
    fn of(run: &SimulatedRun) -> Self {
        let mut stats = Self { runs: 1, ..Self::default() };
        stats.exit_codes.insert(run.exit_code(), 1);
        for (_, verdict) in &run.verdicts {
            *stats.verdicts.entry(verdict.as_str()).or_default() += 1;
        }
        stats
    }

    /// Adds the statistics of other runs.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        for (verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        for (code, count) in &other.exit_codes {
            *self.exit_codes.entry(*code).or_default() += count;
        }
    }
}

/// Checks a run.
pub(super) fn check(run: &SimulatedRun) -> Result<RunStats, String> {
    check_number_of_verdicts(run)?;
    check_verdicts(run)?;
    check_exit_code(run)?;
    check_not_run(run)?;
    check_files(run)?;
    if run.disk.faults() == 0 {
        check_report(run)?;
    }
    Ok(RunStats::of(run))
}

/// Checks the continuation of a run on boards without faults: every case has a verdict.
pub(super) fn check_continued(run: &SimulatedRun) -> Result<RunStats, String> {
    let done = run.outcome.as_ref().map_err(|failure| failure.message.clone())?;
    let counts = done.totals.counts;
    if counts.cases != run.scenario.cases as u64 || counts.not_run > 0 {
        return Err(format!("cases have no verdict: {counts:?}"));
    }
    check_files(run)?;
    check_report(run)?;
    Ok(RunStats::of(run))
}

/// Checks that each case has had one verdict in each round.
fn check_number_of_verdicts(run: &SimulatedRun) -> Result<(), String> {
    if run.verdicts.is_empty() && run.outcome.is_err() {
        return Ok(());
    }
    let cases = (0..run.scenario.cases).map(|index| case(index).id);
    let times = cases.map(|id| run.verdicts.iter().filter(|(other, _)| *other == id).count());
    let times: Vec<_> = times.collect();
    let (least, most) = (times.iter().min(), times.iter().max());
    let is_soak = run.scenario.time.is_some() || run.scenario.count.is_some();
    let is_right = if is_soak {
        // The last round may have only some of the cases.
        least.zip(most).is_none_or(|(least, most)| most - least <= 1)
    } else {
        times.iter().all(|times| *times == 1)
    };
    let announced: usize = run.rounds.iter().sum();
    let is_announced =
        run.scenario.time.is_some() || run.rounds.is_empty() || announced == run.verdicts.len();
    if is_right && is_announced {
        return Ok(());
    }
    Err(format!("verdicts of each case: {times:?}, rounds of {:?} cases", run.rounds))
}

/// Checks that a case has the verdict that follows from what boards delivered, whatever the order.
fn check_verdicts(run: &SimulatedRun) -> Result<(), String> {
    for index in 0..run.scenario.cases {
        let id = case(index).id;
        let verdicts = run.verdicts.iter().filter(|(other, _)| *other == id);
        let verdicts: Vec<_> = verdicts.map(|(_, verdict)| *verdict).collect();
        let delivered = run.delivered(&id);
        let expected = expected_verdict(delivered.iter().map(|(_, verdict)| *verdict));
        let is_right = match &verdicts[..] {
            // It was withdrawn, since the time of a soak run was over.
            [] => expected == Verdict::NotRun,
            [verdict] => *verdict == expected,
            // What belongs to which round is not known.
            several => several.contains(&Verdict::Fail) == (expected == Verdict::Fail),
        };
        if !is_right {
            return Err(format!("{id} is {verdicts:?}, but boards delivered {delivered:?}"));
        }
    }
    Ok(())
}

/// Returns the verdict of a case with these on different boards.
fn expected_verdict(delivered: impl Iterator<Item = Verdict> + Clone) -> Verdict {
    let has = |wanted| delivered.clone().any(|verdict| verdict == wanted);
    let answers = [Verdict::Pass, Verdict::Timeout].map(has);
    match answers {
        _ if has(Verdict::Fail) => Verdict::Fail,
        [true, true] => Verdict::Flaky,
        [true, false] => Verdict::Pass,
        [false, true] => Verdict::Timeout,
        [false, false] if has(Verdict::Skipped) => Verdict::Skipped,
        [false, false] => Verdict::NotRun,
    }
}

/// Checks the exit code by the table of docs/REPORTS.md.
fn check_exit_code(run: &SimulatedRun) -> Result<(), String> {
    let code = run.exit_code();
    let allowed = match &run.outcome {
        Ok(done) => codes_of_finished_run(run, done.totals.counts),
        Err(_) if run.disk.faults() > 0 => vec![FAILED, USAGE, ENVIRONMENT, INTERRUPTED],
        Err(_) => codes_of_failed_setup(run)?,
    };
    if code != BUG && allowed.contains(&code) {
        return Ok(());
    }
    let outcome = run.outcome.as_ref().map(|done| (done.totals.counts, &done.summary));
    Err(format!("the exit code is {code}, not one of {allowed:?}: {outcome:?}"))
}

fn codes_of_failed_setup(run: &SimulatedRun) -> Result<Vec<u8>, String> {
    let codes = run.scenario.boards.iter().map(|board| match board.setup {
        Setup::Ready(_) => None,
        Setup::Fails(_, code) => Some(code),
        Setup::NoPlan(_) => Some(ENVIRONMENT),
    });
    let codes: Vec<_> = codes.collect();
    if run.is_stopped() {
        return Ok(vec![USAGE, ENVIRONMENT, INTERRUPTED]);
    }
    if codes.contains(&None) {
        return Err(format!(
            "a board can be ready, but the run failed: {:?}",
            run.outcome.as_ref().err()
        ));
    }
    let are_all = codes.iter().all(|code| *code == Some(USAGE));
    Ok(vec![if are_all { USAGE } else { ENVIRONMENT }])
}

fn codes_of_finished_run(run: &SimulatedRun, counts: VerdictCounts) -> Vec<u8> {
    let is_soak = run.scenario.time.is_some() || run.scenario.count.is_some();
    let unanswered = counts.timeout + counts.error;
    if counts.fail > 0 {
        return vec![FAILED];
    }
    if run.disk.faults() > 0 {
        return vec![ENVIRONMENT, NOTHING_SELECTED, INCOMPLETE, INTERRUPTED];
    }
    let stopped = run.is_stopped().then_some(INTERRUPTED);
    if counts.cases > 0 && counts.pass == counts.cases {
        let code = if lacks_board(run) { ENVIRONMENT } else { 0 };
        return stopped.filter(|_| is_soak).into_iter().chain([code]).collect();
    }
    if run.is_stopped() || run.scenario.fail_fast {
        return stopped.into_iter().chain([ENVIRONMENT, INCOMPLETE, NOTHING_SELECTED]).collect();
    }
    if lacks_board(run) || unanswered > 0 || counts.not_run > 0 {
        vec![ENVIRONMENT]
    } else if counts.cases == 0 {
        vec![NOTHING_SELECTED]
    } else {
        vec![INCOMPLETE]
    }
}

/// Checks that no case is left of a run that was not ended early while a board can run cases.
fn check_not_run(run: &SimulatedRun) -> Result<(), String> {
    let Ok(done) = &run.outcome else { return Ok(()) };
    let is_ended_early = run.is_stopped() || run.scenario.fail_fast || run.disk.faults() > 0;
    let is_left = done.totals.counts.not_run > 0;
    let present = done.boards.iter().find(|row| !row.is_missing);
    match present.filter(|_| is_left && !is_ended_early) {
        Some(row) => Err(format!("cases are not run, but {} is there", row.name)),
        None => Ok(()),
    }
}

/// Returns `true` if a board was lost while it ran cases, or a required one is missing.
fn lacks_board(run: &SimulatedRun) -> bool {
    let Ok(done) = &run.outcome else { return false };
    let is_missing = done.boards.iter().any(|row| row.is_missing);
    run.is_any_lost() || run.scenario.min_boards > 0 && is_missing
}

/// Checks that only the run's files were written, and what is in the results file.
fn check_files(run: &SimulatedRun) -> Result<(), String> {
    let ours = [RESULTS_PATH, REPORT_PATH].map(Path::new);
    check_unrelated_files(&run.disk, &ours, (Path::new(UNRELATED_PATH), UNRELATED_CONTENT))?;
    let content = run.disk.content(Path::new(RESULTS_PATH)).unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    let mut sum = 0;
    let mut ids = Vec::new();
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let (record, next) = decode_line::<Record<Products>>(line, sum)
            .map_err(|error| format!("a line of the results: {error}"))?;
        sum = next;
        if let Record::Case(result) = record {
            if ids.contains(&result.id) || result.verdict == Verdict::NotRun {
                return Err(format!("{} is {} in the results", result.id, result.verdict));
            }
            ids.push(result.id);
        }
    }
    Ok(())
}

/// Checks that the report agrees with the outcome, and that no healthy board is left out.
fn check_report(run: &SimulatedRun) -> Result<(), String> {
    let path = Path::new(REPORT_PATH).join("report.json");
    let text = run.disk.content(&path).ok_or("there is no report")?;
    let report: Report<Products> =
        serde_json::from_slice(&text).map_err(|error| format!("the report: {error}"))?;
    let code = run.exit_code();
    let agrees = match report.outcome {
        Conclusion::Pass => code == 0 && report.incomplete.is_none(),
        Conclusion::Fail => code == FAILED,
        Conclusion::Incomplete => code > FAILED,
    };
    if !agrees || !report.counts.is_consistent() {
        return Err(format!("the report is {}, the exit code {code}", report.outcome));
    }
    for (index, board) in run.scenario.boards.iter().enumerate() {
        let row = report.boards.iter().find(|row| row.name == name(index));
        let Some(row) = row.filter(|row| board.is_healthy() && row.port.is_some()) else {
            continue;
        };
        if row.is_missing || row.at_fault > 0 {
            return Err(format!("a healthy board is left out: {row:?}"));
        }
    }
    Ok(())
}
