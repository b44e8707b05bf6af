//! The record that a run keeps beside the code: the statements for a listing, the mentions for
//! editors.

use crate::isa::Clocks;
use crate::listing::{Control, Listed, Listing, Wish};
use crate::references::{Piece, References, Role};
use crate::source::Span;

use super::names::NameId;

/// The record of a run.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) listing: Listing,
    /// Details of the statement that is being read.
    pub(super) line: LineInfo,
    pub(super) references: References,
    /// Mentions in the module that is being assembled, whose names are not numbered yet.
    pub(super) open: Vec<(NameId, Span, Role)>,
    /// The pieces of a macro text while it comes together; kept from one to the next.
    pub(super) origins: Vec<Piece>,
}

/// Details of a statement besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineInfo {
    pub(super) clocks: Option<Clocks>,
    /// The value of an assignment or `.LOC`.
    pub(super) value: Option<Listed>,
    /// The deferred expression that gives that value.
    pub(super) later: Option<u32>,
    /// Whether the value is the module's start address.
    pub(super) start: bool,
    pub(super) words: bool,
    pub(super) labelled: bool,
    pub(super) control: bool,
}

impl Record {
    /// Forgets what the first pass kept.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }
}

impl super::Assembler<'_> {
    /// Keeps what the source wants of the listing.
    pub(super) fn control(&mut self, control: Control) {
        if self.options.listing {
            // The original lists .SLIST unless another of these follows it.
            self.record.line.control = !matches!(control, Control::Wish(Wish::Save));
            let statements = self.record.listing.statements.len() as u32;
            self.record.listing.controls.push((statements, control));
        }
    }
}
