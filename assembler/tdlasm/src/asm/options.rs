//! The options of an assembly.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::diag::LintLevels;

/// Translates a statement of another assembly dialect, given its operator and operands, to TDL
/// mnemonics.
///
/// This crate reads TDL only. A caller that knows other dialects can provide this function, and
/// messages about unknown operators then suggest its translation.
pub type ForeignTranslator = fn(operator: &str, operands: &[u8]) -> Option<String>;

/// Options for [`run`](super::run) and [`assemble`](crate::assemble).
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Symbols that are defined before the first line.
    pub defines: Vec<(String, u16)>,
    /// Replies to the values that `NAME =\` reads from the console.
    pub console_replies: Vec<ConsoleReply>,
    /// Directories searched by `.INSERT`, after the directory of the file that contains it.
    pub include_dirs: Vec<PathBuf>,
    /// Whether all characters of a symbol are significant, instead of the first six.
    pub long_symbols: bool,
    /// The notation of the source; see also [`Options::for_source`].
    pub notation: Notation,
    /// Whether capital and small letters differ in symbols in Zilog's notation.
    pub case_sensitive: bool,
    /// Whether `.PROG.` is absolute code from address 0, so that its addresses are plain numbers.
    pub absolute_prog: bool,
    /// The processor that runs the program. If `None`, the Z80. It changes messages, not the code.
    pub cpu: Option<Cpu>,
    /// Severities of individual messages: hidden, warning or error.
    pub lint_levels: LintLevels,
    /// The build time for `.DATE` and `.TIME`, in seconds since 1970. If `None`, both write blanks.
    pub build_time: Option<u64>,
    /// Whether to record what a listing needs.
    pub listing: bool,
    /// Whether modules contain a line table (which source line produced which bytes).
    pub lines: bool,
    /// Whether to record definitions and uses of names.
    pub references: bool,
    /// Translates statements of other dialects, for suggestions in messages.
    pub translate: Option<ForeignTranslator>,
}

impl Options {
    /// Returns the options for a program whose first source is `path`: one named `*.z80` is in
    /// Zilog's notation, in which all characters of a symbol are significant.
    #[must_use]
    pub fn for_source(mut self, path: &Path) -> Self {
        if path.extension().is_some_and(|one| one.eq_ignore_ascii_case("z80")) {
            self.notation = Notation::Zilog;
        }
        self.long_symbols |= self.notation == Notation::Zilog;
        self
    }
}

/// The notation of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notation {
    /// TDL's, as ZASM 2.21 reads it.
    #[default]
    Tdl,
    /// TDL's, as its successor PASM 1.02 reads it.
    Pasm,
    /// Zilog's mnemonics with the directives of M80 and pasmo.
    Zilog,
}

/// The processor that runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cpu {
    /// The Z80.
    Z80,
    /// The Z180 and HD64180, which trap undefined opcodes.
    Z180,
}

/// A reply to a console prompt of the source, as the keys that would be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleReply {
    /// The symbol to reply for. If `None`, replies to the next prompt.
    pub name: Option<String>,
    /// The keys, in order.
    pub keys: String,
}
