//! Finds the first wrong step behind a wrong residue: an entry of the attackers array, a booking,
//! or a call that does not return. The debugger is halted there.

use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::{Case, CaseInput, encode};
use sargon_reference::{AttackersArray, ExchangeResult, Piece, Square, evaluate_as, exchange_as};

use board_debugger::{
    Debugger, ExecCommand, HaltReason, RunAborted, ShouldStop, Stop, StopId, register_value,
    run_with_timeout,
};

use crate::machine::EvaluatorMachine;
use crate::panes::format_attackers;
use crate::registers::{ARRAY_BYTES, SECTION_BYTES};
use crate::session::{EntryOutcome, SessionError};

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
    let mut machine = EvaluatorMachine::started(profile, evaluator)?;
    let (request, mut expected) = match &case.subject {
        CaseInput::Position { position, .. } => {
            let verdicts = evaluate_as(position, behaviour).squares;
            let expected: Vec<ExpectedCall> = verdicts
                .into_iter()
                .map(|verdict| {
                    let square = Some(verdict.square);
                    ExpectedCall { square, array: Some(verdict.array), outcome: verdict.outcome }
                })
                .collect();
            (Request::Position { squares: encode::squares(position) }, expected)
        }
        CaseInput::Array { piece, array, .. } => {
            let outcome = exchange_as(*piece, array, behaviour);
            (
                exchange_request(*piece, array),
                vec![ExpectedCall { square: None, array: None, outcome }],
            )
        }
    };
    machine.send(&request);
    let code = machine.code();
    let mut search = FaultSearch::new(machine.into_debugger(code), within)?;
    let fault = search.run(&mut expected, should_stop);
    search.clear();
    Ok(Diagnosis { debugger: search.debugger, fault })
}

fn exchange_request(piece: Piece, array: &AttackersArray) -> Request {
    Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() }
}

/// The search for the first fault on a board.
struct FaultSearch {
    debugger: Debugger,
    within: f64,
    xchng: StopId,
    bookings: Vec<StopId>,
}

impl FaultSearch {
    fn new(mut debugger: Debugger, within: f64) -> Result<Self, SessionError> {
        let symbol = |name: &'static str| debugger.code().symbol(name);
        let entry = symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
        let places: Vec<u16> = BOOKING_LABELS.into_iter().filter_map(symbol).collect();
        let xchng = debugger.stops.add(Stop::at(entry));
        let bookings = places.iter().map(|at| debugger.stops.add(Stop::at(*at))).collect();
        Ok(Self { debugger, within, xchng, bookings })
    }

    fn clear(&mut self) {
        for id in self.bookings.drain(..).chain([self.xchng]) {
            self.debugger.stops.remove(id);
        }
    }

    /// Checks each call of XCHNG in the board's order.
    fn run(
        &mut self,
        expected: &mut Vec<ExpectedCall>,
        should_stop: ShouldStop<'_>,
    ) -> Option<String> {
        while !expected.is_empty() {
            match run_with_timeout(&mut self.debugger, self.within, should_stop) {
                Ok(HaltReason::Breakpoint) => {}
                Ok(_) => return Some(missing_calls(expected)),
                Err(aborted) => return self.stuck(aborted),
            }
            let square = self.square();
            let index =
                expected.iter().position(|call| call.square.is_none() || call.square == square);
            let Some(index) = index else { return Some(unexpected_call(square)) };
            let call = expected.swap_remove(index);
            let fault = self.check_array(&call).or_else(|| self.check_exchange(&call, should_stop));
            if let Some(fault) = fault {
                let square = call.square.map(|square| format!("{square}: ")).unwrap_or_default();
                return Some(square + &fault);
            }
        }
        None
    }

    fn stuck(&self, aborted: RunAborted) -> Option<String> {
        EntryOutcome::Aborted(aborted).message(&self.debugger)
    }

    fn square(&self) -> Option<Square> {
        let at = self.debugger.code().symbol("M3")?;
        encode::decode_square(self.debugger.peek(at))
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
    fn check_exchange(
        &mut self,
        wanted: &ExpectedCall,
        should_stop: ShouldStop<'_>,
    ) -> Option<String> {
        let host: Vec<i8> =
            wanted.outcome.bookings.iter().map(|booking| booking.residue as i8).collect();
        let end = self.debugger.clock() + (self.within * self.debugger.clock_hz() as f64) as u64;
        let mut number = 0;
        loop {
            let mut is_late = false;
            let halt = self.debugger.run(ExecCommand::StepOut, &mut |debugger| {
                is_late = debugger.clock() >= end;
                is_late || should_stop(debugger)
            });
            let board = register_value(&self.debugger.registers(), "E").unwrap_or(0) as u8 as i8;
            match halt {
                HaltReason::Breakpoint => {
                    let expected = host.get(number).copied();
                    number += 1;
                    match expected {
                        Some(host) if host == board => {}
                        Some(host) => {
                            return Some(format!(
                                "booking {number} leaves a residue of {board:+}, not {host:+}"
                            ));
                        }
                        None => {
                            return Some(format!(
                                "booking {number}, which the reference does not have, leaves a \
                                 residue of {board:+}"
                            ));
                        }
                    }
                }
                HaltReason::Completed => {
                    let host = wanted.outcome.residue as i8;
                    let fault = || format!("XCHNG returns a residue of {board:+}, not {host:+}");
                    return (board != host).then(fault);
                }
                HaltReason::Paused if is_late => {
                    return self.stuck(RunAborted::TimedOut(self.within));
                }
                _ => return self.stuck(RunAborted::Interrupted),
            }
        }
    }
}

fn missing_calls(expected: &[ExpectedCall]) -> String {
    let squares: Vec<String> =
        expected.iter().filter_map(|call| Some(call.square?.to_string())).collect();
    format!("the board finished without calling XCHNG for {}", squares.join(", "))
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
