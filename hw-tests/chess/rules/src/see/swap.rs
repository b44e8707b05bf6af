//! The pseudo-legal forms: a list that is folded, the value alone, and a threshold.

use crate::Color;
use crate::see::ExchangeStart;
use crate::see::pseudo_legal::{NextCapturer, RemainingCapturers, gain};

/// The trace of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapList {
    /// Gains in the order of captures, each seen from the side that captures; all but the first
    /// are stored as if the capturer were taken in turn.
    pub gains: Vec<i32>,
    /// The gains after folding, without the last, never realised one; the first is the move's.
    pub folded: Vec<i32>,
}

impl SwapList {
    /// Returns the gain of the moving side; negative if it loses.
    pub fn value(&self) -> i32 {
        self.folded[0]
    }
}

impl ExchangeStart {
    /// Evaluates by the iterative form of the wiki: a list of speculative gains, then folded from
    /// its end. With `promotes` a pawn that takes on the last rank becomes a queen.
    ///
    /// `prune` stops, as the wiki's code does, as soon as the side to recapture cannot gain.
    /// According to the wiki this does not influence the result. It keeps the result's sign, but
    /// the result may be too high: a pawn that captures a guarded bishop is evaluated as the whole
    /// bishop, since the loss of the pawn is not considered.
    pub fn list(&self, promotes: bool, prune: bool) -> SwapList {
        let mut gains = vec![self.won];
        let mut side = self.recapturing_side;
        let mut stands = self.values.of(self.stands);
        let mut takers = self.takers(promotes);
        loop {
            let before = gains[gains.len() - 1];
            let next = self.square.and_then(|_| takers.as_mut()?.next(side));
            let promotion = next.map_or(0, |taker| taker.promotion);
            let gain = stands + promotion - before;
            gains.push(gain);
            if prune && gain < 0 && before > 0 {
                break;
            }
            let Some(taker) = next else { break };
            stands = self.values.of(taker.becomes);
            side = !side;
        }
        let folded = fold(&gains);
        SwapList { gains, folded }
    }

    /// Returns the value of [`Self::list`] without pruning, and allocates no list.
    pub fn swap_value(&self, promotes: bool) -> i32 {
        let stake = self.values.of(self.stands);
        let takers = self.takers(promotes);
        self.won - takers.map_or(0, |mut takers| gain(&mut takers, self.recapturing_side, stake))
    }

    /// Returns `true` if the move gains at least `threshold`, as move ordering needs. This requires
    /// no list, and mostly only a part of the exchange.
    pub fn see_ge(&self, threshold: i32, promotes: bool) -> bool {
        // The margin of the mover above the threshold if the exchange ends here.
        let mut balance = self.won - threshold;
        if balance < 0 {
            return false;
        }
        let Some(mut takers) = self.takers(promotes) else { return true };
        let mut side = self.recapturing_side;
        let mut stands = self.values.of(self.stands);
        let mut is_content = true;
        loop {
            let next: Option<NextCapturer> = takers.next(side);
            let Some(taker) = next else { return is_content };
            let taken = stands + taker.promotion;
            balance += if is_content { -taken } else { taken };
            // A side whose capture can't change the result does not capture.
            if (balance >= 0) == is_content {
                return is_content;
            }
            stands = self.values.of(taker.becomes);
            side = !side;
            is_content = !is_content;
        }
    }

    /// Returns the pieces that may recapture; `None` after castling.
    fn takers(&self, promotes: bool) -> Option<RemainingCapturers<'_>> {
        let square = self.square?;
        let takers = RemainingCapturers::new(&self.pieces, square, self.values, promotes);
        Some(takers.without(self.absent))
    }

    /// Returns the pseudo-legal recapturers in order, sides alternating.
    pub fn recaptures(&self, promotes: bool) -> impl Iterator<Item = (Color, NextCapturer)> {
        let mut takers = self.takers(promotes);
        let mut side = self.recapturing_side;
        std::iter::from_fn(move || {
            let taker = takers.as_mut()?.next(side)?;
            side = !side;
            Some((!side, taker))
        })
    }
}

/// Negamax over the list: each side takes the better of stopping and continuing. The last gain
/// assumes one more capture, which does not exist, so it is ignored.
fn fold(gains: &[i32]) -> Vec<i32> {
    let mut folded = gains[..gains.len() - 1].to_vec();
    for depth in (1..folded.len()).rev() {
        folded[depth - 1] = -(-folded[depth - 1]).max(folded[depth]);
    }
    folded
}
