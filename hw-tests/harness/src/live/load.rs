//! The limit of a run: the board's processor, or the line.

use std::fmt;

use rcflash_link::LinkStats;

use super::LiveBoard;
use crate::board::Choice;
use board_simulator::Pace;

/// Bits of a character on the line.
const BITS: f64 = 10.0;

/// The share of the time with requests under way that was used, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// By the processor, outside HALT; where its T-states can be counted.
    pub processor: Option<f64>,
    /// By characters to the board.
    pub sending: f64,
    /// By characters from it.
    pub hearing: f64,
}

/// The place where the counters stood when the board was ready.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    stats: LinkStats,
    /// T-states, and those in HALT.
    clock: (u64, u64),
}

impl LiveBoard {
    pub(super) fn mark(&self) -> Mark {
        let clock = |board: &dyn crate::board::Instruments| (board.clock(), board.halted_time());
        let clock = self.board.instruments().map_or((0, 0), clock);
        Mark { stats: self.stats(), clock }
    }

    /// Returns what was used since the board was ready first. Nothing for a board that runs faster
    /// or slower than by its clock, or when nothing was asked.
    #[must_use]
    pub fn load(&self) -> Option<Load> {
        match &self.plan.board {
            Choice::Simulated { pace: Pace::Free, .. }
            | Choice::Mame { .. }
            | Choice::Replay(_) => return None,
            Choice::Simulated { .. } | Choice::Direct { .. } | Choice::Serial(_) => {}
        }
        let (now, began) = (self.mark(), self.began);
        let passed = now.stats.since(&began.stats);
        let seconds = passed.occupied.as_secs_f64();
        let share =
            |bytes: u64| bytes as f64 * BITS / f64::from(self.plan.profile.uart.baud) / seconds;
        let at_work = |(clock, halted): (u64, u64)| clock.saturating_sub(halted);
        let busy = at_work(now.clock).saturating_sub(at_work(began.clock)) as f64;
        // A board that is started again works while nothing is asked, too.
        let share_busy = (busy / self.clock_hz as f64 / seconds).min(1.0);
        let processor = self.board.instruments().map(|_| share_busy);
        (seconds > 0.0).then(|| Load {
            processor,
            sending: share(passed.bytes.0),
            hearing: share(passed.bytes.1),
        })
    }
}

impl Load {
    /// The share of what was used most, and its name.
    #[must_use]
    pub fn limit(&self) -> (f64, &'static str) {
        let line = if self.sending > self.hearing {
            (self.sending, "the line to the board")
        } else {
            (self.hearing, "the line from the board")
        };
        match self.processor {
            Some(busy) if busy >= line.0 => (busy, "the board's processor"),
            _ => line,
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let processor = self.processor.map_or("not known".to_owned(), percent);
        let (line, (_, limit)) = ([self.sending, self.hearing].map(percent), self.limit());
        write!(f, "{limit}; processor busy {processor}, line {} out, {} in", line[0], line[1])
    }
}
