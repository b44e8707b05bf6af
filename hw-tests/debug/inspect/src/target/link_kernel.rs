//! The debug kernel on a board that the harness has connected to.

use std::time::{Duration, Instant};

use board_debugger::{DebugKernel, KernelError};
use firmware_wire::{ErrorCode, StoppedState};
use hil_harness::board::Board;
use rcflash_link::kernel::{Kernel, ResumeError};
use rcflash_link::{Link, LinkError};

/// A connection to a board whose debug kernel is running or can be loaded.
pub(super) struct LinkKernel {
    kernel: Kernel,
    /// Declared last, since the line must be dropped before the board.
    _board: Box<dyn Board>,
}

impl LinkKernel {
    pub(super) fn new(mut link: Link, board: Box<dyn Board>) -> Self {
        Self { kernel: Kernel::attach(&mut link), _board: board }
    }
}

impl DebugKernel for LinkKernel {
    fn start(&mut self, loaded: u16, image: &[u8]) -> Result<StoppedState, KernelError> {
        // The monitor replies, as it does after a reset of the board.
        self.kernel.restart(|link| Kernel::start(link, loaded, image)).map_err(line)
    }

    fn now(&self) -> Instant {
        self.kernel.now()
    }

    fn take_output(&mut self) -> Vec<u8> {
        self.kernel.take_program_output()
    }

    fn set_registers(&mut self, state: &StoppedState) -> Result<(), KernelError> {
        self.kernel.set_state(state).map_err(failed)
    }

    fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, KernelError> {
        self.kernel.read(address, count).map_err(failed)
    }

    fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), KernelError> {
        self.kernel.write(address, bytes).map_err(failed)
    }

    fn resume(&mut self, number: u8, places: &[u16]) -> Result<(), KernelError> {
        self.kernel.resume(number, places).map_err(|error| match error {
            ResumeError::NoRam(at) => KernelError::NotWritable(at),
            ResumeError::Link(error) => failed(error),
        })
    }

    fn wait_until_receiving(&mut self) -> Result<(), KernelError> {
        self.kernel.wait_until_running().map_err(failed)
    }

    fn wait(&mut self, timeout: Duration) -> Result<Option<StoppedState>, KernelError> {
        self.kernel.wait(timeout).map_err(failed)
    }

    fn break_in(&mut self) -> Result<Option<StoppedState>, KernelError> {
        self.kernel.interrupt().map_err(failed)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        self.kernel.send(bytes).map_err(failed)
    }
}

fn failed(error: LinkError) -> KernelError {
    match error {
        LinkError::Refused { error, .. } if error.code == ErrorCode::ReadBack => {
            KernelError::NotWritable(error.detail)
        }
        error => line(error),
    }
}

fn line(error: impl ToString) -> KernelError {
    KernelError::Line(error.to_string())
}
