//! Values of a command beside ours, as rows and counts.

use std::fmt::Write;

use chess_rules::see::{SeeDefinition, ValuesByDefinition};
use serde::Serialize;

use super::MoveComparison;
use super::common_factor::CommonFactor;
use cli_support::output::pluralize;

#[derive(Default, Clone, Copy, Serialize)]
pub(super) struct HigherLower {
    equal: usize,
    higher: usize,
    lower: usize,
}

impl HigherLower {
    fn add(&mut self, theirs: i64, ours: i32) {
        let ours = i64::from(ours);
        self.equal += usize::from(theirs == ours);
        self.higher += usize::from(theirs > ours);
        self.lower += usize::from(theirs < ours);
    }

    fn differing(self) -> usize {
        self.higher + self.lower
    }
}

#[derive(Default, Serialize)]
pub(super) struct ComparisonCounts {
    asked: usize,
    declined: usize,
    swap: HigherLower,
    swap_promo: HigherLower,
    swap_pins: HigherLower,
    legal: HigherLower,
    minimax: HigherLower,
    sargon: HigherLower,
    #[serde(skip)]
    pub(super) factor: CommonFactor,
}

impl ComparisonCounts {
    /// Counts a move; `true` if the command differs from the definition.
    pub(super) fn add(&mut self, comparison: &MoveComparison<'_>, by: SeeDefinition) -> bool {
        self.asked += 1;
        let Some(theirs) = comparison.theirs else {
            self.declined += 1;
            return false;
        };
        let ValuesByDefinition { swap, swap_promo, swap_pins, legal } = comparison.ours;
        self.swap.add(theirs, swap);
        self.swap_promo.add(theirs, swap_promo);
        self.swap_pins.add(theirs, swap_pins);
        for (tally, ours) in [
            (&mut self.legal, legal),
            (&mut self.minimax, comparison.minimax),
            (&mut self.sargon, comparison.sargon),
        ] {
            if let Some(ours) = ours {
                tally.add(theirs, ours);
            }
        }
        let ours = i64::from(comparison.ours.by(by));
        self.factor.add(theirs, ours);
        theirs != ours
    }

    /// Returns the number of values that differ from a definition.
    pub(super) fn differing(&self, by: SeeDefinition) -> usize {
        let tally = match by {
            SeeDefinition::Swap => self.swap,
            SeeDefinition::SwapPromo => self.swap_promo,
            SeeDefinition::SwapPins => self.swap_pins,
            SeeDefinition::Legal => self.legal,
        };
        tally.differing()
    }
}

/// A move whose value differs.
pub(super) fn row(comparison: &MoveComparison<'_>) -> String {
    let shown = |value: Option<i32>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
    let ValuesByDefinition { swap, swap_promo, swap_pins, legal } = comparison.ours;
    let theirs = comparison.theirs.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let minimax = shown(comparison.minimax);
    let sargon = shown(comparison.sargon);
    let legal = shown(legal);
    format!(
        "{} {}\n  theirs {theirs}  swap {swap}  swap_promo {swap_promo}  \
         swap_pins {swap_pins}  legal {legal}  minimax {minimax}  sargon {sargon}\n",
        comparison.fen, comparison.san
    )
}

pub(super) fn summary(counts: &ComparisonCounts) -> String {
    let declined = match counts.declined {
        0 => String::new(),
        declined => format!(", {declined} without a value"),
    };
    let mut text = format!("{}{declined}\n", pluralize(counts.asked, "move"));
    let head = ["the command against", "equal", "higher", "lower"];
    let _ = writeln!(text, "{:<24}{:>8}{:>8}{:>8}", head[0], head[1], head[2], head[3]);
    let rows = [
        ("swap", counts.swap),
        ("swap_promo", counts.swap_promo),
        ("swap_pins", counts.swap_pins),
        ("legal (minimax by law)", counts.legal),
        ("minimax (Sargon's array)", counts.minimax),
        ("Sargon's residue", counts.sargon),
    ];
    for (name, HigherLower { equal, higher, lower }) in rows {
        let _ = writeln!(text, "{name:<24}{equal:>8}{higher:>8}{lower:>8}");
    }
    text
}
