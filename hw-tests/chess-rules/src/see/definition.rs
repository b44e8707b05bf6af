//! The three definitions of the value of a move.

use std::fmt;

use crate::{Move, Position};
use serde::Serialize;

use crate::see::{Opening, Values};

/// A rule for who may take next on the square.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Definition {
    /// Pseudo-legal: the least valuable attacker, whatever pins and checks there are. A pawn that
    /// takes on the last rank stays a pawn.
    #[default]
    Swap,
    /// As [`Definition::Swap`], but a pawn that takes on the last rank becomes a queen.
    SwapPromo,
    /// Every legal capture on the square, in the best order: full minimax.
    Legal,
}

impl Definition {
    /// All definitions.
    pub const ALL: [Self; 3] = [Self::Swap, Self::SwapPromo, Self::Legal];
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swap => "swap",
            Self::SwapPromo => "swap_promo",
            Self::Legal => "legal",
        })
    }
}

impl std::str::FromStr for Definition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|definition| definition.to_string() == text);
        found.ok_or_else(|| "the definitions are swap, swap_promo and legal".to_owned())
    }
}

/// A value by each definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ByDefinition {
    /// By [`Definition::Swap`].
    pub swap: i32,
    /// By [`Definition::SwapPromo`].
    pub swap_promo: i32,
    /// By [`Definition::Legal`]; `None` where the exchange is too large ([`Opening::by_law`]).
    pub legal: Option<i32>,
}

impl ByDefinition {
    /// Returns the value by one definition; that of [`Definition::SwapPromo`] stands in for a
    /// legal one that is not known.
    #[must_use]
    pub fn by(&self, definition: Definition) -> i32 {
        match definition {
            Definition::Swap => self.swap,
            Definition::SwapPromo => self.swap_promo,
            Definition::Legal => self.legal.unwrap_or(self.swap_promo),
        }
    }
}

/// Evaluates a legal move by all definitions.
#[must_use]
pub fn values_of(position: &Position, m: Move, values: Values) -> ByDefinition {
    let opening = Opening::of(position, m, values);
    let swap = opening.by_bounds(false);
    let swap_promo = opening.by_bounds(true);
    ByDefinition { swap, swap_promo, legal: opening.by_law() }
}

/// Evaluates a legal move by one definition; as [`ByDefinition::by`] where the legal value is
/// not known.
#[must_use]
pub fn value_of(position: &Position, m: Move, values: Values, definition: Definition) -> i32 {
    let opening = Opening::of(position, m, values);
    match definition {
        Definition::Swap => opening.by_bounds(false),
        Definition::SwapPromo => opening.by_bounds(true),
        Definition::Legal => opening.by_law().unwrap_or_else(|| opening.by_bounds(true)),
    }
}
