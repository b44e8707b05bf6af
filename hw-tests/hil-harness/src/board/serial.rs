//! A real board at a serial device.

use rcflash_rig::{Place, Rig};
use rcflash_transport::Transport;

use super::{Board, BoardError, Button};

/// A board of which nothing is known but its line.
#[derive(Debug, Clone)]
pub struct SerialBoard {
    rig: Rig,
    baud: u32,
}

impl SerialBoard {
    /// The board of this rig, at `baud` if the rig has no speed of its own. Nothing is opened yet.
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

    fn button(&self) -> Option<Button> {
        let place = self.rig.reset.place.clone().filter(Place::has_reset)?;
        // A driver that fails leaves the board as it is, which the next attempt finds out.
        Some(Box::new(move || drop(place.reset())))
    }
}
