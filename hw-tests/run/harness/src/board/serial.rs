//! A real board at a serial device.

use rcflash_link::rig::Rig;
use rcflash_link::rig::reset::{self, ResetError, ResetOutcome};
use rcflash_transport::Transport;

use super::{Board, BoardError};

/// A board reached through a serial device.
#[derive(Debug, Clone)]
pub(crate) struct SerialBoard {
    rig: Rig,
    baud: u32,
}

impl SerialBoard {
    /// Creates the board of a rig, at `baud` unless the rig names a speed. Opens nothing.
    pub(crate) fn new(rig: Rig, baud: u32) -> Self {
        Self { rig, baud }
    }
}

impl Board for SerialBoard {
    fn name(&self) -> &str {
        self.rig.name.as_deref().unwrap_or(&self.rig.port)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(self.rig.open(self.baud)?)
    }

    fn reset(&mut self, line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        match reset::trigger(&self.rig.reset, line) {
            Err(ResetError::NotConfigured) => Ok(ResetOutcome::ManualResetNeeded),
            other => other,
        }
    }
}
