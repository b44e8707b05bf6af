//! Assigns cases to boards: one shared queue, reruns of failures on another board, speculative
//! copies of slow cases. Has no I/O and no clock; the caller passes the time, so that a simulation
//! tests this same code.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Most boards that run a case at a time.
const MAX_COPIES: usize = 2;
/// The shortest time after which an idle board runs a copy of a case.
const MIN_SPECULATION_DELAY: Duration = Duration::from_millis(250);
/// The same, as a multiple of the mean time of the completed cases.
const SPECULATION_MEAN_FACTOR: u32 = 2;
/// Problems that another board did not have, after which a board is quarantined.
const MAX_STRIKES: u32 = 3;
/// Most boards on which a case is run, however their results differ.
const MAX_BOARDS_PER_CASE: usize = 3;

/// The outcome of a case on one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseOutcome {
    /// It passed.
    Pass,
    /// It did not pass. Two boards with equal texts have the same problem; one without a text is
    /// like no other.
    Problem(Option<String>),
    /// The board can't run it, though another one may.
    Skip,
    /// It has no result, since the board was lost or stopped.
    None,
}

/// The next work of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// Run this case.
    Case(usize),
    /// Nothing now; ask again later.
    Wait,
    /// No more work for this board.
    Done,
}

/// What changed when a case completed on a board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedulerUpdate {
    /// Cases that are complete: no board runs them, and none needs to.
    pub settled: Vec<usize>,
    /// Boards that only run cases which other boards have completed.
    pub redundant: Vec<usize>,
}

/// Statistics on the work besides running each case once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedulerStats {
    /// Cases rerun on another board.
    pub rerun: u64,
    /// Speculative copies of slow cases.
    pub speculative: u64,
    /// Cases requeued without a result.
    pub requeued: u64,
}

#[derive(Debug, Clone, Default)]
struct CaseState {
    /// The boards that run it, and since when.
    running: Vec<Assignee>,
    /// Its outcomes, by board.
    outcomes: Vec<BoardOutcome>,
}

#[derive(Debug, Clone, Copy)]
struct Assignee {
    board: usize,
    since: Duration,
}

#[derive(Debug, Clone)]
struct BoardOutcome {
    board: usize,
    outcome: CaseOutcome,
}

impl BoardOutcome {
    fn is_problem(&self) -> bool {
        matches!(self.outcome, CaseOutcome::Problem(_))
    }
}

impl CaseState {
    fn was_assigned_to(&self, board: usize) -> bool {
        self.outcomes.iter().any(|one| one.board == board)
            || self.running.iter().any(|one| one.board == board)
    }

    fn has_passed(&self) -> bool {
        self.outcomes.iter().any(|one| one.outcome == CaseOutcome::Pass)
    }

    /// Returns `true` if another board's result is needed: none could run the case, or it is to be
    /// found what is at fault.
    fn needs_another_board(&self) -> bool {
        let answers = self.outcomes.iter().filter(|one| one.outcome != CaseOutcome::Skip);
        let mut problems = answers.clone().filter_map(|one| match &one.outcome {
            CaseOutcome::Problem(text) => Some(text.as_ref()),
            _ => None,
        });
        let Some(first) = problems.next() else { return answers.count() == 0 };
        match answers.count() {
            1 => true,
            count if count >= MAX_BOARDS_PER_CASE || self.has_passed() => false,
            _ => first.is_none() || problems.any(|other| other != first),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct BoardState {
    is_retired: bool,
    strikes: u32,
    /// Problems that wait for another board's result.
    unresolved_problems: u32,
    assigned: BTreeSet<usize>,
}

/// The assignment of cases to boards, in one round or several.
#[derive(Debug, Clone)]
pub struct Scheduler {
    /// All cases in the order of the round, with 4 bytes each: a run may have a million. The first
    /// [`Self::round_len`] belong to the round, and [`Self::started`] of these were taken.
    order: Vec<u32>,
    round_len: usize,
    started: usize,
    /// Cases of lost boards, which are taken first.
    requeued: VecDeque<usize>,
    /// Cases to rerun on another board.
    reruns: VecDeque<usize>,
    /// The cases that were assigned to a board and are not settled.
    cases: BTreeMap<usize, CaseState>,
    boards: Vec<BoardState>,
    /// Running cases by start time.
    by_start: BTreeSet<(Duration, usize)>,
    open_count: usize,
    /// The total time of completed cases, and their number.
    completed: (Duration, u32),
    stats: SchedulerStats,
}

impl Scheduler {
    /// Creates the scheduler of a run of `cases` cases on `boards` boards. The first round has all
    /// cases.
    #[must_use]
    pub fn new(cases: usize, boards: usize) -> Self {
        Self {
            order: (0..cases as u32).collect(),
            round_len: cases,
            started: 0,
            requeued: VecDeque::new(),
            reruns: VecDeque::new(),
            cases: BTreeMap::new(),
            boards: vec![BoardState::default(); boards],
            by_start: BTreeSet::new(),
            open_count: cases,
            completed: (Duration::ZERO, 0),
            stats: SchedulerStats::default(),
        }
    }

    /// Returns all cases in the order of the round, to change it before the next one.
    pub fn order_mut(&mut self) -> &mut [u32] {
        &mut self.order
    }

    /// Starts a round with the first `count` cases of the order. The cases of the previous round must
    /// be settled. Boards that were lost or quarantined remain so.
    pub fn start_round(&mut self, count: usize) {
        self.cases.clear();
        self.requeued.clear();
        (self.round_len, self.started, self.open_count) = (count, 0, count);
    }

    /// Drops the cases that no board runs and that have no result. Returns `true` if there were
    /// any.
    pub fn withdraw_queued(&mut self) -> bool {
        let before = self.open_count;
        self.open_count -= self.round_len - self.started + self.requeued.len();
        self.order.truncate(self.started);
        self.order.retain(|case| !self.requeued.contains(&(*case as usize)));
        self.requeued.clear();
        (self.round_len, self.started) = (self.order.len(), self.order.len());
        self.open_count < before
    }

    /// Returns the cases of the round.
    pub fn round(&self) -> &[u32] {
        &self.order[..self.round_len]
    }

    /// Ends the last round, and returns its cases.
    pub fn take_round(&mut self) -> Vec<u32> {
        let mut cases = std::mem::take(&mut self.order);
        cases.truncate(self.round_len);
        self.start_round(0);
        cases
    }

    /// Returns statistics on the work besides running each case once.
    #[must_use]
    pub fn stats(&self) -> SchedulerStats {
        self.stats
    }

    /// Returns `true` if a board gets no more work: it is lost or quarantined.
    #[must_use]
    pub fn is_retired(&self, board: usize) -> bool {
        self.boards[board].is_retired
    }

    /// Returns `true` if every case of the round is settled.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.open_count == 0
    }

    /// Returns `true` if a board was excluded for problems that others did not have.
    #[must_use]
    pub fn is_quarantined(&self, board: usize) -> bool {
        self.boards[board].strikes >= MAX_STRIKES
    }

    /// Returns the number of problems of a board that another one did not have.
    #[must_use]
    pub fn strikes(&self, board: usize) -> u32 {
        self.boards[board].strikes
    }

    /// Assigns a board its next work.
    pub fn assign_next(&mut self, board: usize, now: Duration) -> Assignment {
        if self.boards[board].is_retired || self.open_count == 0 {
            return Assignment::Done;
        }
        let Some(case) = self.pick_case(board, now) else { return Assignment::Wait };
        let state = self.cases.entry(case).or_default();
        state.running.push(Assignee { board, since: now });
        self.by_start.insert((now, case));
        self.boards[board].assigned.insert(case);
        Assignment::Case(case)
    }

    /// Picks a case for a board. A board with too many unresolved problems gets only reruns: if the
    /// board is faulty, every new case would fail.
    fn pick_case(&mut self, board: usize, now: Duration) -> Option<usize> {
        let rerun = self.take_rerun(board);
        if rerun.is_some() || self.boards[board].unresolved_problems >= MAX_STRIKES {
            return rerun;
        }
        self.take_queued().or_else(|| self.speculate(board, now))
    }

    fn take_queued(&mut self) -> Option<usize> {
        if let Some(case) = self.requeued.pop_front() {
            return Some(case);
        }
        let case = *self.round().get(self.started)?;
        self.started += 1;
        Some(case as usize)
    }

    fn take_rerun(&mut self, board: usize) -> Option<usize> {
        let is_new = |case: &usize| !self.cases[case].was_assigned_to(board);
        let place = self.reruns.iter().position(is_new)?;
        self.stats.rerun += 1;
        self.reruns.remove(place)
    }

    /// Picks the slowest running case to run a copy of it.
    fn speculate(&mut self, board: usize, now: Duration) -> Option<usize> {
        let (completed, count) = self.completed;
        let mean = completed.checked_div(count).unwrap_or_default();
        let delay = MIN_SPECULATION_DELAY.max(mean * SPECULATION_MEAN_FACTOR);
        let is_late = |since: Duration| now.saturating_sub(since) >= delay;
        let is_meant = |case: usize| {
            let state = &self.cases[&case];
            state.outcomes.is_empty()
                && state.running.len() < MAX_COPIES
                && !state.was_assigned_to(board)
        };
        let mut late = self.by_start.iter().take_while(|(since, _)| is_late(*since));
        let case = late.find(|(_, case)| is_meant(*case)).map(|(_, case)| *case)?;
        self.stats.speculative += 1;
        Some(case)
    }

    /// Records the outcome of a case on a board.
    pub fn record_outcome(
        &mut self,
        board: usize,
        case: usize,
        outcome: CaseOutcome,
        now: Duration,
    ) -> SchedulerUpdate {
        let mut update = SchedulerUpdate::default();
        if !self.boards[board].assigned.remove(&case) {
            return update;
        }
        self.release(board, case, now, outcome != CaseOutcome::None);
        let state = self.cases.entry(case).or_default();
        let mut boards: Vec<_> = state.running.iter().map(|one| one.board).collect();
        boards.push(board);
        match outcome {
            CaseOutcome::None => self.stats.requeued += 1,
            outcome => {
                let outcome = BoardOutcome { board, outcome };
                self.boards[board].unresolved_problems += u32::from(outcome.is_problem());
                state.outcomes.push(outcome);
            }
        }
        self.advance(case, &mut update);
        self.find_redundant(boards, &mut update);
        update
    }

    fn release(&mut self, board: usize, case: usize, now: Duration, is_completed: bool) {
        let Some(state) = self.cases.get_mut(&case) else { return };
        let Some(place) = state.running.iter().position(|one| one.board == board) else { return };
        let since = state.running.remove(place).since;
        self.by_start.remove(&(since, case));
        if is_completed {
            self.completed.0 += now.saturating_sub(since);
            self.completed.1 += 1;
        }
    }

    /// Settles a case that no board runs, or queues it for another board.
    fn advance(&mut self, case: usize, update: &mut SchedulerUpdate) {
        let state = &self.cases[&case];
        if !state.running.is_empty() {
            return;
        }
        if state.outcomes.is_empty() {
            self.cases.remove(&case);
            self.requeued.push_front(case);
        } else if state.needs_another_board() && self.can_rerun(case) {
            self.reruns.push_back(case);
        } else {
            self.settle(case, update);
        }
    }

    fn can_rerun(&self, case: usize) -> bool {
        let state = &self.cases[&case];
        let is_new = |board: usize| !self.boards[board].is_retired && !state.was_assigned_to(board);
        (0..self.boards.len()).any(is_new)
    }

    fn settle(&mut self, case: usize, update: &mut SchedulerUpdate) {
        let Some(state) = self.cases.remove(&case) else { return };
        self.open_count -= 1;
        update.settled.push(case);
        let problems = state.outcomes.iter().filter(|one| one.is_problem());
        for BoardOutcome { board, .. } in problems.clone() {
            self.boards[*board].unresolved_problems -= 1;
        }
        for board in problems.filter(|_| state.has_passed()).map(|one| one.board) {
            self.boards[board].strikes += 1;
            if self.boards[board].strikes >= MAX_STRIKES && !self.boards[board].is_retired {
                self.retire_board(board, update);
            }
        }
    }

    /// Retires a board: it gets no more work. Cases that only this board could still rerun are
    /// settled.
    fn retire_board(&mut self, board: usize, update: &mut SchedulerUpdate) {
        self.boards[board].is_retired = true;
        let queued = std::mem::take(&mut self.reruns);
        for case in queued {
            if self.can_rerun(case) {
                self.reruns.push_back(case);
            } else {
                self.settle(case, update);
            }
        }
    }

    /// Handles the loss of a board: its running cases are requeued.
    pub fn board_lost(&mut self, board: usize, now: Duration) -> SchedulerUpdate {
        let mut update = SchedulerUpdate::default();
        if !self.boards[board].is_retired {
            self.retire_board(board, &mut update);
        }
        let assigned = std::mem::take(&mut self.boards[board].assigned);
        self.stats.requeued += assigned.len() as u64;
        for case in assigned.into_iter().rev() {
            self.release(board, case, now, false);
            self.advance(case, &mut update);
        }
        update
    }

    /// Finds which of these boards only run cases that are complete elsewhere, once all queues
    /// are empty.
    fn find_redundant(
        &self,
        boards: impl IntoIterator<Item = usize>,
        update: &mut SchedulerUpdate,
    ) {
        let is_queue_empty = self.requeued.is_empty() && self.started == self.round_len;
        if !is_queue_empty || !self.reruns.is_empty() {
            return;
        }
        let is_complete = |case: &usize| !self.cases[case].needs_another_board();
        for board in boards {
            let assigned = &self.boards[board].assigned;
            if !assigned.is_empty() && assigned.iter().all(is_complete) {
                update.redundant.push(board);
            }
        }
    }

    /// Returns the cases of the round that are not settled.
    #[must_use]
    pub fn unsettled_cases(&self) -> Vec<u32> {
        let begun = self.cases.keys().chain(&self.requeued).map(|case| *case as u32);
        let rest = &self.round()[self.started..];
        let mut cases: Vec<_> = begun.chain(rest.iter().copied()).collect();
        cases.sort_unstable();
        cases
    }
}

#[cfg(test)]
mod tests;
