//! Errors as the page is told them.

use std::fmt::Display;

use chess_rules::FenError;
use cli_support::exit::Failure;
use serde::Serialize;

/// Error returned for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The problem and what to do, as the programs print it.
    pub message: String,
    /// The file at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Fault {
    /// A fault without a place.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), ..Self::default() }
    }
}

impl From<FenError> for Fault {
    fn from(error: FenError) -> Self {
        let column = error.column.and_then(|column| u32::try_from(column).ok());
        Self { column, ..Self::new(error) }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::new(failure.message)
    }
}

impl From<firmware::build::BuildError> for Fault {
    fn from(error: firmware::build::BuildError) -> Self {
        Self::new(error)
    }
}

impl From<hil_harness::live::SetupError> for Fault {
    fn from(error: hil_harness::live::SetupError) -> Self {
        Self::new(error)
    }
}
