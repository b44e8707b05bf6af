//! Squares as arguments.

use sargon_reference::Square;

/// Reads the name of a square.
pub fn square_name(text: &str) -> Result<Square, String> {
    Square::named(text).ok_or_else(|| "a square is a letter a to h and a digit 1 to 8".to_owned())
}
