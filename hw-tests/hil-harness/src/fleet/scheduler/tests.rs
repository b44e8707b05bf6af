//! Tests of the distribution of cases.

use super::*;

const NOW: Duration = Duration::ZERO;

fn trouble(text: &str) -> Outcome {
    Outcome::Trouble(text.to_owned())
}

/// Has a board take its next case, which must be this one.
#[track_caller]
fn takes(scheduler: &mut Scheduler, board: usize, case: usize) {
    assert_eq!(scheduler.next(board, NOW), Next::Case(case));
}

fn settled(changes: Changes) -> Vec<usize> {
    changes.settled
}

#[test]
fn boards_take_cases_in_turn_and_none_twice() {
    let mut scheduler = Scheduler::new(3, 2);
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
    assert_eq!(settled(scheduler.ended(1, 1, Outcome::Right, NOW)), [1]);
    takes(&mut scheduler, 1, 2);
    assert_eq!(scheduler.next(0, NOW), Next::Wait);
    assert_eq!(settled(scheduler.ended(1, 2, Outcome::Right, NOW)), [2]);
    assert_eq!(settled(scheduler.ended(1, 2, Outcome::Right, NOW)), [0; 0], "it has ended");
    assert_eq!(scheduler.left(), [0]);
    assert_eq!(settled(scheduler.ended(0, 0, Outcome::Right, NOW)), [0]);
    assert!(scheduler.is_done());
    assert_eq!([0, 1].map(|board| scheduler.next(board, NOW)), [Next::Over; 2]);
}

#[test]
fn a_trouble_is_put_to_another_board_and_never_to_the_same() {
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.ended(0, 0, trouble("x"), NOW), Changes::default());
    assert_eq!(scheduler.next(0, NOW), Next::Wait);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.ended(1, 0, Outcome::Right, NOW)), [0]);
    assert_eq!([scheduler.strikes(0), scheduler.strikes(1)], [1, 0]);
    assert_eq!(scheduler.tally().repeated, 1);
}

#[test]
fn the_same_trouble_twice_is_enough_and_two_different_ones_take_a_third_board() {
    for (second, is_enough) in [("x", true), ("y", false)] {
        let mut scheduler = Scheduler::new(1, 4);
        takes(&mut scheduler, 0, 0);
        scheduler.ended(0, 0, trouble("x"), NOW);
        takes(&mut scheduler, 1, 0);
        let changes = scheduler.ended(1, 0, trouble(second), NOW);
        assert_eq!(changes.settled.len(), usize::from(is_enough));
        if !is_enough {
            takes(&mut scheduler, 2, 0);
            assert_eq!(settled(scheduler.ended(2, 0, trouble("z"), NOW)), [0], "three are all");
        }
        assert_eq!(scheduler.strikes(0), 0, "nobody was right");
    }
}

#[test]
fn a_trouble_with_no_other_board_is_settled_also_when_the_last_other_one_goes() {
    let mut scheduler = Scheduler::new(1, 1);
    takes(&mut scheduler, 0, 0);
    assert_eq!(settled(scheduler.ended(0, 0, trouble("x"), NOW)), [0]);
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.ended(0, 0, trouble("x"), NOW);
    assert_eq!(settled(scheduler.lost(1, NOW)), [0]);
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.ended(0, 0, trouble("x"), NOW);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.lost(1, NOW)), [0], "it was just asked");
}

#[test]
fn what_a_lost_board_had_goes_to_others_in_its_order() {
    let mut scheduler = Scheduler::new(4, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
    }
    assert_eq!(scheduler.lost(0, NOW), Changes::default());
    assert_eq!(scheduler.next(0, NOW), Next::Over);
    for case in 0..4 {
        takes(&mut scheduler, 1, case);
    }
    assert_eq!(scheduler.tally().returned, 3);
}

#[test]
fn a_case_without_an_end_comes_back_to_whoever_is_first() {
    let mut scheduler = Scheduler::new(2, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.ended(0, 0, Outcome::None, NOW), Changes::default());
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
}

#[test]
fn a_board_that_is_too_slow_has_its_oldest_case_copied_and_is_freed() {
    let mut scheduler = Scheduler::new(2, 3);
    takes(&mut scheduler, 0, 0);
    takes(&mut scheduler, 1, 1);
    scheduler.ended(1, 1, Outcome::Right, Duration::from_millis(10));
    assert_eq!(scheduler.next(1, PATIENCE - Duration::from_nanos(1)), Next::Wait);
    assert_eq!(scheduler.next(1, PATIENCE), Next::Case(0));
    assert_eq!(scheduler.next(2, PATIENCE), Next::Wait, "two have it");
    let changes = scheduler.ended(1, 0, Outcome::Right, PATIENCE);
    assert_eq!(changes, Changes { settled: vec![], needless: vec![0] }, "both ends count");
    assert_eq!(settled(scheduler.ended(0, 0, Outcome::None, PATIENCE)), [0]);
    assert_eq!(scheduler.tally().copied, 1);
}

#[test]
fn a_board_that_judges_the_trouble_of_another_is_not_needless() {
    let mut scheduler = Scheduler::new(2, 2);
    takes(&mut scheduler, 0, 0);
    scheduler.ended(0, 0, trouble("x"), NOW);
    takes(&mut scheduler, 1, 0);
    takes(&mut scheduler, 0, 1);
    let changes = scheduler.ended(0, 1, Outcome::Right, NOW);
    assert_eq!(changes, Changes { settled: vec![1], needless: vec![] });
}

#[test]
fn a_wrong_answer_of_the_slow_board_is_not_lost() {
    let mut scheduler = Scheduler::new(1, 2);
    takes(&mut scheduler, 0, 0);
    assert_eq!(scheduler.next(1, PATIENCE), Next::Case(0));
    scheduler.ended(1, 0, Outcome::Right, PATIENCE);
    assert_eq!(settled(scheduler.ended(0, 0, trouble("x"), PATIENCE)), [0]);
    assert_eq!(scheduler.strikes(0), 1);
}

#[test]
fn a_board_with_troubles_of_its_own_is_set_aside() {
    let mut scheduler = Scheduler::new(10, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
        scheduler.ended(0, case, trouble("x"), NOW);
        takes(&mut scheduler, 1, case);
        assert!(!scheduler.is_set_aside(0));
        scheduler.ended(1, case, Outcome::Right, NOW);
    }
    assert!(scheduler.is_set_aside(0) && scheduler.is_gone(0));
    assert_eq!(scheduler.next(0, NOW), Next::Over);
    takes(&mut scheduler, 1, 3);
}

#[test]
fn a_board_whose_troubles_nobody_has_judged_yet_gets_no_fresh_cases() {
    let mut scheduler = Scheduler::new(10, 2);
    for case in 0..3 {
        takes(&mut scheduler, 0, case);
    }
    for case in 0..3 {
        scheduler.ended(0, case, trouble("x"), NOW);
    }
    assert_eq!(scheduler.next(0, PATIENCE), Next::Wait);
    takes(&mut scheduler, 1, 0);
    assert_eq!(settled(scheduler.ended(1, 0, trouble("x"), NOW)), [0], "it is the code");
    takes(&mut scheduler, 0, 3);
}
