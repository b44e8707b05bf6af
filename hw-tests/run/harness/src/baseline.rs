//! Reads a baseline: the results file or `report.json` of an earlier run.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::read_limited;
use cli_support::text::Escape;

use crate::report::{MAX_REPORT_BYTES, REPORT_PREFIX, parse_report};
use crate::results::{RESULTS_MAGIC, Record, RecordReader};
use crate::runner::Baseline;
use crate::suite::Suite;

/// Returns the error that a baseline has wrong content.
fn wrong(code: u8, path: &Path, problem: impl Display) -> CommandError {
    CommandError::new(code, format!("the baseline {} {problem}", path.escaped()))
}

fn unreadable(path: &Path, error: io::Error) -> CommandError {
    CommandError::new(ENVIRONMENT, format!("can't read the baseline {}: {error}", path.escaped()))
}

/// Reads the results file or report of an earlier run, of a program with this behaviour.
///
/// # Errors
/// Returns an error if the file can't be read or is neither, or if it is of another behaviour.
pub fn read<S: Suite>(path: &Path, behaviour: &str) -> Result<Baseline, CommandError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let problem = "does not exist; it is the report.json or results file of an earlier run";
            wrong(USAGE, path, problem)
        }
        _ => unreadable(path, error),
    })?;
    let baseline = parse::<S>(path, BufReader::new(file))?;
    if baseline.behaviour != behaviour {
        let found = baseline.behaviour.escaped();
        let problem =
            format!("is of --behaviour {found}, and this run is of --behaviour {behaviour}");
        return Err(wrong(USAGE, path, problem));
    }
    Ok(baseline)
}

fn parse<S: Suite>(path: &Path, mut source: impl BufRead) -> Result<Baseline, CommandError> {
    let unreadable = |error| unreadable(path, error);
    let mut baseline = Baseline::for_file(path);
    let start = source.fill_buf().map_err(unreadable)?;
    if start.starts_with(RESULTS_MAGIC) {
        let mut records = RecordReader::new(path, source);
        let damaged = |error| CommandError::new(ENVIRONMENT, format!("the baseline {error}"));
        while let Some(record) = records.next_record::<S>().map_err(damaged)? {
            match record {
                Record::Head(head) => baseline.behaviour = head.behaviour,
                Record::Case(result) => baseline.add(*result),
                Record::Ready(_) | Record::Progress(_) | Record::End(_) => {}
            }
        }
    } else if start.starts_with(REPORT_PREFIX) {
        let bytes = read_limited(source, MAX_REPORT_BYTES).map_err(unreadable)?;
        let invalid = |problem| {
            CommandError::new(ENVIRONMENT, format!("the baseline {}: {problem}", path.escaped()))
        };
        let report = parse_report::<S>(&bytes).map_err(invalid)?;
        baseline.behaviour = report.run.behaviour;
        report.cases.into_iter().for_each(|result| baseline.add(result));
    } else {
        let problem = "is neither a results file (--results) nor a report.json (--report-dir)";
        return Err(wrong(USAGE, path, problem));
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
            assert!(error.message.contains("is neither a results file"), "{error:?}");
        }
        for bytes in [&b"{\"schema\":2}"[..], b"{\"schema\":1}", b"{\"schema\":1,"] {
            let error = parse::<TestSuite>(path, bytes).expect_err("corrupted");
            assert!(error.message.starts_with("the baseline some: "), "{error:?}");
        }
        let torn = b"{\"head\":{\"results\":1,\"program\":\"x\"}}\n";
        let error = parse::<TestSuite>(path, &torn[..]).expect_err("a torn line");
        assert!(error.message.starts_with("the baseline some:1: a damaged line"), "{error:?}");
    }
}
