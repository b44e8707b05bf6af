//! Records statements for the listing and references for editors.

use super::name_table::NameId;
use super::options::Options;
use super::pass::Pass;
use crate::listing::{
    BYTES_A_ROW, Listing, ListingControl, ListingDirective, ListingLine, RowBreak,
};
use crate::references::{ReferenceRole, References};
use crate::source::Span;

#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// Whether a listing is requested.
    lists: bool,
    /// Whether references are requested; only the second pass records them.
    pub(super) keeps_references: bool,
    pub(super) listing: Listing,
    /// The current statement.
    pub(super) statement: ListingLine,
    /// The first byte of its current row of code.
    pub(super) row_start: u32,
    pub(super) references: References,
    /// References in the current module. Their names get their final numbers at its end.
    pub(super) unnumbered: Vec<(NameId, Span, ReferenceRole)>,
}

impl Recorder {
    pub(super) fn new(options: &Options, pass: Pass) -> Self {
        let keeps_references = options.references && pass == Pass::Second;
        Self { lists: options.listing, keeps_references, ..Self::default() }
    }

    pub(super) fn control(&mut self, control: ListingControl) {
        if self.lists {
            // ZASM lists `.SLIST` unless another listing directive follows it. `.LINK` and `.XLINK`
            // only change the page headings.
            self.statement.control = match control {
                ListingControl::Linkage(_) => self.statement.control,
                _ => control != ListingControl::Directive(ListingDirective::Save),
            };
            self.listing.controls.push((self.listing.lines.len() as u32, control));
        }
    }

    /// Records the rows of a text that produces bytes, since the listing shows the bytes of each
    /// line beside it. ZASM writes a byte when it has found the next one.
    pub(super) fn text(&mut self, start: u32, text: &[u8], before: u32) {
        if !self.lists {
            return;
        }
        for (at, byte) in (0..).zip(text) {
            let (offset, bytes) = (start + at, before + at);
            self.byte(offset, bytes.saturating_sub(1), BYTES_A_ROW);
            let ends = match byte {
                b'\r' => text.get(at as usize + 1) == Some(&b'\n'),
                b'\n' => !text[..at as usize].ends_with(b"\r"),
                _ => false,
            };
            if ends {
                self.row_break(offset, bytes, false);
            }
        }
    }

    /// Records the offset at which byte number `index` of the statement is written, if it begins a
    /// row.
    pub(super) fn byte(&mut self, offset: u32, index: u32, bytes_a_row: u32) {
        let in_row = index.saturating_sub(self.row_start);
        if self.lists && in_row > 0 && in_row.is_multiple_of(bytes_a_row) {
            self.row_break(offset, index, true);
        }
    }

    /// Records that the rest of the statement, from an offset on, is a skipped block of several
    /// lines: the code, of which there are `bytes`, is in the row where the block begins.
    pub(super) fn skipped_block(&mut self, offset: u32, bytes: u32) {
        if self.lists {
            self.row_break(offset, bytes, false);
        }
    }

    fn row_break(&mut self, offset: u32, bytes: u32, is_full: bool) {
        let statement = self.listing.lines.len() as u32;
        self.listing.breaks.push(RowBreak { statement, offset, bytes, is_full });
        self.row_start = bytes;
    }

    pub(super) fn reference(&mut self, name: NameId, span: Span, role: ReferenceRole) {
        if self.keeps_references {
            self.unnumbered.push((name, span, role));
        }
    }
}
