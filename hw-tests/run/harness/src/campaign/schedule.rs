//! Which board runs which case: one queue for all, and another board for each case that does not
//! pass. Has no I/O and no clock.

use std::collections::VecDeque;

use rcflash_transport::time::Instant;

use super::RunConfig;
use crate::results::Clock;
use crate::select::shuffle;
use crate::suite::{CaseResult, Suite, Verdict};
use crate::verdict_table::{is_problem, needs_another_board};

/// Problems that another board did not have, after which a board is quarantined.
const MAX_STRIKES: u32 = 3;

/// Results of a case, each with the index of its board.
pub(super) type BoardResults<S> = Vec<(usize, CaseResult<S>)>;
/// A case that has its verdict: its index, and the results from which the verdict follows.
pub(super) type SettledCase<S> = (usize, BoardResults<S>);

/// What happens to a case of the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaseState {
    /// It is in the order of the round, and no board had it yet.
    Queued,
    /// The board of this index runs it.
    InFlight(usize),
    /// It waits for a board that has not run it: its board was lost, or cannot run it, or had a
    /// problem.
    Waiting,
    /// It has its verdict.
    Settled,
}

/// A case of the round, and its results so far.
#[derive(Debug, Clone)]
struct Case<S: Suite> {
    state: CaseState,
    results: BoardResults<S>,
}

impl<S: Suite> Case<S> {
    fn was_on(&self, board: usize) -> bool {
        self.results.iter().any(|(other, _)| *other == board)
    }

    /// Returns `true` if no board has run it, or skipped it.
    fn is_untouched(&self) -> bool {
        self.results.iter().all(|(_, result)| result.verdict == Verdict::NotRun)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    /// Whether it gets no more cases: it is lost, quarantined, or has finished.
    pub(super) is_retired: bool,
    /// Problems that another board did not have.
    pub(super) strikes: u32,
    /// Problems of which it is not known whether another board has them.
    open_problems: u32,
}

impl Board {
    /// Returns `true` if it was excluded for problems that others did not have.
    pub(super) fn is_quarantined(&self) -> bool {
        self.strikes >= MAX_STRIKES
    }
}

/// The assignment of cases to boards, in one round or several.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule<S: Suite> {
    /// All cases in the order of the round, to be changed between rounds only. The first
    /// [`Self::round_len`] belong to the round, and [`Self::started`] of these were taken.
    pub(super) order: Vec<usize>,
    round_len: usize,
    started: usize,
    /// The cases of the state [`CaseState::Waiting`].
    waiting: VecDeque<usize>,
    /// By the index of the case.
    cases: Vec<Case<S>>,
    /// The number of cases of the round that are not settled.
    open: usize,
    pub(super) boards: Vec<Board>,
    /// The number of cases that were started on another board as well.
    pub(super) reruns: u64,
    /// The number of cases that a board gave back without a result.
    pub(super) returned: u64,
}

impl<S: Suite> Schedule<S> {
    /// Creates the schedule of `cases` cases on `boards` boards, without a round.
    pub(super) fn new(cases: usize, boards: usize) -> Self {
        let case = Case { state: CaseState::Settled, results: Vec::new() };
        Self {
            order: (0..cases).collect(),
            cases: vec![case; cases],
            boards: vec![Board::default(); boards],
            ..Self::default()
        }
    }

    /// Starts a round with the first `count` cases of the order. The cases of the previous round
    /// must be settled. Boards that are retired remain so.
    pub(super) fn start_round(&mut self, count: usize) {
        (self.round_len, self.started, self.open) = (count, 0, count);
        for case in &self.order[..count] {
            self.cases[*case].state = CaseState::Queued;
        }
    }

    /// Returns the cases of the round.
    pub(super) fn round(&self) -> &[usize] {
        &self.order[..self.round_len]
    }

    /// Returns `true` if every case of the round is settled.
    pub(super) fn is_round_over(&self) -> bool {
        self.open == 0
    }

    /// Takes the cases that no board has touched out of the round.
    pub(super) fn withdraw_queued(&mut self) {
        let is_left = |case: &Case<S>| {
            case.state == CaseState::Queued
                || case.state == CaseState::Waiting && case.is_untouched()
        };
        let Self { order, waiting, cases, .. } = self;
        order.truncate(self.round_len);
        order.retain(|case| !is_left(&cases[*case]));
        waiting.retain(|case| !is_left(&cases[*case]));
        self.open -= self.round_len - order.len();
        (self.round_len, self.started) = (order.len(), order.len());
    }

    /// Returns the next case of a board; `None` if it has nothing to do now.
    pub(super) fn take(&mut self, board: usize) -> Option<usize> {
        if self.boards[board].is_retired {
            return None;
        }
        let case = self.take_waiting(board).or_else(|| self.take_queued(board))?;
        self.cases[case].state = CaseState::InFlight(board);
        Some(case)
    }

    fn take_waiting(&mut self, board: usize) -> Option<usize> {
        let place = self.waiting.iter().position(|case| !self.cases[*case].was_on(board))?;
        let case = self.waiting.remove(place)?;
        self.reruns += u64::from(!self.cases[case].is_untouched());
        Some(case)
    }

    /// Takes a case that no board had. A board with too many open problems gets none: if it is the
    /// board that is faulty, every case would fail.
    fn take_queued(&mut self, board: usize) -> Option<usize> {
        if self.boards[board].open_problems >= MAX_STRIKES {
            return None;
        }
        let case = *self.round().get(self.started)?;
        self.started += 1;
        Some(case)
    }

    /// Adds the result of a case on a board that took it, and returns the cases that are settled by
    /// it. A case that was not run waits for another board.
    pub(super) fn add_result(
        &mut self,
        board: usize,
        case: usize,
        result: CaseResult<S>,
    ) -> Vec<SettledCase<S>> {
        let mut settled = Vec::new();
        if self.cases[case].state != CaseState::InFlight(board) {
            return settled;
        }
        self.returned += u64::from(result.verdict == Verdict::NotRun);
        self.boards[board].open_problems += u32::from(is_problem(&result));
        self.cases[case].results.push((board, result));
        self.advance(case, &mut settled);
        settled
    }

    /// Retires a board: it gets no more cases, and those in flight on it wait for another one.
    /// Returns the cases that are settled by it.
    pub(super) fn retire(&mut self, board: usize) -> Vec<SettledCase<S>> {
        let mut settled = Vec::new();
        self.boards[board].is_retired = true;
        let is_in_flight = |case: &&usize| self.cases[**case].state == CaseState::InFlight(board);
        let in_flight: Vec<_> = self.round().iter().filter(is_in_flight).copied().collect();
        self.returned += in_flight.len() as u64;
        for case in in_flight.into_iter().rev() {
            self.cases[case].state = CaseState::Waiting;
            self.waiting.push_front(case);
        }
        self.settle_without_board(&mut settled);
        settled
    }

    /// Settles a case, or lets it wait for another board.
    fn advance(&mut self, case: usize, settled: &mut Vec<SettledCase<S>>) {
        let results = self.cases[case].results.iter().map(|(_, result)| result);
        if needs_another_board(results) && self.may_wait(case) {
            self.cases[case].state = CaseState::Waiting;
            self.waiting.push_back(case);
        } else {
            self.settle(case, settled);
        }
    }

    /// Returns `true` if a case has no verdict without another board, or there is a board that can
    /// still run it.
    fn may_wait(&self, case: usize) -> bool {
        let case = &self.cases[case];
        let is_new = |board: usize| !self.boards[board].is_retired && !case.was_on(board);
        case.is_untouched() || (0..self.boards.len()).any(is_new)
    }

    /// Settles a case, and judges the boards that ran it.
    fn settle(&mut self, case: usize, settled: &mut Vec<SettledCase<S>>) {
        self.cases[case].state = CaseState::Settled;
        self.open -= 1;
        let results = std::mem::take(&mut self.cases[case].results);
        let has_passed = results.iter().any(|(_, result)| result.verdict == Verdict::Pass);
        let mut is_quarantined = false;
        for (board, _) in results.iter().filter(|(_, result)| is_problem(result)) {
            let board = &mut self.boards[*board];
            board.open_problems -= 1;
            board.strikes += u32::from(has_passed);
            is_quarantined |= board.is_quarantined() && !board.is_retired;
            board.is_retired |= board.is_quarantined();
        }
        settled.push((case, results));
        if is_quarantined {
            self.settle_without_board(settled);
        }
    }

    /// Settles the waiting cases that no board can run any more.
    fn settle_without_board(&mut self, settled: &mut Vec<SettledCase<S>>) {
        while let Some(place) = self.waiting.iter().position(|case| !self.may_wait(*case)) {
            if let Some(case) = self.waiting.remove(place) {
                self.settle(case, settled);
            }
        }
    }

    /// Settles the case at a place of a round that is broken off, with the results that it has.
    /// Returns `None` if it is settled.
    pub(super) fn settle_early(&mut self, place: usize) -> Option<SettledCase<S>> {
        self.waiting.clear();
        let case = self.order[place];
        let mut settled = Vec::new();
        if self.cases[case].state != CaseState::Settled {
            self.settle(case, &mut settled);
        }
        settled.pop()
    }
}

/// The rounds of a run, in each of which every case has one verdict.
pub(super) struct Rounds {
    clock: Clock,
    /// No case starts from this time on.
    deadline: Option<Instant>,
    /// The number of cases that are left to run in all rounds; `None` if only time limits them.
    remaining: Option<u64>,
    /// Shuffles the cases again for each round.
    seed: Option<u64>,
}

impl Rounds {
    /// Returns the rounds of a run that starts now.
    pub(super) fn new(config: &RunConfig, clock: Clock) -> Self {
        let deadline = config.time.map(|time| clock() + time);
        Self { clock, deadline, remaining: config.count, seed: config.seed }
    }

    /// Returns `true` if no more cases may start.
    pub(super) fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| (self.clock)() >= deadline)
    }

    /// Returns how many of `cases` the next round runs.
    pub(super) fn next_len(&self, cases: usize) -> usize {
        let remaining = self.remaining.and_then(|remaining| usize::try_from(remaining).ok());
        remaining.map_or(cases, |remaining| remaining.min(cases))
    }

    /// Ends a round in which `started` cases were started. Returns `true` if another follows.
    pub(super) fn has_next(&mut self, started: usize) -> bool {
        let is_soak = self.remaining.is_some() || self.deadline.is_some();
        self.remaining = self.remaining.map(|remaining| remaining - started as u64);
        is_soak && started > 0 && self.remaining != Some(0) && !self.is_past_deadline()
    }

    /// Puts the cases into the order of the next round.
    pub(super) fn reorder(&mut self, order: &mut [usize]) {
        if let Some(seed) = &mut self.seed {
            *seed = seed.wrapping_add(1);
            shuffle(order, *seed);
        }
    }
}

#[cfg(test)]
mod tests;
