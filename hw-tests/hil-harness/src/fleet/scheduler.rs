//! The distribution of cases to the boards of a fleet: one queue for all, repetition on another
//! board, and copies of what a board is too slow with. It knows no board and no clock, so that a
//! simulation runs this same code.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// Most boards that have a case under way at a time.
const COPIES: usize = 2;
/// The shortest time after which a board that has nothing to do takes a copy of a case.
const PATIENCE: Duration = Duration::from_millis(250);
/// The same in mean times of the cases that have ended.
const PATIENCE_MEANS: u32 = 2;
/// Troubles that another board did not have, after which a board is set aside.
const STRIKES: u32 = 3;
/// Most boards that a case is put to, however they differ.
const MOST_BOARDS: usize = 3;

/// The end of a case on one board, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The right answer, or one that no other board would give otherwise.
    Right,
    /// Another end: two boards with the same text had the same trouble.
    Trouble(String),
    /// None: the board was lost, or was stopped.
    None,
}

/// A board's next work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This case.
    Case(usize),
    /// Nothing now; something may come.
    Wait,
    /// Nothing any more.
    Over,
}

/// Changes that follow from the end of a case on a board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Cases that no board works on any more, and that need none.
    pub settled: Vec<usize>,
    /// Boards whose work other boards have done meanwhile.
    pub needless: Vec<usize>,
}

/// Numbers of what was done besides giving out each case once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases repeated on another board.
    pub repeated: u64,
    /// Copies of cases that a board was too slow with.
    pub copied: u64,
    /// Cases that came back without an end.
    pub returned: u64,
}

#[derive(Debug, Clone, Default)]
struct CaseState {
    /// The boards that work on it, and since when.
    under_way: Vec<Holder>,
    /// The boards that had it, and its ends there.
    heard: Vec<Heard>,
    is_settled: bool,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    board: usize,
    since: Duration,
}

#[derive(Debug, Clone)]
struct Heard {
    board: usize,
    trouble: Option<String>,
}

impl CaseState {
    fn has_had(&self, board: usize) -> bool {
        self.heard.iter().any(|one| one.board == board)
            || self.under_way.iter().any(|one| one.board == board)
    }

    fn is_right_somewhere(&self) -> bool {
        self.heard.iter().any(|one| one.trouble.is_none())
    }

    /// Whether one more board would say whose fault a trouble is.
    fn is_open_question(&self) -> bool {
        let mut troubles = self.heard.iter().filter_map(|one| one.trouble.as_deref());
        let Some(first) = troubles.next() else { return self.heard.is_empty() };
        match self.heard.len() {
            1 => true,
            count if count >= MOST_BOARDS || self.is_right_somewhere() => false,
            _ => troubles.any(|other| other != first),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct BoardState {
    is_gone: bool,
    strikes: u32,
    /// Its troubles that wait for another board's word.
    doubts: u32,
    holds: BTreeSet<usize>,
}

/// The state of a run on many boards.
#[derive(Debug, Clone)]
pub struct Scheduler {
    queue: VecDeque<usize>,
    /// Cases that another board shall have, too.
    repeats: VecDeque<usize>,
    cases: Vec<CaseState>,
    boards: Vec<BoardState>,
    /// Cases under way, the oldest first.
    oldest: BTreeSet<(Duration, usize)>,
    open: usize,
    /// The time that ended cases took, and their number.
    spent: (Duration, u32),
    tally: Tally,
}

impl Scheduler {
    /// A run of so many cases on so many boards.
    #[must_use]
    pub fn new(cases: usize, boards: usize) -> Self {
        Self {
            queue: (0..cases).collect(),
            repeats: VecDeque::new(),
            cases: vec![CaseState::default(); cases],
            boards: vec![BoardState::default(); boards],
            oldest: BTreeSet::new(),
            open: cases,
            spent: (Duration::ZERO, 0),
            tally: Tally::default(),
        }
    }

    /// Returns what was done besides giving out each case once.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether a board gets no more work: it is lost, or set aside.
    #[must_use]
    pub fn is_gone(&self, board: usize) -> bool {
        self.boards[board].is_gone
    }

    /// Whether every case is settled.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Whether a board was set aside for troubles that others did not have.
    #[must_use]
    pub fn is_set_aside(&self, board: usize) -> bool {
        self.boards[board].strikes >= STRIKES
    }

    /// Returns the number of troubles of a board that another one did not have.
    #[must_use]
    pub fn strikes(&self, board: usize) -> u32 {
        self.boards[board].strikes
    }

    /// Gives a board its next work.
    pub fn next(&mut self, board: usize, now: Duration) -> Next {
        if self.boards[board].is_gone || self.open == 0 {
            return Next::Over;
        }
        let Some(case) = self.find(board, now) else { return Next::Wait };
        self.cases[case].under_way.push(Holder { board, since: now });
        self.oldest.insert((now, case));
        self.boards[board].holds.insert(case);
        Next::Case(case)
    }

    /// A board whose troubles are not judged yet gets no fresh cases: if it lies, each would fail.
    fn find(&mut self, board: usize, now: Duration) -> Option<usize> {
        let repeat = self.take_repeat(board);
        if repeat.is_some() || self.boards[board].doubts >= STRIKES {
            return repeat;
        }
        self.queue.pop_front().or_else(|| self.copy(board, now))
    }

    fn take_repeat(&mut self, board: usize) -> Option<usize> {
        let is_new = |case: &usize| !self.cases[*case].has_had(board);
        let place = self.repeats.iter().position(is_new)?;
        self.tally.repeated += 1;
        self.repeats.remove(place)
    }

    /// The oldest case that others are too slow with.
    fn copy(&mut self, board: usize, now: Duration) -> Option<usize> {
        let (spent, count) = self.spent;
        let mean = spent.checked_div(count).unwrap_or_default();
        let patience = PATIENCE.max(mean * PATIENCE_MEANS);
        let is_late = |since: Duration| now.saturating_sub(since) >= patience;
        let is_meant = |case: usize| {
            let state = &self.cases[case];
            state.heard.is_empty() && state.under_way.len() < COPIES && !state.has_had(board)
        };
        let mut late = self.oldest.iter().take_while(|(since, _)| is_late(*since));
        let case = late.find(|(_, case)| is_meant(*case)).map(|(_, case)| *case)?;
        self.tally.copied += 1;
        Some(case)
    }

    /// Notes the end of a case on a board.
    pub fn ended(&mut self, board: usize, case: usize, outcome: Outcome, now: Duration) -> Changes {
        let mut changes = Changes::default();
        if !self.boards[board].holds.remove(&case) {
            return changes;
        }
        self.let_go(board, case, now, outcome != Outcome::None);
        match outcome {
            Outcome::Right => self.cases[case].heard.push(Heard { board, trouble: None }),
            Outcome::Trouble(text) => {
                self.boards[board].doubts += 1;
                self.cases[case].heard.push(Heard { board, trouble: Some(text) });
            }
            Outcome::None => self.tally.returned += 1,
        }
        self.advance(case, &mut changes);
        let others = self.cases[case].under_way.iter().map(|one| one.board);
        self.find_needless(others.chain([board]), &mut changes);
        changes
    }

    fn let_go(&mut self, board: usize, case: usize, now: Duration, has_ended: bool) {
        let under_way = &mut self.cases[case].under_way;
        let Some(place) = under_way.iter().position(|one| one.board == board) else { return };
        let since = under_way.remove(place).since;
        if !under_way.iter().any(|one| one.since == since) {
            self.oldest.remove(&(since, case));
        }
        if has_ended {
            self.spent.0 += now.saturating_sub(since);
            self.spent.1 += 1;
        }
    }

    /// Settles a case that no board works on, or has it put to another board.
    fn advance(&mut self, case: usize, changes: &mut Changes) {
        let state = &self.cases[case];
        if state.is_settled || !state.under_way.is_empty() {
            return;
        }
        if state.heard.is_empty() {
            self.queue.push_front(case);
        } else if state.is_open_question() && self.has_another_board(case) {
            self.repeats.push_back(case);
        } else {
            self.settle(case, changes);
        }
    }

    fn has_another_board(&self, case: usize) -> bool {
        let state = &self.cases[case];
        let is_new = |board: usize| !self.boards[board].is_gone && !state.has_had(board);
        (0..self.boards.len()).any(is_new)
    }

    fn settle(&mut self, case: usize, changes: &mut Changes) {
        self.cases[case].is_settled = true;
        self.open -= 1;
        changes.settled.push(case);
        let heard = self.cases[case].heard.iter().filter(|one| one.trouble.is_some());
        for one in heard {
            self.boards[one.board].doubts -= 1;
        }
        if self.cases[case].is_right_somewhere() {
            let heard = &self.cases[case].heard;
            let troubled: Vec<_> =
                heard.iter().filter(|one| one.trouble.is_some()).map(|one| one.board).collect();
            for board in troubled {
                self.boards[board].strikes += 1;
                if self.boards[board].strikes >= STRIKES && !self.boards[board].is_gone {
                    self.leave(board, changes);
                }
            }
        }
    }

    /// A board gets no more work. Cases that waited for it, and have no other board now, are
    /// settled.
    fn leave(&mut self, board: usize, changes: &mut Changes) {
        self.boards[board].is_gone = true;
        let waiting = std::mem::take(&mut self.repeats);
        for case in waiting {
            if self.has_another_board(case) {
                self.repeats.push_back(case);
            } else {
                self.settle(case, changes);
            }
        }
    }

    /// A board is lost: what it had under way goes to others.
    pub fn lost(&mut self, board: usize, now: Duration) -> Changes {
        let mut changes = Changes::default();
        if !self.boards[board].is_gone {
            self.leave(board, &mut changes);
        }
        let held = std::mem::take(&mut self.boards[board].holds);
        self.tally.returned += held.len() as u64;
        for case in held.into_iter().rev() {
            self.let_go(board, case, now, false);
            self.advance(case, &mut changes);
        }
        changes
    }

    /// Notes which of these boards work on nothing but cases that have their answer elsewhere,
    /// while nothing else is left to do.
    fn find_needless(&self, boards: impl IntoIterator<Item = usize>, changes: &mut Changes) {
        if !self.queue.is_empty() || !self.repeats.is_empty() {
            return;
        }
        let is_answered = |case: &usize| !self.cases[*case].is_open_question();
        for board in boards {
            let holds = &self.boards[board].holds;
            if !holds.is_empty() && holds.iter().all(is_answered) {
                changes.needless.push(board);
            }
        }
    }

    /// Returns the cases that are not settled.
    #[must_use]
    pub fn left(&self) -> Vec<usize> {
        (0..self.cases.len()).filter(|case| !self.cases[*case].is_settled).collect()
    }
}
#[cfg(test)]
mod tests;
