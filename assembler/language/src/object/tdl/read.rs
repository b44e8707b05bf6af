//! TDL object files to modules.

use super::gather::Gatherer;
use super::record::{Form, Input};
use crate::module::Module;

/// Error returned by [`read_tdl`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {record} (from byte {offset} on): {problem}")]
pub struct TdlError {
    /// The record, counted from 1 through the whole file.
    pub record: usize,
    /// The offset of the record in the file.
    pub offset: usize,
    /// The fault.
    pub problem: TdlProblem,
}

/// The ways in which a record can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdlProblem {
    /// A character that begins no record.
    #[error("{} begins no record of a TDL object", shown(*.0))]
    Kind(u8),
    /// The file ends within the record.
    #[error("the file ends within it")]
    Cut,
    /// A character where a hexadecimal digit should be.
    #[error("{} is no hexadecimal digit", shown(*.0))]
    Digit(u8),
    /// A character that no symbol has.
    #[error("{} stands in a name", shown(*.0))]
    Name(u8),
    /// A checksum that does not fit the fields.
    #[error(
        "its checksum is {found:02X}H, but its fields give {expected:02X}H; copy the file anew"
    )]
    Checksum {
        /// The checksum in the file.
        found: u8,
        /// The checksum of the fields.
        expected: u8,
    },
    /// Control bits for more bytes than there are.
    #[error("its control bits ask for more bytes than it has")]
    Stream,
    /// Code that would go past the last address.
    #[error("its code goes past FFFFH")]
    Long,
    /// A base that no record before declared.
    #[error("relocation base {0} is not declared before")]
    UnknownBase(u8),
    /// A base that is fixed, or declared for the second time.
    #[error("relocation base {0} cannot be declared here")]
    Base(u8),
    /// Code for an external area, of which modules keep only the size.
    #[error("it has code for the shared area {0}, which can only be reserved")]
    Shared(String),
    /// A symbol in an external area, which modules cannot express.
    #[error("{0} is a place in a shared area, which cannot be linked")]
    InShared(String),
    /// A symbol without a name.
    #[error("a symbol has no name")]
    NoName,
    /// A second definition or declaration.
    #[error("{0} is declared or defined twice")]
    Twice(String),
    /// An entry point without a value.
    #[error("no record before gives the entry point {0} a value")]
    Entry(String),
    /// A record that belongs before the code of its module, or behind the end.
    #[error("the module before has no end record")]
    NotEnded,
    /// Intel HEX in the place of code.
    #[error(
        "the code is Intel HEX (.PABS), which does not say what its words move with; \
         assemble with .PREL"
    )]
    Hex,
    /// A file without modules.
    #[error("there is no module in the file")]
    Empty,
}

fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte {byte:02X}H")
    }
}

/// Whether a file begins as TDL objects do: with a record, behind a line end or the leader of a
/// paper tape.
pub(crate) fn looks_like_tdl(data: &[u8]) -> bool {
    data.iter()
        .find(|byte| !b"\r\n\0".contains(byte))
        .is_some_and(|first| b"!+@\\#&;".contains(first))
}

/// Reads the modules of a TDL object file, in digits or plain bytes. A module that has no name gets
/// `name`.
///
/// # Errors
/// The first record that is damaged, contradicts another, or has what a module cannot hold.
pub fn read_tdl(data: &[u8], name: &str) -> Result<Vec<Module>, TdlError> {
    let mut input = Input::new(data, form(data));
    let mut gatherer = Gatherer::new(name);
    let mut record = 1;
    while input.find_record() {
        let offset = input.at;
        let read = input.record();
        let taken = read.and_then(|found| found.map_or(Ok(()), |one| gatherer.take(one)));
        taken.map_err(|problem| TdlError { record, offset, problem })?;
        record += 1;
    }
    let offset = input.at;
    gatherer.finish().map_err(|problem| TdlError { record, offset, problem })
}

/// Digits if a line end comes first, or a record in digits, be its checksum right or wrong.
fn form(data: &[u8]) -> Form {
    let mut input = Input::new(data, Form::Hex);
    let line_end = matches!(data.first(), Some(b'\r' | b'\n'));
    let in_digits = |read| matches!(read, Ok(_) | Err(TdlProblem::Checksum { .. }));
    if line_end || (input.find_record() && in_digits(input.record())) {
        Form::Hex
    } else {
        Form::Binary
    }
}
