//! Listings: statements with the code that they assembled to.

mod cycles;
mod modern;
mod options;
mod statement;
mod tdl;

pub use cycles::{CyclesError, Path, straight_path};
pub use statement::{ListedReloc, Listing, ListingLine};
pub use tdl::{TdlOptions, UnknownSwitch, render_tdl};

use crate::module::Module;
pub use crate::module::RelocValue;
use crate::source::SourceMap;

pub(crate) use options::{ListingControl, ListingDirective};
pub(crate) use statement::{BYTES_A_ROW, RowBreak, WORDS_A_ROW};

/// The listing styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Address, bytes, T-states and line beside the source.
    #[default]
    Modern,
    /// Pages, columns and symbol table of ZASM.
    Tdl,
}

/// Formats a listing; the TDL style has the symbols of `modules`.
pub fn render(listing: &Listing, sources: &SourceMap, modules: &[Module], style: Style) -> String {
    match style {
        Style::Modern => modern::render(listing, sources),
        Style::Tdl => render_tdl(listing, sources, modules, &TdlOptions::default()),
    }
}
