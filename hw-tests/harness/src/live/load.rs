//! The limit of a run: the board's processor, or the line.

use std::fmt;

use rcflash_link::LinkStats;

use super::LiveBoard;
use crate::board::Choice;
use board_simulator::Pace;

/// Bits of a character on the line.
const BITS: f64 = 10.0;
/// The largest share of a line that has a speed: clocks of both ends differ by a few per cent.
const MOST: f64 = 1.05;
/// The share from which on something is the limit: replies that wait for one another, rests of USB
/// adapters and the end of a run take some of the time.
const FULL: f64 = 0.9;

/// A part that was used nearly all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The board's processor.
    Processor,
    /// The line to the board.
    Sending,
    /// The line from it.
    Hearing,
}

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

/// Values of the counters when the board was ready.
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

    /// Returns the usage since the board was ready first. Nothing for a board that runs faster
    /// or slower than by its clock, for a line that carries more than its speed allows, as a
    /// pseudo-terminal does, or when nothing was asked.
    #[must_use]
    pub fn load(&self) -> Option<Load> {
        match &self.plan.board {
            Choice::Simulated { pace: Pace::Free, .. }
            | Choice::Mame { .. }
            | Choice::Replay(_) => return None,
            Choice::Simulated { .. } | Choice::Direct { .. } | Choice::Serial(_) => {}
        }
        let now = self.mark();
        let began = self.began;
        let passed = now.stats.since(&began.stats);
        let seconds = passed.occupied.as_secs_f64();
        let share =
            |bytes: u64| bytes as f64 * BITS / f64::from(self.plan.profile.uart.baud) / seconds;
        let at_work = |(clock, halted): (u64, u64)| clock.saturating_sub(halted);
        let busy = at_work(now.clock).saturating_sub(at_work(began.clock)) as f64;
        // A board that is started again works while nothing is asked, too.
        let share_busy = (busy / self.clock_hz as f64 / seconds).min(1.0);
        let processor = self.board.instruments().map(|_| share_busy);
        let load =
            Load { processor, sending: share(passed.bytes.0), hearing: share(passed.bytes.1) };
        let is_line = load.sending.max(load.hearing) <= MOST;
        (seconds > 0.0 && is_line).then_some(load)
    }
}

impl Load {
    /// Returns the resource that was busy nearly all the time, if one was.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        let shares = [
            (self.processor.unwrap_or(0.0), Limit::Processor),
            (self.sending, Limit::Sending),
            (self.hearing, Limit::Hearing),
        ];
        let most = shares.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        most.filter(|(share, _)| *share >= FULL).map(|(_, limit)| limit)
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let processor = self.processor.map_or("not known".to_owned(), percent);
        let line = [self.sending, self.hearing].map(percent);
        let limit = match (self.limit(), self.processor) {
            (Some(Limit::Processor), _) => "the board's processor",
            (Some(Limit::Sending), _) => "the line to the board",
            (Some(Limit::Hearing), _) => "the line from the board",
            (None, None) => "not the line: the board's processor, this computer or its adapter",
            (None, Some(_)) => "neither processor nor line: this computer or its adapter",
        };
        write!(f, "{limit}; processor busy {processor}, line {} out, {} in", line[0], line[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_the_limit_that_was_not_used_nearly_all_the_time() {
        let load = |processor, sending, hearing| Load { processor, sending, hearing };
        for (load, limit, words) in [
            (load(Some(0.97), 0.3, 0.95), Some(Limit::Processor), "the board's processor; "),
            (load(None, 0.91, 0.44), Some(Limit::Sending), "the line to the board; "),
            (load(None, 0.31, 0.99), Some(Limit::Hearing), "the line from the board; "),
            (load(None, 0.31, 0.44), None, "not the line: the board's processor, this computer"),
            (load(Some(0.6), 0.31, 0.44), None, "neither processor nor line: this computer"),
        ] {
            assert_eq!(load.limit(), limit, "{load}");
            assert!(load.to_string().starts_with(words), "{load}");
        }
    }
}
