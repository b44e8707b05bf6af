//! The results of a run, one per case: the worst one if a case was run repeatedly.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::SpooledTempFile;

use crate::case_index::CaseIndex;
use crate::runner::{CaseResult, Verdict};
use crate::suite::Suite;

/// Results take this much memory at most, in bytes; more are moved to a temporary file.
const MAX_BUFFERED_BYTES: usize = 1 << 20;
/// Bytes that are read from the temporary file at a time.
const READ_BYTES: usize = 64 << 10;
/// Bits of the severity beside the offset in [`WorstResults::entries`].
const SEVERITY_BITS: u32 = 8;

/// Results that can be read repeatedly, one at a time.
pub trait CaseResults<S: Suite> {
    /// Calls `visit` for each result, in the order in which the cases completed.
    ///
    /// # Errors
    /// Returns the error of `visit`, or the error if the results can't be read.
    fn visit(&mut self, visit: &mut dyn FnMut(&CaseResult<S>) -> io::Result<()>) -> io::Result<()>;

    /// Like [`Self::visit`], with the results as JSON.
    ///
    /// # Errors
    /// Returns the error of `visit`, or the error if the results can't be read.
    fn visit_json(&mut self, visit: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        self.visit(&mut |case| visit(&serde_json::to_string(case)?))
    }
}

impl<S: Suite> CaseResults<S> for Vec<CaseResult<S>> {
    fn visit(&mut self, visit: &mut dyn FnMut(&CaseResult<S>) -> io::Result<()>) -> io::Result<()> {
        self.iter().try_for_each(visit)
    }
}

/// The worst result of each case. A case takes 25 bytes of memory, however large its result is and
/// however often it is run.
#[derive(Debug)]
pub struct WorstResults {
    index: CaseIndex,
    /// For each case of the index: the offset of its result in the spool, and its severity.
    entries: Vec<u64>,
    spool: Option<Spool>,
}

/// The results as lines of JSON.
#[derive(Debug)]
struct Spool {
    file: SpooledTempFile,
    length: u64,
    /// The error if a result could not be written; it is reported when the results are read.
    failed: Option<io::Error>,
}

impl WorstResults {
    /// Creates an empty list for `count` cases. Many results are moved to an unnamed temporary file
    /// in this folder; without a folder, only which cases have a result is stored.
    #[must_use]
    pub fn new(folder: Option<&Path>, count: usize) -> Self {
        let spool = folder.map(|folder| Spool {
            file: SpooledTempFile::new_in(MAX_BUFFERED_BYTES, folder),
            length: 0,
            failed: None,
        });
        let entries = Vec::with_capacity(spool.as_ref().map_or(0, |_| count));
        Self { index: CaseIndex::with_capacity(count), entries, spool }
    }

    /// Returns the number of cases with a result.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns `true` if no case has a result.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns `true` if the case has a result.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.index.get(id).is_some()
    }

    /// Adds a result.
    pub fn add<S: Suite>(&mut self, result: &CaseResult<S>) {
        let (number, is_new) = self.index.insert(&result.id);
        let Some(spool) = &mut self.spool else { return };
        let severity = severity(result.verdict);
        if is_new {
            self.entries.push(0);
        } else if severity <= self.entries[number] as u8 {
            return;
        }
        self.entries[number] = spool.length << SEVERITY_BITS | u64::from(severity);
        if spool.failed.is_none() {
            spool.failed = spool.append(result).err();
        }
    }
}

impl Spool {
    fn append<S: Suite>(&mut self, result: &CaseResult<S>) -> io::Result<()> {
        let mut line = serde_json::to_vec(result)?;
        line.push(b'\n');
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&line)?;
        self.length += line.len() as u64;
        Ok(())
    }
}

impl<S: Suite> CaseResults<S> for WorstResults {
    fn visit(&mut self, visit: &mut dyn FnMut(&CaseResult<S>) -> io::Result<()>) -> io::Result<()> {
        self.visit_lines(&mut |line| visit(&serde_json::from_str(line)?))
    }

    fn visit_json(&mut self, visit: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        self.visit_lines(visit)
    }
}

impl WorstResults {
    /// Calls `visit` for the line of each case.
    fn visit_lines(&mut self, visit: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        let Some(spool) = &mut self.spool else { return Ok(()) };
        if let Some(error) = spool.failed.take() {
            return Err(error);
        }
        let mut reader = BufReader::with_capacity(READ_BYTES, &mut spool.file);
        let (mut position, mut line) = (u64::MAX, String::new());
        for entry in &self.entries {
            let offset = entry >> SEVERITY_BITS;
            if offset != position {
                reader.seek(SeekFrom::Start(offset))?;
            }
            line.clear();
            position = offset + reader.read_line(&mut line)? as u64;
            visit(line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns the rank of a verdict: the higher of two is reported.
fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NotRun => 0,
        Verdict::Skipped => 1,
        Verdict::Pass => 2,
        Verdict::Flaky => 3,
        Verdict::Timeout => 4,
        Verdict::Error => 5,
        Verdict::Fail => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{Result, case, result};

    fn read(results: &mut WorstResults) -> Vec<Result> {
        let mut all = Vec::new();
        let mut collect = |result: &Result| {
            all.push(result.clone());
            Ok(())
        };
        results.visit(&mut collect).expect("readable");
        all
    }

    #[test]
    fn a_case_is_listed_once_with_its_worst_result() {
        let mut gathered = WorstResults::new(Some(Path::new("")), 0);
        for verdict in [Verdict::Pass, Verdict::Timeout, Verdict::Pass, Verdict::NotRun] {
            gathered.add(&result("a", verdict));
        }
        gathered.add(&result("b", Verdict::NotRun));
        let verdicts: Vec<_> = read(&mut gathered).iter().map(|case| case.verdict).collect();
        assert_eq!(verdicts, [Verdict::Timeout, Verdict::NotRun]);
    }

    #[test]
    fn results_are_whole_and_in_order_when_they_were_moved_to_a_file() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let long = "x".repeat(MAX_BUFFERED_BYTES / 40);
        let of = |number: usize, verdict| CaseResult {
            id: format!("case {number}"),
            ..Result::with_reason(&case("a"), verdict, format!("{number} {long}"))
        };
        let mut gathered = WorstResults::new(Some(folder.path()), 100);
        (0..100).for_each(|number| gathered.add(&of(number, Verdict::Timeout)));
        // A worse result takes the place of the first one, and can be added after reading.
        assert_eq!(read(&mut gathered).len(), 100);
        gathered.add(&of(7, Verdict::Fail));
        let mut expected: Vec<_> = (0..100).map(|number| of(number, Verdict::Timeout)).collect();
        expected[7] = of(7, Verdict::Fail);
        assert_eq!(read(&mut gathered), expected);
        assert!(gathered.spool.as_ref().is_some_and(|spool| spool.file.is_rolled()));
    }

    #[test]
    fn a_result_that_could_not_be_stored_is_an_error_when_they_are_read() {
        let mut gathered = WorstResults::new(Some(Path::new("/nowhere/at/all")), 1);
        let long = "x".repeat(MAX_BUFFERED_BYTES + 1);
        gathered.add(&Result::with_reason(&case("a"), Verdict::Timeout, long));
        let error = gathered.visit(&mut |_: &Result| Ok(())).expect_err("there is no such folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
