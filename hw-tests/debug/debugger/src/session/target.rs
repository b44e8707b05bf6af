//! Debug sessions on a target.

use firmware::ProgramKind;
use firmware::build::{build, build_with};
use firmware::code_map::CodeMap;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_reference::Position;

use super::{load_image, monitor_map};
use crate::debugger::{Debugger, ShouldStop};
use crate::exec::ExecCommand;
use crate::machine::Machine;
use crate::program::LoadedProgram;
use crate::target::{DebugKernel, Target, TargetError, TargetProgram};

/// The label at which the application waits for requests.
const READY_LABEL: &str = "TABLE";
/// The sequence number of the request.
const SEQ: u8 = 1;

/// Opens a program on a target, halted at its entry.
///
/// # Errors
/// Returns `TargetError` if the kernel can't be built, or a program can't be loaded.
pub fn open_program_on_target(
    profile: &BoardProfile,
    program: LoadedProgram,
    kernel: Box<dyn DebugKernel>,
) -> Result<Debugger, TargetError> {
    let LoadedProgram { mapped, entry, .. } = program;
    let monitor = monitor_map(&build(profile, ProgramKind::Monitor)?.program);
    let image = mapped.image.clone();
    // Only the program's own symbols: the monitor has a PCRPT, too, which can't halt a program.
    let program =
        TargetProgram::new(profile, image, entry, &CodeMap::from_programs([mapped.clone()]))?;
    attach(profile, kernel, program, CodeMap::from_programs([mapped, monitor]))
}

/// Opens the application on a target, about to receive a POSITION request.
///
/// # Errors
/// Returns `TargetError` if a program can't be built or loaded.
pub fn open_position_on_target(
    profile: &BoardProfile,
    evaluator: &Evaluator,
    position: &Position,
    kernel: Box<dyn DebugKernel>,
    should_stop: ShouldStop<'_>,
) -> Result<Debugger, TargetError> {
    let application = build_with(profile, ProgramKind::Application, evaluator)?;
    let monitor = build(profile, ProgramKind::Monitor)?;
    let code = CodeMap::new(&[&application, &monitor]);
    let image = application.program.image.clone();
    let own = CodeMap::new(&[&application]);
    let program = TargetProgram::new(profile, image, application.address, &own)?;
    let mut debugger = attach(profile, kernel, program, code)?;
    // Skip the start-up, which does not depend on the position.
    if let Some(ready) = application.program.symbol(READY_LABEL) {
        debugger.run(ExecCommand::RunTo(ready), should_stop);
    }
    let request = Request::Position { squares: encode::squares(position) };
    let frame = request.frame(SEQ).expect("it fits a frame").encode();
    let _ = debugger.send(&frame); // only a twin or a reverse search refuses input
    Ok(debugger)
}

/// Starts a program on a target, with a twin in the same state.
fn attach(
    profile: &BoardProfile,
    kernel: Box<dyn DebugKernel>,
    program: TargetProgram,
    code: CodeMap,
) -> Result<Debugger, TargetError> {
    let target = Target::start(program, kernel, profile.clock_hz)?;
    let mut machine = Machine::new(profile, ProgramKind::Application, &Evaluator::default())?;
    machine.run_until_idle();
    machine.jump_to(target.program.entry);
    load_image(&mut machine.board, &target.program.image);
    machine.board.set_registers(&target.program.registers());
    Ok(Debugger::on_target(machine.board, code, target))
}
