//! A debugger at the call that made a residue.

use firmware::build::BuildError;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::Request;

use super::condition::Condition;
use super::debugger::{Debugger, Halt};
use super::machine::Machine;
use super::motion::{Ask, Motion};
use super::stops::Break;
use sargon_cases::encode;
use sargon_reference::{Position, Square};

/// Error returned if there is nothing to look into.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The routines of the user's own have no such label.
    #[error("the program has no label {0}")]
    NoLabel(&'static str),
}

/// A session that has begun: wherever the board stands, it can be looked at.
pub struct Session {
    /// The board.
    pub debugger: Debugger,
    /// Reason for its last stop.
    pub arrival: Arrival,
}

/// The end of the way to the first stop.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// The board stands where it was asked to.
    There,
    /// The board examined the position without a call for the square.
    Missed(Square),
    /// The board was still running after so many seconds of its own time.
    TooLong(f64),
    /// The caller stopped it.
    Interrupted,
    /// A real board could not be moved, for this reason.
    Failed(String),
}

impl Arrival {
    /// A sentence about a board that is not where it was asked to stop, with the place where it is.
    #[must_use]
    pub fn explained(&self, debugger: &Debugger) -> Option<String> {
        let place = debugger.code().place_of(debugger.registers().pc);
        match self {
            Self::There => None,
            Self::Missed(square) => Some(format!(
                "the board examined the position and never called XCHNG for {square}; is there a \
                 piece?"
            )),
            Self::TooLong(seconds) => Some(format!(
                "at {place}: not at the call after {seconds} s of the board's time (--within)"
            )),
            Self::Interrupted => Some(format!("at {place}: interrupted before the call")),
            Self::Failed(problem) => Some(problem.clone()),
        }
    }
}

/// A board that has a position to examine and stands at the first instruction of XCHNG for a
/// square; its past begins when the request is on the line.
///
/// If it does not come there in so many seconds of its own time, or `ask` stops it, it is handed
/// over where it is.
///
/// # Errors
/// Returns `SessionError` if the programs can't be built, or lack XCHNG.
pub fn at_exchange(
    profile: &Profile,
    evaluator: &Evaluator,
    position: &Position,
    square: Square,
    within: f64,
    ask: Ask<'_>,
) -> Result<Session, SessionError> {
    let debugger = examining(profile, evaluator, position)?;
    go_to_exchange(debugger, square, within, ask)
}

/// The same on a board that is about to receive its request.
///
/// # Errors
/// Returns `SessionError` if the programs lack XCHNG.
pub fn go_to_exchange(
    mut debugger: Debugger,
    square: Square,
    within: f64,
    ask: Ask<'_>,
) -> Result<Session, SessionError> {
    let code = debugger.code();
    let xchng = code.symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
    let condition = format!("[M3] == {}", encode::square(square));
    let condition = Condition::parse(&condition, code).map_err(|_| SessionError::NoLabel("M3"))?;
    let id = debugger.stops.add_break(Break { condition: Some(condition), ..Break::at(xchng) });
    let arrival = match run_within(&mut debugger, within, ask) {
        Err(arrival) => arrival,
        Ok(Halt::Breakpoint) => Arrival::There,
        Ok(_) => Arrival::Missed(square),
    };
    debugger.stops.remove_break(id);
    let arrival = debugger.problem().map_or(arrival, Arrival::Failed);
    Ok(Session { debugger, arrival })
}

/// Runs until there is a reason to stop, for so many seconds of the board's own time at most.
///
/// # Errors
/// Returns `Arrival` if the run ended otherwise.
pub fn run_within(debugger: &mut Debugger, within: f64, ask: Ask<'_>) -> Result<Halt, Arrival> {
    let end = debugger.clock() + (within * debugger.clock_hz() as f64) as u64;
    let mut is_late = false;
    let halt = debugger.run(Motion::Go, &mut |debugger| {
        is_late = debugger.clock() >= end;
        is_late || ask(debugger)
    });
    match halt {
        Halt::Paused if is_late => Err(Arrival::TooLong(within)),
        Halt::Paused => Err(Arrival::Interrupted),
        halt => Ok(halt),
    }
}

/// A board that is about to receive the request to examine a position.
///
/// # Errors
/// Returns `BuildError` if the programs can't be built.
pub fn examining(
    profile: &Profile,
    evaluator: &Evaluator,
    position: &Position,
) -> Result<Debugger, BuildError> {
    let mut machine = Machine::with_application(profile, evaluator)?;
    machine.send(&Request::Position { squares: encode::squares(position) });
    let code = machine.code();
    Ok(Debugger::new(machine.board, code))
}
