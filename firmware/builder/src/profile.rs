//! Board profiles: clock, chips and memory map, from TOML files in `firmware/boards`.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Deserialize;

pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("rc2014-16c550", include_str!("../../boards/rc2014-16c550.toml")),
    ("rc2014-classic", include_str!("../../boards/rc2014-classic.toml")),
    ("rc2014-pro", include_str!("../../boards/rc2014-pro.toml")),
    ("rc2014-zed", include_str!("../../boards/rc2014-zed.toml")),
    ("sc114", include_str!("../../boards/sc114.toml")),
    ("sc126", include_str!("../../boards/sc126.toml")),
    ("sc130", include_str!("../../boards/sc130.toml")),
    ("sc131", include_str!("../../boards/sc131.toml")),
    ("sc140", include_str!("../../boards/sc140.toml")),
];

/// A board profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardProfile {
    /// The name on the command line.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The products that the profile describes.
    pub boards: Vec<BoardProduct>,
    /// Processor clock in Hz.
    pub clock_hz: u64,
    /// The serial chip.
    pub uart: Uart,
    /// The chip in the ROM socket.
    pub chip: RomChip,
    /// The page registers, on boards that have them.
    pub banks: Option<PageRegisters>,
    /// The addresses of ROM.
    pub rom: AddressRange,
    /// The addresses of RAM.
    pub ram: AddressRange,
    /// The layout of the boot monitor.
    pub monitor: LayoutRef,
    /// The layout of the application in RAM.
    pub application: LayoutRef,
    /// The layout of the application in flash, on boards that can write theirs.
    pub flash_application: Option<LayoutRef>,
}

/// A board product as sold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardProduct {
    /// The maker's product name.
    pub name: String,
    /// Where monitor and evaluator were tested.
    pub tried: Vec<TestedOn>,
}

/// A test platform for a board's firmware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TestedOn {
    /// The simulated board of this project.
    #[serde(rename = "simulation")]
    Simulation,
    /// MAME's emulation.
    #[serde(rename = "MAME")]
    Mame,
    /// The board itself.
    #[serde(rename = "hardware")]
    Hardware,
}

impl fmt::Display for TestedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simulation => "simulation",
            Self::Mame => "MAME",
            Self::Hardware => "hardware",
        })
    }
}

impl BoardProduct {
    /// Returns the test platforms as text.
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
    /// The type.
    pub kind: UartKind,
    /// Its clock in Hz.
    pub clock_hz: u64,
    /// Line speed, 8 data bits, no parity, 1 stop bit.
    pub baud: u32,
    /// Speeds that boards of this kind also run at, with another crystal or another ROM.
    pub other_bauds: Vec<u32>,
    /// Port of the control and status register; STAT0 of the ASCI, line status of a 16C550.
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
    /// Channel 0 of the ASCI on a Z180, which is the processor.
    Asci,
    /// 16C550, whose first register is the data register.
    #[serde(rename = "16c550")]
    Ns550,
}

impl fmt::Display for UartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acia => "68B50",
            Self::Sio => "SIO",
            Self::Asci => "Z180 ASCI",
            Self::Ns550 => "16C550",
        })
    }
}

/// The chip in the ROM socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RomChip {
    /// The type.
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
pub struct PageRegisters {
    /// The first register's port.
    pub port: u8,
    /// The number of the first page of RAM.
    pub ram_page: u8,
}

/// Addresses, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressRange {
    /// First address.
    pub start: u16,
    /// Last address.
    pub end: u16,
}

impl AddressRange {
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

/// A reference to a layout file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutRef {
    /// The layout file in `firmware/layouts`, without extension.
    pub layout: String,
}

/// Error returned by [`BoardProfile::named`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("unknown board '{0}'; known boards: {known}", known = BoardProfile::list())]
    Unknown(String),
    /// The file is invalid; the text has the location.
    #[error("board profile '{0}': {1}")]
    Syntax(String, String),
}

impl BoardProfile {
    /// Returns the names of all built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    fn list() -> String {
        Self::names().collect::<Vec<_>>().join(", ")
    }

    /// Returns a built-in profile.
    ///
    /// # Errors
    /// Returns [`ProfileError::Unknown`] with the known names.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let unknown = || ProfileError::Unknown(name.to_owned());
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name).ok_or_else(unknown)?;
        Self::parse(name, text)
    }

    /// Returns `true` if the processor is a Z180.
    #[must_use]
    pub fn is_z180(&self) -> bool {
        self.uart.kind == UartKind::Asci
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
    fn every_profile_parses_and_has_its_name() {
        for name in BoardProfile::names() {
            let profile = BoardProfile::named(name).expect("it ships");
            assert_eq!(profile.name, name);
            let divisor = match profile.uart.kind {
                UartKind::Acia | UartKind::Sio => 64,
                UartKind::Asci => 160,
                UartKind::Ns550 => 16,
            };
            let divided = profile.uart.clock_hz / divisor;
            assert_eq!(u64::from(profile.uart.baud), divided, "as the drivers divide");
        }
    }

    #[test]
    fn the_error_for_an_unknown_board_lists_the_known_ones() {
        let error = BoardProfile::named("spectrum").expect_err("not here").to_string();
        assert!(error.contains("spectrum") && error.contains("rc2014-classic"), "{error}");
    }
}
