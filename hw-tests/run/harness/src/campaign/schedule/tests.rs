//! Tests of the schedule.

use super::*;
use crate::test_suite::{self, Result, TestSuite};

/// A schedule whose first round has all cases.
fn schedule(cases: usize, boards: usize) -> Schedule<TestSuite> {
    let mut schedule = Schedule::new(cases, boards);
    schedule.start_round(cases);
    schedule
}

fn pass() -> Result {
    test_suite::result("a", Verdict::Pass)
}

fn problem(value: &str) -> Result {
    CaseResult { differences: vec![value.to_owned()], ..test_suite::result("a", Verdict::Fail) }
}

fn not_run() -> Result {
    test_suite::result("a", Verdict::NotRun)
}

fn skipped() -> Result {
    test_suite::result("a", Verdict::Skipped)
}

/// Assigns a board its next case, which must be this one.
#[track_caller]
fn takes(schedule: &mut Schedule<TestSuite>, board: usize, case: usize) {
    assert_eq!(schedule.take(board), Some(case));
}

/// Returns the names of the cases that are settled.
fn names(settled: Vec<SettledCase<TestSuite>>) -> Vec<usize> {
    settled.into_iter().map(|(case, _)| case).collect()
}

/// Breaks the round off, and returns the cases that were not settled.
fn left(schedule: &mut Schedule<TestSuite>) -> Vec<SettledCase<TestSuite>> {
    (0..schedule.round().len()).filter_map(|place| schedule.settle_early(place)).collect()
}

#[test]
fn boards_take_cases_in_turn_and_none_twice() {
    let mut schedule = schedule(3, 2);
    takes(&mut schedule, 0, 0);
    takes(&mut schedule, 1, 1);
    assert_eq!(names(schedule.add_result(1, 1, pass())), [1]);
    takes(&mut schedule, 1, 2);
    assert_eq!(schedule.take(0), None);
    assert_eq!(names(schedule.add_result(1, 2, pass())), [2]);
    assert!(schedule.add_result(1, 2, pass()).is_empty(), "it has ended");
    assert!(schedule.add_result(1, 0, pass()).is_empty(), "it is another board's");
    assert!(!schedule.is_round_over() && !schedule.boards[0].is_retired);
    assert_eq!(names(schedule.add_result(0, 0, pass())), [0]);
    assert!(schedule.is_round_over());
}

#[test]
fn a_problem_is_rerun_on_another_board_and_never_on_the_same() {
    let mut schedule = schedule(1, 2);
    takes(&mut schedule, 0, 0);
    assert!(schedule.add_result(0, 0, problem("x")).is_empty());
    assert_eq!(schedule.take(0), None);
    takes(&mut schedule, 1, 0);
    let settled = schedule.add_result(1, 0, pass());
    let boards: Vec<_> = settled[0].1.iter().map(|(board, _)| *board).collect();
    assert_eq!((settled[0].0, boards), (0, vec![0, 1]));
    assert_eq!([schedule.boards[0].strikes, schedule.boards[1].strikes], [1, 0]);
    assert_eq!(schedule.reruns, 1);
}

#[test]
fn the_same_problem_twice_is_enough_and_two_different_ones_take_a_third_board() {
    for (second, is_enough) in [("x", true), ("y", false)] {
        let mut schedule = schedule(1, 4);
        takes(&mut schedule, 0, 0);
        schedule.add_result(0, 0, problem("x"));
        takes(&mut schedule, 1, 0);
        let settled = schedule.add_result(1, 0, problem(second));
        assert_eq!(settled.len(), usize::from(is_enough));
        if !is_enough {
            takes(&mut schedule, 2, 0);
            let settled = schedule.add_result(2, 0, problem("z"));
            assert_eq!(names(settled), [0], "three are all");
        }
        assert_eq!(schedule.boards[0].strikes, 0, "no board passed");
    }
}

#[test]
fn a_problem_is_settled_if_no_other_board_is_left() {
    let mut alone = schedule(1, 1);
    takes(&mut alone, 0, 0);
    assert_eq!(names(alone.add_result(0, 0, problem("x"))), [0]);
    for is_rerun in [false, true] {
        let mut schedule = schedule(1, 2);
        takes(&mut schedule, 0, 0);
        schedule.add_result(0, 0, problem("x"));
        if is_rerun {
            takes(&mut schedule, 1, 0);
        }
        assert_eq!(names(schedule.retire(1)), [0], "the rerun was in progress: {is_rerun}");
    }
}

#[test]
fn the_cases_of_a_lost_board_are_run_first_and_in_their_order() {
    let mut schedule = schedule(4, 2);
    for case in 0..3 {
        takes(&mut schedule, 0, case);
    }
    assert!(schedule.retire(0).is_empty());
    assert!(schedule.boards[0].is_retired && schedule.take(0).is_none());
    for case in 0..4 {
        takes(&mut schedule, 1, case);
    }
    assert_eq!((schedule.returned, schedule.reruns), (3, 0));
}

#[test]
fn a_case_without_a_result_goes_to_another_board_and_to_none_twice() {
    let mut two = schedule(2, 2);
    takes(&mut two, 0, 0);
    assert!(two.add_result(0, 0, not_run()).is_empty());
    takes(&mut two, 0, 1);
    takes(&mut two, 1, 0);
    assert_eq!(names(two.add_result(1, 0, pass())), [0]);
    let mut alone = schedule(1, 1);
    takes(&mut alone, 0, 0);
    assert!(alone.add_result(0, 0, not_run()).is_empty());
    assert!(alone.take(0).is_none() && !alone.is_round_over(), "it has no verdict");
    assert_eq!(names(left(&mut alone)), [0]);
}

#[test]
fn a_skip_goes_to_the_next_board_and_counts_against_none() {
    let mut schedule = schedule(3, 2);
    for case in 0..3 {
        takes(&mut schedule, 0, case);
        assert!(schedule.add_result(0, case, skipped()).is_empty());
    }
    for (case, result) in (0..).zip([pass(), skipped(), problem("x")]) {
        takes(&mut schedule, 1, case);
        assert_eq!(names(schedule.add_result(1, case, result)), [case]);
    }
    assert!(schedule.is_round_over());
    assert_eq!(
        [0, 1].map(|board| (schedule.boards[board].strikes, schedule.boards[board].is_retired)),
        [(0, false), (0, false)]
    );
}

#[test]
fn a_board_with_problems_of_its_own_is_quarantined() {
    let mut schedule = schedule(10, 2);
    for case in 0..3 {
        takes(&mut schedule, 0, case);
        schedule.add_result(0, case, problem("x"));
        takes(&mut schedule, 1, case);
        assert!(!schedule.boards[0].is_quarantined());
        schedule.add_result(1, case, pass());
    }
    assert!(schedule.boards[0].is_quarantined() && schedule.boards[0].is_retired);
    assert_eq!(schedule.take(0), None);
    takes(&mut schedule, 1, 3);
}

#[test]
fn a_case_is_settled_if_the_only_board_that_could_confirm_it_is_quarantined() {
    let mut schedule = schedule(10, 2);
    takes(&mut schedule, 1, 0);
    for case in 1..4 {
        takes(&mut schedule, 0, case);
        schedule.add_result(0, case, problem("x"));
        takes(&mut schedule, 1, case);
    }
    schedule.add_result(1, 0, problem("y"));
    let settled = [1, 2, 3].map(|case| names(schedule.add_result(1, case, pass())));
    assert_eq!(settled, [vec![1], vec![2], vec![3, 0]]);
}

#[test]
fn a_board_with_open_problems_gets_no_new_cases() {
    let mut schedule = schedule(10, 2);
    for case in 0..3 {
        takes(&mut schedule, 0, case);
    }
    for case in 0..3 {
        schedule.add_result(0, case, problem("x"));
    }
    assert_eq!(schedule.take(0), None);
    takes(&mut schedule, 1, 0);
    assert_eq!(names(schedule.add_result(1, 0, problem("x"))), [0], "it is the code");
    takes(&mut schedule, 0, 3);
}

#[test]
fn a_round_has_its_cases_in_its_order_and_a_lost_board_stays_lost() {
    let mut schedule = schedule(3, 2);
    for case in 0..3 {
        takes(&mut schedule, 0, case);
        schedule.add_result(0, case, pass());
    }
    schedule.retire(1);
    schedule.order.copy_from_slice(&[2, 0, 1]);
    schedule.start_round(2);
    assert!(!schedule.is_round_over());
    assert_eq!(schedule.round(), [2, 0]);
    assert_eq!(schedule.take(1), None);
    for case in [2, 0] {
        takes(&mut schedule, 0, case);
        assert_eq!(names(schedule.add_result(0, case, pass())), [case]);
    }
    assert!(schedule.is_round_over());
}

#[test]
fn cases_that_no_board_touched_are_withdrawn_and_those_of_a_board_are_not() {
    let mut schedule = schedule(5, 3);
    takes(&mut schedule, 2, 0);
    takes(&mut schedule, 0, 1);
    takes(&mut schedule, 1, 2);
    schedule.add_result(1, 2, problem("x"));
    schedule.retire(2);
    schedule.withdraw_queued();
    schedule.withdraw_queued();
    assert_eq!(schedule.round(), [1, 2]);
    takes(&mut schedule, 0, 2);
    schedule.add_result(0, 2, pass());
    assert!(!schedule.is_round_over());
    assert_eq!(names(schedule.add_result(0, 1, pass())), [1]);
    assert!(schedule.is_round_over());
}

#[test]
fn all_cases_of_a_round_that_is_broken_off_are_settled_with_what_they_have() {
    let mut schedule = schedule(4, 2);
    takes(&mut schedule, 0, 0);
    takes(&mut schedule, 0, 1);
    schedule.add_result(0, 0, problem("x"));
    takes(&mut schedule, 1, 0);
    let settled = left(&mut schedule);
    let results: Vec<_> = settled.iter().map(|(case, results)| (*case, results.len())).collect();
    assert_eq!(results, [(0, 1), (1, 0), (2, 0), (3, 0)]);
    assert!(schedule.is_round_over() && schedule.add_result(1, 0, pass()).is_empty());
}
