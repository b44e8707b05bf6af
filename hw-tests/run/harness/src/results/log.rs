//! Writes and resumes results files.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cli_support::text::Escape;
use rcflash_transport::time::{Duration, Instant};

use super::line::encode_line;
use super::read::RecordReader;
use super::{BoardReady, Record, ResultsError, RunHeader};
use crate::file_system::{FileSystem, LineAppender, PathKind};
use crate::suite::{CaseResult, Suite};

/// Appending a line syncs the file if the last sync is longer ago.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A source of time, for intervals.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Appends records to a results file.
pub struct ResultsWriter<S> {
    path: PathBuf,
    lines: LineAppender,
    /// The checksum of the last line.
    sum: u32,
    clock: Clock,
    last_sync: Instant,
    /// The boards recorded so far.
    ready: Vec<BoardReady>,
    /// The boards of the run on a fleet that this one resumes; empty if there is none.
    pub(crate) earlier_boards: Vec<String>,
    suite: PhantomData<fn() -> S>,
}

impl<S: Suite> ResultsWriter<S> {
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
        let file = match is_there(file_system, path)? {
            false => file_system.create(path).map_err(failed)?,
            true if force => {
                let mut file = file_system.open(path).map_err(failed)?;
                file.truncate(0).map_err(failed)?;
                file
            }
            true => return Err(ResultsError::Exists(path.to_owned())),
        };
        let mut writer = Self::with_lines(path, LineAppender::new(file, 0), clock);
        if let Err(error) = writer.write(&Record::Head(head.clone())) {
            // A file without its header would not be recognised, and would block the next run.
            drop(writer);
            let _ = file_system.remove_file(path);
            return Err(error);
        }
        Ok(writer)
    }

    /// Opens a file to continue it, or creates it. The results in it are passed to `on_result` one
    /// at a time; after an error they must be discarded. A torn last line is removed; a file that
    /// is not of this run is not changed.
    ///
    /// # Errors
    /// Returns [`ResultsError`] if the file is not a results file, is of another run or has a
    /// damaged line, or if it can't be read or written.
    pub fn resume(
        file_system: &dyn FileSystem,
        path: &Path,
        head: &RunHeader,
        clock: Clock,
        on_result: &mut dyn FnMut(CaseResult<S>),
    ) -> Result<Self, ResultsError> {
        let failed = |error| ResultsError::from_io(path, error);
        if !is_there(file_system, path)? {
            return Self::create(file_system, path, head, false, clock);
        }
        let mut file = file_system.open(path).map_err(failed)?;
        // The file is read and compared before anything is written: a file of another run or of
        // another program must not be changed, not even its torn end.
        let (mut ready, mut earlier_boards) = (Vec::new(), Vec::new());
        let mut records = RecordReader::new(path, file.reader().map_err(failed)?);
        while let Some(record) = records.next_record()? {
            match record {
                Record::Ready(board) => ready.push(board),
                Record::Case(result) => on_result(*result),
                Record::Head(earlier) => {
                    check_same_run(path, &earlier, head)?;
                    earlier_boards = earlier.boards;
                }
                Record::Progress(_) | Record::End(_) => {}
            }
        }
        let (length, sum, is_torn) = (records.length, records.sum, records.is_torn);
        drop(records);
        if is_torn {
            file.truncate(length).map_err(failed)?;
        }
        let lines = LineAppender::new(file, length);
        let new = Self::with_lines(path, lines, clock);
        let mut writer = Self { sum, ready, earlier_boards, ..new };
        // The earlier run ended within its first line, which was just removed.
        if length == 0 {
            writer.write(&Record::Head(head.clone()))?;
        }
        Ok(writer)
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
            earlier_boards: Vec::new(),
            suite: PhantomData,
        }
    }

    /// Records the board on which the cases run.
    ///
    /// # Errors
    /// Returns [`ResultsError::OtherRun`] if earlier results are of another application, or the
    /// error if the file can't be written.
    pub fn write_board(&mut self, ready: BoardReady) -> Result<(), ResultsError> {
        // In a fleet each board must have the application that it had before, and a board that
        // replaces one must have one that a board had.
        let is_same =
            |before: &&BoardReady| before.board == ready.board || self.earlier_boards.is_empty();
        let is_other =
            !self.earlier_boards.is_empty() && !self.earlier_boards.contains(&ready.board);
        let mut earlier = self.ready.iter().rev();
        let before = if is_other { earlier.next() } else { earlier.find(is_same) };
        let has_it = |before: &BoardReady| before.application == ready.application;
        if let Some(before) = before
            && !has_it(before)
            && !(is_other && self.ready.iter().any(has_it))
        {
            let [found, expected] = [before, &ready].map(|board| board.application.escaped());
            let path = self.path.clone();
            return Err(ResultsError::OtherRun(path, "the application", found, expected));
        }
        self.write(&Record::Ready(ready))
    }

    /// Appends the result of a case.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn write_result(&mut self, result: &CaseResult<S>) -> Result<(), ResultsError> {
        self.write(&Record::Case(Box::new(result.clone())))
    }

    /// Appends a record, completely or not at all. The file is synced after its first and last one,
    /// and after another one if the last time is long ago.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn write(&mut self, record: &Record<S>) -> Result<(), ResultsError> {
        let (line, sum) =
            encode_line(record, self.sum).map_err(|error| self.failed(error.into()))?;
        self.lines.append(&line).map_err(|error| self.failed(error))?;
        self.sum = sum;
        let is_due = matches!(record, Record::Head(_) | Record::End(_))
            || (self.clock)().saturating_duration_since(self.last_sync) >= SYNC_INTERVAL;
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

/// Returns `true` if the file exists.
fn is_there(file_system: &dyn FileSystem, path: &Path) -> Result<bool, ResultsError> {
    match file_system.path_kind(path).map_err(|error| ResultsError::from_io(path, error))? {
        PathKind::Missing => Ok(false),
        PathKind::File(_) => Ok(true),
        PathKind::Directory | PathKind::Other => Err(ResultsError::NotAFile(path.to_owned())),
    }
}

/// Checks that two headers are of one run; the program may differ, and the boards of a fleet.
fn check_same_run(
    path: &Path,
    found: &RunHeader,
    expected: &RunHeader,
) -> Result<(), ResultsError> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let is_fleet = !found.boards.is_empty();
    let facts = |head: &RunHeader| {
        let boards = if head.boards.is_empty() { "a single board" } else { "several boards" };
        let [profile, boards] = if is_fleet { ["", ""] } else { [&*head.profile, boards] };
        [
            ("the format", head.results.to_string()),
            ("the board's profile", profile.to_owned()),
            ("the list of boards", boards.to_owned()),
            ("the behaviour", head.behaviour.clone()),
            ("the number of cases", head.cases.to_string()),
            ("the digest of the cases", head.digest.clone()),
            ("--repeat", head.repeat.to_string()),
            ("--shuffle", or_none(head.seed.map(|seed| seed.to_string()))),
            ("--shard", or_none(head.shard.clone())),
            ("--faults", or_none(head.faults.map(|seed| seed.to_string()))),
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
