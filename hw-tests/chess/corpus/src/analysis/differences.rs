//! Compares Sargon's residue with minimax and the swap value, and explains differences.

use std::collections::BTreeMap;

use serde::Serialize;

use super::convert;
use super::exchange_rules::SquareExchange;
use super::rules::{Rule, Rules};
use sargon_reference::{Piece, Position, Square, find_pins};

/// The results of three evaluators for an attacked piece: the points that its owner loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluatorDiff {
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
    /// The minimal sets of rules that explain the difference of residue and swap value: each entry
    /// is sufficient by itself. Empty if they are equal.
    pub reasons: Vec<Vec<Rule>>,
}

impl EvaluatorDiff {
    /// Returns the reasons as text; empty if there are none.
    pub fn reason(&self) -> String {
        let one =
            |rules: &Vec<Rule>| rules.iter().map(|r| r.name()).collect::<Vec<_>>().join(" + ");
        self.reasons.iter().map(one).collect::<Vec<_>>().join(" or ")
    }
}

/// Compares the evaluators on every piece that has an attacker, pinned or not; a1 to h1 first.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::compare_evaluators;
/// use sargon_reference::{Square, parse_fen};
///
/// let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
/// let compared = compare_evaluators(&position);
/// let knight = compared.iter().find(|one| Some(one.square) == Square::named("e4"));
/// assert_eq!(knight.map(|one| one.residue), Some(1));
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn compare_evaluators(position: &Position) -> Vec<EvaluatorDiff> {
    let pieces = convert::pieces(position);
    let pins = find_pins(position);
    let compared = position.pieces().filter_map(|(square, piece)| {
        let battle = SquareExchange::new(position, &pieces, &pins, square)?;
        let [residue, minimax, swap] =
            [Rules::SARGON, Rules::SARGON.with(Rule::Stop), Rules::MODERN]
                .map(|rules| battle.loss(rules).unwrap_or_default());
        let reasons = if residue == swap { Vec::new() } else { battle.minimal_rule_changes() };
        let comparison = EvaluatorDiff { square, piece, residue, minimax, swap, reasons };
        battle.is_attacked().then_some(comparison)
    });
    compared.collect()
}

/// The number of squares on which the residue is higher than another value, and lower.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HigherLower {
    /// The residue is higher.
    pub higher: usize,
    /// The residue is lower.
    pub lower: usize,
}

impl HigherLower {
    /// Returns the sum of both.
    #[must_use]
    pub fn sum(self) -> usize {
        self.higher + self.lower
    }

    fn count(&mut self, residue: i32, other: i32) {
        self.higher += usize::from(residue > other);
        self.lower += usize::from(residue < other);
    }
}

/// Statistics over many squares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EvaluatorStats {
    /// Positions compared.
    pub positions: usize,
    /// Attacked pieces compared.
    pub attacked: usize,
    /// Attacked pieces on which all three evaluators agree.
    pub equal: usize,
    /// Residue against minimax on the same array: the stop rule alone.
    pub minimax: HigherLower,
    /// Residue against swap value.
    pub swap: HigherLower,
    /// Residue against swap value, by reason.
    pub reasons: BTreeMap<String, HigherLower>,
}

impl EvaluatorStats {
    /// Adds the squares of one more position.
    pub fn add(&mut self, compared: &[EvaluatorDiff]) {
        self.positions += 1;
        self.attacked += compared.len();
        for comparison in compared {
            let EvaluatorDiff { residue, minimax, swap, .. } = *comparison;
            self.equal += usize::from(residue == minimax && residue == swap);
            self.minimax.count(residue, minimax);
            self.swap.count(residue, swap);
            if residue != swap {
                self.reasons.entry(comparison.reason()).or_default().count(residue, swap);
            }
        }
    }
}
