//! A linked program.

use super::checksum_writer::WrittenChecksum;
use super::lines::LineTable;
use super::placement::PlacedSection;
use super::symbols::SymbolTable;
use crate::image::Image;

/// A linked program: bytes at addresses, and symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The bytes of the program. Reserved space is not included.
    pub image: Image,
    /// Every symbol of every module, with its final value.
    pub symbols: SymbolTable,
    /// The sections, in ascending order of addresses.
    pub sections: Vec<PlacedSection>,
    /// The line table.
    pub lines: LineTable,
    /// The checksums in the image.
    pub checksums: Vec<WrittenChecksum>,
    /// The start address: the first one that a module defines by `.END`.
    pub entry: Option<u16>,
}

impl Program {
    /// Returns the value of a symbol: the exported one, or else the first local one.
    pub fn symbol(&self, name: &str) -> Option<u16> {
        self.symbols.value(name)
    }
}
