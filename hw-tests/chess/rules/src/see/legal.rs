//! The legal form: minimax over every legal capture on the square.

use rustc_hash::FxHashMap;

use crate::see::{ExchangeStart, PieceValues};
use crate::{BitBoard, Color, Piece, Pieces, Rank, Square};

impl ExchangeStart {
    /// Evaluates by minimax over the legal captures on the square, by any piece in any order. A
    /// pawn on the last rank becomes a queen. A side that has no legal capture there, in check or
    /// not, stops, and stopping costs nothing.
    ///
    /// `None` if the exchange has more than [`MAX_LEGAL_STATES`] states; no game has so many pieces
    /// around a square.
    pub fn legal_minimax(&self) -> Option<i32> {
        self.legal_minimax_with_limit(MAX_LEGAL_STATES)
    }

    /// Evaluates as [`ValuesByDefinition::by`](crate::see::ValuesByDefinition::by) the definition
    /// [`Legal`](crate::see::SeeDefinition::Legal).
    pub(crate) fn legal_value(&self) -> i32 {
        self.legal_minimax().unwrap_or_else(|| self.swap_value(true))
    }

    /// Evaluates as [`ExchangeStart::legal_minimax`] with a given limit.
    pub fn legal_minimax_with_limit(&self, limit: usize) -> Option<i32> {
        let Some(square) = self.square.filter(|_| !self.recapturers().is_empty()) else {
            return Some(self.initial_gain);
        };
        let kinds = self.values.kinds_by_value();
        let mut search =
            Search { values: self.values, kinds, square, known: FxHashMap::default(), limit };
        let lost = search.gain(&self.pieces, self.occupant, self.recapturing_side)?;
        Some(self.initial_gain - lost)
    }
}

/// The maximum number of states that [`ExchangeStart::legal_minimax`] visits.
pub const MAX_LEGAL_STATES: usize = 100_000;

/// The state of an exchange: the remaining pieces, and the one on the square. The side to move
/// follows from the number of remaining pieces.
type State = (BitBoard, Piece);

/// The number of capturers up to which an exchange has so few states that none is kept.
const FEW_CAPTURERS: u32 = 4;

struct Search {
    values: PieceValues,
    kinds: [Piece; 6],
    square: Square,
    /// Computed gains: other orders of the same captures lead to the same state.
    known: FxHashMap<State, i32>,
    /// The maximum number of states to visit.
    limit: usize,
}

impl Search {
    /// Returns the gain of `side` on the square, 0 if it does best to stop. `None` at the limit.
    fn gain(&mut self, pieces: &Pieces, occupant: Piece, side: Color) -> Option<i32> {
        let both = pieces.attackers(self.square, pieces.occupied());
        let attackers = both & pieces.side(side);
        if attackers.is_empty() {
            return Some(0);
        }
        if both.len() <= FEW_CAPTURERS {
            return self.best(pieces, occupant, side, attackers);
        }
        let state = (pieces.occupied(), occupant);
        if let Some(gain) = self.known.get(&state) {
            return Some(*gain);
        }
        if self.known.len() >= self.limit {
            return None;
        }
        let gain = self.best(pieces, occupant, side, attackers)?;
        self.known.insert(state, gain);
        Some(gain)
    }

    fn best(
        &mut self,
        pieces: &Pieces,
        occupant: Piece,
        side: Color,
        attackers: BitBoard,
    ) -> Option<i32> {
        let mut best = 0;
        for kind in self.kinds {
            let becomes = self.becomes(kind);
            let wins = self.values.of(occupant) + self.values.of(becomes) - self.values.of(kind);
            for from in attackers & pieces.kind(kind) {
                // No reply can make the capture worth more than its immediate gain.
                if best >= wins {
                    break;
                }
                let mut after = *pieces;
                after.remove(from);
                after.place(self.square, side, becomes);
                if !after.is_in_check(side) {
                    best = best.max(wins - self.gain(&after, becomes, !side)?);
                }
            }
        }
        Some(best)
    }

    fn becomes(&self, kind: Piece) -> Piece {
        let last = matches!(self.square.rank(), Rank::First | Rank::Eighth);
        if kind == Piece::Pawn && last { Piece::Queen } else { kind }
    }
}
