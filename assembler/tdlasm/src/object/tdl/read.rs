//! Reads TDL object files.

use super::module_builder::ModuleBuilder;
use super::record::{Encoding, Input};
use crate::module::Module;

/// Error returned by [`read_tdl`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {record} (from byte {offset} on): {problem}")]
pub struct TdlError {
    /// The number of the record in the file, from 1.
    pub record: usize,
    /// The offset of the record in the file.
    pub offset: usize,
    /// The cause, as a sentence.
    pub problem: String,
}

/// Returns `true` if a file begins like a TDL object, perhaps after the leader of a paper tape.
pub(crate) fn looks_like_tdl(data: &[u8]) -> bool {
    data.iter()
        .find(|byte| !b"\r\n\0".contains(byte))
        .is_some_and(|first| b"!+@\\#&;".contains(first))
}

/// Reads the modules of a TDL object file, in digits or plain bytes. `name` is the name of modules
/// that have none.
///
/// # Errors
///
/// Returns [`TdlError`] for the first record that is damaged, contradicts another, or contains what
/// a module cannot.
pub fn read_tdl(data: &[u8], name: &str) -> Result<Vec<Module>, TdlError> {
    let mut input = Input::new(data, encoding(data));
    let mut builder = ModuleBuilder::new(name);
    let mut record = 1;
    while input.find_record() {
        let offset = input.at;
        let taken = input.record().and_then(|found| builder.take(found));
        taken.map_err(|problem| TdlError { record, offset, problem })?;
        record += 1;
    }
    let offset = input.at;
    builder.finish().map_err(|problem| TdlError { record, offset, problem })
}

/// Returns the encoding of a file: digits if it begins with a line end, or with a record in digits,
/// whether its checksum is right or wrong.
fn encoding(data: &[u8]) -> Encoding {
    let mut input = Input::new(data, Encoding::Hex);
    let line_end = matches!(data.first(), Some(b'\r' | b'\n'));
    if line_end || (input.find_record() && input.fields().is_ok() && input.byte().is_ok()) {
        Encoding::Hex
    } else {
        Encoding::Binary
    }
}
