//! The TDL style: listings as printed by ZASM 2.21.
//!
//! ZASM prints the text as it reads it: every character goes to a row, the code of a statement to
//! the row that is current when it is written, and a `?` to the position that was read when an
//! error was found. [`echo`] reads the text in the same order, [`row`] prints a row at its end, and
//! [`page`] arranges rows on pages. [`symbols`] formats the symbol table.
//!
//! Columns: 0 error flags, 3 address and relocation mark, 11 code, 23 `+` in macro text or `@` in
//! an included file, 24 source. Relocation marks are `'` for `.PROG.`, `*` for `.DATA.`, `:nn` for
//! base nn.

mod echo;
mod marks;
mod page;
mod row;
mod symbols;

use super::options::{ListedMacros, ListingOptions};
use super::statement::Listing;
use crate::module::Module;
use crate::source::SourceMap;

/// The heading of every page.
const PROGRAM: &str = "TDL Z80 CP/M DISK ASSEMBLER VERSION 2.21";

/// The listing switches of ZASM's command line, and the program name in the headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TdlOptions {
    program: String,
    listing_options: ListingOptions,
}

impl Default for TdlOptions {
    fn default() -> Self {
        Self { program: PROGRAM.into(), listing_options: ListingOptions::default() }
    }
}

/// Error returned by [`TdlOptions::switches`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid listing switch {0:?}: expected A, C, I, S, X or Y")]
pub struct UnknownSwitch(pub char);

impl TdlOptions {
    /// Sets the name in the heading of every page.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// Sets the listing switches of ZASM's command line: `A` is `.LALL`, `C` `.LCTL`, `I`
    /// `.LIMAGE`, `S` `.SALL`, `X` `.XLIST`, `Y` `.XSYM`. Directives in the source override them.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownSwitch`] for the first letter that is not a switch.
    pub fn switches(mut self, letters: &str) -> Result<Self, UnknownSwitch> {
        for letter in letters.chars() {
            match letter.to_ascii_uppercase() {
                'A' => self.listing_options.macros = ListedMacros::All,
                'C' => self.listing_options.controls = true,
                'I' => self.listing_options.image = true,
                'S' => self.listing_options.macros = ListedMacros::None,
                'X' => self.listing_options.list = false,
                'Y' => self.listing_options.symbols = false,
                _ => return Err(UnknownSwitch(letter)),
            }
        }
        Ok(self)
    }
}

/// Formats a listing in the TDL style, with the symbols of `modules`.
pub fn render_tdl(
    listing: &Listing,
    sources: &SourceMap,
    modules: &[Module],
    options: &TdlOptions,
) -> String {
    let marks = marks::marks(&listing.flags, sources);
    let first_page = if listing.first_pass_error { 2 } else { 1 };
    let pages = page::Pages::new(&options.program, first_page);
    echo::Echo::new(listing, sources, modules, marks, options.listing_options, pages).run()
}
