//! Output of commands.

use crate::exit::{BUG, Failure, RIG};
use crate::text;
use serde::Serialize;

/// Prints text; hidden characters in it are escaped. A reader that has had enough is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    text::print(text)
        .map_err(|error| Failure::new(RIG, format!("can't write to standard output: {error}")))
}

/// Returns a number and the noun that it counts.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Ends a list of findings with their counts: a last line of JSON, or a summary for people.
pub fn print_total<C: Serialize>(
    json: bool,
    counts: &C,
    summary: impl FnOnce(&C) -> String,
) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Total<'a, C> {
        counts: &'a C,
    }
    if json { print(&json_line(&Total { counts })?) } else { print(&summary(counts)) }
}

/// Returns a value as one line of JSON, in which hidden characters are escaped as JSON does it.
pub fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string(value).map_err(|error| Failure::new(BUG, error))?;
    Ok(text::visible_json(&json).into_owned() + "\n")
}
