//! From the ends of a case on several boards to one verdict, and to the side at fault.

use super::scheduler::Outcome;
use crate::runner::{CaseResult, EndThere, Fault, Verdict};

/// The end of a case on a board, as the scheduler sees it.
pub(super) fn outcome(result: &CaseResult) -> Outcome {
    match result.verdict {
        Verdict::Pass => Outcome::Right,
        Verdict::NotRun => Outcome::None,
        _ => Outcome::Trouble(trouble(result)),
    }
}

/// A text that is the same for the same trouble on two boards.
fn trouble(result: &CaseResult) -> String {
    match result.verdict {
        Verdict::Timeout | Verdict::Error => "no answer".to_owned(),
        Verdict::Fail => {
            result.differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
        other => other.word().to_owned(),
    }
}

/// Joins the ends of a case, in their order, with the names of the boards. A wrong answer is a
/// fail, whatever other boards say; a case that passed on some boards only is flaky. `None` if
/// there is no end.
#[must_use]
pub fn join(ends: Vec<(String, CaseResult)>) -> Option<CaseResult> {
    let verdict = verdict(&ends)?;
    let fault = fault(&ends, verdict);
    let there = ends.iter().map(|(board, end)| EndThere {
        board: board.clone(),
        verdict: end.verdict,
        why: end.why.clone(),
    });
    let mut there: Vec<_> = there.collect();
    if there.len() == 1 && verdict == Verdict::Pass {
        there.clear();
    }
    let attempts = ends.iter().map(|(_, end)| end.attempts).sum();
    let shown = if verdict == Verdict::Flaky { Verdict::Pass } else { verdict };
    let place = ends.iter().position(|(_, end)| end.verdict == shown).unwrap_or_default();
    let (board, base) = ends.into_iter().nth(place)?;
    let why = base.why.clone().or_else(|| {
        let text = |end: &EndThere| format!("{} on {}", end.verdict, end.board);
        (verdict == Verdict::Flaky).then(|| there.iter().map(text).collect::<Vec<_>>().join(", "))
    });
    Some(CaseResult { verdict, why, board: Some(board), ends: there, fault, attempts, ..base })
}

/// The verdict of all ends.
fn verdict(ends: &[(String, CaseResult)]) -> Option<Verdict> {
    let has = |wanted| ends.iter().any(|(_, end)| end.verdict == wanted);
    let first = ends.first()?.1.verdict;
    let is_mixed =
        || ends.iter().any(|(_, end)| !matches!(end.verdict, Verdict::Pass | Verdict::Skipped));
    Some(match () {
        () if has(Verdict::Fail) => Verdict::Fail,
        () if has(Verdict::Pass) && is_mixed() => Verdict::Flaky,
        () if has(Verdict::Pass) => Verdict::Pass,
        () => first,
    })
}

/// The side at fault; `None` for a pass, and for what the application can't answer.
fn fault(ends: &[(String, CaseResult)], verdict: Verdict) -> Option<Fault> {
    if matches!(verdict, Verdict::Pass | Verdict::Skipped | Verdict::NotRun) {
        return None;
    }
    let is_trouble = |end: &CaseResult| !matches!(end.verdict, Verdict::Pass | Verdict::Skipped);
    let troubled: Vec<_> = ends.iter().filter(|(_, end)| is_trouble(end)).collect();
    let passed = ends.iter().any(|(_, end)| end.verdict == Verdict::Pass);
    let first = troubled.first().map(|(_, end)| trouble(end))?;
    Some(if passed {
        Fault::Boards(troubled.iter().map(|(board, _)| board.clone()).collect())
    } else if troubled.len() == 1 {
        Fault::Unknown("no other board has had it".to_owned())
    } else if troubled.iter().all(|(_, end)| trouble(end) == first) {
        Fault::Code(troubled.len())
    } else {
        Fault::Unknown(format!("{} boards end in different ways", troubled.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Difference;
    use sargon_corpus::shipped;

    fn end(verdict: Verdict) -> CaseResult {
        CaseResult::new(&shipped().expect("the corpus")[0], verdict)
    }

    fn wrong(residue: &str) -> CaseResult {
        let difference = Difference {
            square: None,
            what: "residue".into(),
            board: residue.to_owned(),
            reference: "0".to_owned(),
            arrays: None,
        };
        CaseResult { differences: vec![difference], ..end(Verdict::Fail) }
    }

    fn joined(ends: &[CaseResult]) -> CaseResult {
        let named = ["a", "b", "c"].iter().zip(ends);
        join(named.map(|(name, end)| ((*name).to_owned(), end.clone())).collect()).expect("an end")
    }

    #[test]
    fn a_wrong_answer_is_a_fail_whatever_other_boards_say() {
        for other in Verdict::ALL.map(end) {
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
        assert_eq!(join(Vec::new()), None);
        let one = joined(&[end(Verdict::Pass)]);
        assert_eq!(
            (one.verdict, one.board.as_deref(), one.ends.len()),
            (Verdict::Pass, Some("a"), 0)
        );
        assert_eq!(joined(&[end(Verdict::Pass), end(Verdict::Pass)]).verdict, Verdict::Pass);
        assert_eq!(joined(&[end(Verdict::Skipped), end(Verdict::Pass)]).verdict, Verdict::Pass);
        for trouble in [Verdict::Timeout, Verdict::Error, Verdict::Flaky] {
            let mixed = joined(&[end(trouble), end(Verdict::Pass)]);
            assert_eq!(mixed.verdict, Verdict::Flaky, "{trouble}");
            assert_eq!(mixed.fault, Some(Fault::Boards(vec!["a".to_owned()])), "{trouble}");
            assert_eq!(joined(&[end(trouble)]).verdict, trouble);
        }
    }

    #[test]
    fn the_side_at_fault_follows_from_what_the_boards_have_in_common() {
        let fault = |ends: &[CaseResult]| joined(ends).fault.expect("a fault");
        let boards = |names: &[&str]| Fault::Boards(names.iter().map(|&n| n.to_owned()).collect());
        assert_eq!(fault(&[wrong("1"), end(Verdict::Pass)]), boards(&["a"]));
        assert_eq!(fault(&[wrong("1"), wrong("2"), end(Verdict::Pass)]), boards(&["a", "b"]));
        assert_eq!(fault(&[wrong("1"), wrong("1")]), Fault::Code(2));
        assert_eq!(fault(&[end(Verdict::Timeout), end(Verdict::Error)]), Fault::Code(2));
        assert!(matches!(fault(&[wrong("1"), wrong("2")]), Fault::Unknown(_)));
        assert!(matches!(fault(&[wrong("1"), end(Verdict::Timeout)]), Fault::Unknown(_)));
        assert!(matches!(fault(&[wrong("1")]), Fault::Unknown(_)));
        assert_eq!(joined(&[end(Verdict::Skipped)]).fault, None);
    }
}
