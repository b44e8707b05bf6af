//! Sessions at the call of a case of a test file.

use std::path::Path;

use board_debugger::panes::read_panes;
use board_debugger::{Debugger, LoadedProgram, Stop, board_with_program};
use cli_support::exit::{CommandError, ENVIRONMENT, NOTHING_SELECTED, USAGE};
use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use tdlasm::source::DiskLoader;
use testfile_suite::{CallState, TestFile, run_build};

use super::{StartedSession, program_error};
use crate::ExitResult;

/// The end of the names of test files.
pub(super) const ENDING: &str = ".test.toml";
/// HALT, to which the routine returns.
const HALT: u8 = 0x76;

/// Opens a board at the routine that a case calls, with breakpoints there and at its return.
pub(super) fn open(profile: &BoardProfile, path: &Path, name: &str) -> ExitResult<StartedSession> {
    let file = run_build(path).and_then(|()| TestFile::read(path, &DiskLoader, None));
    let file = file.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
    let state = CallState::of_case(&file, name)
        .map_err(|message| CommandError::new(NOTHING_SELECTED, message))?;
    let ram = profile.ram.addresses();
    let stack = state.registers.sp;
    if !ram.contains(&stack) {
        let message = format!(
            "the stack at {stack:04X}H is not in the RAM of {}: choose another --board",
            profile.name.escaped()
        );
        return Err(CommandError::new(USAGE, message));
    }
    let program = LoadedProgram::new(file.program.linked.clone(), state.registers.pc);
    let panes = read_panes(path).map_err(|error| program_error(error.into()))?;
    let (mut board, code) = board_with_program(profile, program)?;
    let memory = &state.memory[usize::from(*ram.start())..=usize::from(*ram.end())];
    board.bus_mut().load(*ram.start(), memory);
    let is_free = file.program.linked.image.byte(state.return_address).is_none();
    if is_free && ram.contains(&state.return_address) {
        board.bus_mut().load(state.return_address, &[HALT]);
    }
    board.set_registers(&state.registers);
    let mut debugger = Debugger::new(board, code);
    panes.into_iter().for_each(|pane| debugger.add_pane(pane));
    for address in [state.registers.pc, state.return_address] {
        debugger.stops.add(Stop::at(address));
    }
    Ok(StartedSession { message: Some(message(name, &state)), ..StartedSession::program(debugger) })
}

fn message(name: &str, state: &CallState) -> String {
    let (number, routine) = &state.call;
    let findings = if state.findings.is_empty() { "as expected" } else { "" };
    let mut text = format!("call {number} of '{}', {}: ", name.escaped(), routine.escaped());
    text += &(findings.to_owned() + &state.findings.join("; "));
    if !state.missing.is_empty() {
        text += &format!(" (without its {})", state.missing.join(" and "));
    }
    text
}
