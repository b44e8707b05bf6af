//! The debug kernel of a board that the harness reaches.

use std::time::{Duration, Instant};

use board_debugger::{Kernel, KernelError};
use firmware_wire::{ErrorCode, HeldState};
use hil_harness::board::Board;
use rcflash_link::kernel::{GoError, Kernel as Held};
use rcflash_link::{Link, LinkError};

/// A board with the kernel, or about to get it.
pub(super) struct Wire {
    way: Way,
    /// Dropped last: the line goes before the board does.
    _board: Box<dyn Board>,
}

enum Way {
    /// The monitor or another program answers.
    Link(Box<Link>),
    /// The kernel does.
    Kernel(Held),
}

impl Wire {
    pub(super) fn new(link: Link, board: Box<dyn Board>) -> Self {
        Self { way: Way::Link(Box::new(link)), _board: board }
    }

    fn held(&mut self) -> Result<&mut Held, KernelError> {
        match &mut self.way {
            Way::Kernel(kernel) => Ok(kernel),
            Way::Link(_) => Err(KernelError::Line("the kernel is not there yet".to_owned())),
        }
    }
}

impl Kernel for Wire {
    fn start(&mut self, loaded: u16, image: &[u8]) -> Result<HeldState, KernelError> {
        match &mut self.way {
            Way::Link(link) => {
                let (kernel, held) = Held::start(link, loaded, image).map_err(line)?;
                self.way = Way::Kernel(kernel);
                Ok(held)
            }
            Way::Kernel(kernel) => {
                kernel.reset().map_err(failed)?;
                kernel.start_again(|link| Held::start(link, loaded, image)).map_err(line)
            }
        }
    }

    fn leave(&mut self) -> Result<(), KernelError> {
        self.held()?.reset().map_err(failed)
    }

    fn now(&self) -> Instant {
        match &self.way {
            Way::Link(link) => link.now(),
            Way::Kernel(kernel) => kernel.now(),
        }
    }

    fn take_said(&mut self) -> Vec<u8> {
        self.held().map(Held::take_said).unwrap_or_default()
    }

    fn set(&mut self, state: &HeldState) -> Result<(), KernelError> {
        self.held()?.set(state).map_err(failed)
    }

    fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, KernelError> {
        self.held()?.read(address, count).map_err(failed)
    }

    fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), KernelError> {
        self.held()?.write(address, bytes).map_err(failed)
    }

    fn go(&mut self, number: u8, places: &[u16]) -> Result<(), KernelError> {
        self.held()?.go(number, places).map_err(|error| match error {
            GoError::NoRam(at) => KernelError::NoRam(at),
            GoError::Link(error) => failed(error),
        })
    }

    fn pause(&mut self) -> Result<(), KernelError> {
        self.held()?.pause().map_err(failed)
    }

    fn wait(&mut self, timeout: Duration) -> Result<Option<HeldState>, KernelError> {
        self.held()?.wait(timeout).map_err(failed)
    }

    fn call(&mut self) -> Result<Option<HeldState>, KernelError> {
        self.held()?.call().map_err(failed)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        self.held()?.send(bytes).map_err(failed)
    }
}

fn failed(error: LinkError) -> KernelError {
    match error {
        LinkError::Refused { error, .. } if error.code == ErrorCode::ReadBack => {
            KernelError::NoRam(error.detail)
        }
        error => line(error),
    }
}

fn line(error: impl ToString) -> KernelError {
    KernelError::Line(error.to_string())
}
