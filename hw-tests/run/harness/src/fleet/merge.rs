//! Merges the results of a case on several boards into one verdict, and finds what is at fault.

use super::scheduler::CaseOutcome;
use crate::runner::{BoardVerdict, CaseResult, FaultOrigin, Verdict};
use crate::suite::Suite;

/// Returns the outcome of a case on a board, for the scheduler.
pub(super) fn case_outcome<S: Suite>(result: &CaseResult<S>) -> CaseOutcome {
    match result.verdict {
        Verdict::Pass => CaseOutcome::Pass,
        Verdict::Skipped => CaseOutcome::Skip,
        Verdict::NotRun => CaseOutcome::None,
        _ => CaseOutcome::Problem(problem_signature(result)),
    }
}

/// Returns a text that is equal for two boards with the same problem; `None` for a failure of which
/// nothing is known by which it could be compared.
fn problem_signature<S: Suite>(result: &CaseResult<S>) -> Option<String> {
    match result.verdict {
        Verdict::Timeout | Verdict::Error => Some("no answer".to_owned()),
        Verdict::Fail if result.differences.is_empty() => result.reason.clone(),
        Verdict::Fail => {
            Some(result.differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
        other => Some(other.as_str().to_owned()),
    }
}

/// Merges the results of a case, given in order with the names of the boards. A wrong answer is a
/// fail, whatever other boards report; a case that passed on some boards only is flaky. Returns
/// `None` without results.
#[must_use]
pub fn merge_verdicts<S: Suite>(results: Vec<(String, CaseResult<S>)>) -> Option<CaseResult<S>> {
    let verdict = verdict(&results)?;
    let fault = fault(&results, verdict);
    let board_verdicts = results.iter().map(|(board, result)| BoardVerdict {
        board: board.clone(),
        verdict: result.verdict,
        reason: result.reason.clone(),
    });
    let mut board_verdicts: Vec<_> = board_verdicts.collect();
    if board_verdicts.len() == 1 && verdict == Verdict::Pass {
        board_verdicts.clear();
    }
    let attempts = results.iter().map(|(_, result)| result.attempts).sum();
    let shown = if verdict == Verdict::Flaky { Verdict::Pass } else { verdict };
    let position = |wanted| results.iter().position(|(_, result)| result.verdict == wanted);
    let index = position(shown).or_else(|| position(verdict)).unwrap_or_default();
    let (board, base) = results.into_iter().nth(index)?;
    let reason = base.reason.clone().or_else(|| {
        let text = |result: &BoardVerdict| format!("{} on {}", result.verdict, result.board);
        (verdict == Verdict::Flaky)
            .then(|| board_verdicts.iter().map(text).collect::<Vec<_>>().join(", "))
    });
    Some(CaseResult {
        verdict,
        reason,
        board: Some(board),
        board_verdicts,
        fault,
        attempts,
        ..base
    })
}

/// Returns the merged verdict, which does not depend on the order of the boards.
fn verdict<S: Suite>(results: &[(String, CaseResult<S>)]) -> Option<Verdict> {
    let has = |wanted| results.iter().any(|(_, result)| result.verdict == wanted);
    let is_answer = |verdict| !matches!(verdict, Verdict::Skipped | Verdict::NotRun);
    let mut answers =
        results.iter().map(|(_, result)| result.verdict).filter(|verdict| is_answer(*verdict));
    let Some(first) = answers.next() else {
        let skipped = has(Verdict::Skipped).then_some(Verdict::Skipped);
        return skipped.or(results.first().map(|(_, result)| result.verdict));
    };
    let are_equal = answers.all(|verdict| verdict == first);
    Some(match () {
        () if has(Verdict::Fail) => Verdict::Fail,
        () if are_equal => first,
        () if has(Verdict::Pass) || has(Verdict::Flaky) => Verdict::Flaky,
        () => Verdict::Error,
    })
}

/// Returns what is at fault; `None` for a pass, and for a case that the application can't run.
fn fault<S: Suite>(results: &[(String, CaseResult<S>)], verdict: Verdict) -> Option<FaultOrigin> {
    if matches!(verdict, Verdict::Pass | Verdict::Skipped | Verdict::NotRun) {
        return None;
    }
    let is_problem =
        |result: &CaseResult<S>| !matches!(result.verdict, Verdict::Pass | Verdict::Skipped);
    let problems: Vec<_> = results.iter().filter(|(_, result)| is_problem(result)).collect();
    let passed = results.iter().any(|(_, result)| result.verdict == Verdict::Pass);
    let first = problem_signature(&problems.first()?.1);
    Some(if passed {
        FaultOrigin::Boards(problems.iter().map(|(board, _)| board.clone()).collect())
    } else if problems.len() == 1 {
        FaultOrigin::Unknown("it was not run on another board".to_owned())
    } else if first.is_some()
        && problems.iter().all(|(_, result)| problem_signature(result) == first)
    {
        FaultOrigin::Code(problems.len())
    } else {
        FaultOrigin::Unknown(format!("{} boards have different problems", problems.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{self, Result};

    fn result(verdict: Verdict) -> Result {
        test_suite::result("a", verdict)
    }

    fn wrong(value: &str) -> Result {
        let difference = format!("A: {value}, expected 0");
        CaseResult { differences: vec![difference], ..result(Verdict::Fail) }
    }

    fn joined(results: &[Result]) -> Result {
        let named = ["a", "b", "c"].iter().zip(results);
        merge_verdicts(named.map(|(name, result)| ((*name).to_owned(), result.clone())).collect())
            .expect("a result")
    }

    #[test]
    fn a_wrong_answer_is_a_fail_whatever_other_boards_report() {
        for other in Verdict::ALL.map(result) {
            for pair in [[wrong("1"), other.clone()], [other.clone(), wrong("1")]] {
                let result = joined(&pair);
                assert_eq!(result.verdict, Verdict::Fail, "{other:?}");
                assert!(
                    result.differences == wrong("1").differences || other.verdict == Verdict::Fail
                );
            }
        }
    }

    #[test]
    fn only_passes_make_a_pass_and_no_end_is_none() {
        assert_eq!(merge_verdicts::<test_suite::TestSuite>(Vec::new()), None);
        let one = joined(&[result(Verdict::Pass)]);
        assert_eq!(
            (one.verdict, one.board.as_deref(), one.board_verdicts.len()),
            (Verdict::Pass, Some("a"), 0)
        );
        assert_eq!(joined(&[result(Verdict::Pass), result(Verdict::Pass)]).verdict, Verdict::Pass);
        assert_eq!(
            joined(&[result(Verdict::Skipped), result(Verdict::Pass)]).verdict,
            Verdict::Pass
        );
        for problem in [Verdict::Timeout, Verdict::Error, Verdict::Flaky] {
            let mixed = joined(&[result(problem), result(Verdict::Pass)]);
            assert_eq!(mixed.verdict, Verdict::Flaky, "{problem}");
            assert_eq!(mixed.fault, Some(FaultOrigin::Boards(vec!["a".to_owned()])), "{problem}");
            assert_eq!(joined(&[result(problem)]).verdict, problem);
        }
    }

    #[test]
    fn the_merged_verdict_does_not_depend_on_the_order_of_the_boards() {
        for one in Verdict::ALL {
            for other in Verdict::ALL {
                let ab = joined(&[result(one), result(other)]).verdict;
                assert_eq!(ab, joined(&[result(other), result(one)]).verdict, "{one} {other}");
                for third in Verdict::ALL {
                    let verdicts = [[one, other, third], [third, one, other], [other, third, one]];
                    let [first, rest @ ..] =
                        verdicts.map(|verdicts| joined(&verdicts.map(result)).verdict);
                    assert_eq!(rest, [first; 2], "{one} {other} {third}");
                }
            }
        }
        for answer in [Verdict::Pass, Verdict::Fail, Verdict::Timeout, Verdict::Error] {
            assert_eq!(joined(&[result(Verdict::Skipped), result(answer)]).verdict, answer);
        }
        assert_eq!(
            joined(&[result(Verdict::Timeout), result(Verdict::Error)]).verdict,
            Verdict::Error
        );
    }

    #[test]
    fn failures_that_cannot_be_compared_do_not_accuse_the_code() {
        let fails = [result(Verdict::Fail), result(Verdict::Fail)];
        assert!(matches!(joined(&fails).fault, Some(FaultOrigin::Unknown(_))));
        let with_reason = |reason: &str| {
            test_suite::Result::with_reason(&test_suite::case("a"), Verdict::Fail, reason)
        };
        let fault = |a, b| joined(&[with_reason(a), with_reason(b)]).fault;
        assert_eq!(fault("it wrote to 8000h", "it wrote to 8000h"), Some(FaultOrigin::Code(2)));
        assert!(matches!(fault("it wrote to 8000h", "SP is lost"), Some(FaultOrigin::Unknown(_))));
    }

    #[test]
    fn the_side_at_fault_follows_from_what_the_boards_have_in_common() {
        let fault = |results: &[Result]| joined(results).fault.expect("a fault");
        let boards =
            |names: &[&str]| FaultOrigin::Boards(names.iter().map(|&n| n.to_owned()).collect());
        assert_eq!(fault(&[wrong("1"), result(Verdict::Pass)]), boards(&["a"]));
        assert_eq!(fault(&[wrong("1"), wrong("2"), result(Verdict::Pass)]), boards(&["a", "b"]));
        assert_eq!(fault(&[wrong("1"), wrong("1")]), FaultOrigin::Code(2));
        assert_eq!(
            fault(&[result(Verdict::Timeout), result(Verdict::Error)]),
            FaultOrigin::Code(2)
        );
        assert!(matches!(fault(&[wrong("1"), wrong("2")]), FaultOrigin::Unknown(_)));
        assert!(matches!(fault(&[wrong("1"), result(Verdict::Timeout)]), FaultOrigin::Unknown(_)));
        assert!(matches!(fault(&[wrong("1")]), FaultOrigin::Unknown(_)));
        assert_eq!(joined(&[result(Verdict::Skipped)]).fault, None);
    }
}
