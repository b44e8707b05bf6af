//! Reads the program counter of a board that does not reply any more.
//!
//! The interrupt service reports it when zeros arrive in a row, however stuck the program is
//! (`firmware/z80/place.asm`). It can't while interrupts are disabled, or if the program has
//! overwritten the service.

use std::time::Duration;

use firmware_wire::LOCATE_SEQUENCE;

use super::{Link, MAX_FRAME};
use crate::LinkError;

/// The timeout of a PC report: at least 170,000 T-states at 2 MHz, and a USB adapter.
const PC_REPORT_TIMEOUT: Duration = Duration::from_millis(250);
const OPERATION: &str = "locating the program";

impl Link {
    /// Returns the board's program counter, or `None` if the board does not report it. Other
    /// frames that arrive meanwhile remain queued.
    ///
    /// # Errors
    /// Returns [`LinkError::Io`] if the port fails, or [`LinkError::Interrupted`].
    pub fn locate(&mut self) -> Result<Option<u16>, LinkError> {
        // A stuck board keeps its RTS inactive, so the sequence is sent regardless of it. Unsent
        // bytes of earlier requests would only delay it.
        let flow_control =
            self.transport.set_flow_control(false).map_err(|error| io_error(self, error))?;
        let report = self.transport.discard_unsent().map_err(|error| io_error(self, error));
        let report = report.and_then(|()| self.request_pc_report());
        self.transport.set_flow_control(flow_control).map_err(|error| io_error(self, error))?;
        report
    }

    fn request_pc_report(&mut self) -> Result<Option<u16>, LinkError> {
        self.located_pc = None;
        let timeout = PC_REPORT_TIMEOUT * self.timeout_scale
            + self.line_time(LOCATE_SEQUENCE.len() + MAX_FRAME);
        let deadline = self.now() + timeout;
        self.transport.write(&LOCATE_SEQUENCE, deadline).map_err(|error| io_error(self, error))?;
        while self.located_pc.is_none() {
            let left = deadline.saturating_duration_since(self.now());
            if left.is_zero() {
                break;
            }
            self.receive(left).map_err(|error| io_error(self, error))?;
        }
        Ok(self.located_pc.take())
    }
}

fn io_error(link: &Link, source: std::io::Error) -> LinkError {
    link.io_error(OPERATION, source)
}
