//! Whether all values of a command are ours times one number, as if in another unit.

use chess_rules::see::{PieceValues, SeeDefinition};

/// The quotient of the command's values and ours.
#[derive(Default, Clone, Copy)]
pub(super) enum CommonFactor {
    /// No value but 0 was compared.
    #[default]
    Unknown,
    /// `count` values other than 0 have the quotient `theirs / ours`, and zeros are equal.
    All { theirs: i64, ours: i64, count: usize },
    /// There are several quotients.
    Several,
}

impl CommonFactor {
    pub(super) fn add(&mut self, theirs: i64, ours: i64) {
        *self = match *self {
            _ if (theirs == 0) != (ours == 0) => Self::Several,
            same if ours == 0 => same,
            Self::Unknown => Self::All { theirs, ours, count: 1 },
            Self::All { theirs: first, ours: our_first, count }
                if i128::from(theirs) * i128::from(our_first)
                    == i128::from(first) * i128::from(ours) =>
            {
                Self::All { theirs: first, ours: our_first, count: count + 1 }
            }
            _ => Self::Several,
        };
    }

    /// Returns what to do if all of at least two values differ by one factor.
    pub(super) fn hint(self, by: SeeDefinition, values: PieceValues) -> Option<String> {
        let Self::All { theirs, ours, count: count @ 2.. } = self else { return None };
        if theirs == ours {
            return None;
        }
        let divisor = greatest_common_divisor(theirs, ours);
        // The sign is that of the numerator.
        let (theirs, ours) = (theirs * ours.signum() / divisor, ours.abs() / divisor);
        let factor = if ours == 1 { theirs.to_string() } else { format!("{theirs}/{ours}") };
        let cure = match theirs {
            ..0 => "the command should give values for the side that moves",
            _ => "give the command's piece values with --values",
        };
        Some(format!(
            "hint: all {count} values of the command that are not 0 are {factor} times {by} by the \
             values {values}; {cure}"
        ))
    }
}

fn greatest_common_divisor(first: i64, second: i64) -> i64 {
    let (mut larger, mut smaller) = (first.abs(), second.abs());
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}
