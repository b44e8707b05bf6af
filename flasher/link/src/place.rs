//! Program counter of a board that does not answer any more.
//!
//! The interrupt service reports it when zeros come in a row, however stuck the program is
//! (`firmware/z80/place.asm`). It can't while interrupts are off or the processor has gone astray.

use std::time::Duration;

use firmware_wire::CALL;

use super::{Link, LinkError, MAX_FRAME};

/// The time that a board may take to report its place, 170,000 T-states at 2 MHz and more, and that
/// USB adapters may add.
const PATIENCE: Duration = Duration::from_millis(250);
/// The operation, for messages.
const ASKING: &str = "asking where the program is";

impl Link {
    /// Asks the board where its program counter is; `None` when it does not tell. What it says
    /// besides is kept for others.
    ///
    /// # Errors
    /// The line failed.
    pub fn locate(&mut self) -> Result<Option<u16>, LinkError> {
        // A board that takes nothing holds the host off; what was to be sent would only stand in
        // the way.
        let obeyed = self.transport.obey_rts(false).map_err(|error| line_error(self, error))?;
        let told = self.transport.discard_unsent().map_err(|error| line_error(self, error));
        let told = told.and_then(|()| self.call());
        self.transport.obey_rts(obeyed).map_err(|error| line_error(self, error))?;
        told
    }

    fn call(&mut self) -> Result<Option<u16>, LinkError> {
        self.place = None;
        let patience = PATIENCE * self.slowness + self.line_time(CALL.len() + MAX_FRAME);
        let deadline = self.now() + patience;
        self.transport.write(&CALL, deadline).map_err(|error| line_error(self, error))?;
        while self.place.is_none() {
            let left = deadline.saturating_duration_since(self.now());
            if left.is_zero() {
                break;
            }
            self.listen(left).map_err(|error| line_error(self, error))?;
        }
        Ok(self.place.take())
    }
}

fn line_error(link: &Link, source: std::io::Error) -> LinkError {
    link.line_error(ASKING, source)
}
