//! Text and JSON on standard output.

use std::borrow::Cow;

use crate::exit::{BUG, CommandError, ENVIRONMENT};
use crate::text;
use serde::Serialize;

/// Prints text with control characters escaped. A closed pipe is not an error.
///
/// # Errors
/// Returns an error with exit code 3 if standard output cannot be written.
pub fn print(text: &str) -> Result<(), CommandError> {
    print_bytes(text::escape_lines(text).as_bytes())
}

/// Prints bytes unchanged. A closed pipe is not an error.
///
/// # Errors
/// As [`print()`].
pub fn print_bytes(bytes: &[u8]) -> Result<(), CommandError> {
    text::print_bytes(bytes).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("cannot write to standard output: {error}"))
    })
}

/// Returns a count with its noun, in the plural unless the count is 1.
pub fn pluralize(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Prints the counts that follow a list of findings, as a line of JSON or as the text of `summary`.
///
/// # Errors
/// As [`print()`].
pub fn print_totals<C: Serialize>(
    json: bool,
    counts: &C,
    summary: impl FnOnce(&C) -> String,
) -> Result<(), CommandError> {
    #[derive(Serialize)]
    struct Total<'a, C> {
        counts: &'a C,
    }
    if json { print(&json_line(&Total { counts })?) } else { print(&summary(counts)) }
}

/// Returns a value as one line of JSON, with control characters in JSON escapes.
///
/// # Errors
/// Returns an error with exit code 70 if the value cannot be serialized.
pub fn json_line(value: &impl Serialize) -> Result<String, CommandError> {
    let mut json = serde_json::to_string(value).map_err(|error| CommandError::new(BUG, error))?;
    if let Cow::Owned(safe) = text::escape_json(&json) {
        json = safe;
    }
    json.push('\n');
    Ok(json)
}
