//! Differences between the program of 1978 and the mended one, and the faults that cause them.

use std::fmt;

use serde::Serialize;

use sargon_reference::{Behaviour, Examination, Piece, Position, Square, Verdict, examine_as};

/// A fault of the program of 1978 (`sargon-src/README.md`, "As in 1978").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// A piece is filed behind a queen without standing there, or not although it does.
    Flag,
    /// A piece was pushed out of the array, or into what lies behind a section.
    Overflow,
    /// An exchange went on beyond a section, or ended at an empty low half.
    Walk,
    /// The pin list had been changed by a square before this one.
    Pins,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 4] = [Self::Flag, Self::Overflow, Self::Walk, Self::Pins];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Overflow => "overflow",
            Self::Walk => "walk",
            Self::Pins => "pins",
        })
    }
}

/// The findings of one behaviour on a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The residue.
    pub residue: u8,
    /// A piece found no room.
    pub overflow: bool,
    /// A count promised more than the exchange found.
    pub short: bool,
}

/// The findings of both behaviours on a square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The square.
    pub square: Square,
    /// The piece on it.
    pub piece: Piece,
    /// With faults mended.
    pub mended: Answer,
    /// The findings with the faults of 1978.
    pub printed: Answer,
    /// Whether the attackers arrays differ.
    pub arrays_differ: bool,
    /// The faults that show on this square.
    pub faults: Vec<Fault>,
}

impl Comparison {
    /// Whether there is something to tell: residues that differ, an overflow, or a count that is
    /// wrong.
    #[must_use]
    pub fn is_remarkable(&self) -> bool {
        let told = |word: Answer| word.overflow || word.short;
        self.mended.residue != self.printed.residue || told(self.mended) || told(self.printed)
    }
}

/// Compares the two behaviours on all occupied squares, a1 to h1 first.
///
/// # Examples
/// ```
/// use sargon_analysis::behaviours;
/// use sargon_reference::parse_fen;
///
/// // So few pieces leave nothing for the faults of 1978 to spoil.
/// let position = parse_fen("4k3/8/8/3p4/8/8/8/3RK3 w - -")?;
/// let compared = behaviours::compare(&position);
/// assert_eq!(compared.len(), 4);
/// assert!(compared.iter().all(|one| !one.is_remarkable()));
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn compare(position: &Position) -> Vec<Comparison> {
    let [mended, printed] =
        [Behaviour::Mended, Behaviour::AsIn1978].map(|behaviour| examine_as(position, behaviour));
    let Examination { verdicts, .. } = mended;
    verdicts.iter().zip(&printed.verdicts).map(|(m, p)| of_square(m, p)).collect()
}

fn of_square(mended: &Verdict, printed: &Verdict) -> Comparison {
    let arrays_differ = mended.array != printed.array;
    let mut faults = Vec::new();
    let mut add = |fault, shows: bool| faults.extend(shows.then_some(fault));
    add(Fault::Flag, printed.misfiled);
    add(Fault::Overflow, printed.overflow);
    add(Fault::Walk, printed.outcome.short);
    add(Fault::Pins, arrays_differ && !printed.misfiled && !printed.overflow);
    let square = mended.square;
    let piece = mended.piece;
    let [mended, printed] = [mended, printed].map(|verdict| Answer {
        residue: verdict.outcome.residue,
        overflow: verdict.overflow,
        short: verdict.outcome.short,
    });
    Comparison { square, piece, mended, printed, arrays_differ, faults }
}

/// Counts over many positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Positions.
    pub positions: usize,
    /// Occupied squares in them.
    pub squares: usize,
    /// Squares whose arrays differ.
    pub arrays: usize,
    /// Squares whose residue is higher as in 1978.
    pub higher: usize,
    /// Squares whose residue is lower.
    pub lower: usize,
    /// Of the squares with another residue, those on which each fault shows, in the order of
    /// [`Fault::ALL`].
    pub faults: [usize; Fault::ALL.len()],
    /// Squares where a piece found no room: mended, as in 1978.
    pub overflow: [usize; 2],
    /// Squares where a count promised too much: mended, as in 1978.
    pub short: [usize; 2],
}

impl Counts {
    /// Adds a position.
    pub fn add(&mut self, compared: &[Comparison]) {
        self.positions += 1;
        self.squares += compared.len();
        for found in compared {
            self.add_square(found);
        }
    }

    fn add_square(&mut self, found: &Comparison) {
        let words = [found.mended, found.printed];
        self.arrays += usize::from(found.arrays_differ);
        self.higher += usize::from(words[1].residue > words[0].residue);
        self.lower += usize::from(words[1].residue < words[0].residue);
        for (index, word) in words.iter().enumerate() {
            self.overflow[index] += usize::from(word.overflow);
            self.short[index] += usize::from(word.short);
        }
        if words[0].residue != words[1].residue {
            for (count, fault) in self.faults.iter_mut().zip(Fault::ALL) {
                *count += usize::from(found.faults.contains(&fault));
            }
        }
    }
}
