//! The first thing that goes wrong in a wrong residue: an entry of the attackers array, a booking,
//! or a call that does not come back. The debugger is put there.

use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::Request;
use sargon_cases::{Case, Subject, encode};
use sargon_reference::{AttackersArray, ExchangeResult, Piece, Square, examine_as, exchange_as};

use super::debugger::{Debugger, Halt};
use super::motion::{Ask, Motion};
use super::names::register;
use super::session::{Arrival, SessionError, run_within};
use super::show::{ARRAY, pieces};
use super::stops::Break;
use super::{BreakId, Machine};

/// Address at which XCHNG has just booked points, with the residue in E; an XCHNG of the user's own
/// may lack them.
const BOOKINGS: [&str; 2] = ["XCBOOK", "XCLAST"];
/// Bytes of a section of the attackers array.
const SECTION: usize = 7;

/// The result of a search for the first thing that is wrong.
pub struct Reason {
    /// The board, where it went wrong.
    pub debugger: Debugger,
    /// The fault.
    pub finding: Finding,
}

/// The first fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
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

impl Finding {
    /// Sentences for people.
    #[must_use]
    pub fn explained(&self) -> String {
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
struct Expected {
    square: Option<Square>,
    array: Option<AttackersArray>,
    outcome: ExchangeResult,
}

/// Runs a case on a simulated board, and goes to the first thing that is not as the reference has
/// it.
///
/// # Errors
/// Returns `SessionError` if the programs can't be built, or lack XCHNG.
pub fn why(
    profile: &Profile,
    evaluator: &Evaluator,
    case: &Case,
    within: f64,
    ask: Ask<'_>,
) -> Result<Reason, SessionError> {
    let behaviour = encode::behaviour(evaluator.behaviour);
    let mut machine = Machine::with_application(profile, evaluator)?;
    let (request, mut expected) = match &case.subject {
        Subject::Position { position, .. } => {
            let verdicts = examine_as(position, behaviour).verdicts;
            let expected: Vec<Expected> = verdicts
                .into_iter()
                .map(|one| {
                    let square = Some(one.square);
                    Expected { square, array: Some(one.array), outcome: one.outcome }
                })
                .collect();
            (Request::Position { squares: encode::squares(position) }, expected)
        }
        Subject::Array { piece, array, .. } => {
            let outcome = exchange_as(*piece, array, behaviour);
            (exchange(*piece, array), vec![Expected { square: None, array: None, outcome }])
        }
    };
    machine.send(&request);
    let code = machine.code();
    let mut search = Search::new(Debugger::new(machine.board, code), within)?;
    let finding = search.run(&mut expected, ask);
    search.clear();
    Ok(Reason { debugger: search.debugger, finding })
}

fn exchange(piece: Piece, array: &AttackersArray) -> Request {
    Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() }
}

/// A board on its way to the first thing that is wrong.
struct Search {
    debugger: Debugger,
    within: f64,
    xchng: BreakId,
    bookings: Vec<BreakId>,
}

impl Search {
    fn new(mut debugger: Debugger, within: f64) -> Result<Self, SessionError> {
        let symbol = |name: &'static str| debugger.code().symbol(name);
        let entry = symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
        let places: Vec<u16> = BOOKINGS.into_iter().filter_map(symbol).collect();
        let xchng = debugger.stops.add_break(Break::at(entry));
        let bookings = places.iter().map(|at| debugger.stops.add_break(Break::at(*at))).collect();
        Ok(Self { debugger, within, xchng, bookings })
    }

    fn clear(&mut self) {
        for id in self.bookings.drain(..).chain([self.xchng]) {
            self.debugger.stops.remove_break(id);
        }
    }

    /// Looks at each call of XCHNG in the board's order.
    fn run(&mut self, expected: &mut Vec<Expected>, ask: Ask<'_>) -> Finding {
        while !expected.is_empty() {
            match run_within(&mut self.debugger, self.within, ask) {
                Ok(Halt::Breakpoint) => {}
                Ok(_) => return Finding::Stuck(self.unasked(expected)),
                Err(arrival) => return self.stuck(arrival),
            }
            let square = self.square();
            let wanted =
                expected.iter().position(|one| one.square.is_none() || one.square == square);
            let Some(wanted) = wanted.map(|at| expected.swap_remove(at)) else {
                let place = square.map_or("no square".to_owned(), |square| square.to_string());
                return Finding::Stuck(format!("XCHNG is called for {place}, where no piece is"));
            };
            let finding = self.array(&wanted).or_else(|| self.exchange(&wanted, ask));
            if let Some(finding) = finding {
                return finding;
            }
        }
        Finding::Nothing
    }

    fn unasked(&self, expected: &[Expected]) -> String {
        let squares: Vec<String> =
            expected.iter().filter_map(|one| Some(one.square?.to_string())).collect();
        format!("the board is done and never called XCHNG for {}", squares.join(", "))
    }

    fn stuck(&self, arrival: Arrival) -> Finding {
        Finding::Stuck(arrival.explained(&self.debugger).unwrap_or_default())
    }

    /// The square under examination.
    fn square(&self) -> Option<Square> {
        let at = self.debugger.code().symbol("M3")?;
        encode::decode_square(self.debugger.peek(at))
    }

    /// The attackers array before the exchange. The board goes back to where its first wrong byte
    /// was written.
    fn array(&mut self, wanted: &Expected) -> Option<Finding> {
        let host = wanted.array?.to_bytes();
        let at = self.debugger.code().symbol("ATKLST")?;
        let board = self.debugger.dump(at, usize::from(ARRAY));
        let wrong = (0..board.len()).find(|byte| board[*byte] != host[*byte])?;
        let half = wrong / SECTION * SECTION..(wrong / SECTION + 1) * SECTION;
        let finding = Finding::Array {
            square: wanted.square,
            side: if wrong < SECTION { "White" } else { "Black" },
            board: pieces(&board[half.clone()]),
            host: pieces(&host[half]),
        };
        let byte = at.wrapping_add(wrong as u16);
        let call = self.debugger.turn();
        let halt = self.debugger.run(Motion::BackToChange(byte), &mut |_| false);
        // A byte that nobody wrote has no instruction to blame: the call stands for it.
        if !matches!(halt, Halt::Watchpoint(_)) {
            self.debugger.run(Motion::Go, &mut |debugger| debugger.turn() >= call);
        }
        Some(finding)
    }

    /// The bookings of the exchange, and its residue.
    fn exchange(&mut self, wanted: &Expected, ask: Ask<'_>) -> Option<Finding> {
        let square = wanted.square;
        let host: Vec<i8> = wanted.outcome.bookings.iter().map(|one| one.residue as i8).collect();
        let end = self.debugger.clock() + (self.within * self.debugger.clock_hz() as f64) as u64;
        let mut number = 0;
        loop {
            let mut is_late = false;
            let halt = self.debugger.run(Motion::Out, &mut |debugger| {
                is_late = debugger.clock() >= end;
                is_late || ask(debugger)
            });
            let board = register(&self.debugger.registers(), "E").unwrap_or(0) as u8 as i8;
            match halt {
                Halt::Breakpoint => {
                    let expected = host.get(number).copied();
                    number += 1;
                    if expected != Some(board) {
                        return Some(Finding::Booking { square, number, board, host: expected });
                    }
                }
                Halt::Step => {
                    let host = wanted.outcome.residue as i8;
                    return (board != host).then_some(Finding::Residue { square, board, host });
                }
                Halt::Paused if is_late => return Some(self.stuck(Arrival::TooLong(self.within))),
                _ => return Some(self.stuck(Arrival::Interrupted)),
            }
        }
    }
}
