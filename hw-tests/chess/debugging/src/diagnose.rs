//! Finds the first wrong step behind a wrong residue: an entry of the attackers array, a booking,
//! or a call that does not return. The debugger is halted there.

use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::{Case, CaseInput, encode};
use sargon_reference::{AttackersArray, ExchangeResult, Square, evaluate_as, exchange_as};

use board_debugger::{
    Debugger, ExecCommand, HaltReason, RunAborted, ShouldStop, Stop, run_with_timeout,
};

use crate::panes::format_attackers;
use crate::registers::{ARRAY_BYTES, SECTION_BYTES};
use crate::session::{EntryOutcome, SessionError, evaluator_debugger, start_evaluator};

/// Labels at which XCHNG has just booked points, residue in E; a user's XCHNG may lack them.
const BOOKING_LABELS: [&str; 2] = ["XCBOOK", "XCLAST"];

/// The result of [`diagnose`].
pub struct Diagnosis {
    /// The debugger, halted at the fault.
    pub debugger: Debugger,
    /// The first difference from the reference, for the user; `None` if there is none.
    pub fault: Option<String>,
}

struct ExpectedCall {
    square: Option<Square>,
    array: Option<AttackersArray>,
    outcome: ExchangeResult,
}

/// Runs a case on a simulated board, and halts at the first difference from the reference.
/// `within` is the limit for each call of XCHNG, in seconds of the board's time.
///
/// # Errors
/// Returns `SessionError` if the programs can't be built, or lack XCHNG.
pub fn diagnose(
    profile: &BoardProfile,
    evaluator: &Evaluator,
    case: &Case,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<Diagnosis, SessionError> {
    let behaviour = encode::behaviour(evaluator.behaviour);
    let (mut machine, code) = start_evaluator(profile, evaluator)?;
    let (request, mut expected): (_, Vec<ExpectedCall>) = match &case.subject {
        CaseInput::Position { position, .. } => {
            let verdicts = evaluate_as(position, behaviour).squares.into_iter();
            let expected = verdicts.map(|verdict| ExpectedCall {
                square: Some(verdict.square),
                array: Some(verdict.array),
                outcome: verdict.outcome,
            });
            (Request::Position { squares: encode::squares(position) }, expected.collect())
        }
        CaseInput::Array { piece, array, .. } => {
            let outcome = exchange_as(*piece, array, behaviour);
            let (piece, array) = (encode::piece(*piece), array.to_bytes());
            let expected = ExpectedCall { square: None, array: None, outcome };
            (Request::Exchange { piece, array }, vec![expected])
        }
    };
    machine.send(&request);
    let mut debugger = evaluator_debugger((machine, code));
    let entry = debugger.code().symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
    let bookings = BOOKING_LABELS.into_iter().filter_map(|name| debugger.code().symbol(name));
    let places: Vec<u16> = bookings.chain([entry]).collect();
    places.iter().for_each(|place| _ = debugger.stops.add(Stop::at(*place)));
    let fault = FaultSearch { debugger: &mut debugger, within, should_stop }.run(&mut expected);
    debugger.stops.clear();
    Ok(Diagnosis { debugger, fault })
}

/// The search for the first fault on a board.
struct FaultSearch<'d, 's> {
    debugger: &'d mut Debugger,
    within: f64,
    should_stop: ShouldStop<'s>,
}

impl FaultSearch<'_, '_> {
    /// Checks each call of XCHNG in the board's order.
    fn run(&mut self, expected: &mut Vec<ExpectedCall>) -> Option<String> {
        while !expected.is_empty() {
            match self.run_board(ExecCommand::Continue) {
                Ok(HaltReason::Breakpoint) => {}
                Ok(_) => {
                    let squares = expected.iter().filter_map(|call| Some(call.square?.to_string()));
                    let squares = squares.collect::<Vec<_>>().join(", ");
                    return Some(format!("the board finished without calling XCHNG for {squares}"));
                }
                Err(aborted) => return self.stuck(aborted),
            }
            let at = self.debugger.code().symbol("M3");
            let square = at.and_then(|at| encode::decode_square(self.debugger.peek(at)));
            let index =
                expected.iter().position(|call| call.square.is_none() || call.square == square);
            let Some(index) = index else { return Some(unexpected_call(square)) };
            let call = expected.swap_remove(index);
            let fault = self.check_array(&call).or_else(|| self.check_exchange(&call));
            if let Some(fault) = fault {
                let square = call.square.map(|square| format!("{square}: ")).unwrap_or_default();
                return Some(square + &fault);
            }
        }
        None
    }

    fn run_board(&mut self, command: ExecCommand) -> Result<HaltReason, RunAborted> {
        run_with_timeout(self.debugger, command, self.within, self.should_stop)
    }

    fn stuck(&self, aborted: RunAborted) -> Option<String> {
        EntryOutcome::Aborted(aborted).message(self.debugger)
    }

    /// Checks the attackers array; returns to the instruction that wrote its first wrong byte.
    fn check_array(&mut self, wanted: &ExpectedCall) -> Option<String> {
        let host = wanted.array?.to_bytes();
        let at = self.debugger.code().symbol("ATKLST")?;
        let board = self.debugger.dump(at, ARRAY_BYTES);
        let wrong = (0..board.len()).find(|byte| board[*byte] != host[*byte])?;
        let half =
            wrong / SECTION_BYTES * SECTION_BYTES..(wrong / SECTION_BYTES + 1) * SECTION_BYTES;
        let side = if wrong < SECTION_BYTES { "White" } else { "Black" };
        let fault = format!(
            "{side}'s section of the attackers array is {}, not {}",
            format_attackers(&board[half.clone()]),
            format_attackers(&host[half])
        );
        let byte = at.wrapping_add(wrong as u16);
        let call = self.debugger.step_count();
        let halt = self.debugger.run(ExecCommand::ReverseToChange(byte), &mut |_| false);
        // No instruction wrote the byte: return to the call.
        if !matches!(halt, HaltReason::Watchpoint(_)) {
            self.debugger.run(ExecCommand::Continue, &mut |debugger| debugger.step_count() >= call);
        }
        Some(fault)
    }

    /// Checks the bookings of the exchange, and its residue.
    fn check_exchange(&mut self, wanted: &ExpectedCall) -> Option<String> {
        let mut bookings = wanted.outcome.bookings.iter();
        let mut number = 0;
        loop {
            let halt = self.run_board(ExecCommand::StepOut);
            let board = self.debugger.registers().de as i8; // E
            match halt {
                Ok(HaltReason::Breakpoint) => {
                    number += 1;
                    let leaves = format!("leaves a residue of {board:+}");
                    match bookings.next().map(|booking| booking.residue as i8) {
                        Some(host) if host == board => {}
                        Some(host) => {
                            return Some(format!("booking {number} {leaves}, not {host:+}"));
                        }
                        None => {
                            let unknown = "which the reference does not have";
                            return Some(format!("booking {number}, {unknown}, {leaves}"));
                        }
                    }
                }
                Ok(HaltReason::Completed) => {
                    let host = wanted.outcome.residue as i8;
                    let fault = || format!("XCHNG returns a residue of {board:+}, not {host:+}");
                    return (board != host).then(fault);
                }
                Ok(_) => return self.stuck(RunAborted::Interrupted),
                Err(aborted) => return self.stuck(aborted),
            }
        }
    }
}

/// Describes a call that the position does not have; `None` is a square that M3 does not name.
fn unexpected_call(square: Option<Square>) -> String {
    match square {
        None => "XCHNG was called with an invalid square in M3".to_owned(),
        Some(square) => format!("XCHNG was called for {square}, which is empty"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_an_invalid_square_is_not_one_for_an_empty_square() {
        // 0FFH is no square of the board's ten by twelve.
        let messages = [0xFF, 0].map(|byte| unexpected_call(encode::decode_square(byte)));
        assert!(messages.iter().all(|text| !text.contains("empty")), "{messages:?}");
        let square = Square::named("e4").map(encode::square).and_then(encode::decode_square);
        assert_eq!(unexpected_call(square), "XCHNG was called for e4, which is empty");
    }
}
