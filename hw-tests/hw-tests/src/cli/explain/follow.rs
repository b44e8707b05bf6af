//! XCHNG on the board, followed from outside while it runs: at each call of NEXTAD the registers of
//! the article's Table 2, beside what they should be.

use std::fmt::Write;

use hil_harness::answers::{FetchThere, FollowedExchange};
use sargon_analysis::{Fetch, fetches};
use sargon_reference::{AttackersArray, Colour, Piece};

use super::show::side;

/// Rows shown: 24 pieces and the calls that find none; more only if XCHNG does not come to an end.
const ROWS: usize = 40;

/// XCHNG's steps by the article's rule and as they were seen.
pub(super) struct Followed {
    owner: Colour,
    expected: Vec<Fetch>,
    seen: FollowedExchange,
}

impl Followed {
    /// `stake` is what the piece is worth, `array` what XCHNG was given.
    pub(super) fn new(
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
        seen: FollowedExchange,
    ) -> Self {
        let [attackers, defenders] =
            [piece.colour.other(), piece.colour].map(|colour| array.in_order(colour));
        let (expected, _) = fetches(stake, &attackers, &defenders);
        Self { owner: piece.colour, expected, seen }
    }

    /// Returns the first row in which they differ; `None` if none does, or if XCHNG does not call
    /// NEXTAD, so that no row was seen.
    pub(super) fn first_difference(&self) -> Option<usize> {
        let seen = &self.seen.fetches;
        let rows = self.expected.len().max(seen.len());
        let differs = |row: &usize| match (self.expected.get(*row), seen.get(*row)) {
            (Some(expected), Some(seen)) => !agrees(expected, seen),
            _ => true,
        };
        if seen.is_empty() { None } else { (0..rows).find(differs) }
    }

    fn row(&self, index: usize) -> String {
        let expected = self.expected.get(index);
        let seen = self.seen.fetches.get(index);
        let own = expected.map(|it| cells(it.stake, it.attacker, it.residue, Some(it.piece)));
        let there = seen.map(|it| {
            let attacker = (index > 0).then_some(it.attacker);
            cells(it.stake, attacker, it.residue.into(), it.piece)
        });
        let none = || format!("{:31}", "  no call");
        let own = own.unwrap_or_else(none);
        let there = there.unwrap_or_else(none);
        let mark = if self.first_difference() == Some(index) { "  first difference" } else { "" };
        format!("{own}  {there}{mark}").trim_end().to_owned()
    }
}

/// Whether a call was as expected. The piece that is to capture means nothing before the first one.
fn agrees(expected: &Fetch, seen: &FetchThere) -> bool {
    expected.stake == seen.stake
        && expected.residue == i16::from(seen.residue)
        && seen.piece == Some(expected.piece)
        && expected.attacker.is_none_or(|attacker| attacker == seen.attacker)
}

fn cells(stake: u8, attacker: Option<u8>, residue: i16, piece: Option<u8>) -> String {
    let attacker = attacker.map_or("-".to_owned(), |value| value.to_string());
    let piece = match piece {
        None => "stuck".to_owned(),
        Some(0) => "none".to_owned(),
        Some(value) => value.to_string(),
    };
    format!("{stake:>6}{attacker:>9}{residue:>8}{piece:>8}")
}

/// The calls of NEXTAD, expected and seen.
pub(super) fn text(followed: &Followed) -> String {
    if followed.seen.fetches.is_empty() {
        return "XCHNG does not call NEXTAD: its own steps can't be seen\n".to_owned();
    }
    let title = "XCHNG itself, at each call of NEXTAD";
    let head = format!("{:>6}{:>9}{:>8}{:>8}", "stake", "attacker", "residue", "fetched");
    let mut text = format!("{title:<38}{:^31}  {:^31}", "expected", "board").trim_end().to_owned();
    let _ = writeln!(text, "\n{:<38}{head}  {head}", "");
    let rows = followed.expected.len().max(followed.seen.fetches.len());
    for index in 0..rows.min(ROWS) {
        let served = if index % 2 == 0 { followed.owner.other() } else { followed.owner };
        let words = format!("fetches {}'s next", side(served));
        let _ = writeln!(text, "{:<2} {words:<35}{}", index + 1, followed.row(index));
    }
    if let Some(more) = rows.checked_sub(ROWS + 1) {
        let _ = writeln!(text, "... and {} more", more + 1);
    }
    if followed.seen.residue.is_none() {
        text.push_str("XCHNG does not return\n");
    }
    text
}
