//! T-states of the evaluator's routines, and XCHNG's bookings, from a simulated board.

use firmware::build::BuiltImage;
use firmware_wire::SquareRecord;

use board_simulator::{CallRecord, Probe};

/// Labels at which XCHNG has just booked points, residue in E; a user's XCHNG may lack them.
const BOOKING_LABELS: [&str; 2] = ["XCBOOK", "XCLAST"];

/// Addresses of the evaluator's routines.
#[derive(Debug, Clone)]
pub(crate) struct EvaluatorProbe {
    pin_finder: u16,
    attack: u16,
    exchange: u16,
    /// The variable with the number of the square under evaluation.
    square: u16,
    /// The variable with the sequence number of the current request.
    seq: u16,
    bookings: Vec<u16>,
    /// NEXTAD, which fetches the next capturer for XCHNG.
    fetch: Option<u16>,
}

impl EvaluatorProbe {
    pub(crate) fn new(built: &BuiltImage) -> Self {
        let application = &built.program;
        let symbol = |name| application.symbol(name).unwrap_or(0);
        Self {
            pin_finder: symbol("PINFND"),
            attack: symbol("ATTACK"),
            exchange: symbol("XCHNG"),
            square: symbol("M3"),
            seq: symbol("REQ").wrapping_add(1),
            fetch: application.symbol("NEXTAD"),
            bookings: BOOKING_LABELS.iter().filter_map(|name| application.symbol(name)).collect(),
        }
    }

    /// Returns the probe for the simulated board. With `record_exchange_calls` it
    /// records entries and returns of XCHNG and NEXTAD instead of the bookings.
    pub(crate) fn probe(&self, record_exchange_calls: bool) -> Probe {
        let probe = Probe::new([self.pin_finder, self.attack, self.exchange], self.square)
            .with_request_tag(self.seq);
        if record_exchange_calls {
            return probe.with_call_hits([self.exchange].into_iter().chain(self.fetch));
        }
        probe.with_hits_at(self.bookings.iter().copied())
    }

    /// Returns the T-states of each call of XCHNG.
    pub(crate) fn exchanges(&self, records: &[CallRecord]) -> Vec<u64> {
        let calls = records.iter().filter(|call| call.routine == self.exchange);
        calls.map(|call| call.t_states).collect()
    }

    /// Returns ATTACK and XCHNG calls with T-states, for each of the last `positions` positions.
    pub(crate) fn per_position(
        &self,
        positions: usize,
        records: &[CallRecord],
    ) -> Option<Vec<Vec<(u8, u64)>>> {
        let mut all: Vec<_> = records.split(|record| record.routine == self.pin_finder).collect();
        // Calls before the first pin search belong to no position.
        let first = all.len().checked_sub(positions).filter(|first| *first > 0)?;
        all.drain(..first);
        Some(all.into_iter().map(|calls| self.square_calls(calls)).collect())
    }

    /// Returns the calls up to the last exchange. Later ones are the next position's: its pin
    /// search calls ATTACK, too.
    fn square_calls(&self, calls: &[CallRecord]) -> Vec<(u8, u64)> {
        let last = calls.iter().rposition(|call| call.routine == self.exchange);
        let squares = &calls[..last.map_or(0, |last| last + 1)];
        squares.iter().map(|call| (call.tag, call.t_states)).collect()
    }

    /// Returns the T-states of ATTACK and XCHNG for each square, after the last pin search: the
    /// board processes a retried request more than once.
    pub(crate) fn per_square(&self, squares: &[SquareRecord], records: &[CallRecord]) -> Vec<u64> {
        let after = records.iter().rposition(|record| record.routine == self.pin_finder);
        let times = &records[after.map_or(0, |index| index + 1)..];
        let of = |square: u8| times.iter().filter(|r| r.tag == square).map(|r| r.t_states).sum();
        squares.iter().map(|record| of(record.square)).collect()
    }
}
