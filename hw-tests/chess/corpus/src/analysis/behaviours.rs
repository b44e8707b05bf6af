//! Differences between the original evaluator and the corrected one, and their bugs.

use std::fmt;

use sargon_reference::{Behaviour, Evaluation, Piece, Position, Square, SquareResult, evaluate_as};
use serde::Serialize;

/// A bug of the original program (`sargon-src/README.md`, "The original").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OriginalBug {
    /// A piece is filed as if behind a queen when it is not, or the reverse.
    Flag,
    /// A piece was pushed out of the array, or into the bytes after a section.
    Overflow,
    /// An exchange read beyond a section, or ended at an empty low half.
    Walk,
    /// An earlier square had changed the pin list.
    Pins,
}

impl OriginalBug {
    /// All bugs.
    pub const ALL: [Self; 4] = [Self::Flag, Self::Overflow, Self::Walk, Self::Pins];
}

impl fmt::Display for OriginalBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Overflow => "overflow",
            Self::Walk => "walk",
            Self::Pins => "pins",
        })
    }
}

/// The result of one behaviour on a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SquareOutcome {
    /// The residue.
    pub residue: u8,
    /// The array had no room for a piece.
    pub overflow: bool,
    /// A count exceeds the pieces in its section.
    pub short: bool,
}

/// The results of both behaviours on a square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BehaviourDiff {
    /// The square.
    pub square: Square,
    /// The piece on it.
    pub piece: Piece,
    /// The outcome with the bugs corrected.
    pub corrected: SquareOutcome,
    /// The outcome with the bugs of the original.
    pub original: SquareOutcome,
    /// Whether the attackers arrays differ.
    pub arrays_differ: bool,
    /// The bugs that have an effect on this square.
    pub bugs: Vec<OriginalBug>,
}

impl BehaviourDiff {
    /// Returns `true` if the residues differ, or if there is an overflow or a wrong count.
    pub fn is_notable(&self) -> bool {
        let is_flagged = |outcome: SquareOutcome| outcome.overflow || outcome.short;
        self.corrected.residue != self.original.residue
            || is_flagged(self.corrected)
            || is_flagged(self.original)
    }
}

/// Compares the two behaviours on all occupied squares, a1 to h1 first.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::behaviours;
/// use sargon_reference::parse_fen;
///
/// // With so few pieces the bugs of the original have no effect.
/// let position = parse_fen("4k3/8/8/3p4/8/8/8/3RK3 w - -")?;
/// let compared = behaviours::compare(&position);
/// assert_eq!(compared.len(), 4);
/// assert!(compared.iter().all(|one| !one.is_notable()));
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn compare(position: &Position) -> Vec<BehaviourDiff> {
    let [corrected, original]: [Evaluation; 2] = [Behaviour::Corrected, Behaviour::Original]
        .map(|behaviour| evaluate_as(position, behaviour));
    let pairs = corrected.squares.iter().zip(&original.squares);
    pairs.map(|(corrected, original)| diff_square(corrected, original)).collect()
}

fn diff_square(corrected: &SquareResult, original: &SquareResult) -> BehaviourDiff {
    let arrays_differ = corrected.array != original.array;
    let mut bugs = Vec::new();
    let mut add = |bug, shows: bool| bugs.extend(shows.then_some(bug));
    add(OriginalBug::Flag, original.misfiled);
    add(OriginalBug::Overflow, original.overflow);
    add(OriginalBug::Walk, original.outcome.short);
    add(OriginalBug::Pins, arrays_differ && !original.misfiled && !original.overflow);
    let square = corrected.square;
    let piece = corrected.piece;
    let [corrected, original] = [corrected, original].map(|result| SquareOutcome {
        residue: result.outcome.residue,
        overflow: result.overflow,
        short: result.outcome.short,
    });
    BehaviourDiff { square, piece, corrected, original, arrays_differ, bugs }
}

/// Statistics over many positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BehaviourStats {
    /// Positions.
    pub positions: usize,
    /// Occupied squares in them.
    pub squares: usize,
    /// Squares whose arrays differ.
    pub arrays: usize,
    /// Squares whose original residue is higher.
    pub higher: usize,
    /// Squares whose original residue is lower.
    pub lower: usize,
    /// Of the squares with another residue, those with each bug, as [`OriginalBug::ALL`].
    pub faults: [usize; OriginalBug::ALL.len()],
    /// Squares whose array had no room for a piece: corrected, original.
    pub overflow: [usize; 2],
    /// Squares with a count that exceeds its section: corrected, original.
    pub short: [usize; 2],
}

impl BehaviourStats {
    /// Adds a position.
    pub fn add(&mut self, compared: &[BehaviourDiff]) {
        self.positions += 1;
        self.squares += compared.len();
        for found in compared {
            self.add_square(found);
        }
    }

    fn add_square(&mut self, found: &BehaviourDiff) {
        let outcomes = [found.corrected, found.original];
        self.arrays += usize::from(found.arrays_differ);
        self.higher += usize::from(outcomes[1].residue > outcomes[0].residue);
        self.lower += usize::from(outcomes[1].residue < outcomes[0].residue);
        for (index, outcome) in outcomes.iter().enumerate() {
            self.overflow[index] += usize::from(outcome.overflow);
            self.short[index] += usize::from(outcome.short);
        }
        if outcomes[0].residue != outcomes[1].residue {
            for (count, bug) in self.faults.iter_mut().zip(OriginalBug::ALL) {
                *count += usize::from(found.bugs.contains(&bug));
            }
        }
    }
}
