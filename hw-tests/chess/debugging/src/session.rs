//! Debug sessions at the call of XCHNG for a square.

use board_debugger::{
    BoundExpression, DebugKernel, Debugger, ExecCommand, HaltReason, LoadedProgram, Machine,
    RunAborted, ShouldStop, Stop, TargetError, encode_request, open_program, run_with_timeout,
};
use firmware::ProgramKind;
use firmware::build::{BuildError, build_with};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_reference::{Position, Square};

use crate::panes::add_panes;

/// The label at which the application waits for requests.
const READY_LABEL: &str = "TABLE";

/// Error returned if a session can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The user's own routines lack a label.
    #[error("the program has no label {0}")]
    NoLabel(&'static str),
}

/// A debugger that has run to its entry point, or as far as it got.
pub struct DebugSession {
    /// The debugger, halted.
    pub debugger: Debugger,
    /// Whether it reached its entry point.
    pub outcome: EntryOutcome,
}

/// Whether a session reached its entry point.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryOutcome {
    /// The board is halted at the entry point.
    Reached,
    /// The board examined the position without a call for this square.
    NotCalled(Square),
    /// The board was stopped before it halted.
    Aborted(RunAborted),
    /// The target could not be run; the reason.
    Failed(String),
}

impl EntryOutcome {
    /// Returns a message with the location of a halt elsewhere than at the entry point.
    pub fn message(&self, debugger: &Debugger) -> Option<String> {
        let place = debugger.code().describe_address(debugger.registers().pc);
        match self {
            Self::Reached => None,
            Self::NotCalled(square) => Some(format!(
                "the board examined the position without calling XCHNG for {square}; is the \
                 square empty?"
            )),
            Self::Aborted(RunAborted::TimedOut(seconds)) => Some(format!(
                "at {place}: the call was not reached in {seconds} s of the board's time (--within)"
            )),
            Self::Aborted(RunAborted::Interrupted) => {
                Some(format!("at {place}: interrupted before the call"))
            }
            Self::Failed(problem) => Some(problem.clone()),
        }
    }
}

/// Creates a simulated board on which the application runs from RAM and waits for requests, and the
/// code of both programs.
///
/// # Errors
/// Returns `BuildError` if a program can't be built.
pub fn start_evaluator(
    profile: &BoardProfile,
    evaluator: &Evaluator,
) -> Result<(Machine, CodeMap), BuildError> {
    let application = build_with(profile, ProgramKind::Application, evaluator)?;
    let mut machine = Machine::new(profile)?;
    machine.start(&application);
    let code = CodeMap::new(&[&machine.monitor, &application]);
    Ok((machine, code))
}

/// Returns a debugger for a board that [`start_evaluator`] has created, with the evaluator's panes.
pub fn evaluator_debugger((machine, code): (Machine, CodeMap)) -> Debugger {
    let mut debugger = Debugger::new(machine.board, code);
    add_panes(&mut debugger);
    debugger
}

/// Runs a board that is about to receive its request to the first instruction of XCHNG for
/// `square`.
///
/// If the board does not reach the call within `within` seconds of its own time, or `should_stop`
/// returns `true`, the session is returned where the board is halted.
///
/// # Errors
/// Returns `SessionError` if the programs lack XCHNG.
pub fn run_to_exchange(
    mut debugger: Debugger,
    square: Square,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<DebugSession, SessionError> {
    let code = debugger.code();
    let xchng = code.symbol("XCHNG").ok_or(SessionError::NoLabel("XCHNG"))?;
    let condition = format!("[M3] == {}", encode::square(square));
    let condition =
        BoundExpression::parse(&condition, code).map_err(|_| SessionError::NoLabel("M3"))?;
    let id = debugger.stops.add(Stop { condition: Some(condition), ..Stop::at(xchng) });
    let outcome = match run_with_timeout(&mut debugger, ExecCommand::Continue, within, should_stop)
    {
        Err(aborted) => EntryOutcome::Aborted(aborted),
        Ok(HaltReason::Breakpoint) => EntryOutcome::Reached,
        Ok(_) => EntryOutcome::NotCalled(square),
    };
    debugger.stops.remove(id);
    let outcome = debugger.last_error().map_or(outcome, EntryOutcome::Failed);
    Ok(DebugSession { debugger, outcome })
}

/// Opens the application about to receive a POSITION request: on a simulated board, whose history
/// begins then, or through a kernel on a target.
///
/// # Errors
/// Returns `TargetError` if a program can't be built, or can't be loaded onto a target.
pub fn open_position(
    profile: &BoardProfile,
    evaluator: &Evaluator,
    position: &Position,
    kernel: Option<Box<dyn DebugKernel>>,
    should_stop: ShouldStop<'_>,
) -> Result<Debugger, TargetError> {
    let request = Request::Position { squares: encode::squares(position) };
    if kernel.is_none() {
        let (mut machine, code) = start_evaluator(profile, evaluator)?;
        machine.send(&request);
        return Ok(evaluator_debugger((machine, code)));
    }
    let application = build_with(profile, ProgramKind::Application, evaluator)?;
    let mapped = MappedProgram::from(&application.program);
    let program = LoadedProgram::new(mapped, application.address);
    let mut debugger = open_program(profile, program, kernel)?;
    add_panes(&mut debugger);
    // Skip the start-up, which does not depend on the position.
    if let Some(ready) = application.program.symbol(READY_LABEL) {
        debugger.run(ExecCommand::RunTo(ready), should_stop);
    }
    // Only a twin or a reverse search refuses input.
    let _ = debugger.send(&encode_request(&request));
    Ok(debugger)
}
