//! Options of a conversion.

use std::path::PathBuf;

use super::target::Target;

/// Dialects of Z80 source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// TDL's mnemonics and directives, as `tdlasm asm` takes them.
    Tdl,
    /// Zilog's mnemonics, with the directives common to pasmo, z80asm and GNU as.
    Zilog,
}

impl Dialect {
    pub(super) fn opposite(self) -> Self {
        match self {
            Dialect::Tdl => Dialect::Zilog,
            Dialect::Zilog => Dialect::Tdl,
        }
    }
}

/// Options of a conversion.
#[derive(Debug, Clone)]
pub struct Options {
    /// The dialect to write; the source is in the other one.
    pub to: Dialect,
    /// The assembler that takes Zilog's mnemonics; `None` for what all have in common.
    pub target: Option<Target>,
    /// Whether all letters of TDL's symbols count, not the first six only.
    pub long_symbols: bool,
    /// Folders to look for inserted files in, besides the folder of the file that names them.
    pub include_dirs: Vec<PathBuf>,
}

impl Options {
    /// Conversion to a dialect, with six letters of a symbol counting.
    pub fn new(to: Dialect) -> Self {
        Self { to, target: None, long_symbols: false, include_dirs: Vec::new() }
    }
}
