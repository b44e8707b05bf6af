//! Errors as reported to the page.

use std::fmt::Display;

use chess_rules::FenError;
use cli_support::exit::CommandError;
use serde::Serialize;

/// Error returned for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PageError {
    /// The problem and what to do, as the programs print it.
    pub message: String,
    /// The file with the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl PageError {
    /// Creates an error without a location.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), ..Self::default() }
    }
}

impl From<FenError> for PageError {
    fn from(error: FenError) -> Self {
        let column = error.column.and_then(|column| u32::try_from(column).ok());
        Self { column, ..Self::new(error) }
    }
}

impl From<CommandError> for PageError {
    fn from(failure: CommandError) -> Self {
        Self::new(failure.message)
    }
}

impl From<firmware::build::BuildError> for PageError {
    /// A build fails by the evaluator's files, which the page's editor has without their folder.
    fn from(error: firmware::build::BuildError) -> Self {
        Self::new(error.to_string().replace(firmware::BUILT_IN_ROOT, ""))
    }
}

impl From<hil_harness::live::SetupError> for PageError {
    fn from(error: hil_harness::live::SetupError) -> Self {
        Self::new(error)
    }
}
