//! The interface of the debug kernel, independent of the line to it.

use firmware_wire::StoppedState;
use rcflash_transport::platform::time::{Duration, Instant};

/// A connection to the debug kernel on a board. Methods return [`KernelError::Line`] if it fails.
pub trait DebugKernel: Send {
    /// Loads the kernel through the monitor and starts it. Called again, it restarts the kernel.
    /// The monitor loads `image` to the address `loaded`.
    fn start(&mut self, loaded: u16, image: &[u8]) -> Result<StoppedState, KernelError>;

    /// The line's clock, which is simulated time on a simulated board.
    fn now(&self) -> Instant;

    /// Takes the bytes that the program has sent since the last call.
    fn take_output(&mut self) -> Vec<u8>;

    /// Sets the registers of the halted program.
    fn set_registers(&mut self, state: &StoppedState) -> Result<(), KernelError>;

    /// Reads `count` bytes of memory.
    fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, KernelError>;

    /// Writes bytes to memory and verifies them.
    fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), KernelError>;

    /// Resumes the halted program with breakpoints at `addresses`. `number` is the number of the
    /// halt ([`StoppedState::stop_number`]).
    fn resume(&mut self, number: u8, addresses: &[u16]) -> Result<(), KernelError>;

    /// Waits, after [`Self::resume`], until bytes sent to the board reach the program.
    fn wait_until_receiving(&mut self) -> Result<(), KernelError>;

    /// Waits until the program halts; returns `None` if it does not within `timeout`.
    fn wait(&mut self, timeout: Duration) -> Result<Option<StoppedState>, KernelError>;

    /// Sends zeros, at which the program's interrupt service halts it; `None` if it does not.
    fn break_in(&mut self) -> Result<Option<StoppedState>, KernelError>;

    /// Sends bytes to the program.
    fn send(&mut self, bytes: &[u8]) -> Result<(), KernelError>;
}

/// Error returned by a [`DebugKernel`].
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// An address is ROM, or has no memory.
    #[error("{0:04X}H is not writable")]
    NotWritable(u16),
    /// The line failed or the kernel does not reply.
    #[error("{0}")]
    Line(String),
}
