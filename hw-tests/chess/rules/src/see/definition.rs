//! The definitions of the value of a move.

use std::fmt;

use crate::{Move, Position};
use serde::Serialize;

use crate::see::exchange_start::Pins;
use crate::see::{ExchangeStart, PieceValues};

/// A rule for the next capturer on the square.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeeDefinition {
    /// Pseudo-legal: the least valuable attacker, regardless of pins and checks. A pawn that
    /// captures on the last rank stays a pawn.
    #[default]
    Swap,
    /// As [`SeeDefinition::Swap`], but a pawn that captures on the last rank becomes a queen.
    SwapPromo,
    /// As [`SeeDefinition::Swap`], but pieces that are pinned before the move capture only on the
    /// line of their pin.
    SwapPins,
    /// Every legal capture on the square, in the best order: full minimax.
    Legal,
}

impl SeeDefinition {
    /// All definitions.
    pub const ALL: [Self; 4] = [Self::Swap, Self::SwapPromo, Self::SwapPins, Self::Legal];
}

impl fmt::Display for SeeDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swap => "swap",
            Self::SwapPromo => "swap_promo",
            Self::SwapPins => "swap_pins",
            Self::Legal => "legal",
        })
    }
}

impl std::str::FromStr for SeeDefinition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|definition| definition.to_string() == text);
        found.ok_or_else(|| "expected swap, swap_promo, swap_pins or legal".to_owned())
    }
}

/// A value by each definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ValuesByDefinition {
    /// By [`SeeDefinition::Swap`].
    pub swap: i32,
    /// By [`SeeDefinition::SwapPromo`].
    pub swap_promo: i32,
    /// By [`SeeDefinition::SwapPins`].
    pub swap_pins: i32,
    /// By [`SeeDefinition::Legal`], unless too large ([`ExchangeStart::legal_minimax`]).
    pub legal: Option<i32>,
}

impl ValuesByDefinition {
    /// Returns the value by a definition; [`SeeDefinition::SwapPromo`] for an unknown legal one.
    pub fn by(&self, definition: SeeDefinition) -> i32 {
        match definition {
            SeeDefinition::Swap => self.swap,
            SeeDefinition::SwapPromo => self.swap_promo,
            SeeDefinition::SwapPins => self.swap_pins,
            SeeDefinition::Legal => self.legal.unwrap_or(self.swap_promo),
        }
    }
}

/// Evaluates a legal move by all definitions.
pub fn move_values(position: &Position, m: Move, values: PieceValues) -> ValuesByDefinition {
    move_values_with(position, m, values, &Pins::of(position))
}

/// Evaluates a legal move as [`move_values`] does, given the pins of the position.
pub(crate) fn move_values_with(
    position: &Position,
    m: Move,
    values: PieceValues,
    pins: &Pins,
) -> ValuesByDefinition {
    let exchange = ExchangeStart::after_move(position, m, values);
    if exchange.recapturers().is_empty() {
        let swap = exchange.initial_gain;
        return ValuesByDefinition { swap, swap_promo: swap, swap_pins: swap, legal: Some(swap) };
    }
    let swap = exchange.swap_value(false);
    let swap_promo = if exchange.is_on_last_rank() { exchange.swap_value(true) } else { swap };
    let without = exchange.without_pinned(pins);
    let swap_pins = if without.absent.is_empty() { swap } else { without.swap_value(false) };
    ValuesByDefinition { swap, swap_promo, swap_pins, legal: exchange.legal_minimax() }
}

/// Evaluates a legal move by one definition, as [`ValuesByDefinition::by`].
pub fn move_value(
    position: &Position,
    m: Move,
    values: PieceValues,
    definition: SeeDefinition,
) -> i32 {
    let exchange = ExchangeStart::after_move(position, m, values);
    match definition {
        SeeDefinition::Swap => exchange.swap_value(false),
        SeeDefinition::SwapPromo => exchange.swap_value(true),
        SeeDefinition::SwapPins => exchange.without_pinned(&Pins::of(position)).swap_value(false),
        SeeDefinition::Legal => exchange.legal_value(),
    }
}
