//! The report of an exhaustive check: the totals, and the first array on which board and reference
//! differ.

use std::fmt::Write;
use std::time::Duration;

use firmware_wire::StepRecord;
use firmware_wire::step::{DEFENDERS, TAKES, TAKES_LAST};

use super::check::{Finding, Goal, Times, Totals};
use crate::answers::BookedThere;
use sargon_reference::{Booking, ExchangeResult, exchange};

/// The totals of the arrays on which board and reference agree. `board` is the board's own time,
/// where it is known.
#[must_use]
pub fn summary(goal: &Goal, totals: &Totals, board: Option<Duration>, took: Duration) -> String {
    let Totals { arrays, crc, histogram, off_minimax, times } = totals;
    let first = goal.range.start;
    let end = first + arrays;
    let mut text = format!("space {}, {} pieces attacked, ", goal.arrays.space, owner(goal));
    let _ = writeln!(text, "{arrays} arrays, {first}..{end} of {}", goal.arrays.count());
    row(&mut text, "residue", 0..histogram.len() as u64);
    row(&mut text, "arrays", *histogram);
    let (higher, lower) = off_minimax;
    let off = higher + lower;
    let _ = writeln!(text, "other than minimax: {off}, {higher} higher and {lower} lower");
    if let Some(Times { least, most, sum, exchanges }) = times {
        let mean = *sum as f64 / *exchanges as f64;
        let _ = writeln!(text, "XCHNG: {least} to {most} T-states, {mean:.1} on average");
    }
    if let Some(board) = board {
        let _ = writeln!(text, "board time: {:.1} s", board.as_secs_f64());
    }
    let _ = writeln!(text, "time: {:.1} s", took.as_secs_f64());
    let _ = writeln!(text, "CRC-32: {crc:08X}");
    text
}

fn row(text: &mut String, name: &str, numbers: impl IntoIterator<Item = u64>) {
    let _ = write!(text, "{name:<8}");
    for number in numbers {
        let _ = write!(text, "{number:>8}");
    }
    text.push('\n');
}

fn owner(goal: &Goal) -> String {
    format!("{:?}", goal.arrays.owner).to_lowercase()
}

/// The array on which board and reference differ, with what either makes of it.
#[must_use]
pub fn finding(goal: &Goal, found: &Finding) -> String {
    let (piece, array) = goal.arrays.at(goal.arrays.place(found.number));
    let outcome = exchange(piece, &array);
    let mut text = format!("array {}: {:?} {:?}\n", found.number, piece.colour, piece.kind);
    let _ = writeln!(text, "    {array}");
    let _ = writeln!(text, "    attackers {}", list(&array.in_order(piece.colour.other())));
    let _ = writeln!(text, "    defenders {}", list(&array.in_order(piece.colour)));
    let counted = found.counted.map_or_else(|| "over 10".to_owned(), |residue| residue.to_string());
    let traced = &found.traced;
    let _ = writeln!(
        text,
        "    residue: board {counted} when counting, {} when asked (status {:02X}h), reference {}",
        traced.residue, traced.status, outcome.residue
    );
    text + &bookings(&outcome, found)
}

/// The bookings: by the reference, by the board's TRACE, and by XCHNG itself where it can be
/// watched.
fn bookings(outcome: &ExchangeResult, found: &Finding) -> String {
    let mut text = "    by booking: at stake  attacker  defender  residue\n".to_owned();
    for Booking { stake, attacker, defender, residue } in &outcome.bookings {
        let _ = writeln!(text, "    reference {stake:>10}{attacker:>10}{defender:>10}{residue:>9}");
    }
    let takes = |at: &&StepRecord| matches!(at.what & !DEFENDERS, TAKES | TAKES_LAST);
    for StepRecord { stake, attacker, defender, residue, .. } in found.steps.iter().filter(takes) {
        let residue = *residue as i8;
        let _ = writeln!(text, "    TRACE {stake:>14}{attacker:>10}{defender:>10}{residue:>9}");
    }
    for BookedThere { stake, attacker, residue } in found.traced.bookings.iter().flatten() {
        let _ = writeln!(text, "    XCHNG {stake:>14}{attacker:>10}{residue:>19}");
    }
    text
}

fn list(values: &[u8]) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    values.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}
