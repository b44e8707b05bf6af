//! Loading the debug kernel and a program onto a board.

use std::ops::Range;

use board_simulator::Registers;
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use firmware_wire::StoppedState;
use tdlasm::image::Image;

use super::kernel::{DebugKernel, KernelError};
use super::{BreakInSymbols, KERNEL_START, with_registers};

/// The address of RST 6 in ROM, and the opcode that must be there.
const RST_6: u16 = 0x0030;
const JP_OPCODE: u8 = 0xC3;

/// Error returned if a program can't be debugged on a target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The kernel can't be loaded, or the line fails.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The monitor in ROM does not support the debug kernel.
    #[error(
        "the monitor in ROM is older than the debug kernel: RST 6 does not jump to the kernel; \
         program the current one into the ROM (`rcflash image`, or `rcflash boot` where the chip \
         can be written)"
    )]
    OldMonitor,
    /// The program needs memory that is not free RAM.
    #[error(
        "{0:04X}H is not in RAM that the debug kernel leaves free; it loads programs only there"
    )]
    NotFreeRam(u16),
}

/// The state of a halted program, or why it could not be started.
type StartResult = Result<StoppedState, TargetError>;

pub(crate) struct TargetProgram {
    kernel: BuiltImage,
    pub(crate) image: Image,
    pub(crate) entry: u16,
    pub(crate) break_in: Option<BreakInSymbols>,
    /// The RAM that the kernel leaves to programs.
    pub(crate) ram: Range<u16>,
}

impl TargetProgram {
    /// Checks a program, and builds the kernel.
    pub(crate) fn new(
        profile: &BoardProfile,
        program: &MappedProgram,
        entry: u16,
    ) -> Result<Self, TargetError> {
        let image = program.image.clone();
        // Only the program's own symbols: the monitor has a PCRPT, too, which can't halt a program.
        let code = CodeMap::from_programs([program.clone()]);
        let ram = profile.ram.addresses();
        for run in image.runs() {
            let last = run.address.saturating_add((run.bytes.len() - 1) as u16);
            let is_free = |at: u16| ram.contains(&at) && at < KERNEL_START;
            if let Some(at) = [run.address, last].into_iter().find(|at| !is_free(*at)) {
                return Err(TargetError::NotFreeRam(at));
            }
        }
        let break_in = || {
            Some(BreakInSymbols {
                stop_address: code.symbol("PCRPT")?,
                saved_pc: code.symbol("PCSAVE")?,
                requested: code.symbol("PCREQ")?,
            })
        };
        let kernel = build(profile, ProgramKind::Kernel)?;
        let ram = profile.ram.start..KERNEL_START;
        Ok(Self { kernel, image, entry, break_in: break_in(), ram })
    }

    /// Loads the kernel through the monitor.
    pub(super) fn start_kernel(&self, kernel: &mut dyn DebugKernel) -> StartResult {
        let loaded = self.kernel.program.symbol("KLOAD").unwrap_or(KERNEL_START);
        Ok(kernel.start(loaded, &self.kernel.bytes)?)
    }

    /// Loads the program by the kernel, whose state is given. It is halted at its entry.
    pub(super) fn load(&self, kernel: &mut dyn DebugKernel, state: &StoppedState) -> StartResult {
        let vector = self.kernel.program.symbol("KVECT").unwrap_or(KERNEL_START);
        let [low, high] = vector.to_le_bytes();
        if kernel.read(RST_6, 3)? != [JP_OPCODE, low, high] {
            return Err(TargetError::OldMonitor);
        }
        for run in self.image.runs() {
            kernel.write(run.address, &run.bytes)?;
        }
        let state = with_registers(state, &self.registers());
        kernel.set_registers(&state)?;
        Ok(state)
    }

    pub(crate) fn registers(&self) -> Registers {
        Registers { pc: self.entry, sp: KERNEL_START, ..Registers::default() }
    }
}
