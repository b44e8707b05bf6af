//! Sargon's residue beside minimax on the same array and the swap value, square by square, and why
//! they differ.

use std::collections::BTreeMap;

use serde::Serialize;

use super::battle::{Battle, Rule, Rules};
use super::boards;
use sargon_reference::{Piece, Position, Square, find_pins};

/// One attacked piece by three evaluators, in Sargon's points that its owner loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Its square.
    pub square: Square,
    /// The piece.
    pub piece: Piece,
    /// By Sargon.
    pub residue: i32,
    /// By minimax over Sargon's array.
    pub minimax: i32,
    /// By the swap algorithm, with pawns that become queens when they capture on the last rank.
    pub swap: i32,
    /// The rules that make residue and swap value differ: each entry is enough by itself, and none
    /// is smaller. Empty when they are equal.
    pub reasons: Vec<Vec<Rule>>,
}

impl Comparison {
    /// Reasons in words; empty when there are none.
    #[must_use]
    pub fn reason(&self) -> String {
        let one =
            |rules: &Vec<Rule>| rules.iter().map(|r| r.name()).collect::<Vec<_>>().join(" + ");
        self.reasons.iter().map(one).collect::<Vec<_>>().join(" or ")
    }
}

/// Compares the evaluators on every piece that somebody attacks, pins left aside; a1 to h1 first.
///
/// # Examples
/// ```
/// use sargon_analysis::compare;
/// use sargon_reference::{Square, parse_fen};
///
/// let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
/// let compared = compare(&position);
/// let knight = compared.iter().find(|one| Some(one.square) == Square::named("e4"));
/// assert_eq!(knight.map(|one| one.residue), Some(1));
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn compare(position: &Position) -> Vec<Comparison> {
    let pieces = boards::pieces(position);
    let pins = find_pins(position);
    let compared = position.pieces().filter_map(|(square, piece)| {
        let battle = Battle::new(position, &pieces, &pins, square)?;
        let [residue, minimax, swap] =
            [Rules::SARGON, Rules::SARGON.with(Rule::Stop), Rules::MODERN]
                .map(|rules| battle.loss(rules).unwrap_or_default());
        let reasons = if residue == swap { Vec::new() } else { battle.reasons() };
        let comparison = Comparison { square, piece, residue, minimax, swap, reasons };
        battle.is_attacked().then_some(comparison)
    });
    compared.collect()
}

/// Counts of squares on which one value is above another, and below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The residue is higher.
    pub higher: usize,
    /// The residue is lower.
    pub lower: usize,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub fn sum(self) -> usize {
        self.higher + self.lower
    }

    fn count(&mut self, residue: i32, other: i32) {
        self.higher += usize::from(residue > other);
        self.lower += usize::from(residue < other);
    }
}

/// Counts over many squares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Positions looked at.
    pub positions: usize,
    /// Attacked pieces compared.
    pub attacked: usize,
    /// Attacked pieces on which all three evaluators agree.
    pub equal: usize,
    /// Residue against minimax on the same array: the stop rule alone.
    pub minimax: Tally,
    /// Residue against swap value.
    pub swap: Tally,
    /// Residue against swap value, by reason.
    pub reasons: BTreeMap<String, Tally>,
}

impl Counts {
    /// Counts the squares of one more position.
    pub fn add(&mut self, compared: &[Comparison]) {
        self.positions += 1;
        self.attacked += compared.len();
        for comparison in compared {
            let Comparison { residue, minimax, swap, .. } = *comparison;
            self.equal += usize::from(residue == minimax && residue == swap);
            self.minimax.count(residue, minimax);
            self.swap.count(residue, swap);
            if residue != swap {
                self.reasons.entry(comparison.reason()).or_default().count(residue, swap);
            }
        }
    }
}
