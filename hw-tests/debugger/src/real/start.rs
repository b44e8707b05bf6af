//! Putting the debug kernel and a program onto a board.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use board_simulator::Registers;
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::code::{CodeMap, KnownProgram};
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::{HeldState, Request};
use sargon_cases::encode;
use sargon_reference::Position;
use tdlasm::image::Image;

use super::kernel::{Kernel, KernelError};
use super::twin::Twin;
use super::{BreakIn, KERNEL, RealBoard, with_registers};
use crate::debugger::Debugger;
use crate::machine::Machine;
use crate::motion::{Ask, Motion};
use crate::program::{LoadedProgram, put};

/// The address of RST 6 in ROM, and the opcode that must be there.
const RESTART: u16 = 0x0030;
const JUMP: u8 = 0xC3;
/// The routine in which the application is ready for requests.
const READY: &str = "TABLE";
/// The sequence number of our request.
const SEQ: u8 = 1;

/// Error returned if a program can't be held on a board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// A program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The kernel can't be loaded, or the line failed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The monitor in the ROM knows nothing of the kernel.
    #[error(
        "the monitor in the ROM is older than the debug kernel: RST 6 does not lead to it; put \
         the current one into the ROM (`rcflash image`, or `rcflash boot` where the chip can be \
         written)"
    )]
    OldMonitor,
    /// The program lies where it can't be put.
    #[error(
        "{0:04X}H is not in RAM that the debug kernel leaves free; it puts programs there only"
    )]
    NoRoom(u16),
}

/// A program for a board with the kernel.
pub(super) struct Subject {
    kernel: BuiltImage,
    image: Image,
    entry: u16,
    pub(super) break_in: Option<BreakIn>,
    /// The RAM that programs have.
    pub(super) ram: Range<u16>,
}

impl Subject {
    /// A program with what its code is called.
    ///
    /// # Errors
    /// The kernel can't be built, or the program does not lie in RAM.
    pub(super) fn new(
        profile: &Profile,
        image: Image,
        entry: u16,
        code: &CodeMap,
    ) -> Result<Self, BoardError> {
        let ram = profile.ram.addresses();
        for run in image.runs() {
            let last = run.address.saturating_add((run.bytes.len() - 1) as u16);
            let is_free = |at: u16| ram.contains(&at) && at < KERNEL;
            if let Some(at) = [run.address, last].into_iter().find(|at| !is_free(*at)) {
                return Err(BoardError::NoRoom(at));
            }
        }
        let break_in = || {
            let [place, found, asked] = ["PLACE", "FOUND", "ASKED"].map(|name| code.symbol(name));
            Some(BreakIn { place: place?, found: found?, asked: asked? })
        };
        let kernel = build(profile, ProgramKind::Kernel)?;
        let ram = profile.ram.start..KERNEL;
        Ok(Self { kernel, image, entry, break_in: break_in(), ram })
    }

    /// Puts kernel and program on a board, through its monitor. The program is held at its entry.
    pub(super) fn start(&self, kernel: &mut dyn Kernel) -> Result<HeldState, BoardError> {
        let loaded = self.kernel.program.symbol("KLOAD").unwrap_or(KERNEL);
        let vector = self.kernel.program.symbol("KVECT").unwrap_or(KERNEL);
        let held = kernel.start(loaded, &self.kernel.bytes)?;
        let [low, high] = vector.to_le_bytes();
        if kernel.read(RESTART, 3)? != [JUMP, low, high] {
            kernel.leave()?;
            return Err(BoardError::OldMonitor);
        }
        for run in self.image.runs() {
            kernel.write(run.address, &run.bytes)?;
        }
        let held = with_registers(&held, &self.registers());
        kernel.set(&held)?;
        Ok(held)
    }

    /// The registers of a program that is about to begin.
    pub(super) fn registers(&self) -> Registers {
        Registers { pc: self.entry, sp: KERNEL, ..Registers::default() }
    }
}

/// Any program on a board, held at its entry.
///
/// # Errors
/// The programs can't be built, or did not get there.
pub fn program_on(
    profile: &Profile,
    program: LoadedProgram,
    kernel: Box<dyn Kernel>,
) -> Result<Debugger, BoardError> {
    let LoadedProgram { known, entry, .. } = program;
    let monitor = KnownProgram::from(&build(profile, ProgramKind::Monitor)?.program);
    let image = known.image.clone();
    // The monitor has a PLACE, too, which stops no program.
    let subject = Subject::new(profile, image, entry, &CodeMap::of([known.clone()]))?;
    attach(profile, kernel, subject, CodeMap::of([known, monitor]))
}

/// The application on a board, about to receive the request to examine a position.
///
/// # Errors
/// The programs can't be built, or did not get there.
pub fn examining_on(
    profile: &Profile,
    evaluator: &Evaluator,
    position: &Position,
    kernel: Box<dyn Kernel>,
    ask: Ask<'_>,
) -> Result<Debugger, BoardError> {
    let application = build_with(profile, ProgramKind::Application, evaluator)?;
    let monitor = build(profile, ProgramKind::Monitor)?;
    let code = CodeMap::new(&[&application, &monitor]);
    let image = application.program.image.clone();
    let own = CodeMap::new(&[&application]);
    let subject = Subject::new(profile, image, application.address, &own)?;
    let mut debugger = attach(profile, kernel, subject, code)?;
    // What it does until it listens does not concern the position.
    if let Some(ready) = application.program.symbol(READY) {
        debugger.run(Motion::To(ready), ask);
    }
    let request = Request::Position { squares: encode::squares(position) };
    let frame = request.frame(SEQ).expect("it fits a frame").encode();
    let _ = debugger.send(&frame); // the board is held in no past
    Ok(debugger)
}

/// A debugger of a program on the board at the end of a line.
///
/// # Errors
/// The program did not get there.
fn attach(
    profile: &Profile,
    mut kernel: Box<dyn Kernel>,
    subject: Subject,
    code: CodeMap,
) -> Result<Debugger, BoardError> {
    let held = subject.start(kernel.as_mut())?;
    let mut machine = Machine::new(profile, ProgramKind::Application, &Evaluator::default())?;
    machine.rest();
    machine.enter(subject.entry);
    put(&mut machine.board, &subject.image);
    machine.board.set_registers(&subject.registers());
    let real = RealBoard {
        since: kernel.now(),
        kernel: RefCell::new(kernel),
        subject,
        held,
        running: false,
        t_states: 0,
        clock_hz: profile.clock_hz,
        memory: RefCell::new(BTreeMap::new()),
        said: Vec::new(),
        unsent: Vec::new(),
        problem: RefCell::new(None),
        twin: Twin::default(),
    };
    let mut debugger = Debugger::new(machine.board, code);
    debugger.real = Some(Box::new(real));
    Ok(debugger)
}
