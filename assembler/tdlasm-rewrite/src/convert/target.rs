//! Assemblers for Zilog's mnemonics, and the differences between them.
//!
//! Determined by running pasmo 0.5, z80asm 1.8 and GNU as 2.40. For sjasmplus and zasm, which
//! Debian lacks, the rules are those that all three share, without linkage.

use tdlasm::syntax::expr::BinaryOp;

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
    /// warning.
    pub(super) fn looks_ahead(self) -> bool {
        self != Self::Z80asm
    }

    /// Whether its output has no gaps, so that a second ORG moves addresses but not bytes.
    pub(super) fn is_gapless(self) -> bool {
        self == Self::Z80asm
    }

    /// Whether modules can share symbols.
    pub(super) fn links(self) -> bool {
        self == Self::Gas
    }

    pub(super) fn takes_undocumented(self) -> bool {
        matches!(self, Self::Z80asm | Self::Sjasmplus | Self::Zasm)
    }
}
