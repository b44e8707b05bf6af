//! The debug kernel as the debugger needs it, whatever line leads to it.

use firmware_wire::HeldState;
use host_platform::time::{Duration, Instant};

/// A debug kernel at the other end of a line.
pub trait Kernel: Send {
    /// Loads the kernel by way of the monitor, and has it begin, for the first time or anew;
    /// `image` is taken by the monitor at `loaded`.
    ///
    /// # Errors
    /// The reason for which it did not begin.
    fn start(&mut self, loaded: u16, image: &[u8]) -> Result<HeldState, KernelError>;

    /// Asks the kernel to start the monitor.
    ///
    /// # Errors
    /// The line failed.
    fn leave(&mut self) -> Result<(), KernelError>;

    /// The line's clock.
    fn now(&self) -> Instant;

    /// Takes the bytes that the program has said.
    fn take_said(&mut self) -> Vec<u8>;

    /// Changes the registers of the program that is held.
    ///
    /// # Errors
    /// The line failed.
    fn set(&mut self, state: &HeldState) -> Result<(), KernelError>;

    /// Bytes of memory.
    ///
    /// # Errors
    /// The line failed.
    fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, KernelError>;

    /// Stores bytes.
    ///
    /// # Errors
    /// Some memory is none, or the line failed.
    fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), KernelError>;

    /// Lets the program go on, up to some places.
    ///
    /// # Errors
    /// A place is not in RAM, or the line failed.
    fn go(&mut self, number: u8, places: &[u16]) -> Result<(), KernelError>;

    /// Waits until what is sent gets to the program, after [`Self::go`].
    ///
    /// # Errors
    /// The line failed.
    fn pause(&mut self) -> Result<(), KernelError>;

    /// Waits until the program is held.
    ///
    /// # Errors
    /// The line failed.
    fn wait(&mut self, timeout: Duration) -> Result<Option<HeldState>, KernelError>;

    /// Calls the service of interrupts, so that the program comes to where it is held.
    ///
    /// # Errors
    /// The line failed.
    fn call(&mut self) -> Result<Option<HeldState>, KernelError>;

    /// Sends bytes to the program.
    ///
    /// # Errors
    /// The line failed.
    fn send(&mut self, bytes: &[u8]) -> Result<(), KernelError>;
}

/// Error of a debug kernel, or of the line to it.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// An address does not keep what is written.
    #[error("{0:04X}H does not keep what is written")]
    NoRam(u16),
    /// The line failed, or nobody answers.
    #[error("{0}")]
    Line(String),
}
