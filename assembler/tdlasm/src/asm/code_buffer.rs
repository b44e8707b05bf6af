//! The bytes of a module's sections.

use super::value::{BaseId, Value};
use crate::listing::ListedReloc;
use crate::module::{FIRST_EXTERNAL, SectionKind};

/// ZASM writes this many zeros for an unknown operator, to leave room for a patch.
pub(crate) const UNKNOWN_OPERATOR: [u8; 4] = [0; 4];

/// How a value is encoded in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Byte,
    /// The displacement of an index register.
    Displacement,
    Word,
    /// A signed byte relative to the following byte. Contains the address of the statement.
    Relative(Value),
    /// Bits 3 to 5 of an opcode that has been written.
    Bits,
}

impl Field {
    pub(crate) fn size(self) -> usize {
        if self == Self::Word { 2 } else { 1 }
    }
}

/// The position of a field: the index of a run and an offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodePos {
    pub(crate) run: u32,
    pub(crate) at: u32,
}

/// A word that is relative to a section or an external, or in PASM a byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeReloc {
    pub(crate) pos: CodePos,
    pub(crate) value: Value,
    pub(crate) is_byte: bool,
}

#[derive(Debug)]
pub(crate) struct CodeRun {
    pub(crate) base: BaseId,
    pub(crate) start: u16,
    pub(crate) bytes: Vec<u8>,
}

/// The state to restore when a statement is read again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodeCheckpoint {
    runs: usize,
    bytes: usize,
    relocs: usize,
    here: u32,
}

/// The code of a module, at the location counter of each section.
#[derive(Debug, Default)]
pub(crate) struct CodeBuffer {
    pub(crate) runs: Vec<CodeRun>,
    pub(crate) relocs: Vec<CodeReloc>,
    /// The sizes of the sections and external areas by base, without what was written since the
    /// location counter was last set.
    sizes: Vec<u32>,
    /// Sizes as ZASM computes them: it updates a high-water mark only when the section is left.
    pub(crate) high_water: Vec<u32>,
    base: BaseId,
    /// Whether `.PROG.` is absolute code from 0.
    pub(crate) absolute_prog: bool,
    /// The location counter, 0..=65536.
    here: u32,
    /// Whether the last run ends at the location counter.
    open: bool,
    /// The location counter before the latest `.LOC`.
    saved: Option<Value>,
    /// Whether the location counter passed FFFFH.
    pub(crate) wrapped: bool,
}

impl CodeBuffer {
    /// Creates a buffer whose location counter is at 0 in `.PROG.`.
    pub(crate) fn new(absolute_prog: bool) -> Self {
        let base = BaseId::PROG;
        let sizes = vec![0; FIRST_EXTERNAL.into()];
        Self { base, absolute_prog, high_water: sizes.clone(), sizes, ..Self::default() }
    }

    /// Returns the location counter without its base.
    pub(crate) fn counter(&self) -> u16 {
        self.here as u16
    }

    pub(crate) fn location(&self) -> Value {
        self.address_in(self.base, self.here as u16)
    }

    /// Returns an address in a section: a plain number if the section is absolute.
    pub(crate) fn address_in(&self, base: BaseId, number: u16) -> Value {
        match self.absolute_prog && base == BaseId::PROG {
            true => Value::fixed_address(base, number),
            false => Value::in_base(base, number),
        }
    }

    pub(crate) fn full_size(&self, base: BaseId) -> u32 {
        let size = self.sizes.get(base.0 as usize).copied().unwrap_or(0);
        let is_current = self.open && base == self.base;
        if is_current { size.max(self.here.min(0x10000)) } else { size }
    }

    /// Returns the current size of a section, modulo 65536.
    pub(crate) fn size(&self, base: BaseId) -> u16 {
        self.full_size(base) as u16
    }

    pub(crate) fn bases(&self) -> impl Iterator<Item = BaseId> {
        (0..self.sizes.len().max(self.base.0 as usize + 1) as u32).map(BaseId)
    }

    /// Returns the value of a section's or external's name: its high-water mark.
    pub(crate) fn area_end(&self, base: BaseId) -> Value {
        self.address_in(base, self.high_water_mark(base))
    }

    /// Returns the size that a section had when it was last left, modulo 65536.
    pub(crate) fn high_water_mark(&self, base: BaseId) -> u16 {
        self.high_water.get(base.0 as usize).copied().unwrap_or(0) as u16
    }

    /// Updates the high-water mark of the current section; `.LOC` does so before its operand.
    pub(crate) fn record_high_water(&mut self) {
        raise(&mut self.high_water, self.base, self.here);
    }

    pub(crate) fn set_location(&mut self, value: Value) {
        self.saved = Some(self.location());
        self.move_to(value);
    }

    /// Returns to the location counter before the latest `.LOC`, or to absolute 0. For `.RELOC`.
    pub(crate) fn restore_location(&mut self) {
        self.move_to(self.saved.unwrap_or(Value::absolute(0)));
    }

    fn move_to(&mut self, value: Value) {
        self.record_high_water();
        self.close_run();
        self.here = u32::from(value.number);
        let absolute_prog = self.absolute_prog && value.base == BaseId::PROG;
        self.base =
            if value.is_absolute() && !absolute_prog { BaseId::ABSOLUTE } else { value.base };
    }

    /// Advances the location counter without writing. Returns `true` if it passed FFFFH.
    pub(crate) fn reserve(&mut self, distance: u16, unit: u8) -> bool {
        self.close_run();
        let moved = self.here + u32::from(distance);
        // A size in bytes may reach the very end of memory, but a negative size that ends at 0 has
        // wrapped, and so have words.
        let backwards = distance >= 0x8000 || unit > 1;
        let wraps = moved > 0x10000 || (moved == 0x10000 && backwards);
        self.here = if wraps { moved & 0xFFFF } else { moved };
        self.update_size();
        wraps
    }

    pub(crate) fn pop_byte(&mut self) {
        let Some(run) = self.runs.last_mut().filter(|_| self.open) else { return };
        if run.bytes.pop().is_some() {
            self.update_size();
            self.here -= 1;
        }
    }

    fn close_run(&mut self) {
        if self.open {
            self.update_size();
        }
        self.open = false;
    }

    fn update_size(&mut self) {
        raise(&mut self.sizes, self.base, self.here.min(0x10000));
    }

    /// Writes bytes at the location counter, and returns the position of the first. A run that
    /// passes FFFFH wraps around to 0.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> CodePos {
        if !self.open {
            let run = CodeRun { base: self.base, start: self.here as u16, bytes: Vec::new() };
            self.runs.push(run);
            self.open = true;
        }
        let index = self.runs.len() - 1;
        let run = &mut self.runs[index].bytes;
        let at = run.len() as u32;
        match bytes {
            // The most frequent case, which needs no copy of any length.
            [byte] => run.push(*byte),
            _ => run.extend_from_slice(bytes),
        }
        self.here += bytes.len() as u32;
        if self.here > 0x10000 {
            self.update_size();
            self.wrapped = true;
            self.here &= 0xFFFF;
        }
        CodePos { run: index as u32, at }
    }

    /// Relocates a field, which will be written `at` bytes behind the location counter.
    pub(crate) fn relocate(&mut self, at: usize, value: Value, is_byte: bool) {
        let (run, start) = match self.runs.last().filter(|_| self.open) {
            Some(run) => (self.runs.len() - 1, run.bytes.len()),
            None => (self.runs.len(), 0),
        };
        let pos = CodePos { run: run as u32, at: (start + at) as u32 };
        self.relocs.push(CodeReloc { pos, value, is_byte });
    }

    pub(crate) fn byte(&mut self, pos: CodePos, after: u32) -> &mut u8 {
        &mut self.runs[pos.run as usize].bytes[(pos.at + after) as usize]
    }

    pub(crate) fn checkpoint(&self) -> CodeCheckpoint {
        CodeCheckpoint {
            runs: self.runs.len(),
            bytes: self.runs.last().map_or(0, |run| run.bytes.len()),
            relocs: self.relocs.len(),
            here: self.here,
        }
    }

    pub(crate) fn roll_back(&mut self, checkpoint: CodeCheckpoint) {
        self.open &= self.runs.len() == checkpoint.runs;
        self.runs.truncate(checkpoint.runs);
        if let Some(run) = self.runs.last_mut() {
            run.bytes.truncate(checkpoint.bytes);
        }
        self.relocs.truncate(checkpoint.relocs);
        self.here = checkpoint.here;
    }

    /// Returns the number of bytes written since `checkpoint`.
    pub(crate) fn count_since(&self, checkpoint: CodeCheckpoint) -> u32 {
        self.written_since(checkpoint).map_or(0, |(_, count)| count)
    }

    /// Returns the position of the first byte written since `checkpoint`, and the number of bytes.
    pub(crate) fn written_since(&self, checkpoint: CodeCheckpoint) -> Option<(CodePos, u32)> {
        let last = self.runs.len().checked_sub(1)?;
        let from = if self.runs.len() == checkpoint.runs { checkpoint.bytes } else { 0 };
        let count = self.runs[last].bytes.len() - from;
        (count > 0).then_some((CodePos { run: last as u32, at: from as u32 }, count as u32))
    }

    /// Returns the relocated words of a run. Words are in the order of the code, so each run's are
    /// together.
    pub(crate) fn relocs_of(&self, run: u32) -> impl Iterator<Item = &CodeReloc> {
        let first = self.relocs.partition_point(|reloc| reloc.pos.run < run);
        self.relocs[first..].iter().take_while(move |reloc| reloc.pos.run == run)
    }

    /// Returns the bytes written since `checkpoint` as a listing shows them: relocated words as if
    /// every section began at 0.
    pub(crate) fn listed_since(&self, checkpoint: CodeCheckpoint) -> (Vec<u8>, Vec<ListedReloc>) {
        let Some((first, _)) = self.written_since(checkpoint) else { return Default::default() };
        let mut bytes = self.runs[first.run as usize].bytes[first.at as usize..].to_vec();
        let mut relocs = Vec::new();
        let is_listed = |reloc: &&CodeReloc| reloc.pos.run == first.run;
        for CodeReloc { pos, value, is_byte } in
            self.relocs[checkpoint.relocs..].iter().filter(is_listed)
        {
            let at = pos.at - first.at;
            let field = &value.number.to_le_bytes()[..if *is_byte { 1 } else { 2 }];
            bytes[at as usize..][..field.len()].copy_from_slice(field);
            relocs.push(ListedReloc { at, base: value.base.0 });
        }
        (bytes, relocs)
    }
}

/// Raises the size of a base to `size`, unless it is larger.
fn raise(sizes: &mut Vec<u32>, base: BaseId, size: u32) {
    let base = base.0 as usize;
    sizes.resize(sizes.len().max(base + 1), 0);
    sizes[base] = sizes[base].max(size);
}

/// Returns the section that contains the bytes of a base.
pub(super) fn kind_of(base: BaseId, absolute_prog: bool) -> Option<SectionKind> {
    if absolute_prog && base == BaseId::PROG { Some(SectionKind::Absolute) } else { base.section() }
}
