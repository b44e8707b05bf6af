//! The layout file, in TOML: memory regions, and rules for placing sections in them.
//!
//! ```toml
//! [[region]]
//! name = "ram"
//! start = 0x8000
//! size = 0x7000
//! fill = 0xFF            # what a gap holds in a flat binary; FFh if not given
//!
//! [[place]]              # in order; an earlier rule takes a section before a later one
//! section = ".PROG."     # .PROG. .DATA. .BLNK., or .text .data .bss
//! region = "ram"
//! module = "TABLES"      # optional: only the module of this name
//! align = 256            # optional: of each section that the rule places; a power of two
//!
//! [[checksum]]           # computed after everything else
//! kind = "crc-32"        # sum8, sum16, crc16-ibm3740 or crc-32
//! from = 0x8000
//! to = 0xEFFB            # the last byte that counts; gaps count as in a flat binary
//! at = 0xEFFC            # low byte first; inside a region, where the program has no bytes
//!
//! [symbols]              # absolute symbols that the linker defines
//! STACK = 0xF000
//! ```

use std::collections::BTreeMap;

use crc::{CRC_16_IBM_3740, CRC_32_ISO_HDLC, Crc};
use serde::Deserialize;

use crate::module::SectionKind;

/// The memory layout of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The regions of memory.
    #[serde(default, rename = "region")]
    pub regions: Vec<Region>,
    /// The placement rules, in order.
    #[serde(default, rename = "place")]
    pub rules: Vec<Rule>,
    /// The checksums to compute and store, in order.
    #[serde(default, rename = "checksum")]
    pub checksums: Vec<Checksum>,
    /// Absolute symbols that the linker defines.
    #[serde(default)]
    pub symbols: BTreeMap<String, u16>,
}

/// A range of memory that is filled from its start.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The name by which rules refer to it.
    pub name: String,
    /// First address.
    pub start: u16,
    /// The size in bytes, 1 to 65536. The end is at most FFFFh.
    pub size: u32,
    /// The value of unused bytes in a flat binary.
    #[serde(default = "erased")]
    pub fill: u8,
}

/// Places sections in a region, in link order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The section to place.
    #[serde(deserialize_with = "section_name")]
    pub section: SectionKind,
    /// Apply only to the module of this name.
    pub module: Option<String>,
    /// The region to place it in.
    pub region: String,
    /// The alignment of each section.
    #[serde(default = "bytewise")]
    pub align: u16,
}

/// A checksum over a range of addresses, and where it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checksum {
    /// The algorithm.
    pub kind: ChecksumKind,
    /// The first address of the range.
    pub from: u16,
    /// The last address of the range.
    pub to: u16,
    /// The address of the checksum's low byte.
    pub at: u16,
}

/// The checksum algorithms, named as in Greg Cook's "Catalogue of parametrised CRC algorithms".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ChecksumKind {
    /// The sum of all bytes modulo 256; one byte.
    #[serde(rename = "sum8")]
    Sum8,
    /// The sum of all bytes modulo 65536; two bytes.
    #[serde(rename = "sum16")]
    Sum16,
    /// CRC-16/IBM-3740; two bytes.
    #[serde(rename = "crc16-ibm3740")]
    Crc16Ibm3740,
    /// CRC-32/ISO-HDLC; four bytes.
    #[serde(rename = "crc-32")]
    Crc32,
}

impl Checksum {
    /// Returns the addresses of the checksum itself. The end may be past FFFFH.
    pub(super) fn place(&self) -> std::ops::Range<u32> {
        let at = u32::from(self.at);
        at..at + self.kind.size()
    }
}

impl ChecksumKind {
    /// Returns the name used in layouts and maps.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum8 => "sum8",
            Self::Sum16 => "sum16",
            Self::Crc16Ibm3740 => "crc16-ibm3740",
            Self::Crc32 => "crc-32",
        }
    }

    /// Returns the size of the checksum in bytes: 1, 2 or 4.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::Sum8 => 1,
            Self::Sum16 | Self::Crc16Ibm3740 => 2,
            Self::Crc32 => 4,
        }
    }

    /// The checksum of some bytes.
    ///
    /// ```
    /// use tdlasm::link::ChecksumKind;
    ///
    /// assert_eq!(ChecksumKind::Crc32.of(b"123456789"), 0xCBF4_3926);
    /// ```
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> u32 {
        let sum = || bytes.iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
        match self {
            Self::Sum8 => sum() & 0xFF,
            Self::Sum16 => sum() & 0xFFFF,
            Self::Crc16Ibm3740 => Crc::<u16>::new(&CRC_16_IBM_3740).checksum(bytes).into(),
            Self::Crc32 => Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(bytes),
        }
    }
}

/// Error returned by [`Layout::parse`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Not valid TOML, or not a layout.
    #[error("invalid layout file: {0}")]
    Syntax(String),
    /// A region is empty or ends past FFFFh.
    #[error("region '{0}' must have 1 byte at least and end at FFFFh at most")]
    RegionSize(String),
    /// Two regions overlap or have the same name.
    #[error("regions '{0}' and '{1}' share addresses or a name")]
    RegionsOverlap(String, String),
    /// A rule names an unknown region.
    #[error("a rule places {0} into region '{1}', which the layout does not have")]
    UnknownRegion(&'static str, String),
    /// An alignment is not a power of two.
    #[error("the alignment {0} is not a power of two")]
    Alignment(u16),
    /// A checksum is invalid; its address, and the reason.
    #[error("the checksum at {0:04X}H {1}")]
    Checksum(u16, &'static str),
}

impl Layout {
    /// Creates a layout that places all sections consecutively from `origin`: `.PROG.` first, then
    /// `.DATA.` and `.BLNK.`, each in link order.
    ///
    /// ```
    /// use tdlasm::link::{Layout, link};
    ///
    /// let assembly = tdlasm::assemble_text(" .WORD .\n .END\n")?;
    /// let program = link(&assembly.modules, &Layout::flat(0x4000))?;
    /// assert_eq!(program.image.flat(0), [0x00, 0x40]);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn flat(origin: u16) -> Self {
        let name = "memory";
        let size = 0x1_0000 - u32::from(origin);
        let sections = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
        let rule = |section| Rule { section, module: None, region: name.into(), align: bytewise() };
        Self {
            regions: vec![Region { name: name.into(), start: origin, size, fill: erased() }],
            rules: sections.map(rule).into(),
            ..Self::default()
        }
    }

    /// Parses and checks a layout file.
    ///
    /// # Errors
    ///
    /// Returns [`LayoutError`] for the first error found.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        let layout: Self =
            toml::from_str(text).map_err(|error| LayoutError::Syntax(error.to_string()))?;
        layout.check()?;
        Ok(layout)
    }

    /// Returns the value of unused bytes in a flat binary: the fill byte of the first region.
    pub fn fill(&self) -> u8 {
        self.regions.first().map_or_else(erased, |region| region.fill)
    }

    fn check(&self) -> Result<(), LayoutError> {
        for (index, region) in self.regions.iter().enumerate() {
            if region.size == 0 || region.end() > 0x1_0000 {
                return Err(LayoutError::RegionSize(region.name.clone()));
            }
            if let Some(other) = self.regions[..index].iter().find(|other| other.clashes(region)) {
                return Err(LayoutError::RegionsOverlap(other.name.clone(), region.name.clone()));
            }
        }
        for rule in &self.rules {
            if !rule.align.is_power_of_two() {
                return Err(LayoutError::Alignment(rule.align));
            }
            if !self.regions.iter().any(|region| region.name == rule.region) {
                let section = rule.section.tdl_name();
                return Err(LayoutError::UnknownRegion(section, rule.region.clone()));
            }
        }
        for (index, checksum) in self.checksums.iter().enumerate() {
            if let Some(fault) = self.checksum_fault(index, checksum) {
                return Err(LayoutError::Checksum(checksum.at, fault));
            }
        }
        Ok(())
    }

    fn checksum_fault(&self, index: usize, checksum: &Checksum) -> Option<&'static str> {
        let place = checksum.place();
        let shares = |start: u32, end: u32| start < place.end && place.start < end;
        let within =
            |region: &Region| u32::from(region.start) <= place.start && place.end <= region.end();
        let earlier = self.checksums[..index].iter().map(Checksum::place);
        if checksum.to < checksum.from {
            Some("counts nothing: `to` is below `from`")
        } else if shares(checksum.from.into(), u32::from(checksum.to) + 1) {
            Some("counts its own bytes: move it, or let `to` end before it")
        } else if !self.regions.iter().any(within) {
            Some("is not within a region")
        } else if earlier.into_iter().any(|other| shares(other.start, other.end)) {
            Some("shares its place with another")
        } else {
            None
        }
    }
}

impl Region {
    /// Returns the address after the last one; an invalid size ends beyond every address.
    pub(super) fn end(&self) -> u32 {
        u32::from(self.start).saturating_add(self.size)
    }

    fn clashes(&self, other: &Self) -> bool {
        let shares = u32::from(self.start) < other.end() && u32::from(other.start) < self.end();
        shares || self.name == other.name
    }
}

fn erased() -> u8 {
    0xFF
}

fn bytewise() -> u16 {
    1
}

fn section_name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<SectionKind, D::Error> {
    let name = String::deserialize(from)?;
    SectionKind::from_name(&name).ok_or_else(|| {
        serde::de::Error::custom(format!("no section '{name}': use .PROG., .DATA. or .BLNK."))
    })
}
