//! Options of a conversion: dialects, and assemblers for Zilog's mnemonics with the differences
//! between them.
//!
//! Determined by running pasmo 0.5, z80asm 1.8, GNU as 2.40 and SDCC's sdasz80 4.2. For sjasmplus
//! and zasm, which Debian lacks, the rules are those that the first three share, without linkage.

use std::path::PathBuf;

use tdlasm::syntax::expr::BinaryOp;

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

/// An assembler that a source is converted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Pasmo.
    Pasmo,
    /// Debian's z80asm.
    Z80asm,
    /// GNU as for the Z80.
    Gas,
    /// SjASMPlus.
    Sjasmplus,
    /// The zasm of Megatokio.
    Zasm,
    /// SDCC's assembler.
    Sdasz80,
}

impl Target {
    /// Returns the name of the program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pasmo => "pasmo",
            Self::Z80asm => "z80asm",
            Self::Gas => "GNU as",
            Self::Sjasmplus => "sjasmplus",
            Self::Zasm => "zasm",
            Self::Sdasz80 => "sdasz80",
        }
    }

    /// Returns the spelling of an operator where it is not the usual one. In pasmo, `&` begins a
    /// hexadecimal number, and `^` and `%` are not operators.
    pub(super) fn sign(self, op: BinaryOp) -> Option<&'static str> {
        match (self, op) {
            (Self::Pasmo, BinaryOp::And) => Some(" AND "),
            (Self::Pasmo, BinaryOp::Xor) => Some(" XOR "),
            (Self::Pasmo, BinaryOp::Or) => Some(" OR "),
            (Self::Pasmo, BinaryOp::Remainder) => Some(" MOD "),
            _ => None,
        }
    }

    /// Whether it has an operator for the remainder of a division.
    pub(super) fn has_remainder(self) -> bool {
        self != Self::Z80asm
    }

    /// Whether a symbol can be given another value.
    pub(super) fn has_variables(self) -> bool {
        self != Self::Z80asm
    }

    /// Returns `true` if EQU may refer to later symbols. z80asm evaluates them as 0 without a
    /// warning, and sdasz80 gives a chain of four of them a wrong value.
    pub(super) fn looks_ahead(self) -> bool {
        !matches!(self, Self::Z80asm | Self::Sdasz80)
    }

    /// Returns `true` if it takes Zilog's mnemonics, but `#5` for a number, `5(IX)`, `0x1F` and
    /// directives that begin with a period.
    pub(super) fn is_asxxxx(self) -> bool {
        self == Self::Sdasz80
    }

    /// Whether its output has no gaps, so that a second ORG moves addresses but not bytes.
    pub(super) fn is_gapless(self) -> bool {
        self == Self::Z80asm
    }

    /// Whether modules can share symbols.
    pub(super) fn links(self) -> bool {
        matches!(self, Self::Gas | Self::Sdasz80)
    }

    pub(super) fn takes_undocumented(self) -> bool {
        matches!(self, Self::Z80asm | Self::Sjasmplus | Self::Zasm)
    }
}
