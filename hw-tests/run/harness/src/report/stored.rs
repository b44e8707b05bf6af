//! Reads `report.json` files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::read_limited;
use cli_support::text::Escape;
use serde::Deserialize;

use super::{Report, SCHEMA_VERSION};
use crate::suite::Suite;

/// The largest report that is read, in bytes.
pub(crate) const MAX_REPORT_BYTES: u64 = 1 << 30;
/// The first bytes of `report.json`.
pub(crate) const REPORT_PREFIX: &[u8] = b"{\"schema\":";

/// Returns the error that a report can't be read.
fn unreadable(path: &Path, error: io::Error) -> CommandError {
    CommandError::new(ENVIRONMENT, format!("can't read the report {}: {error}", path.escaped()))
}

/// Returns the error that a report has wrong content.
fn invalid(path: &Path, problem: &str) -> CommandError {
    let message = format!("the report {}: {}", path.escaped(), problem.escaped());
    CommandError::new(ENVIRONMENT, message)
}

/// A `report.json` of any suite.
#[derive(Debug, Clone)]
pub struct StoredReport {
    /// Path of the file.
    pub path: PathBuf,
    bytes: Vec<u8>,
    head: ReportHead,
}

/// What reports of all suites have in common.
#[derive(Debug, Clone, Deserialize)]
struct ReportHead {
    schema: u32,
    #[serde(default)]
    values: String,
}

impl StoredReport {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file can't be read or is no report of this version.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let failed = |error| unreadable(path, error);
        let file = File::open(path).map_err(failed)?;
        let bytes = read_limited(file, MAX_REPORT_BYTES).map_err(failed)?;
        if !bytes.starts_with(REPORT_PREFIX) {
            let problem = format!("{} is not a report.json (--report-dir)", path.escaped());
            return Err(CommandError::new(USAGE, problem));
        }
        let head = parse_head(&bytes).map_err(|why| invalid(path, &why))?;
        Ok(Self { path: path.to_owned(), bytes, head })
    }

    /// Returns `true` if a file begins as a report does.
    ///
    /// # Errors
    /// Returns an error if it can't be read.
    pub fn is_at(path: &Path) -> Result<bool, CommandError> {
        let mut start = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(REPORT_PREFIX.len() as u64).read_to_end(&mut start));
        read.map(|_| start == REPORT_PREFIX).map_err(|error| unreadable(path, error))
    }

    /// Returns `true` if the report is of this suite, by what it counts.
    pub fn is_of<S: Suite>(&self) -> bool {
        self.head.values == S::VALUE_NOUN
    }

    /// Returns the report.
    ///
    /// # Errors
    /// Returns an error if it is of another suite, or has a wrong field.
    pub fn parse<S: Suite>(self) -> Result<Report<S>, CommandError> {
        let Self { path, bytes, .. } = self;
        serde_json::from_slice(&bytes).map_err(|why| invalid(&path, &why.to_string()))
    }
}

/// Parses the fields of a `report.json` by which its version and suite are recognised.
fn parse_head(bytes: &[u8]) -> Result<ReportHead, String> {
    let head: ReportHead = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if head.schema != SCHEMA_VERSION {
        return Err(format!("unsupported schema {}: expected {SCHEMA_VERSION}", head.schema));
    }
    Ok(head)
}

/// Parses a `report.json` of this version and suite.
pub(crate) fn parse_report<S: Suite>(bytes: &[u8]) -> Result<Report<S>, String> {
    parse_head(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}
