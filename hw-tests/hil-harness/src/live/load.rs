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
/// Waits for a character below which a board is taken to have been at work nearly all the time. At
/// 99 % of the line from it there are seven for 100 characters (docs/BENCHMARKS.md), else more.
const SELDOM: f64 = 0.05;

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

/// The usage while requests were under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The share of the time that the processor was outside HALT, from 0 to 1; where its T-states
    /// can be counted.
    pub processor: Option<f64>,
    /// The waits of the board's program, by its own count, for each character on the line.
    pub waits: Option<f64>,
    /// The shares of the time with a character on the line, where the board's time is this
    /// computer's.
    pub line: Option<LineLoad>,
}

/// The shares of the time with a character on the line, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineLoad {
    /// To the board.
    pub sending: f64,
    /// From it.
    pub hearing: f64,
}

/// Values of the counters when the board was ready.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    stats: LinkStats,
    /// T-states, and those in HALT.
    clock: (u64, u64),
    waits: Option<u32>,
}

impl Mark {
    /// Forgets how often the board had waited: it has been started again, and counts from 0.
    pub(super) fn forget_waits(&mut self) {
        self.waits = None;
    }
}

impl LiveBoard {
    pub(super) fn mark(&self) -> Mark {
        let clock = |board: &dyn crate::board::Instruments| (board.clock(), board.halted_time());
        let clock = self.board.instruments().map_or((0, 0), clock);
        Mark { stats: self.stats(), clock, waits: self.waits }
    }

    /// Returns the usage from when the board was ready first until [`Self::note_waits`]. Nothing
    /// for a board that runs free and for a replay, and where nothing is known. The line's is not
    /// known on MAME's, which keeps a time of its own, or when more has passed than its speed
    /// allows, as over a pseudo-terminal.
    #[must_use]
    pub fn load(&self) -> Option<Load> {
        let keeps_time = match &self.plan.board {
            Choice::Simulated { pace: Pace::Free, .. } | Choice::Replay(_) => return None,
            Choice::Mame { .. } => false,
            Choice::Simulated { .. } | Choice::Direct { .. } | Choice::Serial(_) => true,
        };
        let now = self.mark();
        let began = self.began;
        let passed = now.stats.since(&began.stats);
        let seconds = passed.busy.as_secs_f64();
        let share =
            |bytes: u64| bytes as f64 * BITS / f64::from(self.plan.profile.uart.baud) / seconds;
        let at_work = |(clock, halted): (u64, u64)| clock.saturating_sub(halted);
        let busy = at_work(now.clock).saturating_sub(at_work(began.clock)) as f64;
        // A board that is started again works while nothing is asked, too.
        let share_busy = (busy / self.clock_hz as f64 / seconds).min(1.0);
        let line = LineLoad { sending: share(passed.bytes.0), hearing: share(passed.bytes.1) };
        let is_line = keeps_time && line.sending.max(line.hearing) <= MOST;
        let characters = (passed.bytes.0 + passed.bytes.1) as f64;
        let waited = |(began, now): (u32, u32)| f64::from(now.wrapping_sub(began)) / characters;
        let load = Load {
            processor: self.board.instruments().filter(|_| is_line).map(|_| share_busy),
            waits: began.waits.zip(now.waits).map(waited),
            line: is_line.then_some(line),
        };
        let is_known = load.line.is_some() || load.waits.is_some();
        (seconds > 0.0 && is_known).then_some(load)
    }
}

impl Load {
    /// Returns the resource that was busy nearly all the time, if one was. A board that tells only
    /// how often it has waited was busy if that is seldom.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        let line = self.line.map_or([0.0; 2], |line| [line.sending, line.hearing]);
        let shares = [
            (self.processor.unwrap_or(0.0), Limit::Processor),
            (line[0], Limit::Sending),
            (line[1], Limit::Hearing),
        ];
        let most = shares.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let most = most.filter(|(share, _)| *share >= FULL).map(|(_, limit)| limit);
        let is_busy = self.processor.is_none() && self.waits.is_some_and(|waits| waits < SELDOM);
        most.or(is_busy.then_some(Limit::Processor))
    }

    /// Whether it is known if the processor was the limit.
    fn knows_processor(&self) -> bool {
        self.processor.is_some() || self.waits.is_some()
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let limit = match (self.limit(), self.line.is_some(), self.knows_processor()) {
            (Some(Limit::Processor), ..) => "the board's processor",
            (Some(Limit::Sending), ..) => "the line to the board",
            (Some(Limit::Hearing), ..) => "the line from the board",
            (None, _, false) => "not the line: the board's processor, this computer or its adapter",
            (None, true, true) => "neither processor nor line: this computer or its adapter",
            (None, false, true) => "not the board's processor: the line or this computer",
        };
        let processor = self.processor.map_or("not known".to_owned(), percent);
        write!(f, "{limit}; processor busy {processor}")?;
        if let Some(waits) = self.waits {
            write!(f, ", it waited {:.1} times for 100 characters", waits * 100.0)?;
        }
        match self.line {
            Some(LineLoad { sending, hearing }) => {
                write!(f, ", line {} out, {} in", percent(sending), percent(hearing))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_the_limit_that_was_not_used_nearly_all_the_time() {
        use Limit::{Hearing, Processor, Sending};
        let load = |processor, waits, line: Option<(f64, f64)>| {
            let line = line.map(|(sending, hearing)| LineLoad { sending, hearing });
            Load { processor, waits, line }
        };
        for (load, limit, words) in [
            (load(Some(0.97), None, Some((0.3, 0.95))), Some(Processor), "the board's processor; "),
            (load(None, None, Some((0.91, 0.44))), Some(Sending), "the line to the board; "),
            (load(None, None, Some((0.31, 0.99))), Some(Hearing), "the line from the board; "),
            (load(None, None, Some((0.31, 0.44))), None, "not the line: the board's processor, "),
            (load(Some(0.6), None, Some((0.31, 0.44))), None, "neither processor nor line: this "),
            (
                load(None, Some(0.02), Some((0.31, 0.44))),
                Some(Processor),
                "the board's processor; ",
            ),
            (load(None, Some(0.02), None), Some(Processor), "the board's processor; "),
            (
                load(None, Some(0.02), Some((0.31, 0.95))),
                Some(Hearing),
                "the line from the board; ",
            ),
            (load(None, Some(0.4), Some((0.31, 0.44))), None, "neither processor nor line: this "),
            (load(None, Some(0.4), None), None, "not the board's processor: the line or this "),
            (load(Some(0.6), Some(0.02), Some((0.3, 0.4))), None, "neither processor nor line: "),
        ] {
            assert_eq!(load.limit(), limit, "{load}");
            assert!(load.to_string().starts_with(words), "{load}");
        }
    }
}
