//! An earlier run against which a run is judged: what was wrong then in the same way is known, and
//! only what is new keeps a run from being a pass.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::NOT_ANSWERED;
use super::result::{CaseResult, Verdict};

/// Results of an earlier run.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    /// The name of the file that has them.
    pub file: String,
    /// The behaviour of the evaluator.
    pub behaviour: String,
    cases: BTreeMap<String, CaseResult>,
}

/// A case compared with the earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// It passed in both, or had no turn now.
    Quiet,
    /// It did not pass then in the same way.
    Known,
    /// It did not pass, and then it passed, ended in another way, or was not there.
    New,
    /// It passed now, and not then.
    Mended,
}

/// The comparison of a whole run with its baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The file of the earlier run.
    pub file: String,
    /// The cases that did not pass then in the same way.
    pub known: Vec<String>,
    /// Those that did not pass, and are not among them.
    pub new: Vec<String>,
    /// Those that passed now and not then.
    pub mended: Vec<String>,
}

impl Earlier {
    /// The run that this file is of, without its results.
    #[must_use]
    pub fn of(file: &Path) -> Self {
        Self { file: file.to_string_lossy().into_owned(), ..Self::default() }
    }

    /// Takes a result in; of a case that has several, as in a run over and over, only a pass of
    /// all of them is a pass.
    pub fn add(&mut self, result: CaseResult) {
        let id = result.id.clone();
        let place = self.cases.entry(id).or_insert_with(|| result.clone());
        if place.verdict == Verdict::Pass || result.verdict == Verdict::Fail {
            *place = result;
        }
    }

    /// Compares a case with how it ended then.
    #[must_use]
    pub fn compare(&self, now: &CaseResult) -> Compared {
        // Another position of the same name is another case.
        let then = self.cases.get(&now.id).filter(|then| then.fen == now.fen);
        let passed = |verdict| matches!(verdict, Verdict::Pass | Verdict::NotRun);
        match (now.verdict, then) {
            (Verdict::Pass, Some(then)) if !passed(then.verdict) => Compared::Mended,
            (verdict, _) if passed(verdict) => Compared::Quiet,
            (_, Some(then)) if is_same(then, now) => Compared::Known,
            _ => Compared::New,
        }
    }

    /// Compares all cases of a run.
    #[must_use]
    pub fn compare_all<'a>(&self, cases: impl IntoIterator<Item = &'a CaseResult>) -> Comparison {
        let mut all = Comparison { file: self.file.clone(), ..Comparison::default() };
        for case in cases {
            match self.compare(case) {
                Compared::Quiet => {}
                Compared::Known => all.known.push(case.id.clone()),
                Compared::New => all.new.push(case.id.clone()),
                Compared::Mended => all.mended.push(case.id.clone()),
            }
        }
        all
    }
}

/// Whether a case ended in the same way: with the same verdict, and of a wrong answer with nothing
/// wrong that was right then.
fn is_same(then: &CaseResult, now: &CaseResult) -> bool {
    let kind = |verdict| match verdict {
        verdict if NOT_ANSWERED.contains(&verdict) => Verdict::Timeout,
        other => other,
    };
    let was_there = |found| then.differences.contains(found);
    kind(then.verdict) == kind(now.verdict)
        && (now.verdict != Verdict::Fail || now.differences.iter().all(was_there))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Difference;
    use sargon_corpus::{Case, shipped};
    use sargon_reference::Square;

    fn case(place: usize) -> Case {
        shipped().expect("the corpus").remove(place)
    }

    fn ended(verdict: Verdict) -> CaseResult {
        CaseResult::new(&case(0), verdict)
    }

    fn wrong(squares: &[&str]) -> CaseResult {
        let differences = squares.iter().map(|square| Difference {
            square: Square::named(square),
            what: "residue".into(),
            board: "1".to_owned(),
            reference: "0".to_owned(),
            arrays: None,
        });
        CaseResult { differences: differences.collect(), ..ended(Verdict::Fail) }
    }

    fn baseline(results: Vec<CaseResult>) -> Earlier {
        let mut made = Earlier::default();
        results.into_iter().for_each(|result| made.add(result));
        made
    }

    #[test]
    fn only_the_same_trouble_is_known() {
        use Verdict::{Error, Fail, Flaky, NotRun, Pass, Skipped, Timeout};
        for then in Verdict::ALL {
            let before = baseline(vec![ended(then)]);
            for now in Verdict::ALL {
                let is_silent = |verdict| matches!(verdict, Timeout | Error);
                let expected = match (then, now) {
                    (Fail | Timeout | Error | Flaky | Skipped, Pass) => Compared::Mended,
                    (_, Pass | NotRun) => Compared::Quiet,
                    (then, now) if then == now => Compared::Known,
                    (then, now) if is_silent(then) && is_silent(now) => Compared::Known,
                    _ => Compared::New,
                };
                assert_eq!(before.compare(&ended(now)), expected, "{then} then, {now} now");
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_known_only_if_all_that_is_wrong_was_wrong_then() {
        let before = baseline(vec![wrong(&["a1", "b1"])]);
        assert_eq!(before.compare(&wrong(&["a1", "b1"])), Compared::Known);
        assert_eq!(before.compare(&wrong(&["b1"])), Compared::Known);
        assert_eq!(before.compare(&wrong(&["a1", "c1"])), Compared::New);
        let mut other = wrong(&["a1"]);
        other.differences[0].board = "2".to_owned();
        assert_eq!(before.compare(&other), Compared::New, "another residue");
    }

    #[test]
    fn a_case_that_was_not_there_or_had_another_position_is_new() {
        let before = baseline(vec![ended(Verdict::Fail)]);
        assert_eq!(before.compare(&CaseResult::new(&case(1), Verdict::Fail)), Compared::New);
        let moved = CaseResult { fen: Some("8/8/8/8 w - -".into()), ..ended(Verdict::Fail) };
        assert_eq!(before.compare(&moved), Compared::New);
        assert_eq!(baseline(Vec::new()).compare(&ended(Verdict::Flaky)), Compared::New);
    }

    #[test]
    fn of_several_results_of_a_case_a_trouble_counts_and_a_fail_most() {
        use Verdict::{Fail, Pass, Timeout};
        for (one, other, counts) in
            [(Pass, Fail, Fail), (Pass, Timeout, Timeout), (Timeout, Fail, Fail)]
        {
            for order in [[one, other], [other, one]] {
                let before = baseline(order.map(ended).to_vec());
                assert_eq!(before.compare(&ended(counts)), Compared::Known, "{order:?}");
                assert_eq!(before.compare(&ended(Pass)), Compared::Mended, "{order:?}");
            }
        }
    }
}
