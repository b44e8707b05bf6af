//! Piece values with decimals, and the values of moves by them.

use std::str::FromStr;

use chess_rules::Piece;
use chess_rules::see::{PieceValues, PieceValuesError, SeeDefinition, ValuesByDefinition};
use chess_rules::suite::AMOUNT_UNITS;
use sargon_corpus::args::Decimal;
use serde::Serialize;

/// Piece values in units of which [`ScaledValues::scale`] make 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScaledValues {
    pub(super) pieces: PieceValues,
    pub(super) scale: i32,
}

impl From<PieceValues> for ScaledValues {
    fn from(pieces: PieceValues) -> Self {
        Self { pieces, scale: 1 }
    }
}

impl FromStr for ScaledValues {
    type Err = PieceValuesError;

    /// Reads a name or six numbers, with up to three decimals.
    fn from_str(text: &str) -> Result<Self, PieceValuesError> {
        if !text.contains('.') {
            return text.parse().map(|pieces: PieceValues| pieces.into());
        }
        // Whole numbers are checked as without decimals.
        let wholes = text.split(',').map(|number| number.trim().split('.').next().unwrap_or(""));
        let wholes: PieceValues = wholes.collect::<Vec<_>>().join(",").parse()?;
        let scale = AMOUNT_UNITS as i32;
        let mut pieces = wholes.0.map(|value| value * scale);
        for (value, number) in pieces.iter_mut().zip(text.split(',')) {
            let decimals = number.trim().split_once('.').map_or("", |(_, decimals)| decimals);
            let thousandths = format!("{decimals:0<3}");
            let is_short = thousandths.len() == 3;
            let number = thousandths.parse::<u16>().ok().filter(|_| is_short);
            *value += i32::from(number.ok_or_else(|| PieceValuesError::new(text))?);
        }
        Ok(Self { pieces: PieceValues(pieces), scale })
    }
}

impl ScaledValues {
    /// Returns a value in units of suites.
    pub(super) fn units(self, value: i32) -> i64 {
        i64::from(value) * AMOUNT_UNITS / i64::from(self.scale)
    }

    /// Returns the value of a piece in units of suites.
    pub(super) fn piece(self, kind: Piece) -> i64 {
        self.units(self.pieces.of(kind))
    }

    fn decimal(self, value: i32) -> Decimal {
        Decimal::of(i64::from(value), i64::from(self.scale))
    }
}

/// The value of a move by each definition.
#[derive(Serialize)]
pub(super) struct ValueTable {
    pub(super) swap: Decimal,
    pub(super) swap_promo: Decimal,
    pub(super) swap_pins: Decimal,
    pub(super) legal: Option<Decimal>,
}

impl ValueTable {
    /// Returns the value by a definition.
    pub(super) fn by(&self, definition: SeeDefinition) -> Option<Decimal> {
        match definition {
            SeeDefinition::Swap => Some(self.swap),
            SeeDefinition::SwapPromo => Some(self.swap_promo),
            SeeDefinition::SwapPins => Some(self.swap_pins),
            SeeDefinition::Legal => self.legal,
        }
    }

    pub(super) fn of(found: ValuesByDefinition, values: ScaledValues) -> Self {
        Self {
            swap: values.decimal(found.swap),
            swap_promo: values.decimal(found.swap_promo),
            swap_pins: values.decimal(found.swap_pins),
            legal: found.legal.map(|legal| values.decimal(legal)),
        }
    }
}
