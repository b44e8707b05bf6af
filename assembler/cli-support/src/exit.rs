//! The exit codes of all programs, and failures that carry one.

use std::process::ExitCode;

use crate::text::tell;

/// The thing under test is wrong: a failed verify, a wrong residue.
pub const WRONG: u8 = 1;
/// The command line is.
pub const USAGE: u8 = 2;
/// Port, board or file failed.
pub const RIG: u8 = 3;
/// Nothing was selected or found.
pub const NOTHING: u8 = 4;
/// Some of what was asked for was left out, or went well only sometimes.
pub const INCOMPLETE: u8 = 5;
/// A bug of the program.
pub const BUG: u8 = 70;
/// The user stopped it.
pub const INTERRUPTED: u8 = 130;

/// The outcome of a command: its exit code, or a failure.
pub type Outcome = Result<u8, Failure>;

/// Returns the exit code of an outcome; a failure is written to standard error after the program's
/// name.
#[must_use]
pub fn conclude(program: &str, outcome: Outcome) -> ExitCode {
    let code = outcome.unwrap_or_else(|failure| {
        tell(format!("{program}: {}", failure.message));
        failure.code
    });
    ExitCode::from(code)
}

/// A failure with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// One of the codes above.
    pub code: u8,
    /// The event, its place, and a suggestion.
    pub message: String,
}

impl Failure {
    /// A failure with a message.
    pub fn new(code: u8, message: impl ToString) -> Self {
        Self { code, message: message.to_string() }
    }
}
