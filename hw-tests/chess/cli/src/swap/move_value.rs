//! The values of a move by each definition and in every form.

use chess_rules::see::{
    ExchangeStart, PieceValues, ValuesByDefinition, move_values, pseudo_legal_gain,
};
use chess_rules::{Move, Position};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct MoveValue {
    pub(super) uci: String,
    pub(super) san: String,
    #[serde(flatten)]
    pub(super) value: ValuesByDefinition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_least: Option<ThresholdResult>,
}

/// Whether a move reaches a threshold, by the two definitions that have a threshold form.
#[derive(Clone, Copy, Serialize)]
pub(super) struct ThresholdResult {
    pub(super) swap: bool,
    pub(super) swap_promo: bool,
}

impl ThresholdResult {
    fn of(start: &ExchangeStart, threshold: i32) -> Self {
        let [swap, swap_promo] = [false, true].map(|promotes| start.see_ge(threshold, promotes));
        Self { swap, swap_promo }
    }
}

impl MoveValue {
    pub(super) fn of(
        position: &Position,
        m: Move,
        values: PieceValues,
        threshold: Option<i32>,
    ) -> Self {
        let start = ExchangeStart::after_move(position, m, values);
        Self {
            uci: position.uci(m),
            san: position.san(m),
            value: move_values(position, m, values),
            at_least: threshold.map(|threshold| ThresholdResult::of(&start, threshold)),
        }
    }
}

/// The value of a move in every form.
#[derive(Serialize)]
pub(super) struct MoveDetail {
    #[serde(flatten)]
    pub(super) short: MoveValue,
    /// The iterative form, pawns staying pawns.
    pub(super) gains: Vec<i32>,
    pub(super) folded: Vec<i32>,
    /// The list with the wiki's pruning.
    pub(super) pruned_gains: Vec<i32>,
    pub(super) pruned_value: i32,
    /// The moving side's gain on the square if its attackers may decline, legality aside.
    pub(super) pseudo_legal_gain: i32,
}

impl MoveDetail {
    pub(super) fn of(
        position: &Position,
        m: Move,
        values: PieceValues,
        threshold: Option<i32>,
    ) -> Self {
        let start = ExchangeStart::after_move(position, m, values);
        let list = start.list(false, false);
        let pruned = start.list(false, true);
        let side = position.to_move();
        Self {
            short: MoveValue::of(position, m, values, threshold),
            gains: list.gains,
            folded: list.folded,
            pruned_value: pruned.value(),
            pruned_gains: pruned.gains,
            pseudo_legal_gain: pseudo_legal_gain(position.pieces(), m.to, side, values),
        }
    }
}
