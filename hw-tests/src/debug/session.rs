//! A debugger at the call that made a residue.

use firmware::build::BuildError;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware::wire::Request;

use super::condition::Condition;
use super::debugger::{Debugger, Halt};
use super::machine::Machine;
use crate::encode;
use crate::reference::{Position, Square};

/// Why there is nothing to look into.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The routines of the user's own have no such label.
    #[error("the program has no label {0}")]
    NoLabel(&'static str),
    /// The board never came there.
    #[error("the board examined the position and never called XCHNG for {0}; is there a piece?")]
    NotReached(Square),
}

/// A board that has a position to examine and waits at the first instruction of XCHNG for a square; its past begins when the
/// request is on the line.
///
/// # Errors
/// The programs can't be built, or the board never comes there.
pub fn at_exchange(
    profile: &Profile,
    evaluator: &Evaluator,
    position: &Position,
    square: Square,
) -> Result<Debugger, SessionError> {
    let mut debugger = examining(profile, evaluator, position)?;
    let code = debugger.code();
    let xchng = code.symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
    let condition = format!("[M3] == {}", encode::square(square));
    let condition = Condition::parse(&condition, code).map_err(|_| SessionError::NoLabel("M3"))?;
    let id = debugger.stops.add_break(xchng, Some(condition));
    let halt = debugger.go(|| false);
    debugger.stops.remove_break(id);
    if halt == Halt::Breakpoint { Ok(debugger) } else { Err(SessionError::NotReached(square)) }
}

/// A board that is about to hear that it shall examine a position.
///
/// # Errors
/// The programs can't be built.
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
