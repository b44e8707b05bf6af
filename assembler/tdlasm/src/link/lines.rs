//! Line tables of linked programs.

use super::placement::Placement;
use crate::module::{LineRow, Module, Place};

/// The line table of a program, in ascending order of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineTable {
    modules: Vec<String>,
    lines: Vec<LinkedLine>,
}

/// Consecutive bytes of a program that one source line produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedLine {
    /// The address of the first byte.
    pub address: u16,
    /// The number of bytes, at least 1.
    pub size: u32,
    /// The index of the module.
    pub module: usize,
    /// The line. For code from a macro, the line of the outermost call.
    pub place: Place,
    /// `true` for instructions, `false` for data.
    pub is_code: bool,
}

impl LinkedLine {
    /// Returns the address after the last byte, at most 10000H.
    pub fn end(&self) -> u32 {
        u32::from(self.address) + self.size
    }
}

impl LineTable {
    /// Of bytes that were assembled twice the later line counts, as its bytes do.
    pub(super) fn new(modules: &[Module], placement: &Placement) -> Self {
        let rows: Vec<(usize, &LineRow)> = (modules.iter().enumerate())
            .flat_map(|(number, module)| module.lines.rows.iter().map(move |row| (number, row)))
            .collect();
        let mut owner: Vec<Option<usize>> = vec![None; if rows.is_empty() { 0 } else { 0x10000 }];
        for (at, (module, row)) in rows.iter().enumerate() {
            let base = placement.address(*module, row.section).unwrap_or(0);
            let start = usize::from(base) + usize::from(row.offset);
            let end = (start + row.size as usize).min(owner.len());
            owner[start.min(end)..end].fill(Some(at));
        }
        let mut lines: Vec<LinkedLine> = Vec::new();
        let mut next = 0;
        for bytes in owner.chunk_by(|a, b| a == b) {
            let start = next;
            next += bytes.len();
            let Some(owner) = bytes[0] else { continue };
            let (module, row) = &rows[owner];
            let line = LinkedLine {
                address: start as u16,
                size: bytes.len() as u32,
                module: *module,
                place: modules[*module].lines.place(row),
                is_code: row.is_code,
            };
            match lines.last_mut() {
                Some(last) if continues(last, &line) => last.size += line.size,
                _ => lines.push(line),
            }
        }
        Self { modules: modules.iter().map(|module| module.name.clone()).collect(), lines }
    }

    /// Returns the line that produced the byte at an address.
    pub fn at(&self, address: u16) -> Option<&LinkedLine> {
        let after = self.lines.partition_point(|line| line.address <= address);
        let line = self.lines.get(after.checked_sub(1)?)?;
        (u32::from(address) < line.end()).then_some(line)
    }

    /// Returns all lines, in ascending order of addresses.
    pub fn iter(&self) -> impl Iterator<Item = &LinkedLine> {
        self.lines.iter()
    }

    /// Returns `true` if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the names of the modules, by index.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }
}

/// Returns `true` for several statements of one line, or of one macro call.
fn continues(last: &LinkedLine, next: &LinkedLine) -> bool {
    last.end() == u32::from(next.address)
        && (last.module, &last.place, last.is_code) == (next.module, &next.place, next.is_code)
}
