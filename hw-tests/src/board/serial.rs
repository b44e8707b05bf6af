//! A real board at a serial device.

use rcflash::port::Port;
use rcflash::transport::Transport;

use super::{Board, BoardError};

/// A board of which nothing is known but its line.
#[derive(Debug, Clone)]
pub struct SerialBoard {
    device: String,
    baud: u32,
}

impl SerialBoard {
    /// The board at this device, at `baud`. Nothing is opened yet.
    #[must_use]
    pub fn new(device: String, baud: u32) -> Self {
        Self { device, baud }
    }
}

impl Board for SerialBoard {
    fn name(&self) -> &str {
        &self.device
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(Port::open(&self.device, self.baud)?))
    }
}
