//! Listings: statements with the code that they assembled to.

mod cycles;
mod modern;
mod options;
mod statement;
mod tdl;

pub use cycles::{CyclesError, Path, straight_path};
pub use modern::render_modern;
pub use statement::{ListedReloc, Listing, ListingLine};
pub use tdl::{TdlOptions, UnknownSwitch, render_tdl};

pub use crate::module::RelocValue;
pub(crate) use options::{ListingControl, ListingDirective};
pub(crate) use statement::{BYTES_A_ROW, RowBreak, WORDS_A_ROW};
