//! The results file: what became of each case, a line of JSON as soon as it has ended.
//!
//! The first line is [`Record::Head`], and a run that ended by itself has [`Record::End`] as its last. Lines are only
//! ever added. So the file of a run that was killed is whole up to its last line, and tells by the missing end that
//! it is incomplete.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::result::{CaseResult, Counts};

/// The version of the format.
pub const FORMAT: u32 = 1;
/// The longest time for which a result may be with the system alone and not on the disk.
const SYNC: Duration = Duration::from_secs(1);

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// What is to be run.
    Head(Head),
    /// On what, as soon as it is ready; once more for each time that the run was resumed.
    Ready(Ready),
    /// How a case ended.
    Case(Box<CaseResult>),
    /// How the run went so far, now and then in a soak run.
    Passed(Counts),
    /// How it ended.
    End(End),
}

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the format.
    pub results: u32,
    /// The program that ran it.
    pub program: String,
    /// The board's profile.
    pub profile: String,
    /// How the evaluator is to behave.
    pub behaviour: String,
    /// How many cases are selected.
    pub cases: usize,
    /// How often each is put to the board.
    pub repeat: u32,
    /// What chose their order, and the faults if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which part of the selection, as `2/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

/// What the cases were put to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The board.
    pub board: String,
    /// The application and its build.
    pub application: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Whether all cases had their turn.
    pub complete: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// All verdicts, those of the runs that this one resumed included.
    pub counts: Counts,
}

/// Why a results file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system said so.
    #[error("can't write the results to {}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// There is one already.
    #[error("{} exists; go on with it by --resume, or name another file", .0.display())]
    Exists(PathBuf),
    /// Somebody else is writing it.
    #[error("{} is being written by another run", .0.display())]
    Busy(PathBuf),
    /// It is not one of ours.
    #[error("{}:{}: no line of a results file: {}", .0.display(), .1, .2)]
    Unreadable(PathBuf, usize, serde_json::Error),
    /// It is of another run.
    #[error("{} is of another run; {} is {} there and {} here", .0.display(), .1, .2, .3)]
    Other(PathBuf, &'static str, String, String),
}

/// A results file that grows.
pub struct Log {
    path: PathBuf,
    file: File,
    synced: Instant,
    ready: Option<Ready>,
}

impl Log {
    /// Begins a file.
    ///
    /// # Errors
    /// There is one, or the system said no.
    pub fn create(path: &Path, head: &Head) -> Result<Self, LogError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => LogError::Exists(path.to_owned()),
            _ => LogError::Io(path.to_owned(), error),
        })?;
        let mut log = Self::over(path, file)?;
        log.write(&Record::Head(head.clone()))?;
        log.sync()?;
        Ok(log)
    }

    /// Goes on with a file, or begins it. Gives the results that are in it; a last line that was not finished is cut off.
    ///
    /// # Errors
    /// It is of another run, not a results file, or the system said no.
    pub fn resume(path: &Path, head: &Head) -> Result<(Self, Vec<CaseResult>), LogError> {
        if !path.exists() {
            return Ok((Self::create(path, head)?, Vec::new()));
        }
        let file = OpenOptions::new().read(true).append(true).open(path);
        let file = file.map_err(|error| LogError::Io(path.to_owned(), error))?;
        let mut log = Self::over(path, file)?;
        let (records, whole) = log.read()?;
        log.file.set_len(whole).map_err(|error| log.failed(error))?;
        if records.is_empty() {
            log.write(&Record::Head(head.clone()))?;
        }
        let mut results = Vec::new();
        for record in records {
            match record {
                Record::Head(there) => same_run(path, &there, head)?,
                Record::Ready(ready) => log.ready = Some(ready),
                Record::Case(result) => results.push(*result),
                Record::Passed(_) | Record::End(_) => {}
            }
        }
        Ok((log, results))
    }

    fn over(path: &Path, file: File) -> Result<Self, LogError> {
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => LogError::Busy(path.to_owned()),
            other => LogError::Io(path.to_owned(), other.into()),
        })?;
        Ok(Self { path: path.to_owned(), file, synced: Instant::now(), ready: None })
    }

    /// Notes what the cases are put to.
    ///
    /// # Errors
    /// Results so far are of another application, or the file can't be written.
    pub fn ready(&mut self, ready: Ready) -> Result<(), LogError> {
        if let Some(before) = &self.ready
            && before.application != ready.application
        {
            let (there, here) = (before.application.clone(), ready.application);
            return Err(LogError::Other(self.path.clone(), "the application", there, here));
        }
        self.write(&Record::Ready(ready))
    }

    /// Adds how a case ended.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn case(&mut self, result: &CaseResult) -> Result<(), LogError> {
        self.write(&Record::Case(Box::new(result.clone())))
    }

    /// Adds how a soak run went so far.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn passed(&mut self, counts: Counts) -> Result<(), LogError> {
        self.write(&Record::Passed(counts))
    }

    /// Adds the end.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn end(&mut self, end: &End) -> Result<(), LogError> {
        self.write(&Record::End(end.clone()))?;
        self.sync()
    }

    /// Writes a line at once and whole.
    fn write(&mut self, record: &Record) -> Result<(), LogError> {
        let line = serde_json::to_string(record).map_err(|error| self.failed(error.into()))? + "\n";
        self.file.write_all(line.as_bytes()).map_err(|error| self.failed(error))?;
        if self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    fn sync(&mut self) -> Result<(), LogError> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(|error| self.failed(error))
    }

    /// The records, and up to where they are whole.
    fn read(&mut self) -> Result<(Vec<Record>, u64), LogError> {
        self.file.seek(SeekFrom::Start(0)).map_err(|error| self.failed(error))?;
        let mut reader = BufReader::new(&self.file);
        let (mut records, mut whole, mut line) = (Vec::new(), 0, String::new());
        loop {
            line.clear();
            let count = reader.read_line(&mut line).map_err(|error| self.failed(error))?;
            if !line.ends_with('\n') {
                return Ok((records, whole));
            }
            let wrong = |error| LogError::Unreadable(self.path.clone(), records.len() + 1, error);
            records.push(serde_json::from_str(&line).map_err(wrong)?);
            whole += count as u64;
        }
    }

    fn failed(&self, error: io::Error) -> LogError {
        LogError::Io(self.path.clone(), error)
    }
}

/// Whether two heads are of one run; the program may be another, the cases not.
fn same_run(path: &Path, there: &Head, here: &Head) -> Result<(), LogError> {
    let told = |head: &Head| {
        [
            ("the format", head.results.to_string()),
            ("the board's profile", head.profile.clone()),
            ("the behaviour", head.behaviour.clone()),
            ("the number of cases", head.cases.to_string()),
            ("--repeat", head.repeat.to_string()),
            ("--seed", head.seed.map_or("none".to_owned(), |seed| seed.to_string())),
            ("--shard", head.shard.clone().unwrap_or_else(|| "none".to_owned())),
        ]
    };
    for ((what, there), (_, here)) in told(there).into_iter().zip(told(here)) {
        if there != here {
            return Err(LogError::Other(path.to_owned(), what, there, here));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Verdict;

    fn head() -> Head {
        Head {
            results: FORMAT,
            program: "a test".to_owned(),
            profile: "rc2014-classic".to_owned(),
            behaviour: "mended".to_owned(),
            cases: 3,
            repeat: 1,
            seed: None,
            shard: None,
        }
    }

    #[test]
    fn every_record_is_a_line_in_its_order() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("results");
        let mut log = Log::create(&path, &head()).expect("it can be written");
        let ready = Ready { board: "a board".to_owned(), application: "an application".to_owned() };
        let counts = Counts::default();
        let case = &crate::corpus::shipped().expect("the corpus")[0];
        let end = End { complete: true, why: None, counts };
        log.ready(ready.clone()).expect("written");
        log.passed(counts).expect("written");
        log.case(&CaseResult::new(case, Verdict::Pass)).expect("written");
        log.end(&end).expect("written");
        drop(log);
        let text = std::fs::read_to_string(&path).expect("a text");
        let records: Vec<Record> =
            text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        let [Record::Head(_), Record::Ready(_), Record::Passed(_), Record::Case(_), last] =
            &records[..]
        else {
            panic!("{records:?}")
        };
        assert_eq!(*last, Record::End(end));
    }

    #[test]
    fn a_line_that_is_no_record_is_told_by_its_number() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("results");
        drop(Log::create(&path, &head()).expect("it can be written"));
        let good = std::fs::read_to_string(&path).expect("a line");
        std::fs::write(&path, good.repeat(2) + "{}\n").expect("a scratch file");
        let Err(error) = Log::resume(&path, &head()) else { panic!("it is no results file") };
        assert!(error.to_string().contains("results:3: no line of a results file"), "{error}");
    }
}
