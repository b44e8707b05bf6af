//! The bytes that are assembled: sections as runs, and the fields that wait for a value.

use crate::source::Span;

use super::value::{BaseId, Value};

/// The way a value goes into the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// A byte.
    Byte,
    /// The displacement of an index register.
    Displacement,
    /// A byte whose top bit is set besides, the last of `.ASCIS`.
    MarkedByte,
    /// Two bytes, low byte first.
    Word,
    /// A signed byte, measured from the byte after it; the statement's address is given.
    Relative(Value),
    /// Bits 3-5 of an opcode that is already there.
    Bits,
}

impl Field {
    /// The number of bytes that the field takes by itself.
    pub(crate) fn size(self) -> usize {
        if self == Self::Word { 2 } else { 1 }
    }
}

/// The place of a field: a run and a byte in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) run: u32,
    pub(crate) at: u32,
}

/// A field whose value is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fixup {
    pub(crate) site: Site,
    pub(crate) field: Field,
    /// The expression among the deferred ones.
    pub(crate) expression: u32,
    pub(crate) span: Span,
    /// The row of the listing that the field belongs to.
    pub(crate) row: u32,
}

/// A word that moves with a section or an external.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordReloc {
    pub(crate) site: Site,
    pub(crate) value: Value,
}

/// Consecutive bytes.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) base: BaseId,
    pub(crate) start: u16,
    pub(crate) bytes: Vec<u8>,
}

impl OpenRun {
    /// The address after the last byte, beyond 10000H for a run that goes on at 0.
    pub(crate) fn end(&self) -> u32 {
        u32::from(self.start) + self.bytes.len() as u32
    }
}

/// Lengths to go back to when a statement must be read again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    runs: usize,
    bytes: usize,
    fixups: usize,
    relocs: usize,
    here: u32,
}

/// Everything assembled so far.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) runs: Vec<OpenRun>,
    pub(crate) fixups: Vec<Fixup>,
    pub(crate) relocs: Vec<WordReloc>,
    /// The sizes of the sections and external areas, by base, but for what was written since the
    /// location counter last jumped.
    sizes: Vec<u32>,
    /// The same as the original counts them, which looks at the location counter only where a
    /// section is left.
    pub(crate) marks: Vec<u32>,
    base: BaseId,
    /// Whether `.PROG.` is absolute code from 0 on.
    pub(crate) fixed: bool,
    /// The location counter, 0..=65536.
    here: u32,
    /// Whether the last run ends where the location counter stands.
    open: bool,
    /// The location counter before the latest `.LOC`.
    saved: Option<Value>,
    /// Whether the location counter went past FFFFH.
    pub(crate) wrapped: bool,
}

impl Output {
    /// Begins in `.PROG.`, which moves unless it is `fixed` at 0.
    pub(crate) fn new(fixed: bool) -> Self {
        let base = BaseId::PROG;
        let sizes = vec![0; BaseId::FIRST_EXTERNAL as usize];
        Self { base, fixed, marks: sizes.clone(), sizes, ..Self::default() }
    }

    /// The number of the location counter.
    #[inline]
    pub(crate) fn counter(&self) -> u16 {
        self.here as u16
    }

    /// The location counter.
    #[inline]
    pub(crate) fn here(&self) -> Value {
        self.place(self.base, self.here as u16)
    }

    /// A place in a section: a plain number if the section is fixed.
    #[inline]
    pub(crate) fn place(&self, base: BaseId, number: u16) -> Value {
        let moves = !(self.fixed && base == BaseId::PROG);
        if moves { Value::in_base(base, number) } else { Value::fixed_in(base, number) }
    }

    /// The size that a section has reached.
    pub(crate) fn full_size(&self, base: BaseId) -> u32 {
        let size = self.sizes.get(base.0 as usize).copied().unwrap_or(0);
        let goes_on = self.open && base == self.base;
        if goes_on { size.max(self.here.min(0x10000)) } else { size }
    }

    /// The same modulo 65536.
    pub(crate) fn size(&self, base: BaseId) -> u16 {
        self.full_size(base) as u16
    }

    /// The bases that have sizes.
    pub(crate) fn bases(&self) -> impl Iterator<Item = BaseId> {
        (0..self.sizes.len().max(self.base.0 as usize + 1) as u32).map(BaseId)
    }

    /// The value of a section's or external's name: how far the section went when it was last left.
    pub(crate) fn end_of_area(&self, base: BaseId) -> Value {
        self.place(base, self.reached(base))
    }

    /// Returns how far a section went when it was last left, modulo 65536.
    pub(crate) fn reached(&self, base: BaseId) -> u16 {
        self.marks.get(base.0 as usize).copied().unwrap_or(0) as u16
    }

    /// Marks how far the present section goes. A `.LOC` does so before its operand is read.
    pub(crate) fn leave(&mut self) {
        let base = self.base.0 as usize;
        if self.marks.len() <= base {
            self.marks.resize(base + 1, 0);
        }
        self.marks[base] = self.marks[base].max(self.here);
    }

    /// `.LOC`.
    pub(crate) fn set_location(&mut self, value: Value) {
        self.saved = Some(self.here());
        self.go_to(value);
    }

    /// `.RELOC`: back to the place before the latest `.LOC`; without one, to absolute 0.
    pub(crate) fn restore_location(&mut self) {
        self.go_to(self.saved.unwrap_or(Value::absolute(0)));
    }

    fn go_to(&mut self, value: Value) {
        self.leave();
        self.close_run();
        self.here = u32::from(value.number);
        let fixed = self.fixed && value.base == BaseId::PROG;
        self.base = if value.is_absolute() && !fixed { BaseId::ABSOLUTE } else { value.base };
    }

    /// Moves the location counter without writing; returns whether it passed FFFFH.
    pub(crate) fn reserve(&mut self, distance: u16) -> bool {
        self.close_run();
        let moved = self.here + u32::from(distance);
        // A size may reach the very end, but a negative one that comes to 0 has wrapped.
        let backwards = distance >= 0x8000;
        let wraps = moved > 0x10000 || (moved == 0x10000 && backwards);
        self.here = if wraps { moved & 0xFFFF } else { moved };
        self.grow();
        wraps
    }

    /// Takes back the last byte that was written.
    pub(crate) fn take_back(&mut self) {
        let Some(run) = self.runs.last_mut().filter(|_| self.open) else { return };
        if run.bytes.pop().is_some() {
            let length = run.bytes.len() as u32;
            let index = self.runs.len() as u32 - 1;
            self.grow();
            self.here -= 1;
            self.fixups.retain(|fixup| fixup.site.run != index || fixup.site.at < length);
        }
    }

    /// Ends the last run: what follows is somewhere else.
    fn close_run(&mut self) {
        if self.open {
            self.grow();
        }
        self.open = false;
    }

    fn grow(&mut self) {
        let base = self.base.0 as usize;
        if self.sizes.len() <= base {
            self.sizes.resize(base + 1, 0);
        }
        self.sizes[base] = self.sizes[base].max(self.here.min(0x10000));
    }

    /// Writes bytes at the location counter and returns where the first one went. A run that passes
    /// FFFFH goes on at 0.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Site {
        if !self.open {
            let run = OpenRun { base: self.base, start: self.here as u16, bytes: Vec::new() };
            self.runs.push(run);
            self.open = true;
        }
        let index = self.runs.len() - 1;
        let run = &mut self.runs[index].bytes;
        let at = run.len() as u32;
        match *bytes {
            // A call to copy one or two bytes would cost more than they do.
            [byte] => run.push(byte),
            [first, second] => run.extend_from_slice(&[first, second]),
            _ => run.extend_from_slice(bytes),
        }
        self.here += bytes.len() as u32;
        if self.here > 0x10000 {
            self.grow();
            self.wrapped = true;
            self.here &= 0xFFFF;
        }
        Site { run: index as u32, at }
    }

    /// The byte at a site.
    #[inline]
    pub(crate) fn byte(&mut self, site: Site, after: u32) -> &mut u8 {
        &mut self.runs[site.run as usize].bytes[(site.at + after) as usize]
    }

    /// Returns where writing stands.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            runs: self.runs.len(),
            bytes: self.runs.last().map_or(0, |run| run.bytes.len()),
            fixups: self.fixups.len(),
            relocs: self.relocs.len(),
            here: self.here,
        }
    }

    /// Forgets what was written since `mark`.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.open &= self.runs.len() == mark.runs;
        self.runs.truncate(mark.runs);
        if let Some(run) = self.runs.last_mut() {
            run.bytes.truncate(mark.bytes);
        }
        self.fixups.truncate(mark.fixups);
        self.relocs.truncate(mark.relocs);
        self.here = mark.here;
    }

    /// Returns how many bytes were written since `mark`, and where the first one is.
    pub(crate) fn written_since(&self, mark: Mark) -> Option<(Site, u32)> {
        let last = self.runs.len().checked_sub(1)?;
        let from = if self.runs.len() == mark.runs { mark.bytes } else { 0 };
        let count = self.runs[last].bytes.len() - from;
        (count > 0).then_some((Site { run: last as u32, at: from as u32 }, count as u32))
    }
}
