//! One verdict from several results of a case: repetitions, several boards, rounds of a soak run.

use crate::suite::{BoardVerdict, CaseResult, FaultOrigin, Suite, Verdict};
use Verdict::{Error, Fail, Flaky, NotRun, Pass, Skipped, Timeout};

/// The most boards whose results of a case are asked for, however these differ.
const MAX_BOARDS_PER_CASE: usize = 3;

/// Where the second of two results of a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A repetition on the same board.
    SameBoard,
    /// Another board.
    OtherBoard,
    /// Another round of a soak run, which has its own verdict: the worst one is listed.
    OtherRound,
}

/// The merged verdict of each pair of unlike verdicts: on the same board again, on another board,
/// and in another round. Equal verdicts are their own merged verdict.
const TABLE: [([Verdict; 2], [Verdict; 3]); 21] = [
    // On one board it passes only sometimes; a right reply of another board cancels no wrong one.
    ([Pass, Fail], [Flaky, Fail, Fail]),
    ([Flaky, Fail], [Flaky, Fail, Fail]),
    // It can pass, and does not always.
    ([Pass, Timeout], [Flaky, Flaky, Timeout]),
    ([Pass, Error], [Flaky, Flaky, Error]),
    ([Pass, Flaky], [Flaky; 3]),
    ([Flaky, Timeout], [Flaky, Flaky, Timeout]),
    ([Flaky, Error], [Flaky, Flaky, Error]),
    // A wrong reply is known to be wrong; a missing one says nothing of the case.
    ([Fail, Timeout], [Fail; 3]),
    ([Fail, Error], [Fail; 3]),
    // There is no valid reply, and not only since the board is slow.
    ([Timeout, Error], [Error; 3]),
    // What could not run says nothing of what did.
    ([Skipped, Pass], [Pass; 3]),
    ([Skipped, Fail], [Fail; 3]),
    ([Skipped, Timeout], [Timeout; 3]),
    ([Skipped, Error], [Error; 3]),
    ([Skipped, Flaky], [Flaky; 3]),
    ([NotRun, Pass], [Pass; 3]),
    ([NotRun, Fail], [Fail; 3]),
    ([NotRun, Timeout], [Timeout; 3]),
    ([NotRun, Error], [Error; 3]),
    ([NotRun, Flaky], [Flaky; 3]),
    ([NotRun, Skipped], [Skipped; 3]),
];

/// Returns the verdict of a case with these two. It depends neither on their order nor, of more
/// verdicts, on which are merged first.
pub(crate) fn merge_verdicts(first: Verdict, second: Verdict, relation: Relation) -> Verdict {
    let is_row = |(pair, _): &&([Verdict; 2], _)| pair.contains(&first) && pair.contains(&second);
    match TABLE.iter().find(is_row).filter(|_| first != second) {
        Some((_, merged)) => merged[relation as usize],
        None => first,
    }
}

/// Merges the results of both requests of a case, of which the first passed.
pub fn merge_requests<S: Suite>(mut first: CaseResult<S>, second: CaseResult<S>) -> CaseResult<S> {
    first.retries += second.retries;
    first.elapsed_us += second.elapsed_us;
    let CaseResult { verdict, reason, differences, .. } = second;
    CaseResult { verdict, reason, differences, ..first }
}

/// Merges the results of two repetitions of a case on a board: attempts, retries and time add up,
/// and the rest is that of the result which decides.
pub fn merge_repetitions<S: Suite>(first: CaseResult<S>, again: CaseResult<S>) -> CaseResult<S> {
    let verdicts = [first.verdict, again.verdict];
    let verdict = merge_verdicts(verdicts[0], verdicts[1], Relation::SameBoard);
    let is_first = first.verdict == verdict || again.verdict != verdict && first.verdict != Pass;
    let (mut merged, other) = if is_first { (first, again) } else { (again, first) };
    merged.add_costs(&other);
    merged.verdict = verdict;
    if verdict == Flaky && !verdicts.contains(&Flaky) {
        let detail = merged.reason.map_or(String::new(), |why| format!(": {why}"));
        merged.reason =
            Some(format!("sometimes {}, sometimes {}{detail}", verdicts[0], verdicts[1]));
    }
    merged
}

/// Merges the results of a case on several boards, given with their names, and finds what is at
/// fault. Returns `None` if it was run on none.
pub(crate) fn merge_boards<S: Suite>(
    mut results: Vec<(String, CaseResult<S>)>,
) -> Option<CaseResult<S>> {
    results.retain(|(_, result)| result.verdict != NotRun);
    let merged = |first, second| merge_verdicts(first, second, Relation::OtherBoard);
    let verdict = results.iter().map(|(_, result)| result.verdict).reduce(merged)?;
    let fault = fault_origin(&results, verdict);
    let mut board_verdicts: Vec<_> = results.iter().map(board_verdict).collect();
    if board_verdicts.len() == 1 && verdict == Pass {
        board_verdicts.clear();
    }
    // Of a flaky case the values of a pass are shown, if there is one.
    let position = |wanted| results.iter().position(|(_, result)| result.verdict == wanted);
    let passed = position(Pass).filter(|_| verdict == Flaky);
    let index = passed.or_else(|| position(verdict)).unwrap_or_default();
    let (board, mut merged) = results.swap_remove(index);
    results.iter().for_each(|(_, other)| merged.add_costs(other));
    if verdict == Flaky && merged.reason.is_none() {
        let text = |result: &BoardVerdict| format!("{} on {}", result.verdict, result.board);
        merged.reason = Some(board_verdicts.iter().map(text).collect::<Vec<_>>().join(", "));
    }
    merged.board = Some(board);
    Some(CaseResult { verdict, board_verdicts, fault, ..merged })
}

fn board_verdict<S: Suite>((board, result): &(String, CaseResult<S>)) -> BoardVerdict {
    let (board, reason) = (board.clone(), result.reason.clone());
    BoardVerdict { board, verdict: result.verdict, reason }
}

/// Returns `true` if a result is one of the case: a board that skips a case knows nothing of it.
fn is_answer<S: Suite>(result: &CaseResult<S>) -> bool {
    !matches!(result.verdict, Skipped | NotRun)
}

/// Returns `true` if something is wrong with the case, or with the board.
pub(crate) fn is_problem<S: Suite>(result: &CaseResult<S>) -> bool {
    is_answer(result) && result.verdict != Pass
}

/// Returns `true` if the results of a case on some boards call for another one's: none could run
/// it, or it is not known yet what is at fault.
pub(crate) fn needs_another_board<'r, S: Suite>(
    results: impl Iterator<Item = &'r CaseResult<S>>,
) -> bool {
    let answers: Vec<_> = results.filter(|result| is_answer(result)).collect();
    match &answers[..] {
        [] => true,
        [only] => only.verdict != Pass,
        several => {
            let has_passed = several.iter().any(|result| result.verdict == Pass);
            !has_passed && several.len() < MAX_BOARDS_PER_CASE && !have_same_problem(several)
        }
    }
}

/// Returns `true` if all of these have the same problem. Failures of which nothing is known by
/// which they could be compared are not the same.
fn have_same_problem<S: Suite>(results: &[&CaseResult<S>]) -> bool {
    let mut problems = results.iter().map(|result| problem_text(result));
    let Some(Some(first)) = problems.next() else { return false };
    problems.all(|problem| problem.as_ref() == Some(&first))
}

/// Returns a text that is equal for two boards with the same problem.
fn problem_text<S: Suite>(result: &CaseResult<S>) -> Option<String> {
    match result.verdict {
        Timeout | Error => Some("no answer".to_owned()),
        Fail if result.differences.is_empty() => result.reason.clone(),
        Fail => {
            Some(result.differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
        other => Some(other.as_str().to_owned()),
    }
}

/// Returns what is at fault; `None` for a pass, and for a case that no board could run.
fn fault_origin<S: Suite>(
    results: &[(String, CaseResult<S>)],
    verdict: Verdict,
) -> Option<FaultOrigin> {
    if matches!(verdict, Pass | Skipped | NotRun) {
        return None;
    }
    let (boards, problems): (Vec<_>, Vec<_>) = results
        .iter()
        .filter(|(_, result)| is_problem(result))
        .map(|(board, result)| (board.clone(), result))
        .unzip();
    Some(if results.iter().any(|(_, result)| result.verdict == Pass) {
        FaultOrigin::Boards(boards)
    } else if problems.len() == 1 {
        FaultOrigin::Unknown("it was not run on another board".to_owned())
    } else if have_same_problem(&problems) {
        FaultOrigin::Code(problems.len())
    } else {
        FaultOrigin::Unknown(format!("{} boards have different problems", problems.len()))
    })
}

#[cfg(test)]
mod tests;
