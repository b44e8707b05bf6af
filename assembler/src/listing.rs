//! The listing: what each statement assembled to, and its text.

mod render;

pub use render::render;

use crate::isa::Clocks;
use crate::module::SectionKind;
use crate::source::Span;

/// Where a statement's bytes are while the module is being assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Emitted {
    pub(crate) run: u32,
    pub(crate) at: u32,
    pub(crate) count: u32,
}

/// One statement of the source, in the order in which it was assembled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingLine {
    /// The text, with its line end.
    pub span: Span,
    /// The location counter before it.
    pub address: u16,
    /// The section of that address; `None` in an external area.
    pub base: Option<SectionKind>,
    /// The bytes that it assembled to; those that the linker fills are 0.
    pub bytes: Vec<u8>,
    /// Whether some of them move with a section.
    pub relocated: bool,
    /// The module that it belongs to.
    pub module: u32,
    /// The value of an assignment or `.LOC`.
    pub value: Option<u16>,
    /// The T-states of an instruction.
    pub clocks: Option<Clocks>,
    /// How many macro texts it stands in.
    pub depth: u32,
    pub(crate) emitted: Option<Emitted>,
}
