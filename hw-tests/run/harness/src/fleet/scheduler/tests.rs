//! Tests of the scheduler.

use super::*;

const NOW: Duration = Duration::ZERO;

fn problem(text: &str) -> CaseOutcome {
    CaseOutcome::Problem(Some(text.to_owned()))
}

/// Assigns a board its next case, which must be this one.
#[track_caller]
fn takes(scheduler: &mut Scheduler, board: usize, case: usize) {
    assert_eq!(scheduler.assign_next(board, NOW), Assignment::Case(case));
}

fn settled(update: SchedulerUpdate) -> Vec<usize> {
    update.settled
}

#[test]
fn boards_take_cases_in_turn_and_none_twice() {
    let mut scheduler = Scheduler::new(3, 2);
    assert_eq!(scheduler.unsettled_cases(), [0, 1, 2]);
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
    assert_eq!(settled(scheduler.record_outcome(1, 1, CaseOutcome::Pass, NOW)), [1]);
    takes(&mut scheduler, 1, 2);
    assert_eq!(scheduler.assign_next(0, NOW), Assignment::Wait);
    assert_eq!(settled(scheduler.record_outcome(1, 2, CaseOutcome::Pass, NOW)), [2]);
    assert_eq!(
        settled(scheduler.record_outcome(1, 2, CaseOutcome::Pass, NOW)),
        [0; 0],
        "it has ended"
    );
    assert_eq!(scheduler.unsettled_cases(), [0]);
    assert!(!scheduler.is_done() && !scheduler.is_retired(0));
    assert_eq!(settled(scheduler.record_outcome(0, 0, CaseOutcome::Pass, NOW)), [0]);
    assert!(scheduler.is_done());
    assert_eq!([0, 1].map(|board| scheduler.assign_next(board, NOW)), [Assignment::Done; 2]);
}

#[test]
fn a_problem_is_rerun_on_another_board_and_never_on_the_same() {
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.record_outcome(0, 0, problem("x"), NOW), SchedulerUpdate::default());
    assert_eq!(scheduler.assign_next(0, NOW), Assignment::Wait);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.record_outcome(1, 0, CaseOutcome::Pass, NOW)), [0]);
    assert_eq!([scheduler.strikes(0), scheduler.strikes(1)], [1, 0]);
    assert_eq!(scheduler.stats().rerun, 1);
}

#[test]
fn the_same_problem_twice_is_enough_and_two_different_ones_take_a_third_board() {
    for (second, is_enough) in [("x", true), ("y", false)] {
        let mut scheduler = Scheduler::new(1, 4);
        takes(&mut scheduler, 0, 0);
        scheduler.record_outcome(0, 0, problem("x"), NOW);
        takes(&mut scheduler, 1, 0);
        let update = scheduler.record_outcome(1, 0, problem(second), NOW);
        assert_eq!(update.settled.len(), usize::from(is_enough));
        if !is_enough {
            takes(&mut scheduler, 2, 0);
            assert_eq!(
                settled(scheduler.record_outcome(2, 0, problem("z"), NOW)),
                [0],
                "three are all"
            );
        }
        assert_eq!(scheduler.strikes(0), 0, "no board passed");
    }
}

#[test]
fn a_problem_is_settled_if_no_other_board_is_left() {
    let mut scheduler = Scheduler::new(1, 1);
    takes(&mut scheduler, 0, 0);
    assert_eq!(settled(scheduler.record_outcome(0, 0, problem("x"), NOW)), [0]);
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.record_outcome(0, 0, problem("x"), NOW);
    assert_eq!(settled(scheduler.board_lost(1, NOW)), [0]);
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.record_outcome(0, 0, problem("x"), NOW);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.board_lost(1, NOW)), [0], "the rerun was in progress");
}

#[test]
fn the_cases_of_a_lost_board_are_requeued_in_their_order() {
    let mut scheduler = Scheduler::new(4, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
    }
    assert_eq!(scheduler.board_lost(0, NOW), SchedulerUpdate::default());
    assert_eq!(scheduler.assign_next(0, NOW), Assignment::Done);
    for case in 0..4 {
        takes(&mut scheduler, 1, case);
    }
    assert_eq!(scheduler.stats().requeued, 3);
}

#[test]
fn a_case_without_a_result_goes_to_the_next_board() {
    let mut scheduler = Scheduler::new(2, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.record_outcome(0, 0, CaseOutcome::None, NOW), SchedulerUpdate::default());
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
}

#[test]
fn the_oldest_case_of_a_slow_board_is_copied_and_the_board_is_redundant_then() {
    let mut scheduler = Scheduler::new(2, 3);
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
    scheduler.record_outcome(1, 1, CaseOutcome::Pass, Duration::from_millis(10));
    assert_eq!(
        scheduler.assign_next(1, MIN_SPECULATION_DELAY - Duration::from_nanos(1)),
        Assignment::Wait
    );
    assert_eq!(scheduler.assign_next(1, MIN_SPECULATION_DELAY), Assignment::Case(0));
    assert_eq!(scheduler.assign_next(2, MIN_SPECULATION_DELAY), Assignment::Wait, "two have it");
    let update = scheduler.record_outcome(1, 0, CaseOutcome::Pass, MIN_SPECULATION_DELAY);
    assert_eq!(update, SchedulerUpdate { settled: vec![], redundant: vec![0] }, "both ends count");
    assert_eq!(
        settled(scheduler.record_outcome(0, 0, CaseOutcome::None, MIN_SPECULATION_DELAY)),
        [0]
    );
    assert_eq!(scheduler.stats().speculative, 1);
}

#[test]
fn a_copy_starts_after_twice_the_mean_time_of_the_cases_with_a_result() {
    let at = Duration::from_millis;
    let mut scheduler = Scheduler::new(4, 4);
    (0..4).for_each(|board| takes(&mut scheduler, board, board));
    scheduler.record_outcome(0, 0, CaseOutcome::Pass, at(1000));
    scheduler.record_outcome(1, 1, CaseOutcome::Pass, at(3000));
    scheduler.record_outcome(2, 2, CaseOutcome::None, at(3500));
    assert_eq!(scheduler.stats().requeued, 1);
    assert_eq!(scheduler.assign_next(0, at(3500)), Assignment::Case(2));
    assert_eq!(scheduler.assign_next(1, at(3999)), Assignment::Wait, "the mean is 2 s");
    assert_eq!(scheduler.assign_next(1, at(4000)), Assignment::Case(3));
    assert_eq!(scheduler.assign_next(2, at(7499)), Assignment::Wait, "case 2 began again");
    assert_eq!(scheduler.assign_next(2, at(7500)), Assignment::Case(2));
}

#[test]
fn no_board_is_redundant_while_a_case_waits_for_one() {
    let mut scheduler = Scheduler::new(2, 3);
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
    assert_eq!(scheduler.assign_next(2, MIN_SPECULATION_DELAY), Assignment::Case(0));
    scheduler.record_outcome(1, 1, CaseOutcome::None, MIN_SPECULATION_DELAY);
    let update = scheduler.record_outcome(2, 0, CaseOutcome::Pass, MIN_SPECULATION_DELAY);
    assert_eq!(update, SchedulerUpdate::default());
}

#[test]
fn a_board_that_reruns_a_problem_of_another_is_not_redundant() {
    let mut scheduler = Scheduler::new(2, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.record_outcome(0, 0, problem("x"), NOW);
    takes(&mut scheduler, 1, 0);
    takes(&mut scheduler, 0, 1);
    let update = scheduler.record_outcome(0, 1, CaseOutcome::Pass, NOW);
    assert_eq!(update, SchedulerUpdate { settled: vec![1], redundant: vec![] });
}

#[test]
fn a_wrong_answer_of_the_slow_board_is_not_lost() {
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.assign_next(1, MIN_SPECULATION_DELAY), Assignment::Case(0));
    scheduler.record_outcome(1, 0, CaseOutcome::Pass, MIN_SPECULATION_DELAY);
    assert_eq!(settled(scheduler.record_outcome(0, 0, problem("x"), MIN_SPECULATION_DELAY)), [0]);
    assert_eq!(scheduler.strikes(0), 1);
}

#[test]
fn a_board_with_problems_of_its_own_is_quarantined() {
    let mut scheduler = Scheduler::new(10, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
        scheduler.record_outcome(0, case, problem("x"), NOW);
        takes(&mut scheduler, 1, case);
        assert!(!scheduler.is_quarantined(0));
        scheduler.record_outcome(1, case, CaseOutcome::Pass, NOW);
    }
    assert!(scheduler.is_quarantined(0) && scheduler.is_retired(0));
    assert_eq!(scheduler.assign_next(0, NOW), Assignment::Done);
    takes(&mut scheduler, 1, 3);
}

#[test]
fn a_board_with_unresolved_problems_gets_no_new_cases() {
    let mut scheduler = Scheduler::new(10, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
    }
    for case in 0..3 {
        scheduler.record_outcome(0, case, problem("x"), NOW);
    }
    assert_eq!(scheduler.assign_next(0, MIN_SPECULATION_DELAY), Assignment::Wait);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.record_outcome(1, 0, problem("x"), NOW)), [0], "it is the code");
    takes(&mut scheduler, 0, 3);
}

#[test]
fn a_round_has_its_cases_in_its_order_and_a_lost_board_stays_lost() {
    let mut scheduler = Scheduler::new(3, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
        scheduler.record_outcome(0, case, CaseOutcome::Pass, NOW);
    }
    scheduler.board_lost(1, NOW);
    scheduler.order_mut().copy_from_slice(&[2, 0, 1]);
    scheduler.start_round(2);
    assert!(!scheduler.is_done() && scheduler.unsettled_cases() == [0, 2]);
    assert_eq!(scheduler.assign_next(1, NOW), Assignment::Done);
    for case in [2, 0] {
        takes(&mut scheduler, 0, case);
        assert_eq!(settled(scheduler.record_outcome(0, case, CaseOutcome::Pass, NOW)), [case]);
    }
    assert!(scheduler.is_done() && scheduler.round() == [2, 0]);
    assert_eq!((scheduler.take_round(), scheduler.take_round()), (vec![2, 0], vec![]));
}

#[test]
fn queued_cases_are_withdrawn_and_those_of_a_board_are_not() {
    let mut scheduler = Scheduler::new(5, 3);
    takes(&mut scheduler, 2, 0);
    takes(&mut scheduler, 0, 1);
    takes(&mut scheduler, 1, 2);
    scheduler.record_outcome(1, 2, problem("x"), NOW);
    scheduler.board_lost(2, NOW);
    assert_eq!(scheduler.unsettled_cases(), [0, 1, 2, 3, 4]);
    assert!(scheduler.withdraw_queued() && !scheduler.withdraw_queued());
    assert!(scheduler.round() == [1, 2] && scheduler.unsettled_cases() == [1, 2]);
    takes(&mut scheduler, 0, 2);
    scheduler.record_outcome(0, 2, CaseOutcome::Pass, NOW);
    assert!(!scheduler.is_done());
    assert_eq!(settled(scheduler.record_outcome(0, 1, CaseOutcome::Pass, NOW)), [1]);
    assert!(scheduler.is_done());
}
