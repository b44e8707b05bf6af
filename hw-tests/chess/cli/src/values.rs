//! The piece values of the commands, and tables of exchange values.

use chess_rules::see::{PieceValues, ValuesByDefinition};

/// The piece values without --values. In the proportions of Sargon's points, unlike the wiki's, so
/// that residues can be compared with them.
pub(crate) const DEFAULT_VALUES: PieceValues = PieceValues::CLASSIC;

/// The heads of [`columns`].
pub(crate) const COLUMNS: &str = "    swap  swap_promo  swap_pins   legal";

/// Returns the value by each definition.
pub(crate) fn columns(value: &ValuesByDefinition) -> String {
    let ValuesByDefinition { swap, swap_promo, swap_pins, .. } = value;
    format!("{swap:>8}{swap_promo:>12}{swap_pins:>11}{:>8}", legal(value))
}

/// Returns the legal value; `?` if it is unknown.
pub(crate) fn legal(value: &ValuesByDefinition) -> String {
    value.legal.map_or_else(|| "?".to_owned(), |legal| legal.to_string())
}
