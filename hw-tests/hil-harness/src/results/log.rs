//! A results file that grows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cli_support::text::Show;
use rcflash_transport::time::{Duration, Instant};

use super::error::ResultsError;
use super::line::{open, seal};
use super::{End, Head, Ready, Record};
use crate::disk::{Disk, Found, Lines, is_marked};
use crate::runner::{CaseResult, Counts};

/// The time after which a line that is added flushes the file.
const FLUSH: Duration = Duration::from_secs(1);
/// The first bytes of a results file, by which it is recognised.
pub(crate) const MARK: &[u8] = b"{\"head\":{\"results\":";
/// The largest file that is read.
const LIMIT: u64 = 1 << 30;

/// The time by which files are flushed.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// A results file that grows.
pub struct Log {
    path: PathBuf,
    lines: Lines,
    /// The sum of the last line.
    sum: u32,
    clock: Clock,
    flushed: Instant,
    /// The boards that were ready before.
    ready: Vec<Ready>,
    /// Whether results are of several boards.
    is_of_many: bool,
}

/// The whole lines of a file.
struct Whole {
    records: Vec<Record>,
    length: u64,
    sum: u32,
}

impl Log {
    /// Begins a file. One that is there is replaced only with `force`.
    ///
    /// # Errors
    /// There is something of this name, or the system refused.
    pub fn create(
        disk: &dyn Disk,
        path: &Path,
        head: &Head,
        force: bool,
        clock: Clock,
    ) -> Result<Self, ResultsError> {
        let failed = |error| ResultsError::of(path, error);
        let file = match disk.look(path).map_err(failed)? {
            Found::Nothing => disk.create(path).map_err(failed)?,
            Found::File(_) if force => {
                let mut file = disk.open(path).map_err(failed)?;
                file.cut(0).map_err(failed)?;
                file
            }
            Found::File(_) => return Err(ResultsError::Exists(path.to_owned())),
            Found::Folder | Found::Other => return Err(ResultsError::NoFile(path.to_owned())),
        };
        let mut log = Self::over(path, Lines::new(file, 0), clock);
        let begun = log.begin(head);
        if let Err(error) = begun {
            // A file without its head is recognised by nobody: it would only be in the way.
            drop(log);
            let _ = disk.remove(path);
            return Err(error);
        }
        Ok(log)
    }

    /// Continues a file, or begins it. Returns the results in it. A last line that was torn off is
    /// dropped: nothing else is changed before the file is recognised.
    ///
    /// # Errors
    /// It is not a results file or is of another run, a line is damaged, or the system refused.
    pub fn resume(
        disk: &dyn Disk,
        path: &Path,
        head: &Head,
        clock: Clock,
    ) -> Result<(Self, Vec<CaseResult>), ResultsError> {
        let failed = |error| ResultsError::of(path, error);
        match disk.look(path).map_err(failed)? {
            Found::Nothing => {
                return Ok((Self::create(disk, path, head, false, clock)?, Vec::new()));
            }
            Found::File(_) => {}
            Found::Folder | Found::Other => return Err(ResultsError::NoFile(path.to_owned())),
        }
        let mut file = disk.open(path).map_err(failed)?;
        // The file is open for writing, but read and compared as a whole first: one of another run,
        // or of another program, must be left as it is, its torn end included.
        let bytes = file.read_all(LIMIT).map_err(failed)?;
        let Whole { records, length, sum } = whole_lines(path, &bytes)?;
        if let Some(Record::Head(there)) = records.first() {
            same_run(path, there, head)?;
        }
        let is_torn = bytes.len() as u64 > length;
        drop(bytes);
        if is_torn {
            file.cut(length).map_err(failed)?;
        }
        let mut log = Self { sum, ..Self::over(path, Lines::new(file, length), clock) };
        // The run ended within its first line, which has just been cut off.
        if records.is_empty() {
            log.begin(head)?;
        }
        Ok(log.take_over(records))
    }

    fn over(path: &Path, lines: Lines, clock: Clock) -> Self {
        let flushed = clock();
        Self {
            path: path.to_owned(),
            lines,
            sum: 0,
            clock,
            flushed,
            ready: Vec::new(),
            is_of_many: false,
        }
    }

    fn begin(&mut self, head: &Head) -> Result<(), ResultsError> {
        self.is_of_many = !head.boards.is_empty();
        self.write(&Record::Head(head.clone()))?;
        self.flush()
    }

    /// Takes what earlier runs left: the results, and the board that they are of.
    fn take_over(mut self, records: Vec<Record>) -> (Self, Vec<CaseResult>) {
        let mut results = Vec::new();
        for record in records {
            match record {
                Record::Ready(ready) => self.ready.push(ready),
                Record::Case(result) => results.push(*result),
                Record::Head(head) => self.is_of_many = !head.boards.is_empty(),
                Record::Passed(_) | Record::End(_) => {}
            }
        }
        (self, results)
    }

    /// Adds the board to which the cases are put.
    ///
    /// # Errors
    /// Results so far are of another application, or the file can't be written.
    pub fn ready(&mut self, ready: Ready) -> Result<(), ResultsError> {
        // One of several boards has the application that it had before.
        let is_same = |before: &&Ready| !self.is_of_many || before.board == ready.board;
        if let Some(before) = self.ready.iter().rev().find(is_same)
            && before.application != ready.application
        {
            let there = before.application.shown();
            let here = ready.application.shown();
            return Err(ResultsError::OtherRun(self.path.clone(), "the application", there, here));
        }
        self.write(&Record::Ready(ready))
    }

    /// Adds how a case ended.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn case(&mut self, result: &CaseResult) -> Result<(), ResultsError> {
        self.write(&Record::Case(Box::new(result.clone())))
    }

    /// Adds the counts of a soak run so far.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn passed(&mut self, counts: Counts) -> Result<(), ResultsError> {
        self.write(&Record::Passed(counts))
    }

    /// Adds the end, and returns when all of the file is on the disk.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn end(&mut self, end: &End) -> Result<(), ResultsError> {
        self.write(&Record::End(end.clone()))?;
        self.flush()
    }

    /// Adds a line, whole or not at all.
    fn write(&mut self, record: &Record) -> Result<(), ResultsError> {
        let (line, sum) = seal(record, self.sum).map_err(|error| self.failed(error.into()))?;
        self.lines.add(&line).map_err(|error| self.failed(error))?;
        self.sum = sum;
        let is_due = (self.clock)().saturating_duration_since(self.flushed) >= FLUSH;
        if is_due { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        self.flushed = (self.clock)();
        self.lines.flush().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> ResultsError {
        ResultsError::Io(self.path.clone(), error)
    }
}

/// Reads the whole lines of a file that nobody is going to continue.
///
/// # Errors
/// It is not a results file, or a line is damaged.
pub(crate) fn read_records(path: &Path, bytes: &[u8]) -> Result<Vec<Record>, ResultsError> {
    Ok(whole_lines(path, bytes)?.records)
}

/// Reads the whole lines of a results file. A last line without a line break was being written when
/// the run ended, and is left out; a power cut can leave zeros in its place.
fn whole_lines(path: &Path, bytes: &[u8]) -> Result<Whole, ResultsError> {
    if !is_marked(bytes, MARK) {
        return Err(ResultsError::NotOurs(path.to_owned()));
    }
    let mut whole = Whole { records: Vec::new(), length: 0, sum: 0 };
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(end + 1);
        let number = whole.records.len() + 1;
        let damaged = |error| ResultsError::Damaged(path.to_owned(), number, error);
        let text = String::from_utf8_lossy(&line[..end]);
        if number == 1 {
            check_format(path, &text)?;
        }
        // Each checksum includes the line before, so that a line that was taken out or moved shows
        // as well as a changed one. A damaged line is an error even at the end, as it has its line
        // break.
        let (record, sum) = open(&text, whole.sum).map_err(damaged)?;
        whole.records.push(record);
        whole.length += line.len() as u64;
        whole.sum = sum;
        rest = after;
    }
    Ok(whole)
}

/// Tells a file of another version from a damaged one.
fn check_format(path: &Path, head: &str) -> Result<(), ResultsError> {
    let value: serde_json::Value = serde_json::from_str(head).unwrap_or_default();
    match value["head"]["results"].as_u64() {
        Some(there) if there != u64::from(super::FORMAT) => {
            let there = there.to_string();
            let here = super::FORMAT.to_string();
            Err(ResultsError::OtherRun(path.to_owned(), "the format", there, here))
        }
        _ => Ok(()),
    }
}

/// Checks that two heads are of one run; the program may be another.
fn same_run(path: &Path, there: &Head, here: &Head) -> Result<(), ResultsError> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let named = |boards: &[String]| (!boards.is_empty()).then(|| boards.join(", "));
    let facts = |head: &Head| {
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
    for ((what, there), (_, here)) in facts(there).into_iter().zip(facts(here)) {
        if there != here {
            let there = there.shown();
            return Err(ResultsError::OtherRun(path.to_owned(), what, there, here));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
