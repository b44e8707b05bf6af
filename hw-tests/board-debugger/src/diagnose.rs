//! The first thing that goes wrong in a wrong residue: an entry of the attackers array, a booking,
//! or a call that does not come back. The debugger is put there.

use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::Request;
use sargon_corpus::{Case, Subject, encode};
use sargon_reference::{AttackersArray, ExchangeResult, Piece, Square, examine_as, exchange_as};

use super::debugger::Debugger;
use super::debugger::ShouldStop;
use super::exec::ExecCommand;
use super::exec::HaltReason;
use super::registers::register;
use super::render::{ARRAY, pieces};
use super::session::{EntryOutcome, SessionError, run_with_timeout};
use super::stops::Breakpoint;
use super::{BreakpointId, Machine};

/// Address at which XCHNG has just booked points, with the residue in E; an XCHNG of the user's own
/// may lack them.
const BOOKING_LABELS: [&str; 2] = ["XCBOOK", "XCLAST"];
/// Bytes of a section of the attackers array.
const SECTION: usize = 7;

/// The result of a search for the first thing that is wrong.
pub struct Diagnosis {
    /// The board, where it went wrong.
    pub debugger: Debugger,
    /// The fault.
    pub finding: FirstFault,
}

/// The first fault.
#[derive(Debug, Clone, PartialEq)]
pub enum FirstFault {
    /// Everything is as the reference has it.
    Nothing,
    /// The attackers array was filled wrongly.
    Array {
        /// The square under examination; none for a case that brings its array.
        square: Option<Square>,
        /// The side.
        side: &'static str,
        /// Its section on the board, as pieces.
        board: String,
        /// Its section in the reference.
        host: String,
    },
    /// A booking of XCHNG is wrong.
    Booking {
        /// The square under examination.
        square: Option<Square>,
        /// Its number, from 1.
        number: usize,
        /// The residue after it on the board.
        board: i8,
        /// The residue after it in the reference, if that books so often.
        host: Option<i8>,
    },
    /// XCHNG returned another residue.
    Residue {
        /// The square under examination.
        square: Option<Square>,
        /// The residue on the board.
        board: i8,
        /// The residue in the reference.
        host: i8,
    },
    /// The program did not come to its end.
    Stuck(String),
}

impl FirstFault {
    /// Sentences for people.
    #[must_use]
    pub fn message(&self) -> String {
        let of = |square: &Option<Square>| square.map(|one| format!("{one}: ")).unwrap_or_default();
        match self {
            Self::Nothing => "the board's residues are those of the reference".to_owned(),
            Self::Array { square, side, board, host } => format!(
                "{}{side}'s section of the attackers array is {board}, not {host}",
                of(square)
            ),
            Self::Booking { square, number, board, host: Some(host) } => {
                format!(
                    "{}booking {number} leaves a residue of {board:+}, not {host:+}",
                    of(square)
                )
            }
            Self::Booking { square, number, board, host: None } => format!(
                "{}booking {number}, which the reference does not have, leaves a residue of \
                 {board:+}",
                of(square)
            ),
            Self::Residue { square, board, host } => {
                format!("{}XCHNG returns a residue of {board:+}, not {host:+}", of(square))
            }
            Self::Stuck(text) => text.clone(),
        }
    }
}

/// The reference's expectation of a call of XCHNG.
struct ExpectedCall {
    square: Option<Square>,
    array: Option<AttackersArray>,
    outcome: ExchangeResult,
}

/// Runs a case on a simulated board, and goes to the first thing that is not as the reference has
/// it.
///
/// # Errors
/// Returns `SessionError` if the programs can't be built, or lack XCHNG.
pub fn diagnose(
    profile: &Profile,
    evaluator: &Evaluator,
    case: &Case,
    within: f64,
    ask: ShouldStop<'_>,
) -> Result<Diagnosis, SessionError> {
    let behaviour = encode::behaviour(evaluator.behaviour);
    let mut machine = Machine::with_application(profile, evaluator)?;
    let (request, mut expected) = match &case.subject {
        Subject::Position { position, .. } => {
            let verdicts = examine_as(position, behaviour).verdicts;
            let expected: Vec<ExpectedCall> = verdicts
                .into_iter()
                .map(|one| {
                    let square = Some(one.square);
                    ExpectedCall { square, array: Some(one.array), outcome: one.outcome }
                })
                .collect();
            (Request::Position { squares: encode::squares(position) }, expected)
        }
        Subject::Array { piece, array, .. } => {
            let outcome = exchange_as(*piece, array, behaviour);
            (exchange(*piece, array), vec![ExpectedCall { square: None, array: None, outcome }])
        }
    };
    machine.send(&request);
    let code = machine.code();
    let mut search = FaultSearch::new(Debugger::new(machine.board, code), within)?;
    let finding = search.run(&mut expected, ask);
    search.clear();
    Ok(Diagnosis { debugger: search.debugger, finding })
}

fn exchange(piece: Piece, array: &AttackersArray) -> Request {
    Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() }
}

/// A board on its way to the first thing that is wrong.
struct FaultSearch {
    debugger: Debugger,
    within: f64,
    xchng: BreakpointId,
    bookings: Vec<BreakpointId>,
}

impl FaultSearch {
    fn new(mut debugger: Debugger, within: f64) -> Result<Self, SessionError> {
        let symbol = |name: &'static str| debugger.code().symbol(name);
        let entry = symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
        let places: Vec<u16> = BOOKING_LABELS.into_iter().filter_map(symbol).collect();
        let xchng = debugger.stops.add_breakpoint(Breakpoint::at(entry));
        let bookings =
            places.iter().map(|at| debugger.stops.add_breakpoint(Breakpoint::at(*at))).collect();
        Ok(Self { debugger, within, xchng, bookings })
    }

    fn clear(&mut self) {
        for id in self.bookings.drain(..).chain([self.xchng]) {
            self.debugger.stops.remove_breakpoint(id);
        }
    }

    /// Looks at each call of XCHNG in the board's order.
    fn run(&mut self, expected: &mut Vec<ExpectedCall>, ask: ShouldStop<'_>) -> FirstFault {
        while !expected.is_empty() {
            match run_with_timeout(&mut self.debugger, self.within, ask) {
                Ok(HaltReason::Breakpoint) => {}
                Ok(_) => return FirstFault::Stuck(self.unasked(expected)),
                Err(arrival) => return self.stuck(arrival),
            }
            let square = self.square();
            let wanted =
                expected.iter().position(|one| one.square.is_none() || one.square == square);
            let Some(wanted) = wanted.map(|at| expected.swap_remove(at)) else {
                let place = square.map_or("no square".to_owned(), |square| square.to_string());
                return FirstFault::Stuck(format!(
                    "XCHNG is called for {place}, where no piece is"
                ));
            };
            let finding = self.array(&wanted).or_else(|| self.exchange(&wanted, ask));
            if let Some(finding) = finding {
                return finding;
            }
        }
        FirstFault::Nothing
    }

    fn unasked(&self, expected: &[ExpectedCall]) -> String {
        let squares: Vec<String> =
            expected.iter().filter_map(|one| Some(one.square?.to_string())).collect();
        format!("the board is done and never called XCHNG for {}", squares.join(", "))
    }

    fn stuck(&self, arrival: EntryOutcome) -> FirstFault {
        FirstFault::Stuck(arrival.message(&self.debugger).unwrap_or_default())
    }

    /// The square under examination.
    fn square(&self) -> Option<Square> {
        let at = self.debugger.code().symbol("M3")?;
        encode::decode_square(self.debugger.peek(at))
    }

    /// The attackers array before the exchange. The board goes back to where its first wrong byte
    /// was written.
    fn array(&mut self, wanted: &ExpectedCall) -> Option<FirstFault> {
        let host = wanted.array?.to_bytes();
        let at = self.debugger.code().symbol("ATKLST")?;
        let board = self.debugger.dump(at, usize::from(ARRAY));
        let wrong = (0..board.len()).find(|byte| board[*byte] != host[*byte])?;
        let half = wrong / SECTION * SECTION..(wrong / SECTION + 1) * SECTION;
        let finding = FirstFault::Array {
            square: wanted.square,
            side: if wrong < SECTION { "White" } else { "Black" },
            board: pieces(&board[half.clone()]),
            host: pieces(&host[half]),
        };
        let byte = at.wrapping_add(wrong as u16);
        let call = self.debugger.step_count();
        let halt = self.debugger.run(ExecCommand::ReverseToChange(byte), &mut |_| false);
        // A byte that nobody wrote has no instruction to blame: the call stands for it.
        if !matches!(halt, HaltReason::Watchpoint(_)) {
            self.debugger.run(ExecCommand::Continue, &mut |debugger| debugger.step_count() >= call);
        }
        Some(finding)
    }

    /// The bookings of the exchange, and its residue.
    fn exchange(&mut self, wanted: &ExpectedCall, ask: ShouldStop<'_>) -> Option<FirstFault> {
        let square = wanted.square;
        let host: Vec<i8> = wanted.outcome.bookings.iter().map(|one| one.residue as i8).collect();
        let end = self.debugger.clock() + (self.within * self.debugger.clock_hz() as f64) as u64;
        let mut number = 0;
        loop {
            let mut is_late = false;
            let halt = self.debugger.run(ExecCommand::StepOut, &mut |debugger| {
                is_late = debugger.clock() >= end;
                is_late || ask(debugger)
            });
            let board = register(&self.debugger.registers(), "E").unwrap_or(0) as u8 as i8;
            match halt {
                HaltReason::Breakpoint => {
                    let expected = host.get(number).copied();
                    number += 1;
                    if expected != Some(board) {
                        return Some(FirstFault::Booking { square, number, board, host: expected });
                    }
                }
                HaltReason::Step => {
                    let host = wanted.outcome.residue as i8;
                    return (board != host).then_some(FirstFault::Residue { square, board, host });
                }
                HaltReason::Paused if is_late => {
                    return Some(self.stuck(EntryOutcome::TimedOut(self.within)));
                }
                _ => return Some(self.stuck(EntryOutcome::Interrupted)),
            }
        }
    }
}
