//! Exit codes, shared by all programs, and errors that carry one.

use std::process::ExitCode;

use crate::text::{MessageKind, eprint_message, has_json_messages};

/// The thing under test is wrong, such as a failed verify or a wrong residue.
pub const FAILED: u8 = 1;
/// The command line is invalid.
pub const USAGE: u8 = 2;
/// A port, board or file failed, and not the thing under test.
pub const ENVIRONMENT: u8 = 3;
/// Nothing was selected or found.
pub const NOTHING_SELECTED: u8 = 4;
/// Part of the work was not done, or succeeded only sometimes.
pub const INCOMPLETE: u8 = 5;
/// A bug in the program.
pub const BUG: u8 = 70;
/// The user interrupted the program.
pub const INTERRUPTED: u8 = 130;

/// The result of a command: its exit code, or an error with one.
pub type CommandResult = Result<u8, CommandError>;

/// Returns the exit code of a result; writes an error to standard error, after the program's name.
pub fn report_result(program: &str, result: CommandResult) -> ExitCode {
    let code = result.unwrap_or_else(|error| {
        match has_json_messages() {
            true => MessageKind::Error.eprint(None, error.message),
            false => eprint_message(format!("{program}: {}", error.message)),
        }
        error.code
    });
    ExitCode::from(code)
}

/// An error message with the program's exit code.
#[derive(Debug)]
pub struct CommandError {
    /// One of the constants of this module.
    pub code: u8,
    /// What happened, where, and what to do.
    pub message: String,
}

impl CommandError {
    /// Creates an error.
    pub fn new(code: u8, message: impl ToString) -> Self {
        Self { code, message: message.to_string() }
    }
}
