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

/// Error returned if a report can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error("can't read the report {}: {}", .0.escaped(), .1)]
    Io(PathBuf, io::Error),
    /// The file is not a `report.json`.
    #[error("{} is not a report.json (--report-dir)", .0.escaped())]
    NotAReport(PathBuf),
    /// The report is corrupted, or of another version or suite.
    #[error("the report {}: {}", .0.escaped(), .1.escaped())]
    Invalid(PathBuf, String),
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        let code = if matches!(error, ReadError::NotAReport(_)) { USAGE } else { ENVIRONMENT };
        Self::new(code, error)
    }
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
    /// Returns [`ReadError`] if the file can't be read or is no report of this version.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let failed = |error| ReadError::Io(path.to_owned(), error);
        let file = File::open(path).map_err(failed)?;
        let bytes = read_limited(file, MAX_REPORT_BYTES).map_err(failed)?;
        if !bytes.starts_with(REPORT_PREFIX) {
            return Err(ReadError::NotAReport(path.to_owned()));
        }
        let head = parse_head(&bytes).map_err(|why| ReadError::Invalid(path.to_owned(), why))?;
        Ok(Self { path: path.to_owned(), bytes, head })
    }

    /// Returns `true` if a file begins as a report does.
    ///
    /// # Errors
    /// Returns [`ReadError::Io`] if it can't be read.
    pub fn is_at(path: &Path) -> Result<bool, ReadError> {
        let mut start = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(REPORT_PREFIX.len() as u64).read_to_end(&mut start));
        read.map(|_| start == REPORT_PREFIX).map_err(|error| ReadError::Io(path.into(), error))
    }

    /// Returns `true` if the report is of this suite, by what it counts.
    pub fn is_of<S: Suite>(&self) -> bool {
        self.head.values == S::VALUE_NOUN
    }

    /// Returns the report.
    ///
    /// # Errors
    /// Returns [`ReadError::Invalid`] if it is of another suite, or has a wrong field.
    pub fn parse<S: Suite>(self) -> Result<Report<S>, ReadError> {
        let Self { path, bytes, .. } = self;
        serde_json::from_slice(&bytes).map_err(|why| ReadError::Invalid(path, why.to_string()))
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
