//! A program that runs on a simulated board, with a terminal at its line.

use board_simulator::{BoardModel, QueueLine, RunStop};
use rcflash_transport::time::{Duration, Instant};
use serde_json::json;

use crate::message::{Message, Post};
use crate::program::Loaded;

/// The time for which the board runs before the worker takes messages.
const MAX_SLICE_TIME: Duration = Duration::from_millis(20);
/// T-states between two looks at the time.
const T_STATES_PER_CLOCK_CHECK: u64 = 20_000;
/// The time that a board at its own speed is left alone when it is ahead.
const PACED_REST: Duration = Duration::from_millis(10);
/// The longest time that a board at its own speed catches up with, as after the page slept.
const MAX_LAG: Duration = Duration::from_millis(200);

/// The next turn of something that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MachineState {
    Now,
    After(Duration),
    /// Not before a message has come.
    Waits,
}

pub(crate) struct RunningMachine {
    board: BoardModel<QueueLine>,
    /// Whether the board runs at its real speed.
    is_paced: bool,
    /// A moment and the board's clock then.
    since: (Instant, u64),
    is_idle: bool,
}

impl RunningMachine {
    pub(crate) fn new(loaded: Loaded, is_paced: bool) -> Self {
        let since = (Instant::now(), loaded.board.clock());
        Self { board: loaded.board, is_paced, since, is_idle: false }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.board.line_mut().to_board.extend(bytes);
        self.wake();
    }

    pub(crate) fn reset(&mut self) {
        self.board.reset();
        self.wake();
    }

    fn wake(&mut self) {
        if std::mem::take(&mut self.is_idle) {
            self.since = (Instant::now(), self.board.clock());
        }
    }

    /// Lets the board run for a slice, and posts what it sends.
    pub(crate) fn advance(&mut self, post: &mut Post<'_>) -> MachineState {
        if self.is_idle {
            return MachineState::Waits;
        }
        let begun = Instant::now();
        let target = self.target(begun);
        let mut next = MachineState::Now;
        while begun.elapsed() < MAX_SLICE_TIME {
            if self.board.clock() >= target {
                next = MachineState::After(PACED_REST);
                break;
            }
            if self.board.run_for(T_STATES_PER_CLOCK_CHECK.min(target - self.board.clock()))
                == RunStop::Idle
            {
                self.is_idle = true;
                next = MachineState::Waits;
                break;
            }
        }
        self.post(post);
        next
    }

    /// The board's clock up to which it may run now.
    fn target(&mut self, now: Instant) -> u64 {
        if !self.is_paced {
            return u64::MAX;
        }
        let hz = self.board.clock_hz();
        let (began, clock) = self.since;
        let due = clock + (now.duration_since(began).as_secs_f64() * hz as f64) as u64;
        if due.saturating_sub(self.board.clock()) > (MAX_LAG.as_secs_f64() * hz as f64) as u64 {
            self.since = (now, self.board.clock());
            return self.board.clock() + T_STATES_PER_CLOCK_CHECK;
        }
        due
    }

    fn post(&mut self, post: &mut Post<'_>) {
        let sent = std::mem::take(&mut self.board.line_mut().from_board);
        if sent.is_empty() && !self.is_idle {
            return;
        }
        let state = if self.is_idle { "halted" } else { "running" };
        let mut event = json!({ "event": "machine", "state": state, "clock": self.board.clock() });
        let mut bytes = Vec::new();
        if !sent.is_empty() {
            event["bytes"] = 0.into();
            bytes.push(sent);
        }
        post(Message { json: event.to_string(), bytes });
    }
}
