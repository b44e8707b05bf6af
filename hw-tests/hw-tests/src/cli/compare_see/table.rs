//! Values of a command beside ours, as rows and counts.

use std::fmt::Write;

use chess_rules::see::{ByDefinition, Definition};
use serde::Serialize;

use super::Asked;
use cli_support::output::counted;

/// Counts of the command's values equal to, above and below another.
#[derive(Default, Clone, Copy, Serialize)]
pub(super) struct Tally {
    equal: usize,
    higher: usize,
    lower: usize,
}

impl Tally {
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

/// Counts over all moves asked for.
#[derive(Default, Serialize)]
pub(super) struct Counts {
    asked: usize,
    declined: usize,
    swap: Tally,
    swap_promo: Tally,
    legal: Tally,
    minimax: Tally,
    sargon: Tally,
}

impl Counts {
    /// Counts a move; `true` if the command differs from the definition.
    pub(super) fn add(&mut self, asked: &Asked<'_>, by: Definition) -> bool {
        self.asked += 1;
        let Some(theirs) = asked.theirs else {
            self.declined += 1;
            return false;
        };
        let ByDefinition { swap, swap_promo, legal } = asked.ours;
        self.swap.add(theirs, swap);
        self.swap_promo.add(theirs, swap_promo);
        for (tally, ours) in [
            (&mut self.legal, legal),
            (&mut self.minimax, asked.minimax),
            (&mut self.sargon, asked.sargon),
        ] {
            if let Some(ours) = ours {
                tally.add(theirs, ours);
            }
        }
        theirs != i64::from(asked.ours.by(by))
    }

    /// Returns the number of values that differ from a definition.
    pub(super) fn differing(&self, by: Definition) -> usize {
        let tally = match by {
            Definition::Swap => self.swap,
            Definition::SwapPromo => self.swap_promo,
            Definition::Legal => self.legal,
        };
        tally.differing()
    }
}

/// A move whose value differs.
pub(super) fn row(asked: &Asked<'_>) -> String {
    let shown = |value: Option<i32>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
    let ByDefinition { swap, swap_promo, legal } = asked.ours;
    let theirs = asked.theirs.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let minimax = shown(asked.minimax);
    let sargon = shown(asked.sargon);
    let legal = shown(legal);
    format!(
        "{} {}\n  theirs {theirs}  swap {swap}  swap_promo {swap_promo}  legal {legal}  \
         minimax {minimax}  sargon {sargon}\n",
        asked.fen, asked.san
    )
}

/// The table of counts.
pub(super) fn summary(counts: &Counts) -> String {
    let declined = match counts.declined {
        0 => String::new(),
        declined => format!(", {declined} without a value"),
    };
    let mut text = format!("{}{declined}\n", counted(counts.asked, "move"));
    let head = ["the command against", "equal", "higher", "lower"];
    let _ = writeln!(text, "{:<24}{:>8}{:>8}{:>8}", head[0], head[1], head[2], head[3]);
    let rows = [
        ("swap", counts.swap),
        ("swap_promo", counts.swap_promo),
        ("legal (minimax by law)", counts.legal),
        ("minimax (Sargon's array)", counts.minimax),
        ("Sargon's residue", counts.sargon),
    ];
    for (name, Tally { equal, higher, lower }) in rows {
        let _ = writeln!(text, "{name:<24}{equal:>8}{higher:>8}{lower:>8}");
    }
    text
}
