//! Reads a baseline: the results file or `report.json` of an earlier run.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::read_limited;
use cli_support::text::Escape;

use crate::report::{MAX_REPORT_BYTES, REPORT_PREFIX, parse_report};
use crate::results::{RESULTS_MAGIC, Record, RecordReader, ResultsError};
use crate::runner::Baseline;
use crate::suite::Suite;

/// Error returned if a baseline can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// There is no such file.
    #[error(
        "the baseline {} does not exist; it is the report.json or results file of an earlier run",
        .0.escaped()
    )]
    Missing(PathBuf),
    /// The file can't be read.
    #[error("can't read the baseline {}: {}", .0.escaped(), .1)]
    Unreadable(PathBuf, io::Error),
    /// The file is neither a results file nor a report.
    #[error(
        "the baseline {} is neither a results file (--results) nor a report.json (--report-dir)",
        .0.escaped()
    )]
    UnknownFormat(PathBuf),
    /// The results file is corrupted.
    #[error("the baseline {}", .0)]
    Results(ResultsError),
    /// The report is corrupted, or of another version.
    #[error("the baseline {}: {}", .0.escaped(), .1)]
    Report(PathBuf, String),
    /// The baseline is of another behaviour of the program under test.
    #[error(
        "the baseline {} is of --behaviour {}, and this run is of --behaviour {}",
        .0.escaped(), .1.escaped(), .2
    )]
    OtherBehaviour(PathBuf, String, String),
}

impl From<BaselineError> for CommandError {
    fn from(error: BaselineError) -> Self {
        use BaselineError::{Missing, OtherBehaviour, UnknownFormat};
        let is_usage = matches!(error, Missing(_) | UnknownFormat(_) | OtherBehaviour(..));
        Self::new(if is_usage { USAGE } else { ENVIRONMENT }, error)
    }
}

/// Reads a results file or a `report.json`.
///
/// # Errors
/// Returns an error if the file can't be read, is neither, is corrupted, or is of another
/// behaviour.
pub fn read<S: Suite>(path: &Path, behaviour: &str) -> Result<Baseline, BaselineError> {
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BaselineError::Missing(path.to_owned()),
        _ => BaselineError::Unreadable(path.to_owned(), error),
    })?;
    let baseline = parse::<S>(path, BufReader::new(file))?;
    if baseline.behaviour != behaviour {
        let (path, behaviour) = (path.to_owned(), behaviour.to_owned());
        return Err(BaselineError::OtherBehaviour(path, baseline.behaviour, behaviour));
    }
    Ok(baseline)
}

fn parse<S: Suite>(path: &Path, mut source: impl BufRead) -> Result<Baseline, BaselineError> {
    let unreadable = |error| BaselineError::Unreadable(path.to_owned(), error);
    let mut baseline = Baseline::for_file(path);
    let start = source.fill_buf().map_err(unreadable)?;
    if start.starts_with(RESULTS_MAGIC) {
        let mut records = RecordReader::new(path, source);
        while let Some(record) = records.next_record::<S>().map_err(BaselineError::Results)? {
            match record {
                Record::Head(head) => baseline.behaviour = head.behaviour,
                Record::Case(result) => baseline.add(*result),
                Record::Ready(_) | Record::Progress(_) | Record::End(_) => {}
            }
        }
    } else if start.starts_with(REPORT_PREFIX) {
        let bytes = read_limited(source, MAX_REPORT_BYTES).map_err(unreadable)?;
        let failed = |problem| BaselineError::Report(path.to_owned(), problem);
        let report = parse_report::<S>(&bytes).map_err(failed)?;
        baseline.behaviour = report.run.behaviour;
        report.cases.into_iter().for_each(|result| baseline.add(result));
    } else {
        return Err(BaselineError::UnknownFormat(path.to_owned()));
    }
    Ok(baseline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::TestSuite;

    #[test]
    fn other_files_are_rejected() {
        let path = Path::new("some");
        for bytes in [&b""[..], b"{}", b"<testsuites name=\"hw-tests\">"] {
            let error = parse::<TestSuite>(path, bytes).expect_err("unknown format");
            assert!(matches!(error, BaselineError::UnknownFormat(_)), "{error}");
        }
        for bytes in [&b"{\"schema\":2}"[..], b"{\"schema\":1}", b"{\"schema\":1,"] {
            let error = parse::<TestSuite>(path, bytes).expect_err("corrupted");
            assert!(matches!(error, BaselineError::Report(..)), "{error}");
        }
        let torn = b"{\"head\":{\"results\":1,\"program\":\"x\"}}\n";
        assert!(matches!(parse::<TestSuite>(path, &torn[..]), Err(BaselineError::Results(_))));
    }
}
