//! Measurements by a board's instruments: T-states of the evaluator's routines, and the bookings of
//! XCHNG.

use firmware_wire::SquareRecord;
use tdlasm::link::Program;

use crate::answers::FollowedExchange;
use board_simulator::{CallRecord, Probe, Registers};

/// Address at which XCHNG has just booked points, with the residue in E; an XCHNG that is not ours
/// may lack them.
const BOOKINGS: [&str; 2] = ["XCBOOK", "XCLAST"];

/// Calls kept for answers that may still come.
const LIMIT: usize = 1 << 14;

/// Addresses of the evaluator's routines, and what was measured of them.
pub(super) struct Watch {
    pin_finder: u16,
    attack: u16,
    exchange: u16,
    /// The variable that holds the square under examination.
    square: u16,
    /// The sequence number of the request that is worked on.
    seq: u16,
    bookings: Vec<u16>,
    /// The routine that fetches pieces for XCHNG.
    fetch: Option<u16>,
    /// Calls whose answer has not come yet.
    records: Vec<CallRecord>,
}

impl Watch {
    pub(super) fn new(application: &Program) -> Self {
        let symbol = |name| application.symbol(name).unwrap_or(0);
        Self {
            pin_finder: symbol("PINFND"),
            attack: symbol("ATTACK"),
            exchange: symbol("XCHNG"),
            square: symbol("M3"),
            seq: symbol("REQ").wrapping_add(1),
            fetch: application.symbol("NEXTAD"),
            bookings: BOOKINGS.iter().filter_map(|name| application.symbol(name)).collect(),
            records: Vec::new(),
        }
    }

    /// Returns the probe that measures, and that also follows XCHNG from call to call if so
    /// wanted: at its own entry and return and at those of NEXTAD.
    pub(super) fn probe(&self, follows_exchanges: bool) -> Probe {
        let probe = Probe::new([self.pin_finder, self.attack, self.exchange], self.square)
            .with_request_tag(self.seq);
        if follows_exchanges {
            return probe.with_call_hits([self.exchange].into_iter().chain(self.fetch));
        }
        probe.with_hits_at(self.bookings.iter().copied())
    }

    /// Returns the last call of XCHNG among these passages.
    pub(super) fn followed(&self, passages: &[Registers]) -> Option<FollowedExchange> {
        let entry = passages.iter().rposition(|at| at.pc == self.exchange)?;
        Some(FollowedExchange::of(&passages[entry + 1..], self.fetch))
    }

    /// Forgets calls that no answer has claimed.
    pub(super) fn forget(&mut self) {
        self.records.clear();
    }

    /// Adds what the probe measured. The oldest goes when nobody claims it, as after a request was
    /// given up.
    pub(super) fn add(&mut self, records: Vec<CallRecord>) {
        self.records.extend(records);
        if self.records.len() > 2 * LIMIT {
            self.records.drain(..LIMIT);
        }
    }

    /// Takes the calls that a request made.
    pub(super) fn claim(&mut self, seq: u8) -> Vec<CallRecord> {
        self.records.extract_if(.., |record| record.request_tag == seq).collect()
    }

    /// T-states of each call of XCHNG.
    pub(super) fn exchanges(&self, records: &[CallRecord]) -> Vec<u64> {
        let calls = records.iter().filter(|call| call.routine == self.exchange);
        calls.map(|call| call.t_states).collect()
    }

    /// The calls of ATTACK and XCHNG for each of the last positions: square and T-states. `None` if
    /// there are too few.
    pub(super) fn per_position(
        &self,
        positions: usize,
        records: &[CallRecord],
    ) -> Option<Vec<Vec<(u8, u64)>>> {
        let mut all: Vec<_> = records.split(|record| record.routine == self.pin_finder).collect();
        // What was called before the first pins were found belongs to no position.
        let first = all.len().checked_sub(positions).filter(|first| *first > 0)?;
        all.drain(..first);
        Some(all.into_iter().map(|calls| self.of_squares(calls)).collect())
    }

    /// The calls up to the last exchange: the pin finder of the next position calls ATTACK, too.
    fn of_squares(&self, calls: &[CallRecord]) -> Vec<(u8, u64)> {
        let last = calls.iter().rposition(|call| call.routine == self.exchange);
        let squares = &calls[..last.map_or(0, |last| last + 1)];
        squares.iter().map(|call| (call.tag, call.t_states)).collect()
    }

    /// T-states of ATTACK and XCHNG for each square, after the last pins were found: a request that
    /// was repeated is worked on more than once.
    pub(super) fn per_square(&self, squares: &[SquareRecord], records: &[CallRecord]) -> Vec<u64> {
        let after = records.iter().rposition(|record| record.routine == self.pin_finder);
        let times = &records[after.map_or(0, |index| index + 1)..];
        let of = |square: u8| times.iter().filter(|r| r.tag == square).map(|r| r.t_states).sum();
        squares.iter().map(|record| of(record.square)).collect()
    }
}
