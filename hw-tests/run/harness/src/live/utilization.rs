//! Utilization of processor and line during a run, and which of them was the bottleneck.

mod json;

use std::fmt;

use rcflash_link::LinkStats;

use super::LiveBoard;
use crate::board::BoardKind;
use board_simulator::Pace;

/// Bits of a character on the line, with start and stop bit.
const BITS_PER_CHARACTER: f64 = 10.0;
/// A line used more than this has no real baud rate. Over 1 because the clocks of both ends differ
/// by a few per cent.
const MAX_LINE_SHARE: f64 = 1.05;
/// A resource busy for this share of the time is a bottleneck. Below 1 because replies that wait
/// for one another, latency of USB adapters and the end of a run take some of the time.
const BOTTLENECK_SHARE: f64 = 0.9;
/// With fewer waits per character, the processor counts as busy nearly all the time. With 99 % of
/// the line from the board in use there are seven waits for 100 characters (docs/BENCHMARKS.md),
/// else more.
const BUSY_WAITS_PER_CHARACTER: f64 = 0.05;

/// A resource that was busy nearly all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bottleneck {
    /// The board's processor.
    Processor,
    /// The line to the board.
    LineTx,
    /// The line from the board.
    LineRx,
}

/// Utilization while requests were in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilization {
    /// Share of the time outside HALT, from 0 to 1; `None` for a board that is not simulated here.
    pub processor: Option<f64>,
    /// Waits per character on the line, as counted by the application; `None` if it does not count.
    pub waits: Option<f64>,
    /// Utilization of the line; `None` if the board does not run in real time.
    pub line: Option<LineUtilization>,
}

/// Shares of the time with a character on the line, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineUtilization {
    /// Towards the board.
    pub tx: f64,
    /// From the board.
    pub rx: f64,
}

/// Values of the counters at one time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CounterSnapshot {
    stats: LinkStats,
    /// T-states, and those in HALT.
    clock: (u64, u64),
    waits: Option<u32>,
}

impl CounterSnapshot {
    /// Discards the count of waits, because a restarted application counts from 0.
    pub(super) fn forget_waits(&mut self) {
        self.waits = None;
    }
}

impl LiveBoard {
    pub(super) fn counters(&self) -> CounterSnapshot {
        let clock =
            |board: &dyn crate::board::Instrumentation| (board.clock(), board.halted_time());
        let clock = self.board.instrumentation().map_or((0, 0), clock);
        CounterSnapshot { stats: self.stats(), clock, waits: self.waits }
    }

    /// Returns the utilization from the set-up of the board to the last [`Self::record_waits`].
    ///
    /// Returns `None` for a board simulated at full speed and for a replay, or if nothing is known.
    /// The line's utilization is unknown on MAME, which has its own time, and if more was
    /// transferred than the baud rate allows, as over a pseudo-terminal.
    #[must_use]
    pub fn utilization(&self) -> Option<Utilization> {
        let keeps_time = match &self.config.board {
            BoardKind::Simulated { pace: Pace::Free, .. } | BoardKind::Replay(_) => return None,
            BoardKind::Mame { .. } => false,
            BoardKind::Simulated { .. } | BoardKind::InProcess { .. } | BoardKind::Serial(_) => {
                true
            }
        };
        let now = self.counters();
        let began = self.baseline_counters;
        let passed = now.stats.since(&began.stats);
        let seconds = passed.busy.as_secs_f64();
        let share = |bytes: u64| {
            bytes as f64 * BITS_PER_CHARACTER / f64::from(self.config.profile.uart.baud) / seconds
        };
        let at_work = |(clock, halted): (u64, u64)| clock.saturating_sub(halted);
        let busy = at_work(now.clock).saturating_sub(at_work(began.clock)) as f64;
        // A restarting board is busy also while no request is in flight.
        let share_busy = (busy / self.profile().clock_hz as f64 / seconds).min(1.0);
        let line = LineUtilization { tx: share(passed.bytes.0), rx: share(passed.bytes.1) };
        let is_line = keeps_time && line.tx.max(line.rx) <= MAX_LINE_SHARE;
        let characters = (passed.bytes.0 + passed.bytes.1) as f64;
        let waited = |(began, now): (u32, u32)| f64::from(now.wrapping_sub(began)) / characters;
        let utilization = Utilization {
            processor: self.board.instrumentation().filter(|_| is_line).map(|_| share_busy),
            waits: began.waits.zip(now.waits).map(waited),
            line: is_line.then_some(line),
        };
        let is_known = utilization.line.is_some() || utilization.waits.is_some();
        (seconds > 0.0 && is_known).then_some(utilization)
    }
}

impl Utilization {
    /// Returns the resource that was busy nearly all the time, if one was. If only the count of
    /// waits is known, the processor was busy if it waited rarely.
    #[must_use]
    pub fn bottleneck(&self) -> Option<Bottleneck> {
        let line = self.line.map_or([0.0; 2], |line| [line.tx, line.rx]);
        let shares = [
            (self.processor.unwrap_or(0.0), Bottleneck::Processor),
            (line[0], Bottleneck::LineTx),
            (line[1], Bottleneck::LineRx),
        ];
        let most = shares.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let most =
            most.filter(|(share, _)| *share >= BOTTLENECK_SHARE).map(|(_, bottleneck)| bottleneck);
        let is_busy = self.processor.is_none()
            && self.waits.is_some_and(|waits| waits < BUSY_WAITS_PER_CHARACTER);
        most.or(is_busy.then_some(Bottleneck::Processor))
    }

    fn has_processor_data(&self) -> bool {
        self.processor.is_some() || self.waits.is_some()
    }
}

impl fmt::Display for Utilization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let bottleneck = match (self.bottleneck(), self.line.is_some(), self.has_processor_data()) {
            (Some(Bottleneck::Processor), ..) => "the board's processor",
            (Some(Bottleneck::LineTx), ..) => "the line to the board",
            (Some(Bottleneck::LineRx), ..) => "the line from the board",
            (None, _, false) => "not the line: the board's processor, this computer or its adapter",
            (None, true, true) => "neither processor nor line: this computer or its adapter",
            (None, false, true) => "not the board's processor: the line or this computer",
        };
        let processor = self.processor.map_or("unknown".to_owned(), percent);
        write!(f, "{bottleneck}; processor busy {processor}")?;
        if let Some(waits) = self.waits {
            write!(f, ", {:.1} waits per 100 characters", waits * 100.0)?;
        }
        match self.line {
            Some(LineUtilization { tx: sending, rx: receiving }) => {
                write!(f, ", line {} sent, {} received", percent(sending), percent(receiving))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_resource_that_was_busy_nearly_all_the_time_is_a_bottleneck() {
        use Bottleneck::{LineRx, LineTx, Processor};
        let utilization = |processor, waits, line: Option<(f64, f64)>| {
            let line =
                line.map(|(sending, receiving)| LineUtilization { tx: sending, rx: receiving });
            Utilization { processor, waits, line }
        };
        for (utilization, bottleneck, words) in [
            (
                utilization(Some(0.97), None, Some((0.3, 0.95))),
                Some(Processor),
                "the board's processor; ",
            ),
            (utilization(None, None, Some((0.91, 0.44))), Some(LineTx), "the line to the board; "),
            (
                utilization(None, None, Some((0.31, 0.99))),
                Some(LineRx),
                "the line from the board; ",
            ),
            (
                utilization(None, None, Some((0.31, 0.44))),
                None,
                "not the line: the board's processor, ",
            ),
            (
                utilization(Some(0.6), None, Some((0.31, 0.44))),
                None,
                "neither processor nor line: this ",
            ),
            (
                utilization(None, Some(0.02), Some((0.31, 0.44))),
                Some(Processor),
                "the board's processor; ",
            ),
            (utilization(None, Some(0.02), None), Some(Processor), "the board's processor; "),
            (
                utilization(None, Some(0.02), Some((0.31, 0.95))),
                Some(LineRx),
                "the line from the board; ",
            ),
            (
                utilization(None, Some(0.4), Some((0.31, 0.44))),
                None,
                "neither processor nor line: this ",
            ),
            (
                utilization(None, Some(0.4), None),
                None,
                "not the board's processor: the line or this ",
            ),
            (
                utilization(Some(0.6), Some(0.02), Some((0.3, 0.4))),
                None,
                "neither processor nor line: ",
            ),
        ] {
            assert_eq!(utilization.bottleneck(), bottleneck, "{utilization}");
            assert!(utilization.to_string().starts_with(words), "{utilization}");
        }
    }
}
