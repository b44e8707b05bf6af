//! A real board at a serial device.

use rcflash_link::rig::{LabgridPlace, Rig};
use rcflash_transport::Transport;

use super::{Board, BoardError, ResetFn};

/// A board reached through a serial device.
#[derive(Debug, Clone)]
pub struct SerialBoard {
    rig: Rig,
    baud: u32,
}

impl SerialBoard {
    /// Creates the board of a rig, at `baud` unless the rig names a speed. Opens nothing.
    #[must_use]
    pub fn new(rig: Rig, baud: u32) -> Self {
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

    fn reset_fn(&self) -> Option<ResetFn> {
        let place = self.rig.reset.labgrid.clone().filter(LabgridPlace::has_reset)?;
        // If the driver fails, the board is not reset, and the next attempt to reach it fails.
        Some(Box::new(move || drop(place.reset())))
    }
}
