//! Invariants that hold after every run. Each check returns a description of its violation.

use cli_support::text::{Escape, is_unsafe_for_terminals};
use sargon_suite::{CaseResult, FinishedRun, Record, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use cli_support::exit::{BUG, CommandError, FAILED};
use rcflash_link::Link;
use rcflash_link::loader::{enter_monitor, identify};
use rcflash_transport::Transport;
use sargon_corpus::{Case, CaseInput};
use sargon_reference::{Behaviour, evaluate_as, exchange_as};

use crate::simulated_disk::SimulatedDisk;
use hil_harness::board::{Board, InProcessBoard};
use hil_harness::results::RunHeader;
use hil_harness::results::line::decode_line;
use hil_harness::runner::{Conclusion, Verdict};

/// The time after which a board has completed any request.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(30);
/// What the monitor sends when it starts.
const GREETING: &[u8] = b"Sargon board monitor";

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}: {what}")]
pub struct InvariantViolation {
    /// The seed of the scenario.
    pub seed: u64,
    /// Which invariant was violated, and how.
    pub what: String,
}

/// Checks the outcome of a run: the exit code is not that of a bug, each case has one verdict, and
/// the message has no hidden characters.
pub fn check_outcome(
    outcome: &Result<FinishedRun, CommandError>,
    cases: usize,
) -> Result<(), String> {
    match outcome {
        Err(CommandError { code, message }) if matches!(*code, BUG | 0) => {
            Err(format!("a run failed with exit code {code}: {message}"))
        }
        Err(CommandError { message, .. })
            if message.is_empty() || message.chars().any(is_unsafe_for_terminals) =>
        {
            Err(format!("a message is empty or has hidden characters: {message:?}"))
        }
        Err(_) => Ok(()),
        Ok(done) => {
            let counts = done.totals.counts;
            if !counts.is_consistent() || counts.cases != cases as u64 {
                return Err(format!("{cases} cases do not have one verdict each: {counts:?}"));
            }
            Ok(())
        }
    }
}

/// Checks that only the run's files were written, and that an unrelated file is unchanged.
pub fn check_unrelated_files(
    disk: &SimulatedDisk,
    ours: &[&Path],
    unrelated: (&Path, &[u8]),
) -> Result<(), String> {
    let (path, content) = unrelated;
    if disk.content(path).as_deref() != Some(content) {
        return Err(format!("{} was changed", path.escaped()));
    }
    for found in disk.paths() {
        if found != path && !ours.iter().any(|ours| found.starts_with(ours)) {
            return Err(format!("{} was written", found.escaped()));
        }
    }
    Ok(())
}

/// Parses the complete lines of a results file. The run must have refused a damaged one, too.
pub fn parse_records(content: &[u8]) -> Result<Vec<Record>, String> {
    let mut sum = 0;
    let mut records = Vec::new();
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let text = String::from_utf8_lossy(line);
        let (record, next) = decode_line(&text, sum).map_err(|error| format!("a line: {error}"))?;
        records.push(record);
        sum = next;
    }
    Ok(records)
}

/// Checks the results in a file: each case of the run at most once, with a verdict that agrees with
/// the reference.
pub fn check_results(
    records: &[Record],
    cases: &[Case],
    expected_verdicts: &BTreeMap<String, Verdict>,
) -> Result<Vec<CaseResult>, String> {
    let mut seen = BTreeSet::new();
    let mut results = Vec::new();
    for record in records {
        let Record::Case(result) = record else { continue };
        let case = cases.iter().find(|case| case.id == result.id);
        let case = case.ok_or_else(|| format!("{} was not selected", result.id))?;
        if !seen.insert(&result.id) {
            return Err(format!("{} has two results", result.id));
        }
        check_verdict(case, result, expected_verdicts.get(&case.id).copied())?;
        results.push((**result).clone());
    }
    Ok(results)
}

/// Checks a verdict against the reference, and against the verdict of a run without faults: a fault
/// may lose an answer, but never turns a fail into a pass or a pass into a fail.
fn check_verdict(
    case: &Case,
    result: &CaseResult,
    faultless: Option<Verdict>,
) -> Result<(), String> {
    let CaseResult { id, verdict, .. } = result;
    match (*verdict, faultless) {
        (Verdict::Pass | Verdict::Flaky, Some(Verdict::Fail)) => {
            Err(format!("{id} is {verdict}, but the board's answer is wrong"))
        }
        (Verdict::Fail, Some(Verdict::Pass)) => {
            Err(format!("{id} failed, but the board's answer is right: {:?}", result.differences))
        }
        (Verdict::NotRun, _) => Err(format!("{id} is in the file and was not run")),
        (Verdict::Pass, _) => check_against_reference(case, result),
        _ => Ok(()),
    }
}

/// Checks each square of a passed case against the reference again.
fn check_against_reference(case: &Case, result: &CaseResult) -> Result<(), String> {
    let expected: Vec<(String, u8)> = match &case.subject {
        CaseInput::Position { position, .. } => {
            let verdicts = evaluate_as(position, Behaviour::Corrected).squares;
            verdicts.iter().map(|at| (at.square.to_string(), at.outcome.residue)).collect()
        }
        CaseInput::Array { piece, array, .. } => {
            let residue = exchange_as(*piece, array, Behaviour::Corrected).residue;
            vec![("array".to_owned(), residue)]
        }
    };
    let found: Vec<_> =
        result.details.squares.iter().map(|at| (at.square.clone(), at.board)).collect();
    if found == expected {
        return Ok(());
    }
    let id = &case.id;
    Err(format!("{id} passed with {found:?}, but the reference has {expected:?}"))
}

/// Checks that a board on which the user should press reset is really unreachable: its monitor does
/// not reply, even without faults and after any request has completed. A crashed program may reach
/// the reset vector by chance, or jump into the middle of the monitor, whose replies are not
/// consistent then; both are accepted.
///
/// # Errors
/// Returns an error if the monitor replies.
pub fn check_monitor_unreachable(board: &InProcessBoard, baud: u32) -> Result<(), String> {
    let mut line = board.clone().open().map_err(|error| error.to_string())?;
    if read_unprompted(&mut *line, MAX_REQUEST_TIME)
        .windows(GREETING.len())
        .any(|at| at == GREETING)
    {
        return Ok(());
    }
    let mut link = Link::new(line, baud);
    match enter_monitor(&mut link) {
        Ok(who) if identify(&mut link).is_ok_and(|again| again == who) => {
            Err(format!("reset was requested, but {who} replies"))
        }
        _ => Ok(()),
    }
}

/// Returns what a board sends without a request.
fn read_unprompted(line: &mut dyn Transport, time: Duration) -> Vec<u8> {
    let mut received = Vec::new();
    let mut buffer = [0; 256];
    let end = line.now() + time;
    while line.now() < end {
        let left = end.saturating_duration_since(line.now());
        match line.read(&mut buffer, left) {
            Ok(count @ 1..) => received.extend(&buffer[..count]),
            Ok(0) | Err(_) => break,
        }
    }
    received
}

/// Checks that a report agrees with the outcome of the run.
pub fn check_report(
    text: Option<Vec<u8>>,
    outcome: &Result<FinishedRun, CommandError>,
) -> Result<(), String> {
    let Some(text) = text else { return Ok(()) };
    let report: Report = serde_json::from_slice(&text).map_err(|e| format!("a report: {e}"))?;
    let code = outcome.as_ref().map_or_else(|failure| failure.code, FinishedRun::exit_code);
    let conclusion = report.outcome;
    let agrees = match conclusion {
        Conclusion::Pass => code == 0 && report.incomplete.is_none(),
        Conclusion::Fail => code == FAILED,
        Conclusion::Incomplete => code > FAILED,
    };
    if agrees && report.counts.is_consistent() {
        return Ok(());
    }
    Err(format!("the conclusion of the report is {conclusion}, the exit code {code}"))
}

/// Checks that a results file with any record starts with the header of its run.
pub fn check_header(records: &[Record], cases: usize) -> Result<(), String> {
    match records.first() {
        None => Ok(()),
        Some(Record::Head(RunHeader { cases: there, .. })) if *there == cases => Ok(()),
        Some(other) => Err(format!("the results start with {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use board_simulator::Probe;
    use firmware::ProgramKind;
    use firmware::build::build;
    use firmware::profile::BoardProfile;

    use super::*;

    #[test]
    fn a_board_needs_a_reset_only_if_its_monitor_is_unreachable() {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        let board = |rom: &[u8]| {
            let board = InProcessBoard::new(&profile, rom, Probe::default());
            board.clone().sleep(MAX_REQUEST_TIME);
            let mut line = board.clone().open().expect("it is there");
            read_unprompted(&mut *line, MAX_REQUEST_TIME);
            board
        };
        let answers = check_monitor_unreachable(&board(&monitor.bytes), profile.uart.baud);
        assert!(answers.is_err_and(|what| what.contains("monitor 1")), "it answers");
        // DI, HALT: only the button helps.
        check_monitor_unreachable(&board(&[0xF3, 0x76]), profile.uart.baud).expect("it is silent");
    }
}
