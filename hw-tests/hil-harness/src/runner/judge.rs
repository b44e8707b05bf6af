//! Judges replies of a board by the reference.

use rcflash_link::LinkError;

use super::result::{CaseResult, Verdict};
use crate::checks::{ExpectedPosition, last_move};
use crate::compare::{
    Criteria, compare_exchange, compare_points_reply, compare_position, compare_steps,
};
use crate::residues::{exchange_entry, square_entries};
use crate::responses::{CaseResponse, ObservedCheck, PositionResponse};
use sargon_corpus::{Case, CaseInput};
use sargon_reference::{Behaviour, evaluate_as, exchange_as};

/// Judges a response to one request of a case, or the combined response for a position.
pub(super) fn judge_case(case: &Case, criteria: Criteria, response: &CaseResponse) -> CaseResult {
    let first = judge_response(case, criteria, response);
    let CaseResponse::Position(seen) = response else { return first };
    match seen.end.points {
        Some(points) if first.verdict == Verdict::Pass => {
            merge_requests(first, judge_response(case, criteria, &CaseResponse::Points(points)))
        }
        _ => first,
    }
}

fn judge_response(case: &Case, criteria: Criteria, response: &CaseResponse) -> CaseResult {
    let is_corrected = criteria.behaviour == Behaviour::Corrected;
    let mut result = CaseResult::new(case, Verdict::Pass);
    match (&case.subject, response) {
        (CaseInput::Position { position, expected, printed, .. }, CaseResponse::Position(seen)) => {
            let documented = if is_corrected { expected } else { printed };
            result.differences = compare_position(position, criteria, documented, seen);
            result.squares =
                square_entries(&evaluate_as(position, criteria.behaviour).squares, seen);
        }
        (CaseInput::Position { position, .. }, CaseResponse::Points(seen)) => {
            let verdicts = evaluate_as(position, criteria.behaviour).squares;
            let (mover, moved) = last_move(position, &verdicts);
            result.differences = compare_points_reply(&verdicts, criteria, mover, moved, seen);
        }
        (
            CaseInput::Array { piece, array, expected, printed },
            &CaseResponse::Exchange(residue, status),
        ) => {
            let documented = if is_corrected { Some(*expected) } else { *printed };
            let seen = (residue, status);
            result.differences = compare_exchange(*piece, array, criteria, documented, seen);
            let outcome = exchange_as(*piece, array, criteria.behaviour);
            result.squares.push(exchange_entry(*piece, array, outcome.residue, seen));
        }
        (CaseInput::Array { piece, array, .. }, CaseResponse::Steps(residue, status, steps)) => {
            let outcome = (*residue, *status);
            result.differences = compare_steps(*piece, array, criteria, outcome, steps);
        }
        _ => {
            return CaseResult::with_reason(
                case,
                Verdict::Error,
                "the reply belongs to another request",
            );
        }
    }
    if !result.differences.is_empty() {
        result.verdict = Verdict::Fail;
    }
    result
}

/// Judges a position whose CRC matches: the expected replies stand in for those of the board, so
/// that they are compared with the documented residues, too.
pub(super) fn judge_by_crc(
    case: &Case,
    criteria: Criteria,
    expected: &ExpectedPosition,
    seen: &ObservedCheck,
) -> CaseResult {
    let t_states = seen.t_states.as_ref().map(|calls| {
        let of = |square: u8| calls.iter().filter(|call| call.0 == square).map(|call| call.1).sum();
        expected.response.squares.iter().map(|record| of(record.square)).collect()
    });
    let observation = PositionResponse { t_states, ..expected.response.clone() };
    let first = judge_case(case, criteria, &CaseResponse::Position(observation));
    if first.verdict != Verdict::Pass {
        return first;
    }
    merge_requests(first, judge_case(case, criteria, &CaseResponse::Points(expected.points)))
}

/// Returns the result of a case without a valid reply: a timeout or an error. `program_counter` is
/// called for a timeout only.
pub(super) fn missing_reply(
    case: &Case,
    error: &LinkError,
    program_counter: impl FnOnce() -> String,
) -> CaseResult {
    let LinkError::Timeout { .. } = error else {
        return CaseResult::with_reason(case, Verdict::Error, error.to_string());
    };
    CaseResult::with_reason(case, Verdict::Timeout, format!("{error}; {}", program_counter()))
}

/// Merges the results of both requests of a case, of which the first passed.
pub(super) fn merge_requests(mut first: CaseResult, second: CaseResult) -> CaseResult {
    first.retries += second.retries;
    first.elapsed_us += second.elapsed_us;
    let CaseResult { verdict, reason, differences, .. } = second;
    CaseResult { verdict, reason, differences, ..first }
}

/// Merges the results of two repetitions of a case. One that passes only sometimes is flaky,
/// whatever the other results.
pub(super) fn merge_repetitions(first: CaseResult, again: CaseResult) -> CaseResult {
    let mut retries = first.retries;
    retries += again.retries;
    let attempts = first.attempts + again.attempts;
    let elapsed_us = first.elapsed_us + again.elapsed_us;
    CaseResult { attempts, retries, elapsed_us, ..worse_of(first, again) }
}

/// Returns the result that counts of two, without the sums of figures.
fn worse_of(first: CaseResult, again: CaseResult) -> CaseResult {
    if first.verdict == again.verdict || first.verdict == Verdict::Flaky {
        return first;
    }
    let verdicts = [first.verdict, again.verdict];
    let has = |verdict| verdicts.contains(&verdict);
    let bad = if first.verdict == Verdict::Pass { again } else { first };
    if has(Verdict::Pass) || has(Verdict::Flaky) {
        let detail = bad.reason.as_deref().map_or(String::new(), |why| format!(": {why}"));
        let reason = Some(format!("sometimes {}, sometimes {}{detail}", verdicts[0], verdicts[1]));
        return CaseResult { verdict: Verdict::Flaky, reason, ..bad };
    }
    let verdict = if has(Verdict::Fail) { Verdict::Fail } else { Verdict::Error };
    CaseResult { verdict, ..bad }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcflash_link::{RecentTraffic, RetryCounts};

    use super::*;
    use sargon_corpus::builtin_corpus;
    use sargon_reference::{AttackersArray, Colour, Piece, PieceKind};

    fn case() -> Case {
        builtin_corpus().expect("the corpus").remove(0)
    }

    /// A result whose figures are multiples of `factor`.
    fn result(verdict: Verdict, factor: u64) -> CaseResult {
        let retries =
            RetryCounts { timeout: factor, missing: 10 * factor, ..RetryCounts::default() };
        let attempts = factor as u32;
        let reason = (verdict != Verdict::Pass).then(|| format!("{verdict}s"));
        CaseResult {
            attempts,
            retries,
            elapsed_us: 100 * factor,
            reason,
            ..CaseResult::new(&case(), verdict)
        }
    }

    #[test]
    fn the_second_request_decides_and_both_count() {
        let wrong = compare_exchange(
            Piece { colour: Colour::White, kind: PieceKind::Pawn },
            &AttackersArray::from_bytes(&[0; 14]),
            Criteria { behaviour: Behaviour::Corrected, status_mask: 0 },
            None,
            (1, 0),
        );
        let second = CaseResult { differences: wrong.clone(), ..result(Verdict::Fail, 2) };
        let joined = merge_requests(result(Verdict::Pass, 1), second);
        assert_eq!(joined.differences, wrong);
        assert_eq!((joined.verdict, joined.reason.as_deref()), (Verdict::Fail, Some("fails")));
        assert_eq!((joined.retries, joined.elapsed_us), (result(Verdict::Pass, 3).retries, 300));
        assert_eq!(joined.attempts, 1, "one attempt");
    }

    #[test]
    fn what_passes_only_sometimes_is_flaky_and_nothing_else_hides_a_failure() {
        use Verdict::{Error, Fail, Flaky, Pass, Timeout};
        let both = |first, again| merge_repetitions(result(first, 1), result(again, 2)).verdict;
        for same in [Pass, Fail, Error, Timeout, Flaky] {
            assert_eq!(both(same, same), same);
        }
        for bad in [Fail, Error, Timeout, Flaky] {
            assert_eq!([both(Pass, bad), both(bad, Pass)], [Flaky; 2], "{bad}");
            assert_eq!([both(Flaky, bad), both(bad, Flaky)], [Flaky; 2], "{bad}");
        }
        assert_eq!([both(Fail, Error), both(Timeout, Fail)], [Fail; 2]);
        assert_eq!([both(Error, Timeout), both(Timeout, Error)], [Error; 2]);
    }

    #[test]
    fn attempts_add_up_and_a_flaky_result_names_both_verdicts() {
        let combined = merge_repetitions(result(Verdict::Timeout, 1), result(Verdict::Pass, 2));
        assert_eq!((combined.attempts, combined.elapsed_us), (3, 300));
        assert_eq!(combined.retries, result(Verdict::Pass, 3).retries);
        let why = combined.reason.expect("a reason");
        assert_eq!(why, "sometimes timeout, sometimes pass: timeouts");
    }

    #[test]
    fn a_timeout_has_the_program_counter_and_other_errors_do_not() {
        let timeout = LinkError::Timeout {
            port: "here".to_owned(),
            attempts: 3,
            operation: "reading",
            waited: Duration::from_secs(1),
            recent_traffic: Box::new(RecentTraffic::default()),
        };
        let result = missing_reply(&case(), &timeout, || "pc 8000h".to_owned());
        assert_eq!(result.verdict, Verdict::Timeout);
        assert!(result.reason.is_some_and(|why| why.ends_with("; pc 8000h")));
        let invalid =
            LinkError::UnexpectedReply { operation: "reading", cause: "it is empty".to_owned() };
        let result = missing_reply(&case(), &invalid, || unreachable!("not a timeout"));
        assert_eq!((result.verdict, result.reason), (Verdict::Error, Some(invalid.to_string())));
    }
}
