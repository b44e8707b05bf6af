//! The listing: what each statement assembled to, its text, and how the source wants it shown.

mod cycles;
mod modern;
mod rows;
mod tdl;

pub use cycles::{CyclesError, Path, straight_path};
pub use tdl::{TdlOptions, UnknownSwitch, render_tdl};

use crate::diag::Diagnostic;
use crate::isa::Clocks;
pub use crate::module::Listed;
use crate::module::Module;
use crate::source::{SourceMap, Span};

/// Everything that a listing shows, in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub(crate) statements: Vec<Statement>,
    /// The bytes of all statements, and the words among them that move.
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocs: Vec<ListedReloc>,
    /// The wishes of the source, each with the number of statements that were there before it.
    pub(crate) controls: Vec<(u32, Control)>,
    /// The line ends within texts that make bytes.
    pub(crate) breaks: Vec<Break>,
}

/// A line end within a text that makes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Break {
    /// The number of the statement.
    pub(crate) statement: u32,
    /// The offset of the line end.
    pub(crate) offset: u32,
    /// The number of bytes that the statement made before it.
    pub(crate) bytes: u32,
}

impl Listing {
    /// The statements.
    pub fn lines(&self) -> impl Iterator<Item = ListingLine<'_>> {
        self.statements.iter().map(|statement| statement.shown(self))
    }
}

/// The layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Address, bytes, T-states and line beside the source.
    #[default]
    Modern,
    /// Pages, columns and symbol table of the original assembler.
    Tdl,
}

/// A statement as it is kept: listings have millions of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) span: Span,
    pub(crate) address: Listed,
    pub(crate) value: Option<Listed>,
    /// The deferred expression whose value is shown, until the module ends.
    pub(crate) later: Option<u32>,
    pub(crate) start: bool,
    pub(crate) code: Code,
    pub(crate) module: u32,
    pub(crate) depth: u32,
    pub(crate) clocks: Option<Clocks>,
    pub(crate) words: bool,
    pub(crate) labelled: bool,
    pub(crate) control: bool,
}

/// The place of a statement's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// While the module is being assembled: a run of the output and a stretch of it.
    Emitted { run: u32, at: u32, count: u32 },
    /// Then: a stretch of the listing's bytes, and one of its relocated words.
    Kept { at: u32, count: u32, relocs: u32, reloc_count: u32 },
}

impl Code {
    pub(crate) const NONE: Code = Code::Kept { at: 0, count: 0, relocs: 0, reloc_count: 0 };
}

impl Statement {
    fn shown<'l>(&self, listing: &'l Listing) -> ListingLine<'l> {
        let (bytes, relocs): (&[u8], &[ListedReloc]) = match self.code {
            Code::Emitted { .. } => (&[], &[]),
            Code::Kept { at, count, relocs, reloc_count } => (
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

/// A word among a statement's bytes that the linker changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedReloc {
    /// The index of its first byte.
    pub at: u32,
    /// The base that it moves with, as in [`Listed::base`].
    pub base: u32,
}

/// One statement of the source, in the order in which it was assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListingLine<'l> {
    /// The text, with its line end.
    pub span: Span,
    /// The location counter before it.
    pub address: Listed,
    /// The bytes that it assembled to.
    pub bytes: &'l [u8],
    /// The words among them that move.
    pub relocs: &'l [ListedReloc],
    /// The module that it belongs to.
    pub module: u32,
    /// The value of an assignment or `.LOC`, or the place of `.BLKB`.
    pub value: Option<Listed>,
    /// Whether its value is the module's start address.
    pub start: bool,
    /// The T-states of an instruction.
    pub clocks: Option<Clocks>,
    /// Whether the bytes are words.
    pub words: bool,
    /// Whether it has a label.
    pub labelled: bool,
    /// Whether it is a directive about the listing.
    pub control: bool,
    /// The number of macro texts that it stands in.
    pub depth: u32,
}

/// The effect of a directive about the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Control {
    /// A wish for what follows.
    Wish(Wish),
    /// `.TITLE`.
    Title(String),
    /// `.SBTTL`.
    Subtitle(String),
    /// `.IDENT`.
    Ident(String),
    /// `.LINK`, `.XLINK`: whether the object has names.
    Linkage(bool),
}

/// A wish for the listing from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// `.LIST`, `.XLIST`: whether to list at all.
    List(bool),
    /// `.LALL`, `.XALL`, `.SALL`: how much of macro texts.
    Macros(Macros),
    /// `.LSYM`, `.XSYM`: whether the table of symbols follows.
    Symbols(bool),
    /// `.LADDR`, `.XADDR`: whether words are shown low byte first.
    LowFirst(bool),
    /// `.LIMAGE`, `.XIMAGE`: whether all bytes are shown or the first line of them.
    Image(bool),
    /// `.LCTL`, `.XCTL`: whether these directives are listed.
    Controls(bool),
    /// `.SLIST`: remember all of this.
    Save,
    /// `.RLIST`: return to what was remembered last.
    Restore,
    /// `.PAGE`: a new page.
    Page,
}

/// The part of macro texts that a listing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Macros {
    /// Every line.
    All,
    /// The lines that make code.
    #[default]
    Code,
    /// Nothing.
    None,
}

/// The listing as text. The original's layout shows the letters of `diagnostics`, and the symbols
/// of `modules`.
#[must_use]
pub fn render(
    listing: &Listing,
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
    modules: &[Module],
    style: Style,
) -> String {
    match style {
        Style::Modern => modern::render(listing, sources),
        Style::Tdl => render_tdl(listing, sources, diagnostics, modules, &TdlOptions::default()),
    }
}
