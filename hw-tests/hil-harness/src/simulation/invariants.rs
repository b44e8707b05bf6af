//! Invariants that hold after every run, whatever has happened in it.

use cli_support::text::Show;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use cli_support::exit::{BUG, Failure, WRONG};
use cli_support::text::is_hidden;
use rcflash_link::Link;
use rcflash_link::loader::{enter_monitor, identify};
use rcflash_transport::Transport;
use sargon_corpus::{Case, Subject};
use sargon_reference::{Behaviour, examine_as, exchange_as};

use crate::board::{Board, DirectBoard};
use crate::campaign::Done;
use crate::disk::SimulatedDisk;
use crate::report::Report;
use crate::results::line::open;
use crate::results::{Head, Record};
use crate::runner::{CaseResult, Conclusion, Verdict};

/// The time after which a board has ended whatever it was asked.
const LONGEST_WORK: Duration = Duration::from_secs(30);
/// The words of the monitor when it starts.
const GREETING: &[u8] = b"Sargon board monitor";

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}: {what}")]
pub struct Finding {
    /// The seed whose story it is.
    pub seed: u64,
    /// The invariant, and what was found instead.
    pub what: String,
}

/// Checks how a run ended: it has an exit code of its own, and never that of a bug. A failure of
/// the rig is no wrong answer, and its message has nothing hidden in it.
///
/// # Errors
/// What does not hold.
pub fn ended_well(outcome: &Result<Done, Failure>, cases: usize) -> Result<(), String> {
    match outcome {
        Err(Failure { code, message }) if matches!(*code, BUG | 0) => {
            Err(format!("a run failed with exit code {code}: {message}"))
        }
        Err(Failure { message, .. }) if message.is_empty() || message.chars().any(is_hidden) => {
            Err(format!("a message is not to be shown: {message:?}"))
        }
        Err(_) => Ok(()),
        Ok(done) => {
            let counts = done.overview.counts();
            if !counts.is_consistent() || counts.cases != cases as u64 {
                return Err(format!("{cases} cases do not have one verdict each: {counts:?}"));
            }
            Ok(())
        }
    }
}

/// Checks that no file is there but those of the run, and that another's is as it was.
///
/// # Errors
/// What does not hold.
pub fn only_our_files(
    disk: &SimulatedDisk,
    ours: &[&Path],
    precious: (&Path, &[u8]),
) -> Result<(), String> {
    let (path, content) = precious;
    if disk.content(path).as_deref() != Some(content) {
        return Err(format!("{} was changed", path.shown()));
    }
    for found in disk.paths() {
        if found != path && !ours.iter().any(|ours| found.starts_with(ours)) {
            return Err(format!("{} was written", found.shown()));
        }
    }
    Ok(())
}

/// Reads the whole lines of a results file; a damaged one must have been refused by the run, too.
///
/// # Errors
/// A line does not fit those before it.
pub fn records(content: &[u8]) -> Result<Vec<Record>, String> {
    let mut sum = 0;
    let mut records = Vec::new();
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let text = String::from_utf8_lossy(line);
        let (record, next) = open(&text, sum).map_err(|error| format!("a line: {error}"))?;
        records.push(record);
        sum = next;
    }
    Ok(records)
}

/// Checks the results in a file: the cases of the run, each once, and each with a verdict that the
/// reference allows.
///
/// # Errors
/// What does not hold.
pub fn results_are_right(
    records: &[Record],
    cases: &[Case],
    right: &BTreeMap<String, Verdict>,
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
        verdict_is_right(case, result, right.get(&case.id).copied())?;
        results.push((**result).clone());
    }
    Ok(results)
}

/// Checks a verdict against the reference, and against the verdict that a quiet line gives: a fault
/// may cost an answer, but never makes a wrong one right or a right one wrong.
fn verdict_is_right(
    case: &Case,
    result: &CaseResult,
    quiet: Option<Verdict>,
) -> Result<(), String> {
    let CaseResult { id, verdict, .. } = result;
    match (*verdict, quiet) {
        (Verdict::Pass | Verdict::Flaky, Some(Verdict::Fail)) => {
            Err(format!("{id} is {verdict}, but the board's answer is wrong"))
        }
        (Verdict::Fail, Some(Verdict::Pass)) => {
            Err(format!("{id} failed, but the board's answer is right: {:?}", result.differences))
        }
        (Verdict::NotRun, _) => Err(format!("{id} is in the file and was not run")),
        (Verdict::Pass, _) => agrees_with_the_reference(case, result),
        _ => Ok(()),
    }
}

/// Checks each square of a case that passed anew, from the case alone.
fn agrees_with_the_reference(case: &Case, result: &CaseResult) -> Result<(), String> {
    let expected: Vec<(String, u8)> = match &case.subject {
        Subject::Position { position, .. } => {
            let verdicts = examine_as(position, Behaviour::Mended).verdicts;
            verdicts.iter().map(|at| (at.square.to_string(), at.outcome.residue)).collect()
        }
        Subject::Array { piece, array, .. } => {
            let residue = exchange_as(*piece, array, Behaviour::Mended).residue;
            vec![("array".to_owned(), residue)]
        }
    };
    let found: Vec<_> = result.squares.iter().map(|at| (at.square.clone(), at.board)).collect();
    if found == expected {
        return Ok(());
    }
    let id = &case.id;
    Err(format!("{id} passed with {found:?}, but the reference has {expected:?}"))
}

/// Checks that a board which somebody shall reset is out of reach: on a quiet line that is opened
/// anew, and after any work that may be under way, nobody gets to its monitor. A program that has
/// lost its way may meet the reset vector by chance, and is out of reach until then; or it may fall
/// into the monitor's midst, which then has its variables wrong and refuses what it has answered.
///
/// # Errors
/// The monitor answers.
pub fn needs_reset(board: &DirectBoard, baud: u32) -> Result<(), String> {
    let mut line = board.clone().open().map_err(|error| error.to_string())?;
    if said_within(&mut *line, LONGEST_WORK).windows(GREETING.len()).any(|at| at == GREETING) {
        return Ok(());
    }
    let mut link = Link::new(line, baud);
    match enter_monitor(&mut link) {
        Ok(who) if identify(&mut link).is_ok_and(|again| again == who) => {
            Err(format!("reset was asked for, but {who} answers"))
        }
        _ => Ok(()),
    }
}

/// Returns all that a board says without being asked.
fn said_within(line: &mut dyn Transport, time: Duration) -> Vec<u8> {
    let mut said = Vec::new();
    let mut buffer = [0; 256];
    let end = line.now() + time;
    while line.now() < end {
        let left = end.saturating_duration_since(line.now());
        match line.read(&mut buffer, left) {
            Ok(count @ 1..) => said.extend(&buffer[..count]),
            Ok(0) | Err(_) => break,
        }
    }
    said
}

/// Checks that a report says what the run says.
///
/// # Errors
/// What does not hold.
pub fn report_agrees(text: Option<Vec<u8>>, outcome: &Result<Done, Failure>) -> Result<(), String> {
    let Some(text) = text else { return Ok(()) };
    let report: Report = serde_json::from_slice(&text).map_err(|e| format!("a report: {e}"))?;
    let code = outcome.as_ref().map_or_else(|failure| failure.code, Done::exit_code);
    let conclusion = report.outcome;
    let agrees = match conclusion {
        Conclusion::Pass => code == 0 && report.incomplete.is_none(),
        Conclusion::Fail => code == WRONG,
        Conclusion::Incomplete => code > WRONG,
    };
    if agrees && report.counts.is_consistent() {
        return Ok(());
    }
    Err(format!("the report says {conclusion} and the exit code is {code}"))
}

/// Checks that a file which was begun has the head of its run.
///
/// # Errors
/// What does not hold.
pub fn begins_with_its_head(records: &[Record], cases: usize) -> Result<(), String> {
    match records.first() {
        None => Ok(()),
        Some(Record::Head(Head { cases: there, .. })) if *there == cases => Ok(()),
        Some(other) => Err(format!("the results begin with {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use board_simulator::Probe;
    use firmware::ProgramKind;
    use firmware::build::build;
    use firmware::profile::Profile;

    use super::*;

    #[test]
    fn a_board_needs_a_reset_only_if_its_monitor_is_out_of_reach() {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        let board = |rom: &[u8]| {
            let board = DirectBoard::new(&profile, rom, Probe::default());
            board.clone().rest(LONGEST_WORK);
            let mut line = board.clone().open().expect("it is there");
            said_within(&mut *line, LONGEST_WORK);
            board
        };
        let answers = needs_reset(&board(&monitor.bytes), profile.uart.baud);
        assert!(answers.is_err_and(|what| what.contains("monitor 1")), "it answers");
        // DI, HALT: only the button helps.
        needs_reset(&board(&[0xF3, 0x76]), profile.uart.baud).expect("it says nothing");
    }
}
