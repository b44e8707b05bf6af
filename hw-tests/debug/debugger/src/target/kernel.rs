//! The line to a board's debug kernel, and its errors.

use firmware_wire::ErrorCode;
use rcflash_link::kernel::{Kernel, ResumeError};
use rcflash_link::{Link, LinkError};

/// A line to a board whose debug kernel is running or can be loaded.
pub struct KernelLine {
    pub(super) kernel: Kernel,
    pub(super) board: Box<dyn Send>,
}

impl KernelLine {
    /// Takes the line to a board. `board` is dropped after the line, such as a process that
    /// emulates the board.
    pub fn new(mut link: Link, board: impl Send + 'static) -> Self {
        Self { kernel: Kernel::attach(&mut link), board: Box::new(board) }
    }
}

/// Error of a request to the debug kernel.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// An address is ROM, or has no memory.
    #[error("{0:04X}H is not writable")]
    NotWritable(u16),
    /// The line failed or the kernel does not reply.
    #[error("{0}")]
    Line(String),
}

impl From<LinkError> for KernelError {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Refused { error, .. } if error.code == ErrorCode::ReadBack => {
                Self::NotWritable(error.detail)
            }
            error => Self::Line(error.to_string()),
        }
    }
}

impl From<ResumeError> for KernelError {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::NoRam(address) => Self::NotWritable(address),
            ResumeError::Link(error) => error.into(),
        }
    }
}
