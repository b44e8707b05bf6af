//! Board profiles: what a board is made of, as TOML files in `firmware/boards`.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Deserialize;

/// The profiles that ship, by name.
pub(crate) const SHIPPED: &[(&str, &str)] = &[
    ("rc2014-classic", include_str!("../../boards/rc2014-classic.toml")),
    ("rc2014-pro", include_str!("../../boards/rc2014-pro.toml")),
    ("rc2014-zed", include_str!("../../boards/rc2014-zed.toml")),
    ("sc114", include_str!("../../boards/sc114.toml")),
];

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name on the command line.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The boards that it describes.
    pub boards: Vec<Kit>,
    /// Processor clock in Hz.
    pub clock_hz: u64,
    /// The serial chip.
    pub uart: Uart,
    /// The chip in the ROM socket.
    pub chip: Chip,
    /// The page registers, on boards that have them.
    pub banks: Option<Banks>,
    /// The ROM as programs see it.
    pub rom: Range,
    /// The RAM as programs see it.
    pub ram: Range,
    /// The boot monitor's image.
    pub monitor: Program,
    /// The application's image for RAM.
    pub application: Program,
    /// Its image for flash, on boards that can write theirs.
    pub flash_application: Option<Program>,
}

/// A board as its maker sells it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kit {
    /// The maker's name for it.
    pub name: String,
    /// The stand-ins on which monitor and evaluator ran; no emulation is the board itself.
    pub tried: Vec<Tried>,
}

/// A stand-in for a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Tried {
    /// The simulated board.
    #[serde(rename = "simulation")]
    Simulation,
    /// MAME's machine.
    #[serde(rename = "MAME")]
    Mame,
    /// The board itself.
    #[serde(rename = "hardware")]
    Hardware,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simulation => "simulation",
            Self::Mame => "MAME",
            Self::Hardware => "hardware",
        })
    }
}

impl Kit {
    /// Returns the stand-ins in words.
    #[must_use]
    pub fn tried(&self) -> String {
        match self.tried.as_slice() {
            [] => "untried".to_owned(),
            tried => tried.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A serial chip.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uart {
    /// Which one.
    pub kind: UartKind,
    /// Its clock in Hz.
    pub clock_hz: u64,
    /// Line speed, 8 data bits, no parity, 1 stop bit.
    pub baud: u32,
    /// Speeds that boards of this kind also run at, with another crystal or another ROM.
    pub other_bauds: Vec<u32>,
    /// Port of the control and status register.
    pub control_port: u8,
    /// Port of the data register.
    pub data_port: u8,
}

/// Serial chips that have a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UartKind {
    /// Motorola 68B50.
    Acia,
    /// Zilog SIO, channel A.
    Sio,
}

impl fmt::Display for UartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acia => "68B50",
            Self::Sio => "SIO",
        })
    }
}

/// The chip in the ROM socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// Which one.
    pub kind: ChipKind,
    /// Whether the board can write it.
    pub writable: bool,
}

/// Chips for ROM sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ChipKind {
    /// An EPROM of 64 KiB.
    #[serde(rename = "27c512")]
    Eprom27c512,
    /// A flash chip of 512 KiB in sectors of 4 KiB.
    #[serde(rename = "sst39sf040")]
    Sst39sf040,
}

impl ChipKind {
    /// Returns the size in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Eprom27c512 => 0x1_0000,
            Self::Sst39sf040 => 0x8_0000,
        }
    }
}

/// Four page registers for windows of 16 KiB, and their enable bit at the port behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banks {
    /// The first register's port.
    pub port: u8,
    /// The number of the first page of RAM.
    pub ram_page: u8,
}

/// Addresses, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First address.
    pub start: u16,
    /// Last address.
    pub end: u16,
}

impl Range {
    /// Returns the addresses as a range.
    #[must_use]
    pub fn addresses(self) -> RangeInclusive<u16> {
        self.start..=self.end
    }

    /// Returns the number of addresses.
    #[must_use]
    pub fn size(self) -> usize {
        self.addresses().len()
    }
}

/// The layout by which a program is linked for a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The layout file in `firmware/layouts`, without its ending.
    pub layout: String,
}

/// Error returned by [`Profile::named`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// None has this name.
    #[error("there is no board '{0}'; the boards are: {known}", known = Profile::list())]
    Unknown(String),
    /// The file is not understood; the text says where.
    #[error("board profile '{0}': {1}")]
    Syntax(String, String),
}

impl Profile {
    /// The names of all profiles that ship.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    fn list() -> String {
        Self::names().collect::<Vec<_>>().join(", ")
    }

    /// A profile that ships.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`], with the names there are.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let unknown = || ProfileError::Unknown(name.to_owned());
        let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name).ok_or_else(unknown)?;
        Self::parse(name, text)
    }

    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        toml::from_str(text)
            .map_err(|error| ProfileError::Syntax(name.to_owned(), error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_understood_and_goes_by_its_name() {
        for name in Profile::names() {
            let profile = Profile::named(name).expect("it ships");
            assert_eq!(profile.name, name);
            let divided = profile.uart.clock_hz / 64;
            assert_eq!(u64::from(profile.uart.baud), divided, "the drivers divide by 64");
        }
    }

    #[test]
    fn an_unknown_board_is_answered_with_those_there_are() {
        let error = Profile::named("spectrum").expect_err("not here").to_string();
        assert!(error.contains("spectrum") && error.contains("rc2014-classic"), "{error}");
    }
}
