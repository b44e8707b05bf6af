//! The monitors that accept a program as text or in blocks.

use std::sync::Arc;

use tdlasm::image::Image;

use crate::described::Described;
use crate::description::MonitorDescription;
use crate::error::LoaderError;
use crate::monitor::HexMonitor;
use crate::pace::Pace;
use crate::{basic, romwbw, scm};

/// A monitor that accepts Intel HEX, or what a description names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StockMonitor {
    /// The Small Computer Monitor.
    Scm,
    /// RomWBW's debug monitor.
    Romwbw,
    /// A ROM BASIC.
    Basic,
    /// Another monitor.
    Described(Arc<MonitorDescription>),
}

impl StockMonitor {
    pub(crate) fn monitor(&self) -> Box<dyn HexMonitor> {
        match self {
            Self::Scm => Box::<scm::Scm>::default(),
            Self::Romwbw => Box::<romwbw::Romwbw>::default(),
            Self::Basic => Box::<basic::Basic>::default(),
            Self::Described(monitor) => Box::new(Described::new(monitor)),
        }
    }

    /// Checks that an image does not overlap memory of the monitor.
    ///
    /// # Errors
    /// Returns [`LoaderError::DoesNotFit`] or [`LoaderError::Empty`].
    pub fn check(&self, image: &Image) -> std::result::Result<(), LoaderError> {
        if image.bounds().is_none() {
            return Err(LoaderError::Empty);
        }
        self.monitor().check(image)
    }

    /// Returns the commands and lines that load and start an image by hand, in order.
    #[must_use]
    pub fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        self.monitor().script(image, entry, pace)
    }
}
