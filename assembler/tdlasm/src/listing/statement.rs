//! The statements of a listing, with the bytes that they assembled to.

use super::control::ListingControl;
use crate::diag::DiagnosticCode;
use crate::isa::Clocks;
use crate::module::RelocValue;
use crate::source::Span;

/// A listing: all statements in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub(crate) statements: Vec<Statement>,
    /// The bytes of all statements, and the relocated words among them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocs: Vec<ListedReloc>,
    /// The listing directives, each with the number of statements before it.
    pub(crate) controls: Vec<(u32, ListingControl)>,
    /// Where rows with code end within statements.
    pub(crate) breaks: Vec<RowBreak>,
    /// The error flags, all of those with a letter of ZASM.
    pub(crate) flags: Vec<(DiagnosticCode, Span)>,
    /// Whether ZASM finds an error in its first pass, whose heading counts as a page.
    pub(crate) first_pass_error: bool,
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

impl Listing {
    /// Returns the statements.
    pub fn lines(&self) -> impl Iterator<Item = ListingLine<'_>> {
        self.statements.iter().map(|statement| statement.shown(self))
    }
}

/// A statement in compact form, since listings have millions of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) span: Span,
    pub(crate) address: RelocValue,
    pub(crate) value: Option<RelocValue>,
    pub(crate) start: bool,
    pub(crate) code: ListedCode,
    pub(crate) module: u32,
    pub(crate) depth: u32,
    pub(crate) clocks: Option<Clocks>,
    pub(crate) words: bool,
    pub(crate) labelled: bool,
    pub(crate) control: bool,
}

/// The position of a statement's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedCode {
    /// In the code buffer, while the module is being assembled.
    Emitted { run: u32, at: u32, count: u32 },
    /// In [`Listing::bytes`] and [`Listing::relocs`], when the module is finished.
    Stored { at: u32, count: u32, relocs: u32, reloc_count: u32 },
}

impl ListedCode {
    pub(crate) const NONE: ListedCode =
        ListedCode::Stored { at: 0, count: 0, relocs: 0, reloc_count: 0 };
}

impl Statement {
    fn shown<'l>(&self, listing: &'l Listing) -> ListingLine<'l> {
        let (bytes, relocs): (&[u8], &[ListedReloc]) = match self.code {
            ListedCode::Emitted { .. } => (&[], &[]),
            ListedCode::Stored { at, count, relocs, reloc_count } => (
                &listing.bytes[at as usize..(at + count) as usize],
                &listing.relocs[relocs as usize..(relocs + reloc_count) as usize],
            ),
        };
        ListingLine {
            span: self.span,
            address: self.address,
            bytes,
            relocs,
            module: self.module,
            value: self.value,
            start: self.start,
            clocks: self.clocks,
            words: self.words,
            labelled: self.labelled,
            control: self.control,
            depth: self.depth,
        }
    }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListingLine<'l> {
    /// The source text, with its line end.
    pub span: Span,
    /// The location counter before the statement.
    pub address: RelocValue,
    /// The bytes that it assembled to.
    pub bytes: &'l [u8],
    /// The relocated words among the bytes.
    pub relocs: &'l [ListedReloc],
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
