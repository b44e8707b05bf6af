//! Records statements for the listing and references for editors.

use super::name_table::NameId;
use crate::isa::Clocks;
use crate::listing::{Listing, RelocValue};
use crate::references::{ReferenceRole, References, TextOrigin};
use crate::source::Span;

#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) listing: Listing,
    /// Details of the current statement.
    pub(super) line: StatementInfo,
    pub(super) references: References,
    /// References in the current module. Their names get their final numbers at its end.
    pub(super) unnumbered: Vec<(NameId, Span, ReferenceRole)>,
    /// The pieces of the macro text being expanded; the buffer is reused.
    pub(super) origins: Vec<TextOrigin>,
    /// The number of the current module.
    pub(super) module: u32,
}

/// Details of a statement, other than its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StatementInfo {
    pub(super) clocks: Option<Clocks>,
    /// The value of an assignment or `.LOC`.
    pub(super) value: Option<RelocValue>,
    /// Whether the value is the module's start address.
    pub(super) start: bool,
    pub(super) words: bool,
    /// The first byte of the current row of code.
    pub(super) row_start: u32,
    pub(super) labelled: bool,
    pub(super) control: bool,
}
