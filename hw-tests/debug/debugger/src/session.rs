//! Opens programs under the debugger, and runs them for a limited time.

use board_simulator::{BoardModel, QueueLine, Registers, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, build};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::image::Image;

use super::target::{Target, TargetProgram};
use crate::{
    DebugKernel, Debugger, ExecCommand, HaltReason, LoadedProgram, Machine, ShouldStop, TargetError,
};

/// Why a board was stopped before it halted.
#[derive(Debug, Clone, PartialEq)]
pub enum RunAborted {
    /// The board was still running after this many seconds of its own time.
    TimedOut(f64),
    /// Stopped by the caller.
    Interrupted,
}

/// Executes a command that runs the board, for at most `within` seconds of its own time.
///
/// # Errors
/// Returns `RunAborted::TimedOut` after that time, `RunAborted::Interrupted` if `should_stop`
/// returned `true`.
pub fn run_with_timeout(
    debugger: &mut Debugger,
    command: ExecCommand,
    within: f64,
    should_stop: ShouldStop<'_>,
) -> Result<HaltReason, RunAborted> {
    let end = debugger.clock() + (within * debugger.clock_hz() as f64) as u64;
    let mut is_late = false;
    let halt = debugger.run(command, &mut |debugger| {
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
) -> Result<(BoardModel<QueueLine>, CodeMap), BuildError> {
    let LoadedProgram { mapped, entry, .. } = program;
    let image = mapped.image.clone();
    if profile.ram.addresses().contains(&entry) {
        let mut machine = Machine::new(profile)?;
        machine.run_until_idle();
        machine.jump_to(entry);
        // Only now: the program may overwrite the monitor's work area.
        load_image(&mut machine.board, &image);
        // Labels of the monitor are marked as not the program's.
        let monitor = MappedProgram::from(&machine.monitor.program);
        let monitor = MappedProgram { prefix: Some("monitor"), ..monitor };
        return Ok((machine.board, CodeMap::from_programs([mapped, monitor])));
    }
    let monitor = build(profile, ProgramKind::Monitor)?;
    let rom_bytes = monitor.bytes.len().max(usize::from(profile.rom.end) + 1);
    let byte = |at: usize| image.byte(u16::try_from(at).ok()?);
    let rom: Vec<u8> = (0..rom_bytes).map(|at| byte(at).unwrap_or(0xFF)).collect();
    let mut board = BoardModel::new(board_spec(profile), &rom, QueueLine::default());
    load_image(&mut board, &image);
    board.set_registers(&Registers { pc: entry, ..board.registers() });
    Ok((board, CodeMap::from_programs([mapped])))
}

/// Opens a program, halted at its first instruction: on a simulated board, or through a kernel on a
/// target, with a twin in the same state.
///
/// # Errors
/// Returns `TargetError` if the monitor or the kernel can't be built, or a program can't be loaded
/// onto a target.
pub fn open_program(
    profile: &BoardProfile,
    mut program: LoadedProgram,
    kernel: Option<Box<dyn DebugKernel>>,
) -> Result<Debugger, TargetError> {
    let start = |kernel| {
        let program = TargetProgram::new(profile, &program.mapped, program.entry)?;
        Target::start(program, kernel, profile.clock_hz)
    };
    let target = kernel.map(start).transpose()?;
    let panes = std::mem::take(&mut program.panes);
    let (mut board, code) = board_with_program(profile, program)?;
    if let Some(target) = &target {
        board.set_registers(&target.program.registers());
    }
    let mut debugger = Debugger::new(board, code);
    panes.into_iter().for_each(|pane| debugger.add_pane(pane));
    debugger.boards.target = target.map(Box::new);
    Ok(debugger)
}

fn load_image(board: &mut BoardModel<QueueLine>, image: &Image) {
    for run in image.runs() {
        board.bus_mut().load(run.address, &run.bytes);
    }
}
