//! Observed calls of NEXTAD by XCHNG: the registers of Table 2 beside the expected ones.

use std::fmt::Write;

use board_simulator::Registers;
use sargon_corpus::analysis::{PieceFetch, piece_fetches};
use sargon_reference::{AttackersArray, Colour, Piece};
use sargon_suite::SargonBoard;

use super::names::side;
use crate::booking::ObservedBooking;

/// Rows shown: 24 pieces and calls that find none; more only if XCHNG does not return.
const MAX_ROWS: usize = 40;

/// Mask of the Z flag in AF.
const ZERO_FLAG: u16 = 0x40;

/// A recorded call of XCHNG, by NEXTAD's contract and Table 2 of the article.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ObservedExchange {
    /// The calls of NEXTAD.
    fetches: Vec<ObservedFetch>,
    /// The residue in E when XCHNG returned; `None` if it did not return.
    residue: Option<u8>,
}

/// A call of NEXTAD by XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ObservedFetch {
    /// The registers at the call, as for a booking; the attacker is undefined at the first call.
    at: ObservedBooking,
    /// Value of the fetched piece, 0 for none; `None` if NEXTAD did not return.
    piece: Option<u8>,
}

impl ObservedExchange {
    /// Returns the last exchange on a simulated board that records calls of XCHNG and NEXTAD.
    pub(super) fn take(board: &mut SargonBoard) -> Option<Self> {
        let hits = board.live.instrumentation()?.take_hits();
        let program = &board.live.programs.application.program;
        let exchange = program.symbol("XCHNG");
        let entry = hits.iter().rposition(|at| Some(at.pc) == exchange)?;
        Some(Self::from_hits(&hits[entry + 1..], program.symbol("NEXTAD")))
    }

    /// Reads the hits after the entry of XCHNG: NEXTAD's entries and returns, then XCHNG's.
    fn from_hits(hits: &[Registers], nextad: Option<u16>) -> Self {
        let mut exchange = Self::default();
        let mut hits = hits.iter().peekable();
        while let Some(entry) = hits.next_if(|at| Some(at.pc) == nextad) {
            // Z is set if there is no piece; A has its value.
            let piece =
                |at: &Registers| if at.af & ZERO_FLAG != 0 { 0 } else { (at.af >> 8) as u8 };
            let (at, piece) = (ObservedBooking::from_registers(entry), hits.next().map(piece));
            exchange.fetches.push(ObservedFetch { at, piece });
        }
        exchange.residue = hits.next().map(|end| end.de as u8);
        exchange
    }
}

/// XCHNG's steps as observed, and as expected by the article's rule.
pub(super) struct ObservedCalls {
    owner: Colour,
    expected: Vec<PieceFetch>,
    seen: ObservedExchange,
}

impl ObservedCalls {
    /// `stake` is the value of the piece, `array` the input of XCHNG.
    pub(super) fn new(
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
        seen: ObservedExchange,
    ) -> Self {
        let [attackers, defenders] =
            [piece.colour.other(), piece.colour].map(|colour| array.in_order(colour));
        let (expected, _) = piece_fetches(stake, &attackers, &defenders);
        Self { owner: piece.colour, expected, seen }
    }

    /// Returns the first row that differs; `None` also if XCHNG does not call NEXTAD.
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
            let attacker = (index > 0).then_some(it.at.attacker);
            cells(it.at.stake, attacker, it.at.residue.into(), it.piece)
        });
        let none = || format!("{:31}", "  no call");
        let own = own.unwrap_or_else(none);
        let there = there.unwrap_or_else(none);
        let mark = if self.first_difference() == Some(index) { "  first difference" } else { "" };
        format!("{own}  {there}{mark}").trim_end().to_owned()
    }
}

/// Returns `true` if a call was as expected. Before the first call there is no attacker to compare.
fn agrees(expected: &PieceFetch, seen: &ObservedFetch) -> bool {
    expected.stake == seen.at.stake
        && expected.residue == i16::from(seen.at.residue)
        && seen.piece == Some(expected.piece)
        && expected.attacker.is_none_or(|attacker| attacker == seen.at.attacker)
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

/// Returns the table of calls of NEXTAD, expected and observed.
pub(super) fn text(followed: &ObservedCalls) -> String {
    if followed.seen.fetches.is_empty() {
        return "XCHNG does not call NEXTAD: its steps can't be observed\n".to_owned();
    }
    let title = "XCHNG itself, at each call of NEXTAD";
    let head = format!("{:>6}{:>9}{:>8}{:>8}", "stake", "attacker", "residue", "fetched");
    let mut text = format!("{title:<38}{:^31}  {:^31}", "expected", "board").trim_end().to_owned();
    let _ = writeln!(text, "\n{:<38}{head}  {head}", "");
    let rows = followed.expected.len().max(followed.seen.fetches.len());
    for index in 0..rows.min(MAX_ROWS) {
        let served = if index % 2 == 0 { followed.owner.other() } else { followed.owner };
        let words = format!("fetches {}'s next", side(served));
        let _ = writeln!(text, "{:<2} {words:<35}{}", index + 1, followed.row(index));
    }
    if let Some(more) = rows.checked_sub(MAX_ROWS + 1) {
        let _ = writeln!(text, "... and {} more", more + 1);
    }
    if followed.seen.residue.is_none() {
        text.push_str("XCHNG does not return\n");
    }
    text
}
