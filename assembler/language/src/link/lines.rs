//! Which line of which file made which byte of a program.

use crate::module::{LineRow, Module, Place};

use super::place::Placement;

/// The lines of a program, in ascending order of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineTable {
    modules: Vec<String>,
    lines: Vec<LinkedLine>,
}

/// Consecutive bytes of a program that one line made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedLine {
    /// The first byte.
    pub address: u16,
    /// The number of bytes, at least 1.
    pub size: u32,
    /// The module, by its number.
    pub module: usize,
    /// The line; for what a macro made, that of the outermost call.
    pub place: Place,
    /// Whether they are instructions, not data.
    pub is_code: bool,
}

impl LinkedLine {
    /// Just past the last byte, at most 10000H.
    #[must_use]
    pub fn end(&self) -> u32 {
        u32::from(self.address) + self.size
    }
}

impl LineTable {
    /// Of bytes that were assembled twice the later line counts, as its bytes do.
    pub(super) fn new(modules: &[Module], placement: &Placement) -> Self {
        let rows: Vec<(usize, LineRow)> = (modules.iter().enumerate())
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
        for stretch in owner_stretches(&owner) {
            let (module, row) = &rows[stretch.owner];
            let line = LinkedLine {
                address: stretch.start as u16,
                size: (stretch.end - stretch.start) as u32,
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

    /// The line that made the byte at an address.
    #[must_use]
    pub fn at(&self, address: u16) -> Option<&LinkedLine> {
        let after = self.lines.partition_point(|line| line.address <= address);
        let line = self.lines.get(after.checked_sub(1)?)?;
        (u32::from(address) < line.end()).then_some(line)
    }

    /// All lines, in ascending order of addresses.
    pub fn iter(&self) -> impl Iterator<Item = &LinkedLine> {
        self.lines.iter()
    }

    /// Whether nothing is known of lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The names of the modules, by their numbers.
    #[must_use]
    pub fn modules(&self) -> &[String] {
        &self.modules
    }
}

/// Whether a line goes on where the last one ends: several statements of one line, or of one macro
/// call.
fn continues(last: &LinkedLine, next: &LinkedLine) -> bool {
    last.end() == u32::from(next.address)
        && (last.module, &last.place, last.is_code) == (next.module, &next.place, next.is_code)
}

struct Stretch {
    start: usize,
    end: usize,
    owner: usize,
}

/// The stretches of addresses that have one owner.
fn owner_stretches(owner: &[Option<usize>]) -> impl Iterator<Item = Stretch> {
    let mut start = 0;
    owner.chunk_by(|a, b| a == b).filter_map(move |chunk| {
        let from = start;
        start += chunk.len();
        chunk[0].map(|owner| Stretch { start: from, end: start, owner })
    })
}
