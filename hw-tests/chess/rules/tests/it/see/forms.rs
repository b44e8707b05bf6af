//! Two more forms of the swap algorithm, to which the library's are compared.

use chess_rules::see::{ExchangeStart, NextCapturer, PieceValues};
use chess_rules::{Color, Move, Piece, Position};

/// An exchange with what its first move wins and puts at stake.
pub(crate) struct Exchange {
    pub(crate) start: ExchangeStart,
    values: PieceValues,
    won: i32,
    stake: i32,
}

impl Exchange {
    pub(crate) fn after_move(position: &Position, m: Move, values: PieceValues) -> Self {
        let worth = |square| position.pieces().on(square).map_or(0, |(_, kind)| values.of(kind));
        let promoted = m.promotion.map(|kind| values.of(kind) - values.of(Piece::Pawn));
        Self {
            start: ExchangeStart::after_move(position, m, values),
            values,
            won: position.taken(m).map_or(0, worth) + promoted.unwrap_or(0),
            stake: m.promotion.map_or_else(|| worth(m.from), |kind| values.of(kind)),
        }
    }

    /// The recursive form: each side takes the better of stopping and continuing.
    pub(crate) fn value_by_recursion(&self, promotes: bool) -> i32 {
        self.won - self.gain(&mut self.start.capturers(promotes), self.stake)
    }

    fn gain<I: Iterator<Item = (Color, NextCapturer)>>(
        &self,
        capturers: &mut I,
        stake: i32,
    ) -> i32 {
        let Some((_, capturer)) = capturers.next() else { return 0 };
        let answer = self.gain(capturers, self.values.of(capturer.becomes));
        (stake + capturer.promotion - answer).max(0)
    }

    /// The iterative form derived from alpha-beta: the results that each side can enforce are
    /// bounds of the value, and the exchange ends where the bounds meet.
    pub(crate) fn value_by_bounds(&self, promotes: bool) -> i32 {
        let mut capturers = self.start.capturers(promotes);
        let mut low = i32::MIN;
        let mut high = i32::MAX;
        let mut balance = self.won;
        let mut stake = self.stake;
        loop {
            // The other side may stop here, so that the mover gets no more than the balance.
            high = high.min(balance);
            let Some((_, capturer)) = capturers.next().filter(|_| low < high) else {
                return high.max(low);
            };
            balance -= stake + capturer.promotion;
            stake = self.values.of(capturer.becomes);
            low = low.max(balance);
            let Some((_, capturer)) = capturers.next().filter(|_| low < high) else {
                return low.min(high);
            };
            balance += stake + capturer.promotion;
            stake = self.values.of(capturer.becomes);
        }
    }
}
