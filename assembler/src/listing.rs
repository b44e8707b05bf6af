//! The listing: what each statement assembled to, its text, and how the source wants it shown.

mod cycles;
mod modern;
mod rows;
mod tdl;

pub use cycles::{CyclesError, Path, straight_path};

use crate::diag::Diagnostic;
use crate::isa::Clocks;
use crate::module::Module;
use crate::source::{SourceMap, Span};

/// Everything that a listing shows, in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub(crate) statements: Vec<Statement>,
    /// The bytes of all statements, and the words among them that move.
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocs: Vec<ListedReloc>,
    /// What the source wants, each with the number of statements that were there before it.
    pub(crate) controls: Vec<(u32, Control)>,
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
    pub(crate) code: Code,
    pub(crate) module: u32,
    pub(crate) depth: u32,
    pub(crate) clocks: Option<Clocks>,
    pub(crate) words: bool,
    pub(crate) labelled: bool,
    pub(crate) control: bool,
}

/// Where a statement's bytes are.
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
            clocks: self.clocks,
            words: self.words,
            labelled: self.labelled,
            control: self.control,
            depth: self.depth,
        }
    }
}

/// A number and what it moves with: 0 nothing, 1 `.PROG.`, 2 `.DATA.`, 3 `.BLNK.`, from 4 on an external.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// The number, as if every section began at 0.
    pub number: u16,
    /// What it moves with.
    pub base: u32,
}

/// A word among a statement's bytes that the linker changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedReloc {
    /// The index of its first byte.
    pub at: u32,
    /// What it moves with, as in [`Listed::base`].
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
    /// The value of an assignment or `.LOC`.
    pub value: Option<Listed>,
    /// The T-states of an instruction.
    pub clocks: Option<Clocks>,
    /// Whether the bytes are words.
    pub words: bool,
    /// Whether it has a label.
    pub labelled: bool,
    /// Whether it is a directive about the listing.
    pub control: bool,
    /// How many macro texts it stands in.
    pub depth: u32,
}

/// What a directive about the listing says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Control {
    /// How to list.
    Wish(Wish),
    /// `.TITLE`.
    Title(String),
    /// `.SBTTL`.
    Subtitle(String),
    /// `.IDENT`.
    Ident(String),
}

/// How to list from here on.
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

/// How much of macro texts a listing shows.
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

/// The listing as text. The original's layout shows the letters of `diagnostics`, and the symbols of `modules`.
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
        Style::Tdl => tdl::render(listing, sources, diagnostics, modules),
    }
}
