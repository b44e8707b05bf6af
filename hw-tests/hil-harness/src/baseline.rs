//! Reads the earlier run against which a run is judged: a results file or `report.json`.

use std::io;
use std::path::{Path, PathBuf};

use cli_support::exit::{Failure, RIG, USAGE};
use cli_support::files::read_within;
use cli_support::text::Show;

use crate::report::{Report, SCHEMA};
use crate::results::{MARK, Record, ResultsError, read_records};
use crate::runner::Earlier;

/// The largest file that is read.
const LIMIT: u64 = 1 << 30;
/// The first bytes of `report.json`.
const REPORT_MARK: &[u8] = b"{\"schema\":";

/// Error returned for a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file can't be read.
    #[error("can't read the baseline {}: {}", .0.shown(), .1)]
    Unreadable(PathBuf, io::Error),
    /// It is neither a results file nor a report.
    #[error(
        "the baseline {} is neither a results file (--results) nor a report.json (--report-dir)",
        .0.shown()
    )]
    NotOurs(PathBuf),
    /// A results file is damaged.
    #[error("the baseline {}", .0)]
    Results(ResultsError),
    /// A report is damaged, or of another version.
    #[error("the baseline {}: {}", .0.shown(), .1)]
    Report(PathBuf, String),
    /// It is of an evaluator with another behaviour.
    #[error(
        "the baseline {} is of --behaviour {}, and this run is of --behaviour {}",
        .0.shown(), .1.shown(), .2
    )]
    OtherBehaviour(PathBuf, String, String),
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        use BaselineError::{NotOurs, OtherBehaviour};
        let is_usage = matches!(error, NotOurs(_) | OtherBehaviour(..));
        Self::new(if is_usage { USAGE } else { RIG }, error)
    }
}

/// Reads a results file or a `report.json`.
///
/// # Errors
/// It can't be read, is neither, is damaged, or is of another behaviour.
pub fn read(path: &Path, behaviour: &str) -> Result<Earlier, BaselineError> {
    let bytes = std::fs::File::open(path).and_then(|file| read_within(file, LIMIT));
    let bytes = bytes.map_err(|error| BaselineError::Unreadable(path.to_owned(), error))?;
    let earlier = parse(path, &bytes)?;
    if earlier.behaviour != behaviour {
        let there = earlier.behaviour;
        return Err(BaselineError::OtherBehaviour(path.to_owned(), there, behaviour.to_owned()));
    }
    Ok(earlier)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Earlier, BaselineError> {
    let mut earlier = Earlier::of(path);
    if bytes.starts_with(MARK) {
        for record in read_records(path, bytes).map_err(BaselineError::Results)? {
            match record {
                Record::Head(head) => earlier.behaviour = head.behaviour,
                Record::Case(result) => earlier.add(*result),
                Record::Ready(_) | Record::Passed(_) | Record::End(_) => {}
            }
        }
    } else if bytes.starts_with(REPORT_MARK) {
        let failed = |problem| BaselineError::Report(path.to_owned(), problem);
        let report = report(bytes).map_err(failed)?;
        earlier.behaviour = report.run.behaviour;
        report.cases.into_iter().for_each(|result| earlier.add(result));
    } else {
        return Err(BaselineError::NotOurs(path.to_owned()));
    }
    Ok(earlier)
}

/// Reads a `report.json` of this version.
fn report(bytes: &[u8]) -> Result<Report, String> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if value["schema"] != SCHEMA {
        return Err(format!("its schema is {}, and this program reads {SCHEMA}", value["schema"]));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        let path = Path::new("some");
        for bytes in [&b""[..], b"{}", b"<testsuites name=\"hw-tests\">"] {
            let error = parse(path, bytes).expect_err("it is neither");
            assert!(matches!(error, BaselineError::NotOurs(_)), "{error}");
        }
        for bytes in [&b"{\"schema\":2}"[..], b"{\"schema\":1}", b"{\"schema\":1,"] {
            let error = parse(path, bytes).expect_err("it is damaged");
            assert!(matches!(error, BaselineError::Report(..)), "{error}");
        }
        let torn = b"{\"head\":{\"results\":2,\"program\":\"x\"}}\n";
        assert!(matches!(parse(path, torn), Err(BaselineError::Results(_))));
    }
}
