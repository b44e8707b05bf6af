//! Opens programs under the debugger, and runs them for a limited time.

use board_simulator::{BoardModel, QueueLine, Registers, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::image::Image;
use tdlasm::link::Program;

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::machine::Machine;
use super::program::{LoadedProgram, ProgramError};
use super::target::{DebugKernel, Target, TargetError, TargetProgram};

/// Why a board was stopped before it halted.
#[derive(Debug, Clone, PartialEq)]
pub enum RunAborted {
    /// The board was still running after this many seconds of its own time.
    TimedOut(f64),
    /// Stopped by the caller.
    Interrupted,
}

/// Runs until the board halts, for at most `within` seconds of its own time.
///
/// # Errors
/// Returns `RunAborted::TimedOut` after that time, `RunAborted::Interrupted` if `should_stop`
/// returned `true`.
pub fn run_with_timeout(
    debugger: &mut Debugger,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<HaltReason, RunAborted> {
    let end = debugger.clock() + (within * debugger.clock_hz() as f64) as u64;
    let mut is_late = false;
    let halt = debugger.run(ExecCommand::Continue, &mut |debugger| {
        is_late = debugger.clock() >= end;
        is_late || should_stop(debugger)
    });
    match halt {
        HaltReason::Paused if is_late => Err(RunAborted::TimedOut(within)),
        HaltReason::Paused => Err(RunAborted::Interrupted),
        halt => Ok(halt),
    }
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
        let mut machine = Machine::new(profile)?;
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
    mut program: LoadedProgram,
) -> Result<Debugger, ProgramError> {
    let panes = std::mem::take(&mut program.panes);
    let (board, code) = board_with_program(profile, program)?;
    let mut debugger = Debugger::new(board, code);
    panes.into_iter().for_each(|pane| debugger.add_pane(pane));
    Ok(debugger)
}

/// Opens a program on a target, halted at its entry, with a twin in the same state.
///
/// # Errors
/// Returns `TargetError` if the kernel can't be built, or a program can't be loaded.
pub fn open_program_on_target(
    profile: &BoardProfile,
    program: LoadedProgram,
    kernel: Box<dyn DebugKernel>,
) -> Result<Debugger, TargetError> {
    let LoadedProgram { mapped, entry, panes, .. } = program;
    let image = mapped.image.clone();
    // Only the program's own symbols: the monitor has a PCRPT, too, which can't halt a program.
    let own = CodeMap::from_programs([mapped.clone()]);
    let program = TargetProgram::new(profile, image, entry, &own)?;
    let target = Target::start(program, kernel, profile.clock_hz)?;
    let mut twin = Machine::new(profile)?;
    twin.run_until_idle();
    twin.jump_to(target.program.entry);
    load_image(&mut twin.board, &target.program.image);
    twin.board.set_registers(&target.program.registers());
    let code = CodeMap::from_programs([mapped, monitor_map(&twin.monitor.program)]);
    let mut debugger = Debugger::on_target(twin.board, code, target);
    panes.into_iter().for_each(|pane| debugger.add_pane(pane));
    Ok(debugger)
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
