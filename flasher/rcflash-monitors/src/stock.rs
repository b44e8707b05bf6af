//! The stock monitors that accept Intel HEX.

use tdlasm::image::Image;

use crate::error::LoaderError;
use crate::monitor::HexMonitor;
use crate::pace::Pace;
use crate::{basic, romwbw, scm};

/// A stock monitor that accepts Intel HEX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockMonitor {
    /// The Small Computer Monitor.
    Scm,
    /// RomWBW's debug monitor.
    Romwbw,
    /// A ROM BASIC.
    Basic,
}

impl StockMonitor {
    pub(crate) fn monitor(self) -> Box<dyn HexMonitor> {
        match self {
            Self::Scm => Box::<scm::Scm>::default(),
            Self::Romwbw => Box::<romwbw::Romwbw>::default(),
            Self::Basic => Box::<basic::Basic>::default(),
        }
    }

    /// Checks that an image does not overlap memory of the monitor.
    ///
    /// # Errors
    /// Returns [`LoaderError::DoesNotFit`] or [`LoaderError::Empty`].
    pub fn check(self, image: &Image) -> std::result::Result<(), LoaderError> {
        if image.bounds().is_none() {
            return Err(LoaderError::Empty);
        }
        self.monitor().check(image)
    }

    /// Returns the commands and lines that load and start an image by hand, in order.
    #[must_use]
    pub fn script(self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        self.monitor().script(image, entry, pace)
    }
}
