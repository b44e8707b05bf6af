//! A plain capture search, to measure how much exchange values save in a search.
//!
//! The score is material only. Either side may stop at any time (stand pat), so the search is
//! finite; [`QuiescenceSearch::limit`] bounds it nevertheless.

use std::cmp::Reverse;

use chess_rules::see::{PieceValues, SeeDefinition, move_value};
use chess_rules::{Move, Piece, Position};

/// The order of captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureOrdering {
    /// In the order of generation.
    None,
    /// The most valuable victim first; for equal ones, the least valuable attacker first.
    MvvLva,
    /// By exchange value.
    Exchange,
}

/// A search with its options and statistics.
#[derive(Debug, Clone)]
pub struct QuiescenceSearch {
    /// The values of pieces.
    pub values: PieceValues,
    /// The order in which captures are tried.
    pub order: CaptureOrdering,
    /// Leaves out captures whose exchange value is negative.
    pub drops_losing: bool,
    /// Leaves out captures that can't raise the score to alpha even with this much added.
    pub delta: Option<i32>,
    /// Leaves out captures whose exchange value plus this can't raise the score to alpha.
    pub futility: Option<i32>,
    /// Reuses the values that ordered the captures when deciding which to drop.
    pub remembers: bool,
    /// The maximum number of nodes to visit.
    pub limit: u64,
    /// Positions visited.
    pub nodes: u64,
    /// Exchange values computed.
    pub evaluated: u64,
}

impl QuiescenceSearch {
    /// Creates a search without pruning other than alpha-beta.
    pub fn new(values: PieceValues, order: CaptureOrdering) -> Self {
        Self {
            values,
            order,
            drops_losing: false,
            delta: None,
            futility: None,
            remembers: true,
            limit: 1_000_000,
            nodes: 0,
            evaluated: 0,
        }
    }

    /// Returns the gain of the side to move by captures, at least 0 since it may stop.
    ///
    /// ```
    /// use chess_experiments::quiescence::{CaptureOrdering, QuiescenceSearch};
    /// use chess_rules::Position;
    /// use chess_rules::see::PieceValues;
    /// let position = Position::from_fen("4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -")?;
    /// let mut search = QuiescenceSearch::new(PieceValues::UNITS, CaptureOrdering::MvvLva);
    /// assert_eq!(search.gain(&position), Some(1));
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    ///
    /// `None` if the limit of nodes was reached.
    pub fn gain(&mut self, position: &Position) -> Option<i32> {
        const BOUND: i32 = 1_000_000;
        self.best(position, 0, -BOUND, BOUND)
    }

    /// `score` is the balance so far, seen from the side to move.
    fn best(&mut self, position: &Position, score: i32, alpha: i32, beta: i32) -> Option<i32> {
        self.nodes += 1;
        if self.nodes > self.limit {
            return None;
        }
        let mut best = score;
        let mut alpha = alpha.max(best);
        if best >= beta {
            return Some(best);
        }
        for (capture, exchange) in self.captures(position) {
            let won = material_won(position, capture, self.values);
            if self.is_dropped(position, capture, exchange, score, won, alpha) {
                continue;
            }
            let after = position.play(capture);
            let answer = self.best(&after, -(score + won), -beta, -alpha)?;
            best = best.max(-answer);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        Some(best)
    }

    /// Returns the captures in order, with their exchange values where the order needs them.
    fn captures(&mut self, position: &Position) -> Vec<(Move, Option<i32>)> {
        let captures = position.legal_captures();
        let mut valued: Vec<_> = captures
            .into_iter()
            .map(|m| {
                (m, (self.order == CaptureOrdering::Exchange).then(|| self.exchange(position, m)))
            })
            .collect();
        match self.order {
            CaptureOrdering::None => {}
            CaptureOrdering::MvvLva => valued.sort_by_key(|(m, _)| Reverse(mvv_lva(position, *m))),
            CaptureOrdering::Exchange => valued.sort_by_key(|(_, value)| Reverse(*value)),
        }
        valued
    }

    fn exchange(&mut self, position: &Position, m: Move) -> i32 {
        self.evaluated += 1;
        move_value(position, m, self.values, SeeDefinition::Swap)
    }

    fn is_dropped(
        &mut self,
        position: &Position,
        m: Move,
        known: Option<i32>,
        score: i32,
        won: i32,
        alpha: i32,
    ) -> bool {
        if self.delta.is_some_and(|margin| score + won + margin <= alpha) {
            return true;
        }
        if !self.drops_losing && self.futility.is_none() {
            return false;
        }
        let value = known.filter(|_| self.remembers).unwrap_or_else(|| self.exchange(position, m));
        let is_futile = self.futility.is_some_and(|margin| score + value + margin <= alpha);
        is_futile || (self.drops_losing && value < 0)
    }
}

/// Returns the gain of a move itself: the piece taken, and that of a promotion.
fn material_won(position: &Position, m: Move, values: PieceValues) -> i32 {
    let taken = position.taken(m).and_then(|square| position.pieces().on(square));
    let promoted = m.promotion.map_or(0, |kind| values.of(kind) - values.of(Piece::Pawn));
    taken.map_or(0, |(_, kind)| values.of(kind)) + promoted
}

/// Returns a key, higher for more valuable victims, then for less valuable attackers.
pub fn mvv_lva(position: &Position, m: Move) -> i32 {
    let kind = |square| position.pieces().on(square).map_or(Piece::Pawn, |(_, kind)| kind);
    let victim = position.taken(m).map_or(Piece::Pawn, kind);
    let promotion = m.promotion.map_or(0, |kind| kind as i32);
    8 * (victim as i32 + promotion) - kind(m.from) as i32
}
