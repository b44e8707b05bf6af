//! The original's layout, as TDL ZASM 2.21 printed it.
//!
//! ZASM prints the text as it reads it: every character that the assembler takes goes to a row, the
//! code of a statement to whichever row is open when it is made, and a `?` to the place that was
//! read when an error was found. [`echo`] takes the text in the same order, [`row`] decides what
//! becomes of a row at its end, and [`page`] puts rows on pages. [`code`] and [`symbols`] say how
//! code and the table of symbols look.
//!
//! Columns: 0 error letters, 3 address and what it moves with, 11 code, 23 `+` in macro text or `@`
//! in an inserted file, 24 source. Values move with `'` `.PROG.`, `*` `.DATA.`, `:nn` relocation
//! base nn.

mod code;
mod echo;
mod marks;
mod page;
mod row;
mod symbols;

use crate::diag::Diagnostic;
use crate::module::Module;
use crate::source::SourceMap;

use super::rows::Wishes;
use super::{Listing, Macros};

/// The heading of every page.
const PROGRAM: &str = "TDL Z80 CP/M DISK ASSEMBLER VERSION 2.21";

/// The switches of the original's command line, and the name in its headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TdlOptions {
    program: String,
    wishes: Wishes,
}

impl Default for TdlOptions {
    fn default() -> Self {
        Self { program: PROGRAM.into(), wishes: Wishes::default() }
    }
}

/// Error returned by [`TdlOptions::switches`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no switch of the listing; these are A, C, I, S, X and Y")]
pub struct UnknownSwitch(pub char);

impl TdlOptions {
    /// Sets the name in the heading of every page.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// Sets the switches of the original's command line that concern the listing: `A` is `.LALL`,
    /// `C` `.LCTL`, `I` `.LIMAGE`, `S` `.SALL`, `X` `.XLIST`, `Y` `.XSYM`. Directives in the source
    /// come after them.
    ///
    /// # Errors
    /// Returns the first letter that is no such switch.
    pub fn switches(mut self, letters: &str) -> Result<Self, UnknownSwitch> {
        for letter in letters.chars() {
            match letter.to_ascii_uppercase() {
                'A' => self.wishes.macros = Macros::All,
                'C' => self.wishes.controls = true,
                'I' => self.wishes.image = true,
                'S' => self.wishes.macros = Macros::None,
                'X' => self.wishes.list = false,
                'Y' => self.wishes.symbols = false,
                _ => return Err(UnknownSwitch(letter)),
            }
        }
        Ok(self)
    }
}

/// Returns the listing in the original's layout, with the letters of `diagnostics` and the tables
/// of `modules`.
#[must_use]
pub fn render_tdl(
    listing: &Listing,
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
    modules: &[Module],
    options: &TdlOptions,
) -> String {
    let marks = marks::Marks::new(diagnostics, sources);
    let first_page = if marks.any_in_first_pass() { 2 } else { 1 };
    let pages = page::Pages::new(&options.program, first_page);
    echo::Echo::new(listing, sources, modules, marks, options.wishes, pages).run()
}

/// Returns what stands after a value that moves.
fn flag(base: u32) -> String {
    match base {
        0 => String::new(),
        1 => "'".into(),
        2 => "*".into(),
        other => format!(":{other:02X}"),
    }
}
