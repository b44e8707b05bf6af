//! The values of the kinds of pieces.

use std::fmt;

use crate::Piece;

/// The worth of each kind of piece, in the order pawn, knight, bishop, rook, queen, king.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceValues(pub [i32; 6]);

impl PieceValues {
    /// In pawns, with a king that outweighs all other pieces together.
    pub const UNITS: Self = Self([1, 3, 3, 5, 9, 20_000]);
    /// In centipawns, as in most suites of exchange values.
    pub const CLASSIC: Self = Self([100, 300, 300, 500, 900, 20_000]);
    /// In centipawns, as in the wiki's worked examples.
    pub const WIKI: Self = Self([100, 325, 325, 500, 1000, 20_000]);
    /// In centipawns, as in the tutorial's examples.
    pub const TUTORIAL: Self = Self([100, 300, 325, 500, 900, 20_000]);
    /// Sargon's points (Spracklen, BYTE, September 1978, listing 1: the array PVALUE).
    pub const SARGON: Self = Self([1, 3, 3, 5, 9, 10]);

    /// The named sets of values.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("wiki", Self::WIKI),
        ("tutorial", Self::TUTORIAL),
        ("classic", Self::CLASSIC),
        ("units", Self::UNITS),
        ("sargon", Self::SARGON),
    ];

    /// Returns the value of a piece.
    #[must_use]
    pub fn of(self, piece: Piece) -> i32 {
        self.0[piece as usize]
    }

    /// Returns all kinds of pieces in the order in which they capture: by value, equal ones as
    /// listed, the king last regardless of its value, since it can't be captured.
    #[must_use]
    pub fn kinds_by_value(self) -> [Piece; 6] {
        let mut kinds = Piece::ALL;
        // The sort is stable: knights stay before bishops of the same value.
        kinds[..5].sort_by_key(|kind| self.of(*kind));
        kinds
    }
}

impl fmt::Display for PieceValues {
    /// Writes the name, or six numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = Self::NAMED.into_iter().find(|(_, values)| values == self) {
            return f.write_str(name);
        }
        f.write_str(&self.0.map(|value| value.to_string()).join(","))
    }
}

/// Error returned if a text is not a valid set of values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid values '{0}': expected wiki, tutorial, classic, units, sargon, or six whole numbers \
     up to {MAX_PIECE_VALUE} for pawn, knight, bishop, rook, queen and king, with commas between"
)]
pub struct PieceValuesError(String);

impl PieceValuesError {
    /// The error for a text.
    pub fn new(text: &str) -> Self {
        Self(text.escape_default().to_string())
    }
}

/// The maximum value, so that sums over all pieces can't overflow.
const MAX_PIECE_VALUE: u16 = 30_000;

impl std::str::FromStr for PieceValues {
    type Err = PieceValuesError;

    /// Reads a name or six numbers.
    ///
    /// ```
    /// use chess_rules::see::PieceValues;
    /// assert_eq!("units".parse(), Ok(PieceValues::UNITS));
    /// assert_eq!("1,3,3,5,9,20000".parse(), Ok(PieceValues::UNITS));
    /// assert_eq!("1,3,4,5,9,9".parse().map(|values: PieceValues| values.to_string()),
    ///     Ok("1,3,4,5,9,9".to_owned()));
    /// assert!("1,3,3".parse::<PieceValues>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, PieceValuesError> {
        if let Some((_, values)) = Self::NAMED.into_iter().find(|(name, _)| *name == text) {
            return Ok(values);
        }
        let numbers = text.split(',').map(|number| number.trim().parse::<u16>().ok());
        let numbers: Option<Vec<i32>> =
            numbers.map(|number| number.filter(|n| *n <= MAX_PIECE_VALUE).map(i32::from)).collect();
        let six = numbers.and_then(|numbers| numbers.try_into().ok());
        six.map(Self).ok_or_else(|| PieceValuesError::new(text))
    }
}
