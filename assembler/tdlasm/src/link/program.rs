//! A linked program, and its map.

use std::fmt::Write;

use super::checksum::WrittenChecksum;
use super::layout::Checksum;
use super::lines::LineTable;
use super::placement::PlacedSection;
use super::symbols::{LinkedSymbol, SymbolTable};
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

    /// Returns the map: sections in ascending order of addresses with the gaps between them, then
    /// addresses in ascending order, then plain numbers by name.
    pub fn map(&self) -> String {
        let mut text = String::from("address      size  section        module\n");
        let mut end = None;
        for section in &self.sections {
            if let Some(gap) = gap(end, section) {
                let _ = writeln!(text, "             {gap:4X}H  (free)");
            }
            let last = u32::from(section.address) + section.size;
            let _ = writeln!(
                text,
                "{:04X}H-{:04X}H  {:4X}H  {:<13}  {}",
                section.address,
                last - 1,
                section.size,
                section.kind.tdl_name(),
                section.module
            );
            end = Some(last);
        }
        if let Some(entry) = self.entry {
            let _ = writeln!(text, "\nentry {entry:04X}H");
        }
        for sum in &self.checksums {
            let name = sum.rule.kind.name();
            let digits = sum.rule.kind.size() as usize * 2;
            let Checksum { from, to, at, .. } = sum.rule;
            let value = sum.value;
            let _ = writeln!(
                text,
                "\n{name} of {from:04X}H-{to:04X}H at {at:04X}H: {value:0digits$X}H"
            );
        }
        text.push_str("\nvalue  symbol  module\n");
        text.push_str(&self.symbol_lines());
        text
    }

    /// Returns the symbol file for emulators: `VALUE NAME` per line, addresses ascending.
    pub fn symbol_file(&self) -> String {
        let mut addresses: Vec<_> = self.symbols.iter().filter(|s| s.is_address).collect();
        addresses.sort_by(|a, b| (a.value, &a.name).cmp(&(b.value, &b.name)));
        addresses.iter().map(|symbol| format!("{:04X} {}\n", symbol.value, symbol.name)).collect()
    }

    fn symbol_lines(&self) -> String {
        let mut symbols: Vec<_> = self.symbols.iter().collect();
        symbols.sort_by(|a, b| {
            let key = |s: &LinkedSymbol| (!s.is_address, if s.is_address { s.value } else { 0 });
            (key(a), &a.name, &a.module).cmp(&(key(b), &b.name, &b.module))
        });
        let line = |symbol: &&LinkedSymbol| {
            let kind = if symbol.is_address { 'H' } else { '=' };
            let module = symbol.module.as_deref().unwrap_or("(layout)");
            format!("{:04X}{kind}  {:<6}  {module}\n", symbol.value, symbol.name)
        };
        symbols.iter().map(line).collect()
    }
}

/// Returns the number of free bytes before a section.
fn gap(end: Option<u32>, section: &PlacedSection) -> Option<u32> {
    u32::from(section.address).checked_sub(end?).filter(|gap| *gap > 0)
}
