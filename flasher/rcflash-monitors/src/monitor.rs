//! The interface of a monitor that accepts programs.

use std::ops::RangeInclusive;

use tdlasm::image::Image;

use crate::dump;
use crate::error::{LoaderError, Result};
use crate::event::LoadObserver;
use crate::pace::Pace;
use crate::processor::BoardProcessor;
use crate::records::HexRecord;
use crate::session::MonitorSession;

/// Returns an error if the image lies outside `free`. `reason` formats that range for the message.
pub(crate) fn check_in_free_memory(
    image: &Image,
    free: RangeInclusive<u16>,
    reason: impl FnOnce(&str) -> String,
) -> Result<()> {
    match image.bounds() {
        Some(needs) if !free.contains(&needs.0) || !free.contains(&needs.1) => {
            let reason = reason(&format!("{:04X}h-{:04X}h", free.start(), free.end()));
            Err(LoaderError::DoesNotFit { needs, reason })
        }
        _ => Ok(()),
    }
}

/// The monitor's report at the end of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadReport {
    /// The report of success and nothing else.
    Success,
    /// Any other report, or none; the monitor is back at its prompt.
    Failure(String),
}

/// A monitor that accepts programs. Every method leaves it at its prompt or fails.
pub(crate) trait HexMonitor {
    fn name(&self) -> &'static str;

    /// Brings the monitor to its prompt and returns its name and version.
    fn reach(
        &mut self,
        session: &mut MonitorSession,
        observer: &mut dyn LoadObserver,
    ) -> Result<String>;

    /// Returns the processor of the board; called after `reach`.
    fn processor(&mut self, _session: &mut MonitorSession) -> Result<BoardProcessor> {
        Ok(BoardProcessor::Z80)
    }

    /// Returns an error if the image overlaps memory of the monitor.
    fn check(&self, image: &Image) -> Result<()>;

    /// Sends lines and the end record. `on_sent` is called with the number of bytes of each line.
    fn load(
        &mut self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport>;

    /// Returns `true` if memory can be read back.
    fn can_read(&self) -> bool {
        true
    }

    /// Reads back `first` to `last`: `first` is a multiple of 16, `last` the end of such a row.
    fn read(&mut self, session: &mut MonitorSession, first: u16, last: u16)
    -> Result<dump::Memory>;

    /// Returns `true` if the board confirms by a routine beside the image that it has that in memory.
    fn confirms(&mut self, _: &mut MonitorSession, _: &Image, _: Pace) -> Result<bool> {
        Ok(false)
    }

    fn start(&mut self, session: &mut MonitorSession, entry: u16) -> Result<()>;

    /// Tries to return to the prompt after an interruption, and describes the state of the board.
    fn abandon(&mut self, session: &mut MonitorSession) -> &'static str;

    /// Returns the lines to send, for loading by hand.
    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String>;

    /// Returns the pace of the first lines; called after `reach`.
    fn first_pace(
        &mut self,
        _session: &mut MonitorSession,
        _observer: &mut dyn LoadObserver,
    ) -> Result<Pace> {
        Ok(Pace::FULL)
    }

    /// Prepares for an image; called after `reach`.
    fn prepare(
        &mut self,
        _session: &mut MonitorSession,
        _image: &Image,
        _observer: &mut dyn LoadObserver,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns to the state before `prepare`; called if no program is started.
    fn leave(&mut self, _session: &mut MonitorSession) -> Result<()> {
        Ok(())
    }
}
