//! The bytes that are assembled: sections as runs, and the fields that wait for a value.

use crate::source::Span;

use super::value::{BaseId, Value};

/// How a value goes into the code.
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

/// Where a field is: a run and a byte in it.
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
}

/// A word that moves with a section or an external.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordReloc {
    pub(crate) site: Site,
    pub(crate) value: Value,
}

/// The bytes that a statement made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) site: Site,
    pub(crate) count: u32,
    /// Where the statement begins.
    pub(crate) start: u32,
    pub(crate) is_code: bool,
}

/// Consecutive bytes.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) base: BaseId,
    pub(crate) start: u16,
    pub(crate) bytes: Vec<u8>,
}

impl OpenRun {
    /// Just past the last byte.
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
    /// What each statement made, if that is wanted.
    pub(crate) made: Vec<Made>,
    /// The sizes of the sections and external areas, by base.
    pub(crate) sizes: Vec<u32>,
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
        Self { base, fixed, sizes: vec![0; BaseId::FIRST_EXTERNAL as usize], ..Self::default() }
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

    /// The size that a section has reached, modulo 65536.
    pub(crate) fn size(&self, base: BaseId) -> u16 {
        self.sizes.get(base.0 as usize).copied().unwrap_or(0) as u16
    }

    /// `.LOC`.
    pub(crate) fn set_location(&mut self, value: Value) {
        self.saved = Some(self.here());
        self.go_to(value);
    }

    /// `.RELOC`.
    pub(crate) fn restore_location(&mut self) {
        self.go_to(self.saved.unwrap_or(self.place(BaseId::PROG, 0)));
    }

    fn go_to(&mut self, value: Value) {
        self.open = false;
        self.here = u32::from(value.number);
        let fixed = self.fixed && value.base == BaseId::PROG;
        self.base = if value.is_absolute() && !fixed { BaseId::ABSOLUTE } else { value.base };
    }

    /// Moves the location counter without writing; a negative distance moves it back.
    pub(crate) fn reserve(&mut self, distance: i32) {
        self.open = false;
        let moved = self.here as i32 + distance;
        self.wrapped |= !(0..=0x10000).contains(&moved);
        self.here = if moved == 0x10000 { 0x10000 } else { moved as u32 & 0xFFFF };
        self.grow();
    }

    fn grow(&mut self) {
        let base = self.base.0 as usize;
        if self.sizes.len() <= base {
            self.sizes.resize(base + 1, 0);
        }
        self.sizes[base] = self.sizes[base].max(self.here);
    }

    /// Writes bytes at the location counter and returns where the first one went.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Site {
        if self.here + bytes.len() as u32 > 0x10000 {
            return self.write_across(bytes);
        }
        if !self.open {
            let run = OpenRun { base: self.base, start: self.here as u16, bytes: Vec::new() };
            self.runs.push(run);
            self.open = true;
        }
        let index = self.runs.len() - 1;
        let run = &mut self.runs[index].bytes;
        let at = run.len() as u32;
        run.extend_from_slice(bytes);
        self.here += bytes.len() as u32;
        self.grow();
        Site { run: index as u32, at }
    }

    /// Writes bytes of which some lie past FFFFH.
    #[cold]
    fn write_across(&mut self, bytes: &[u8]) -> Site {
        self.wrapped = true;
        let (before, after) = bytes.split_at((0x10000 - self.here as usize).min(bytes.len()));
        // A field is never split: it goes to the low end whole.
        let (before, after) = if bytes.len() <= 4 { (&bytes[..0], bytes) } else { (before, after) };
        if !before.is_empty() {
            self.write(before);
        }
        self.open = false;
        self.here = 0;
        after.chunks(0xFFFF).map(|chunk| self.write(chunk)).last().unwrap_or(Site { run: 0, at: 0 })
    }

    /// The byte at a site.
    #[inline]
    pub(crate) fn byte(&mut self, site: Site, after: u32) -> &mut u8 {
        &mut self.runs[site.run as usize].bytes[(site.at + after) as usize]
    }

    /// Where writing stands.
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

    /// How many bytes were written since `mark`, and where the first one is.
    pub(crate) fn written_since(&self, mark: Mark) -> Option<(Site, u32)> {
        let last = self.runs.len().checked_sub(1)?;
        let from = if self.runs.len() == mark.runs { mark.bytes } else { 0 };
        let count = self.runs[last].bytes.len() - from;
        (count > 0).then_some((Site { run: last as u32, at: from as u32 }, count as u32))
    }
}
