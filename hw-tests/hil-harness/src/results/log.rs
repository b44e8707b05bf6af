//! Writes and resumes results files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cli_support::text::Escape;
use rcflash_transport::time::{Duration, Instant};

use super::error::ResultsError;
use super::line::{decode_line, encode_line};
use super::{BoardReady, Record, RunEndRecord, RunHeader};
use crate::file_system::{FileSystem, LineAppender, PathKind, has_magic};
use crate::runner::{CaseResult, VerdictCounts};

/// Appending a line syncs the file if the last sync is longer ago.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// The first bytes of a results file.
pub(crate) const RESULTS_MAGIC: &[u8] = b"{\"head\":{\"results\":";
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A source of time, for intervals.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Appends records to a results file.
pub struct ResultsWriter {
    path: PathBuf,
    lines: LineAppender,
    /// The checksum of the last line.
    sum: u32,
    clock: Clock,
    last_sync: Instant,
    /// The boards recorded so far.
    ready: Vec<BoardReady>,
    /// Whether the run is on a fleet.
    has_many_boards: bool,
}

/// The complete lines of a file.
struct ParsedLines {
    records: Vec<Record>,
    length: u64,
    sum: u32,
}

impl ResultsWriter {
    /// Creates a file. An existing file is replaced only with `force`.
    ///
    /// # Errors
    /// Returns [`ResultsError`] if the path exists or the file can't be written.
    pub fn create(
        file_system: &dyn FileSystem,
        path: &Path,
        head: &RunHeader,
        force: bool,
        clock: Clock,
    ) -> Result<Self, ResultsError> {
        let failed = |error| ResultsError::from_io(path, error);
        let file = match file_system.path_kind(path).map_err(failed)? {
            PathKind::Missing => file_system.create(path).map_err(failed)?,
            PathKind::File(_) if force => {
                let mut file = file_system.open(path).map_err(failed)?;
                file.truncate(0).map_err(failed)?;
                file
            }
            PathKind::File(_) => return Err(ResultsError::Exists(path.to_owned())),
            PathKind::Directory | PathKind::Other => {
                return Err(ResultsError::NotAFile(path.to_owned()));
            }
        };
        let mut writer = Self::with_lines(path, LineAppender::new(file, 0), clock);
        let written = writer.write_header(head);
        if let Err(error) = written {
            // A file without its header would not be recognised, and would block the next run.
            drop(writer);
            let _ = file_system.remove_file(path);
            return Err(error);
        }
        Ok(writer)
    }

    /// Opens a file to continue it, or creates it. Also returns the results in it. A torn last line
    /// is removed; a file that is not of this run is not changed.
    ///
    /// # Errors
    /// Returns [`ResultsError`] if the file is not a results file, is of another run or has a
    /// damaged line, or if it can't be read or written.
    pub fn resume(
        file_system: &dyn FileSystem,
        path: &Path,
        head: &RunHeader,
        clock: Clock,
    ) -> Result<(Self, Vec<CaseResult>), ResultsError> {
        let failed = |error| ResultsError::from_io(path, error);
        match file_system.path_kind(path).map_err(failed)? {
            PathKind::Missing => {
                return Ok((Self::create(file_system, path, head, false, clock)?, Vec::new()));
            }
            PathKind::File(_) => {}
            PathKind::Directory | PathKind::Other => {
                return Err(ResultsError::NotAFile(path.to_owned()));
            }
        }
        let mut file = file_system.open(path).map_err(failed)?;
        // The file is read and compared before anything is written: a file of another run or of
        // another program must not be changed, not even its torn end.
        let bytes = file.read_all(MAX_FILE_BYTES).map_err(failed)?;
        let ParsedLines { records, length, sum } = parse_lines(path, &bytes)?;
        if let Some(Record::Head(found)) = records.first() {
            check_same_run(path, found, head)?;
        }
        let is_torn = bytes.len() as u64 > length;
        drop(bytes);
        if is_torn {
            file.truncate(length).map_err(failed)?;
        }
        let mut writer =
            Self { sum, ..Self::with_lines(path, LineAppender::new(file, length), clock) };
        // The earlier run ended within its first line, which was just removed.
        if records.is_empty() {
            writer.write_header(head)?;
        }
        Ok(writer.into_results(records))
    }

    fn with_lines(path: &Path, lines: LineAppender, clock: Clock) -> Self {
        let last_sync = clock();
        Self {
            path: path.to_owned(),
            lines,
            sum: 0,
            clock,
            last_sync,
            ready: Vec::new(),
            has_many_boards: false,
        }
    }

    fn write_header(&mut self, head: &RunHeader) -> Result<(), ResultsError> {
        self.has_many_boards = !head.boards.is_empty();
        self.write(&Record::Head(head.clone()))?;
        self.sync()
    }

    /// Takes over the boards and returns the results of the earlier runs.
    fn into_results(mut self, records: Vec<Record>) -> (Self, Vec<CaseResult>) {
        let mut results = Vec::new();
        for record in records {
            match record {
                Record::Ready(ready) => self.ready.push(ready),
                Record::Case(result) => results.push(*result),
                Record::Head(head) => self.has_many_boards = !head.boards.is_empty(),
                Record::Progress(_) | Record::End(_) => {}
            }
        }
        (self, results)
    }

    /// Records the board on which the cases run.
    ///
    /// # Errors
    /// Returns [`ResultsError::OtherRun`] if earlier results are of another application, or the
    /// error if the file can't be written.
    pub fn write_board(&mut self, ready: BoardReady) -> Result<(), ResultsError> {
        // In a fleet each board must have the application that it had before.
        let is_same = |before: &&BoardReady| !self.has_many_boards || before.board == ready.board;
        if let Some(before) = self.ready.iter().rev().find(is_same)
            && before.application != ready.application
        {
            let found = before.application.escaped();
            let expected = ready.application.escaped();
            return Err(ResultsError::OtherRun(
                self.path.clone(),
                "the application",
                found,
                expected,
            ));
        }
        self.write(&Record::Ready(ready))
    }

    /// Appends the result of a case.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn write_result(&mut self, result: &CaseResult) -> Result<(), ResultsError> {
        self.write(&Record::Case(Box::new(result.clone())))
    }

    /// Appends the counts of a soak run so far.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn write_progress(&mut self, counts: VerdictCounts) -> Result<(), ResultsError> {
        self.write(&Record::Progress(counts))
    }

    /// Appends the end and syncs the file.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn write_end(&mut self, end: &RunEndRecord) -> Result<(), ResultsError> {
        self.write(&Record::End(end.clone()))?;
        self.sync()
    }

    /// Appends a line, completely or not at all.
    fn write(&mut self, record: &Record) -> Result<(), ResultsError> {
        let (line, sum) =
            encode_line(record, self.sum).map_err(|error| self.failed(error.into()))?;
        self.lines.append(&line).map_err(|error| self.failed(error))?;
        self.sum = sum;
        let is_due = (self.clock)().saturating_duration_since(self.last_sync) >= SYNC_INTERVAL;
        if is_due { self.sync() } else { Ok(()) }
    }

    fn sync(&mut self) -> Result<(), ResultsError> {
        self.last_sync = (self.clock)();
        self.lines.sync().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> ResultsError {
        ResultsError::Io(self.path.clone(), error)
    }
}

/// Parses the complete lines of a results file.
///
/// # Errors
/// Returns [`ResultsError`] if it is not a results file or a line is damaged.
pub(crate) fn read_records(path: &Path, bytes: &[u8]) -> Result<Vec<Record>, ResultsError> {
    Ok(parse_lines(path, bytes)?.records)
}

/// Parses the complete lines of a results file. A last line without a line break, or the zeros that
/// a power cut can leave in its place, is ignored.
fn parse_lines(path: &Path, bytes: &[u8]) -> Result<ParsedLines, ResultsError> {
    if !has_magic(bytes, RESULTS_MAGIC) {
        return Err(ResultsError::NotAResultsFile(path.to_owned()));
    }
    let mut parsed = ParsedLines { records: Vec::new(), length: 0, sum: 0 };
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(end + 1);
        let number = parsed.records.len() + 1;
        let damaged = |error| ResultsError::Damaged(path.to_owned(), number, error);
        let text = String::from_utf8_lossy(&line[..end]);
        if number == 1 {
            check_format(path, &text)?;
        }
        // A checksum covers the lines before it, so that removed and moved lines are detected, too.
        // A line with a line break was written completely, so damage is an error even at the end.
        let (record, sum) = decode_line(&text, parsed.sum).map_err(damaged)?;
        parsed.records.push(record);
        parsed.length += line.len() as u64;
        parsed.sum = sum;
        rest = after;
    }
    Ok(parsed)
}

/// Distinguishes a file of another format version from a damaged one.
fn check_format(path: &Path, head: &str) -> Result<(), ResultsError> {
    let value: serde_json::Value = serde_json::from_str(head).unwrap_or_default();
    match value["head"]["results"].as_u64() {
        Some(found) if found != u64::from(super::RESULTS_FORMAT) => {
            let found = found.to_string();
            let expected = super::RESULTS_FORMAT.to_string();
            Err(ResultsError::OtherRun(path.to_owned(), "the format", found, expected))
        }
        _ => Ok(()),
    }
}

/// Checks that two headers are of one run; the program may differ.
fn check_same_run(
    path: &Path,
    found: &RunHeader,
    expected: &RunHeader,
) -> Result<(), ResultsError> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let named = |boards: &[String]| (!boards.is_empty()).then(|| boards.join(", "));
    let facts = |head: &RunHeader| {
        [
            ("the format", head.results.to_string()),
            ("the board's profile", head.profile.clone()),
            ("the behaviour", head.behaviour.clone()),
            ("the number of cases", head.cases.to_string()),
            ("the digest of the cases", head.digest.clone()),
            ("--repeat", head.repeat.to_string()),
            ("--seed", or_none(head.seed.map(|seed| seed.to_string()))),
            ("--shard", or_none(head.shard.clone())),
            ("--faults", or_none(head.faults.map(|seed| seed.to_string()))),
            ("the list of boards", or_none(named(&head.boards))),
        ]
    };
    for ((what, found), (_, expected)) in facts(found).into_iter().zip(facts(expected)) {
        if found != expected {
            let found = found.escaped();
            return Err(ResultsError::OtherRun(path.to_owned(), what, found, expected));
        }
    }
    Ok(())
}
