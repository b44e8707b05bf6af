//! Errors of the readers.

use tdlasm::image::HexError;
use tdlasm::link::LinkErrors;
use tdlasm::object::ObjectError;

/// The maximum number of characters of a line in a message.
const SHOWN: usize = 60;

/// A line that the format of its file does not allow. The message does not contain the number of the
/// line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not {expected}",
    text.chars().take(SHOWN).collect::<String>().escape_debug()
)]
pub struct LineError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What was expected.
    pub expected: &'static str,
}

/// Error returned by [`read_debug_info`](crate::read_debug_info).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DebugInfoError {
    /// A line is not of the format that the file has by its other lines.
    #[error("{0}")]
    Line(LineError),
    /// The addresses of the file are not final, or it is no file of symbols: what it is, and what to
    /// give instead.
    #[error("{what}: {instead}")]
    Unusable {
        /// What the file is.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// The file has neither symbols nor lines.
    #[error("the file has no symbols")]
    Empty,
    /// The file is an ELF file that is damaged, or for another processor.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl ProgramError {
    /// Returns `true` if the file is right, but not a program, or not one by itself: the user has to
    /// give another file, or its address.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unusable { .. } | Self::Text | Self::Unlinked | Self::NoOrigin)
    }
}

impl DebugInfoError {
    /// Returns the message with the file, and with the line if it is of one: `game.sym:5: ...`.
    pub fn in_file(&self, file: &str) -> String {
        match self {
            Self::Line(line) => format!("{file}:{}: {line}", line.line),
            _ => format!("{file}: {self}"),
        }
    }
}

/// Error returned by [`read_program`](crate::read_program).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A record of Intel HEX or S-records is wrong.
    #[error(transparent)]
    Records(#[from] HexError),
    /// An ELF file is damaged, or for another processor.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A COFF file is damaged: the offset in the file, and what is there.
    #[error("not a readable COFF file: {1} at offset {0}")]
    Coff(usize, &'static str),
    /// The modules of an object do not link.
    #[error("the object does not link by itself: {0}")]
    Link(LinkErrors),
    /// The file is an object, and no origin was given to link it at.
    #[error("an object file: link it first (`tdlasm link`), or give the address to link it at")]
    Unlinked,
    /// The file is a binary, and no origin was given.
    #[error("a binary, which does not contain its address: give the origin")]
    NoOrigin,
    /// The file is a binary that is too long for its origin.
    #[error("{length} bytes from {origin:04X}H extend beyond FFFFH: give a lower origin")]
    TooLong {
        /// The number of bytes.
        length: usize,
        /// The origin.
        origin: u16,
    },
    /// The file is of a format that is no program: what it is, and what to give instead.
    #[error("{what}: {instead}")]
    Unusable {
        /// What the file is.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// The file is text, such as a source.
    #[error(
        "text, not a program: give the assembled file, or run a source (.asm) with `rcflash run`"
    )]
    Text,
    /// The file has no bytes.
    #[error("the program has no bytes")]
    Empty,
}
