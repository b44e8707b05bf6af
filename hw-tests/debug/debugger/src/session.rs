//! Debug sessions: a debugger at the call of XCHNG for a square, or at the entry of a program.

mod target;

use board_simulator::{BoardModel, QueueLine, Registers, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, build};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_reference::{Position, Square};
use tdlasm::image::Image;
use tdlasm::link::Program;

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::expression::BoundExpression;
use super::machine::Machine;
use super::program::{LoadedProgram, ProgramError};
use super::stops::Breakpoint;

pub use target::{open_position_on_target, open_program_on_target};

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
    /// The board was still running after this many seconds of its own time.
    TimedOut(f64),
    /// Stopped by the caller.
    Interrupted,
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
            Self::TimedOut(seconds) => Some(format!(
                "at {place}: the call was not reached in {seconds} s of the board's time (--within)"
            )),
            Self::Interrupted => Some(format!("at {place}: interrupted before the call")),
            Self::Failed(problem) => Some(problem.clone()),
        }
    }
}

/// Opens the evaluator at the first instruction of XCHNG for `square` of `position`. The history
/// begins when the request has been sent.
///
/// If the board does not reach the call within `within` seconds of its own time, or `should_stop`
/// returns `true`, the session is returned where the board is halted.
///
/// # Errors
/// Returns `SessionError` if the programs can't be built, or lack XCHNG.
pub fn open_at_exchange(
    profile: &BoardProfile,
    evaluator: &Evaluator,
    position: &Position,
    square: Square,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<DebugSession, SessionError> {
    let debugger = open_for_position(profile, evaluator, position)?;
    run_to_exchange(debugger, square, within, should_stop)
}

/// Runs a board that is about to receive its request to XCHNG for `square`; see
/// [`open_at_exchange`].
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
    let id = debugger
        .stops
        .add_breakpoint(Breakpoint { condition: Some(condition), ..Breakpoint::at(xchng) });
    let outcome = match run_with_timeout(&mut debugger, within, should_stop) {
        Err(outcome) => outcome,
        Ok(HaltReason::Breakpoint) => EntryOutcome::Reached,
        Ok(_) => EntryOutcome::NotCalled(square),
    };
    debugger.stops.remove_breakpoint(id);
    let outcome = debugger.last_error().map_or(outcome, EntryOutcome::Failed);
    Ok(DebugSession { debugger, outcome })
}

/// Runs until the board halts, for at most `within` seconds of its own time.
///
/// # Errors
/// Returns `EntryOutcome::TimedOut` after that time, `EntryOutcome::Interrupted` if `should_stop`
/// returned `true`.
pub fn run_with_timeout(
    debugger: &mut Debugger,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<HaltReason, EntryOutcome> {
    let end = debugger.clock() + (within * debugger.clock_hz() as f64) as u64;
    let mut is_late = false;
    let halt = debugger.run(ExecCommand::Continue, &mut |debugger| {
        is_late = debugger.clock() >= end;
        is_late || should_stop(debugger)
    });
    match halt {
        HaltReason::Paused if is_late => Err(EntryOutcome::TimedOut(within)),
        HaltReason::Paused => Err(EntryOutcome::Interrupted),
        halt => Ok(halt),
    }
}

/// Opens the application about to receive a POSITION request.
pub fn open_for_position(
    profile: &BoardProfile,
    evaluator: &Evaluator,
    position: &Position,
) -> Result<Debugger, BuildError> {
    let mut machine = Machine::with_application(profile, evaluator)?;
    machine.send(&Request::Position { squares: encode::squares(position) });
    let code = machine.code();
    Ok(Debugger::new(machine.board, code))
}

/// Returns a simulated board about to run the first instruction of a program, and its code map.
///
/// A program with its entry in RAM is loaded after the monitor has set up the board, as a loader
/// does. One with its entry in ROM is in the chip at power-up.
pub fn board_with_program(
    profile: &BoardProfile,
    program: LoadedProgram,
) -> Result<(BoardModel<QueueLine>, CodeMap), ProgramError> {
    let LoadedProgram { mapped, entry, .. } = program;
    let image = mapped.image.clone();
    if profile.ram.addresses().contains(&entry) {
        let evaluator = Evaluator::default();
        let mut machine = Machine::new(profile, ProgramKind::Application, &evaluator)?;
        machine.run_until_idle();
        machine.jump_to(entry);
        // Only now: the program may overwrite the monitor's work area.
        load_image(&mut machine.board, &image);
        let monitor = monitor_map(&machine.monitor.program);
        return Ok((machine.board, CodeMap::from_programs([mapped, monitor])));
    }
    let monitor = build(profile, ProgramKind::Monitor)?;
    let rom = rom_contents(&image, profile, monitor.bytes.len());
    let mut board = BoardModel::new(board_spec(profile), &rom, QueueLine::default());
    load_image(&mut board, &image);
    board.set_registers(&Registers { pc: entry, ..board.registers() });
    Ok((board, CodeMap::from_programs([mapped])))
}

/// Maps the monitor, whose labels are marked as not the program's.
fn monitor_map(monitor: &Program) -> MappedProgram {
    MappedProgram { prefix: Some("monitor"), ..MappedProgram::from(monitor) }
}

/// Opens a program on a simulated board, halted at its first instruction.
pub fn open_program(
    profile: &BoardProfile,
    program: LoadedProgram,
) -> Result<Debugger, ProgramError> {
    let (board, code) = board_with_program(profile, program)?;
    Ok(Debugger::new(board, code))
}

/// The contents of the ROM: the program's bytes below RAM.
fn rom_contents(image: &Image, profile: &BoardProfile, min_bytes: usize) -> Vec<u8> {
    let mut rom = vec![0xFF; min_bytes.max(usize::from(profile.rom.end) + 1)];
    for run in image.runs() {
        for (cell, byte) in rom.iter_mut().skip(usize::from(run.address)).zip(&run.bytes) {
            *cell = *byte;
        }
    }
    rom
}

fn load_image(board: &mut BoardModel<QueueLine>, image: &Image) {
    for run in image.runs() {
        board.bus_mut().load(run.address, &run.bytes);
    }
}
