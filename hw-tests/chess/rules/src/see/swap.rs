//! The pseudo-legal forms: a list that is folded, the value alone, and a threshold.

use crate::Color;
use crate::see::ExchangeStart;
use crate::see::pseudo_legal::{NextCapturer, RemainingCapturers, gain};

/// The trace of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapList {
    /// Gains in the order of captures, each seen from the side that captures; all but the first
    /// assume that the next recapture happens.
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
        let mut gains = vec![self.initial_gain];
        let mut side = self.recapturing_side;
        let mut stake = self.values.of(self.occupant);
        let mut capturers = self.remaining_capturers(promotes);
        loop {
            let before = gains[gains.len() - 1];
            let next = self.square.and_then(|_| capturers.as_mut()?.next(side));
            let promotion = next.map_or(0, |capturer| capturer.promotion);
            let gain = stake + promotion - before;
            gains.push(gain);
            if prune && gain < 0 && before > 0 {
                break;
            }
            let Some(capturer) = next else { break };
            stake = self.values.of(capturer.becomes);
            side = !side;
        }
        let folded = fold(&gains);
        SwapList { gains, folded }
    }

    /// Returns the value of [`Self::list`] without pruning, and allocates no list.
    pub fn swap_value(&self, promotes: bool) -> i32 {
        let stake = self.values.of(self.occupant);
        let capturers = self.remaining_capturers(promotes);
        self.initial_gain
            - capturers
                .map_or(0, |mut capturers| gain(&mut capturers, self.recapturing_side, stake))
    }

    /// Returns `true` if the move gains at least `threshold`, as move ordering needs. This requires
    /// no list, and mostly only a part of the exchange.
    pub fn see_ge(&self, threshold: i32, promotes: bool) -> bool {
        // The margin of the mover above the threshold if the exchange ends here.
        let mut balance = self.initial_gain - threshold;
        if balance < 0 {
            return false;
        }
        let Some(mut capturers) = self.remaining_capturers(promotes) else { return true };
        let mut side = self.recapturing_side;
        let mut stake = self.values.of(self.occupant);
        let mut is_content = true;
        loop {
            let next: Option<NextCapturer> = capturers.next(side);
            let Some(capturer) = next else { return is_content };
            let taken = stake + capturer.promotion;
            balance += if is_content { -taken } else { taken };
            // A side whose capture can't change the result does not capture.
            if (balance >= 0) == is_content {
                return is_content;
            }
            stake = self.values.of(capturer.becomes);
            side = !side;
            is_content = !is_content;
        }
    }

    /// Returns the pieces that may recapture; `None` after castling.
    fn remaining_capturers(&self, promotes: bool) -> Option<RemainingCapturers<'_>> {
        let square = self.square?;
        let capturers = RemainingCapturers::new(&self.pieces, square, self.values, promotes);
        Some(capturers.without(self.absent))
    }

    /// Returns the pseudo-legal capturers after the move in order, sides alternating.
    pub fn capturers(&self, promotes: bool) -> impl Iterator<Item = (Color, NextCapturer)> {
        let mut capturers = self.remaining_capturers(promotes);
        let mut side = self.recapturing_side;
        std::iter::from_fn(move || {
            let capturer = capturers.as_mut()?.next(side)?;
            side = !side;
            Some((!side, capturer))
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
