//! The statements of a listing, with the bytes that they assembled to.

use super::options::ListingControl;
use crate::diag::DiagnosticCode;
use crate::isa::Clocks;
use crate::module::RelocValue;
use crate::source::Span;

/// A listing: all statements in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub(crate) lines: Vec<ListingLine>,
    /// The listing directives, each with the number of statements before it.
    pub(crate) controls: Vec<(u32, ListingControl)>,
    /// Where rows with code end within statements.
    pub(crate) breaks: Vec<RowBreak>,
    /// The error flags, all of those with a letter of ZASM.
    pub(crate) flags: Vec<(DiagnosticCode, Span)>,
    /// Whether ZASM finds an error in its first pass, whose heading counts as a page.
    pub(crate) first_pass_error: bool,
}

impl Listing {
    /// Returns the statements.
    pub fn lines(&self) -> impl Iterator<Item = &ListingLine> {
        self.lines.iter()
    }
}

/// The bytes, or the words of `.WORD`, that ZASM shows in a row.
pub(crate) const BYTES_A_ROW: u32 = 6;
pub(crate) const WORDS_A_ROW: u32 = 2;

/// The end of a row with code within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowBreak {
    pub(crate) statement: u32,
    /// How far ZASM has read when it writes the first byte of the next row.
    pub(crate) offset: u32,
    /// The number of bytes of the statement before that.
    pub(crate) bytes: u32,
    /// Whether the code columns are full, which matters under `.LIMAGE`; else a line of a text
    /// ends.
    pub(crate) is_full: bool,
}

/// A relocated word among the bytes of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedReloc {
    /// The index of its first byte.
    pub at: u32,
    /// Its relocation base, as in [`RelocValue::base`].
    pub base: u32,
}

/// A statement of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListingLine {
    /// The source text, with its line end.
    pub span: Span,
    /// The location counter before the statement.
    pub address: RelocValue,
    /// The bytes that it assembled to; relocated words as if every section began at 0.
    pub bytes: Vec<u8>,
    /// The relocated words among the bytes.
    pub relocs: Vec<ListedReloc>,
    /// The index of its module.
    pub module: u32,
    /// The value of an assignment or `.LOC`, or the address of `.BLKB`.
    pub value: Option<RelocValue>,
    /// Whether the value is the module's start address.
    pub start: bool,
    /// The T-states of an instruction.
    pub clocks: Option<Clocks>,
    /// Whether the bytes are words.
    pub words: bool,
    /// Whether it has a label.
    pub labelled: bool,
    /// Whether it is a listing directive.
    pub control: bool,
    /// The number of enclosing macro calls.
    pub depth: u32,
}
