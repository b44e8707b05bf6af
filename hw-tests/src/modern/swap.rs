//! The iterative swap algorithm: a list of speculative gains, then folded from its end.

use cozy_chess::Square;

use super::{Pieces, Values};

/// The trace of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapList {
    /// Gains in the order of captures, each seen from the side that captures; all but the first are
    /// stored as if the capturer were taken in turn.
    pub gains: Vec<i32>,
    /// The gains after folding; the first is the value of the capture.
    pub folded: Vec<i32>,
}

impl SwapList {
    /// What the capturing side gains; negative when it loses.
    #[must_use]
    pub fn value(&self) -> i32 {
        self.folded[0]
    }
}

/// Evaluates the capture `from` x `to`, played whatever it costs; everything after it is played
/// only when it pays. `None` when either square is empty.
///
/// `prune` stops as the wiki's code does, as soon as the side to recapture has nothing to hope for. The wiki
/// says that this does not influence the result. It keeps the result's sign; the result itself
/// may come out too high: a pawn that takes a guarded bishop shows the whole bishop, since whether the pawn
/// is lost in turn is never looked at.
#[must_use]
pub fn swap(
    pieces: &Pieces,
    from: Square,
    to: Square,
    values: Values,
    prune: bool,
) -> Option<SwapList> {
    let (mut side, mut capturer) = pieces.on(from)?;
    let mut gains = vec![values.of(pieces.on(to)?.1)];
    let mut occupied = pieces.occupied();
    let mut source = from;
    loop {
        let before = gains[gains.len() - 1];
        let gain = values.of(capturer) - before;
        gains.push(gain);
        if prune && gain < 0 && before > 0 {
            break;
        }
        occupied -= source.bitboard();
        side = !side;
        match pieces.least_valuable(to, side, occupied) {
            Some(next) => (source, capturer) = next,
            None => break,
        }
    }
    let folded = fold(&gains);
    Some(SwapList { gains, folded })
}

/// Negamax over the list: each side takes the better of stopping and going on. The last gain was
/// stored in case of one more capture, which there is not, so it takes no part.
fn fold(gains: &[i32]) -> Vec<i32> {
    let mut folded = gains.to_vec();
    for depth in (1..folded.len() - 1).rev() {
        folded[depth - 1] = -(-folded[depth - 1]).max(folded[depth]);
    }
    folded
}

/// Whether the capture `from` x `to` gains at least `threshold`: the question that move ordering asks,
/// answered without a list and mostly without playing the exchange out. `None` when either square is empty.
#[must_use]
pub fn at_least(
    pieces: &Pieces,
    from: Square,
    to: Square,
    values: Values,
    threshold: i32,
) -> Option<bool> {
    let (mut side, mut capturer) = pieces.on(from)?;
    // What the capturing side is above the threshold; the side about to recapture must push it below.
    let mut balance = values.of(pieces.on(to)?.1) - threshold;
    if balance < 0 {
        return Some(false);
    }
    let mut occupied = pieces.occupied() - from.bitboard();
    let mut content = true; // whether the first side has what it wants if the exchange ends here
    loop {
        let risked = values.of(capturer);
        let after = if content { balance - risked } else { balance + risked };
        if (after >= 0) == content {
            return Some(content);
        }
        side = !side;
        let Some((source, next)) = pieces.least_valuable(to, side, occupied) else {
            return Some(content);
        };
        occupied -= source.bitboard();
        (balance, capturer, content) = (after, next, !content);
    }
}
