//! From the board's words to a verdict.

use rcflash_link::LinkError;

use super::result::{CaseResult, Verdict};
use crate::answers::{CaseAnswer, CheckThere, Observation};
use crate::checks::{Expected, last_move};
use crate::compare::{
    Standard, compare_exchange, compare_position, compare_steps, compare_verdicts,
};
use crate::residues::{exchange, squares};
use sargon_corpus::{Case, Subject};
use sargon_reference::{Behaviour, examine_as, exchange_as};

/// Holds the board's word on a case's questions against the reference: on one of them, or on both
/// about a position at once.
pub(super) fn judge(case: &Case, standard: Standard, said: &CaseAnswer) -> CaseResult {
    let first = judge_one(case, standard, said);
    let CaseAnswer::Position(seen) = said else { return first };
    match seen.end.points {
        Some(points) if first.verdict == Verdict::Pass => {
            join(first, judge_one(case, standard, &CaseAnswer::Points(points)))
        }
        _ => first,
    }
}

fn judge_one(case: &Case, standard: Standard, said: &CaseAnswer) -> CaseResult {
    let is_mended = standard.behaviour == Behaviour::Mended;
    let mut result = CaseResult::new(case, Verdict::Pass);
    match (&case.subject, said) {
        (Subject::Position { position, expected, printed, .. }, CaseAnswer::Position(seen)) => {
            let stated = if is_mended { expected } else { printed };
            result.differences = compare_position(position, standard, stated, seen);
            result.squares = squares(&examine_as(position, standard.behaviour).verdicts, seen);
        }
        (Subject::Position { position, .. }, CaseAnswer::Points(seen)) => {
            let verdicts = examine_as(position, standard.behaviour).verdicts;
            let (mover, moved) = last_move(position, &verdicts);
            result.differences = compare_verdicts(&verdicts, standard, mover, moved, seen);
        }
        (
            Subject::Array { piece, array, expected, printed },
            &CaseAnswer::Exchange(residue, status),
        ) => {
            let stated = if is_mended { Some(*expected) } else { *printed };
            let seen = (residue, status);
            result.differences = compare_exchange(*piece, array, standard, stated, seen);
            let outcome = exchange_as(*piece, array, standard.behaviour);
            result.squares.push(exchange(*piece, array, outcome.residue, seen));
        }
        (Subject::Array { piece, array, .. }, CaseAnswer::Steps(residue, status, steps)) => {
            let outcome = (*residue, *status);
            result.differences = compare_steps(*piece, array, standard, outcome, steps);
        }
        _ => return CaseResult::because(case, Verdict::Error, "the answer is to something else"),
    }
    if !result.differences.is_empty() {
        result.verdict = Verdict::Fail;
    }
    result
}

/// The verdict on a position whose check is right: what it stands for is held against the reference
/// and the document as if the board had said every byte of it.
pub(super) fn judge_by_check(
    case: &Case,
    standard: Standard,
    expected: &Expected,
    seen: &CheckThere,
) -> CaseResult {
    let t_states = seen.t_states.as_ref().map(|calls| {
        let of = |square: u8| calls.iter().filter(|call| call.0 == square).map(|call| call.1).sum();
        expected.observation.squares.iter().map(|record| of(record.square)).collect()
    });
    let observation = Observation { t_states, ..expected.observation.clone() };
    let first = judge(case, standard, &CaseAnswer::Position(observation));
    if first.verdict != Verdict::Pass {
        return first;
    }
    join(first, judge(case, standard, &CaseAnswer::Points(expected.points)))
}

/// The verdict on a case that has no answer.
pub(super) fn unanswered(
    case: &Case,
    error: &LinkError,
    whereabouts: impl FnOnce() -> String,
) -> CaseResult {
    let LinkError::Timeout { .. } = error else {
        return CaseResult::because(case, Verdict::Error, error.to_string());
    };
    CaseResult::because(case, Verdict::Timeout, format!("{error}; {}", whereabouts()))
}

/// The result of a case whose first question passed.
pub(super) fn join(mut first: CaseResult, second: CaseResult) -> CaseResult {
    first.repeats += second.repeats;
    first.took_us += second.took_us;
    let CaseResult { verdict, why, differences, .. } = second;
    CaseResult { verdict, why, differences, ..first }
}

/// The verdict on a case that was put several times. One that passes only sometimes is flaky,
/// whatever else it does.
pub(super) fn combine(first: CaseResult, again: CaseResult) -> CaseResult {
    let mut repeats = first.repeats;
    repeats += again.repeats;
    let attempts = first.attempts + again.attempts;
    let took_us = first.took_us + again.took_us;
    CaseResult { attempts, repeats, took_us, ..either(first, again) }
}

/// Returns the result of two attempts together.
fn either(first: CaseResult, again: CaseResult) -> CaseResult {
    if first.verdict == again.verdict || first.verdict == Verdict::Flaky {
        return first;
    }
    let verdicts = [first.verdict, again.verdict];
    let has = |verdict| verdicts.contains(&verdict);
    let bad = if first.verdict == Verdict::Pass { again } else { first };
    if has(Verdict::Pass) || has(Verdict::Flaky) {
        let told = bad.why.as_deref().map_or(String::new(), |why| format!(": {why}"));
        let why = Some(format!("sometimes {}, sometimes {}{told}", verdicts[0], verdicts[1]));
        return CaseResult { verdict: Verdict::Flaky, why, ..bad };
    }
    let verdict = if has(Verdict::Fail) { Verdict::Fail } else { Verdict::Error };
    CaseResult { verdict, ..bad }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcflash_link::{RecentTraffic, RetryCounts};

    use super::*;
    use sargon_corpus::shipped;
    use sargon_reference::{AttackersArray, Colour, Kind, Piece};

    fn case() -> Case {
        shipped().expect("the corpus").remove(0)
    }

    /// A result with figures.
    fn result(verdict: Verdict, factor: u64) -> CaseResult {
        let repeats =
            RetryCounts { timeout: factor, missing: 10 * factor, ..RetryCounts::default() };
        let attempts = factor as u32;
        let why = (verdict != Verdict::Pass).then(|| format!("{verdict}s"));
        CaseResult {
            attempts,
            repeats,
            took_us: 100 * factor,
            why,
            ..CaseResult::new(&case(), verdict)
        }
    }

    #[test]
    fn the_second_question_decides_and_both_count() {
        let wrong = compare_exchange(
            Piece { colour: Colour::White, kind: Kind::Pawn },
            &AttackersArray::from_bytes(&[0; 14]),
            Standard { behaviour: Behaviour::Mended, status: 0 },
            None,
            (1, 0),
        );
        let second = CaseResult { differences: wrong.clone(), ..result(Verdict::Fail, 2) };
        let joined = join(result(Verdict::Pass, 1), second);
        assert_eq!(joined.differences, wrong);
        assert_eq!((joined.verdict, joined.why.as_deref()), (Verdict::Fail, Some("fails")));
        assert_eq!((joined.repeats, joined.took_us), (result(Verdict::Pass, 3).repeats, 300));
        assert_eq!(joined.attempts, 1, "it was put once");
    }

    #[test]
    fn what_passes_only_sometimes_is_flaky_and_nothing_else_hides_a_failure() {
        use Verdict::{Error, Fail, Flaky, Pass, Timeout};
        let both = |first, again| combine(result(first, 1), result(again, 2)).verdict;
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
    fn attempts_add_up_and_a_flake_tells_both_words() {
        let combined = combine(result(Verdict::Timeout, 1), result(Verdict::Pass, 2));
        assert_eq!((combined.attempts, combined.took_us), (3, 300));
        assert_eq!(combined.repeats, result(Verdict::Pass, 3).repeats);
        let why = combined.why.expect("a reason");
        assert_eq!(why, "sometimes timeout, sometimes pass: timeouts");
    }

    #[test]
    fn silence_is_a_timeout_with_the_place_and_all_else_an_error_without() {
        let silence = LinkError::Timeout {
            port: "here".to_owned(),
            attempts: 3,
            operation: "asking",
            waited: Duration::from_secs(1),
            recent_traffic: Box::new(RecentTraffic::default()),
        };
        let told = unanswered(&case(), &silence, || "at home".to_owned());
        assert_eq!(told.verdict, Verdict::Timeout);
        assert!(told.why.is_some_and(|why| why.ends_with("; at home")));
        let nonsense =
            LinkError::UnexpectedReply { operation: "asking", cause: "it is empty".to_owned() };
        let told = unanswered(&case(), &nonsense, || unreachable!("nobody was silent"));
        assert_eq!((told.verdict, told.why), (Verdict::Error, Some(nonsense.to_string())));
    }
}
