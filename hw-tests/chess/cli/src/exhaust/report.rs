//! Text output of an exhaustive check: the totals, and the first mismatch.

use std::fmt::Write;
use std::time::Duration;

use firmware_wire::StepRecord;
use firmware_wire::step::{DEFENDERS, TAKES, TAKES_LAST};

use super::check::{ExhaustPlan, ExhaustTotals, FirstMismatch, TStateStats};
use crate::booking::ObservedBooking;
use sargon_reference::{Booking, ExchangeResult, exchange};

/// Returns the totals as text. `board` is the simulated time of the board, if it is simulated.
pub(super) fn summary_text(
    plan: &ExhaustPlan,
    totals: &ExhaustTotals,
    board: Option<Duration>,
    took: Duration,
) -> String {
    let ExhaustTotals { arrays, crc, histogram, off_minimax, times } = totals;
    let first = plan.range.start;
    let end = first + arrays;
    let mut text = format!("space {}, {} pieces attacked, ", plan.arrays.space, owner(plan));
    let _ = writeln!(text, "{arrays} arrays, {first}..{end} of {}", plan.arrays.count());
    row(&mut text, "residue", 0..histogram.len() as u64);
    row(&mut text, "arrays", *histogram);
    let (higher, lower) = off_minimax;
    let off = higher + lower;
    let _ = writeln!(text, "other than minimax: {off}, {higher} higher and {lower} lower");
    if let Some(TStateStats { min, max, sum, count }) = times {
        let mean = *sum as f64 / *count as f64;
        let _ = writeln!(text, "XCHNG: {min} to {max} T-states, {mean:.1} on average");
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

fn owner(plan: &ExhaustPlan) -> String {
    format!("{:?}", plan.arrays.owner).to_lowercase()
}

/// Returns the first mismatch as text: the array, residues and bookings of both.
pub(super) fn mismatch_text(plan: &ExhaustPlan, mismatch: &FirstMismatch) -> String {
    let (piece, array) = plan.arrays.at(plan.arrays.index(mismatch.number));
    let outcome = exchange(piece, &array);
    let mut text = format!("array {}: {:?} {:?}\n", mismatch.number, piece.colour, piece.kind);
    let _ = writeln!(text, "    {array}");
    let _ = writeln!(text, "    attackers {}", list(&array.in_order(piece.colour.other())));
    let _ = writeln!(text, "    defenders {}", list(&array.in_order(piece.colour)));
    let counted =
        mismatch.counted.map_or_else(|| "over 10".to_owned(), |residue| residue.to_string());
    let (residue, status) = mismatch.traced;
    let _ = writeln!(
        text,
        "    residue: board {counted} by EXHAUST, {residue} by EXCHANGE (status {status:02X}h), reference {}",
        outcome.residue
    );
    text + &bookings(&outcome, mismatch)
}

/// Returns the bookings of the reference, of TRACE, and of XCHNG if the board is simulated.
fn bookings(outcome: &ExchangeResult, mismatch: &FirstMismatch) -> String {
    let mut text = "    by booking: at stake  attacker  defender  residue\n".to_owned();
    for Booking { stake, attacker, defender, residue } in &outcome.bookings {
        let _ = writeln!(text, "    reference {stake:>10}{attacker:>10}{defender:>10}{residue:>9}");
    }
    let takes = |at: &&StepRecord| matches!(at.action & !DEFENDERS, TAKES | TAKES_LAST);
    for StepRecord { stake, attacker, defender, residue, .. } in mismatch.steps.iter().filter(takes)
    {
        let residue = *residue as i8;
        let _ = writeln!(text, "    TRACE {stake:>14}{attacker:>10}{defender:>10}{residue:>9}");
    }
    for ObservedBooking { stake, attacker, residue } in mismatch.bookings.iter().flatten() {
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
