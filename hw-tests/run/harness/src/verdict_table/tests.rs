//! Tests of the table and of what follows from it.

use rcflash_link::RetryCounts;

use super::*;
use crate::test_suite::{self, Result, TestSuite, case};

const RELATIONS: [Relation; 3] = [Relation::SameBoard, Relation::OtherBoard, Relation::OtherRound];

fn result(verdict: Verdict) -> Result {
    test_suite::result("a", verdict)
}

fn wrong(value: &str) -> Result {
    let difference = format!("A: {value}, expected 0");
    CaseResult { differences: vec![difference], ..result(Fail) }
}

fn joined(results: &[Result]) -> Result {
    let named = ["a", "b", "c", "d"].iter().zip(results);
    let named = named.map(|(name, result)| ((*name).to_owned(), result.clone()));
    merge_boards(named.collect()).expect("a result")
}

/// A result whose figures are multiples of `factor`.
fn measured(verdict: Verdict, factor: u64) -> Result {
    let retries = RetryCounts { timeout: factor, missing: 10 * factor, ..RetryCounts::default() };
    let reason = (verdict != Pass).then(|| format!("{verdict}s"));
    let attempts = factor as u32;
    CaseResult { attempts, retries, elapsed_us: 100 * factor, reason, ..result(verdict) }
}

/// Calls `check` for all lists of one to four verdicts.
fn for_all_lists(mut check: impl FnMut(&[Verdict])) {
    for length in 1..=4 {
        for number in 0..Verdict::ALL.len().pow(length) {
            let digit = |place| number / Verdict::ALL.len().pow(place) % Verdict::ALL.len();
            let list: Vec<_> = (0..length).map(|place| Verdict::ALL[digit(place)]).collect();
            check(&list);
        }
    }
}

#[test]
fn the_table_has_each_pair_of_unlike_verdicts_once() {
    for first in Verdict::ALL {
        for second in Verdict::ALL {
            let has_both = |pair: &[Verdict; 2]| pair.contains(&first) && pair.contains(&second);
            let rows = TABLE.iter().filter(|(pair, _)| first != second && has_both(pair)).count();
            assert_eq!(rows, usize::from(first != second), "{first} {second}");
        }
    }
}

#[test]
fn a_merged_verdict_depends_neither_on_the_order_nor_on_what_is_merged_first() {
    for relation in RELATIONS {
        let merge = |first, second| merge_verdicts(first, second, relation);
        for_all_lists(|list| {
            let whole = list.iter().copied().reduce(merge);
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted.into_iter().reduce(merge), whole, "{relation:?} {list:?}");
            for split in 1..list.len() {
                let part = |list: &[Verdict]| list.iter().copied().reduce(merge);
                let parts = part(&list[..split]).zip(part(&list[split..]));
                let parts = parts.map(|(left, right)| merge(left, right));
                assert_eq!(parts, whole, "{relation:?} {list:?} at {split}");
            }
        });
    }
}

#[test]
fn results_have_the_verdicts_of_the_table_on_a_board_and_on_several() {
    for_all_lists(|list| {
        for (relation, merged) in [
            (Relation::SameBoard, list.iter().map(|v| result(*v)).reduce(merge_repetitions)),
            (
                Relation::OtherBoard,
                merge_boards(list.iter().map(|v| (String::new(), result(*v))).collect()),
            ),
        ] {
            let merge = |first, second| merge_verdicts(first, second, relation);
            let expected = list.iter().copied().reduce(merge);
            let found = merged.map_or(NotRun, |merged| merged.verdict);
            assert_eq!(Some(found), expected, "{relation:?} {list:?}");
        }
    });
}

#[test]
fn a_wrong_reply_is_a_fail_whatever_other_boards_report() {
    for other in Verdict::ALL.map(result) {
        for pair in [[wrong("1"), other.clone()], [other.clone(), wrong("1")]] {
            let result = joined(&pair);
            assert_eq!(result.verdict, Fail, "{other:?}");
            assert!(result.differences == wrong("1").differences || other.verdict == Fail);
        }
    }
}

#[test]
fn what_passes_only_sometimes_on_a_board_is_flaky_and_nothing_else_hides_a_failure() {
    let both = |first, again| merge_verdicts(first, again, Relation::SameBoard);
    for bad in [Fail, Error, Timeout, Flaky] {
        assert_eq!((both(Pass, bad), both(Flaky, bad)), (Flaky, Flaky), "{bad}");
    }
    assert_eq!([both(Fail, Error), both(Timeout, Fail), both(Error, Timeout)], [Fail, Fail, Error]);
}

#[test]
fn of_the_rounds_of_a_soak_run_the_worst_is_listed() {
    let from_good_to_bad = [NotRun, Skipped, Pass, Flaky, Timeout, Error, Fail];
    for (place, worse) in from_good_to_bad.into_iter().enumerate() {
        for better in &from_good_to_bad[..place] {
            assert_eq!(merge_verdicts(*better, worse, Relation::OtherRound), worse, "{better}");
        }
    }
}

#[test]
fn only_passes_make_a_pass_and_without_a_result_there_is_none() {
    assert_eq!(merge_boards::<TestSuite>(Vec::new()), None);
    let one = joined(&[result(Pass)]);
    assert_eq!((one.verdict, one.board.as_deref(), one.board_verdicts.len()), (Pass, Some("a"), 0));
    assert_eq!(joined(&[result(Pass), result(Pass)]).verdict, Pass);
    assert_eq!(joined(&[result(Skipped), result(Pass)]).verdict, Pass);
    for problem in [Timeout, Error, Flaky] {
        let mixed = joined(&[result(problem), result(Pass)]);
        assert_eq!(mixed.verdict, Flaky, "{problem}");
        assert_eq!(mixed.fault, Some(FaultOrigin::Boards(vec!["a".to_owned()])), "{problem}");
        assert_eq!(joined(&[result(problem)]).verdict, problem);
    }
}

#[test]
fn the_second_request_decides_and_both_count() {
    let second = CaseResult { differences: wrong("1").differences, ..measured(Fail, 2) };
    let joined = merge_requests(measured(Pass, 1), second);
    assert_eq!(joined.differences, wrong("1").differences);
    assert_eq!((joined.verdict, joined.reason.as_deref()), (Fail, Some("fails")));
    assert_eq!((joined.retries, joined.elapsed_us), (measured(Pass, 3).retries, 300));
    assert_eq!(joined.attempts, 1, "one attempt");
}

#[test]
fn figures_add_up_over_repetitions_and_over_boards() {
    let results = || [measured(Timeout, 1), measured(Pass, 2), measured(Fail, 4)];
    let again = results().into_iter().reduce(merge_repetitions).expect("a result");
    for merged in [again, joined(&results())] {
        assert_eq!((merged.attempts, merged.elapsed_us), (7, 700));
        assert_eq!(merged.retries, measured(Pass, 7).retries);
    }
}

#[test]
fn a_flaky_result_names_both_verdicts_and_a_fail_keeps_its_differences() {
    let combined = merge_repetitions(measured(Timeout, 1), measured(Pass, 2));
    let reason = "sometimes timeout, sometimes pass: timeouts";
    assert_eq!((combined.verdict, combined.reason.as_deref()), (Flaky, Some(reason)));
    let third = merge_repetitions(combined, measured(Error, 4));
    assert_eq!((third.verdict, third.reason.as_deref()), (Flaky, Some(reason)));
    for pair in [[wrong("1"), result(Error)], [result(Error), wrong("1")]] {
        let [first, again] = pair;
        assert_eq!(merge_repetitions(first, again).differences, wrong("1").differences);
    }
}

#[test]
fn failures_that_cannot_be_compared_do_not_accuse_the_code() {
    let fails = [result(Fail), result(Fail)];
    assert!(matches!(joined(&fails).fault, Some(FaultOrigin::Unknown(_))));
    assert!(needs_another_board(fails.iter()));
    let with_reason = |reason: &str| Result::with_reason(&case("a"), Fail, reason);
    let fault = |a, b| joined(&[with_reason(a), with_reason(b)]).fault;
    assert_eq!(fault("it wrote to 8000h", "it wrote to 8000h"), Some(FaultOrigin::Code(2)));
    assert!(matches!(fault("it wrote to 8000h", "SP is lost"), Some(FaultOrigin::Unknown(_))));
}

#[test]
fn the_side_at_fault_follows_from_what_the_boards_have_in_common() {
    let fault = |results: &[Result]| joined(results).fault.expect("a fault");
    let boards =
        |names: &[&str]| FaultOrigin::Boards(names.iter().map(|&n| n.to_owned()).collect());
    assert_eq!(fault(&[wrong("1"), result(Pass)]), boards(&["a"]));
    assert_eq!(fault(&[wrong("1"), wrong("2"), result(Pass)]), boards(&["a", "b"]));
    assert_eq!(fault(&[wrong("1"), result(Skipped), result(Pass)]), boards(&["a"]));
    assert_eq!(fault(&[wrong("1"), wrong("1")]), FaultOrigin::Code(2));
    assert_eq!(fault(&[result(Timeout), result(Error)]), FaultOrigin::Code(2));
    assert!(matches!(fault(&[wrong("1"), wrong("2")]), FaultOrigin::Unknown(_)));
    assert!(matches!(fault(&[wrong("1"), result(Timeout)]), FaultOrigin::Unknown(_)));
    assert!(matches!(fault(&[wrong("1")]), FaultOrigin::Unknown(_)));
    assert_eq!(joined(&[result(Skipped)]).fault, None);
}

#[test]
fn another_board_is_asked_until_it_is_known_what_is_at_fault() {
    let rows = [
        (vec![], true),
        (vec![result(Skipped), result(NotRun)], true),
        (vec![result(Pass)], false),
        (vec![result(Skipped), result(Pass)], false),
        (vec![wrong("1")], true),
        (vec![wrong("1"), result(Pass)], false),
        (vec![wrong("1"), wrong("1")], false),
        (vec![wrong("1"), wrong("2")], true),
        (vec![wrong("1"), wrong("2"), wrong("3")], false),
    ];
    for (results, expected) in rows {
        assert_eq!(needs_another_board(results.iter()), expected, "{results:?}");
    }
}
