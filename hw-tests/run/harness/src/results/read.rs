//! Reads results files, one record at a time.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use super::line::{LineError, decode_line};
use super::{Record, ResultsError};
use crate::file_system::has_magic;
use crate::suite::Suite;

/// The first bytes of a results file.
pub(crate) const RESULTS_MAGIC: &[u8] = b"{\"head\":{\"results\":";
/// The longest line that is read, in bytes. A case with many values has about 30,000.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Reads the complete lines of a results file. A last line without a line break, or the zeros that
/// a power cut can leave in its place, is ignored. Its memory does not depend on the file's length.
pub(crate) struct RecordReader<R> {
    path: PathBuf,
    source: R,
    line: Vec<u8>,
    /// The number of complete lines.
    count: usize,
    /// The length of the complete lines in bytes.
    pub(super) length: u64,
    /// The checksum of the last complete line.
    pub(super) sum: u32,
    /// Whether the file ends with a torn line.
    pub(super) is_torn: bool,
}

impl<R: BufRead> RecordReader<R> {
    /// Creates a reader of a file; the path is for errors.
    pub(crate) fn new(path: &Path, source: R) -> Self {
        let path = path.to_owned();
        Self { path, source, line: Vec::new(), count: 0, length: 0, sum: 0, is_torn: false }
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// Returns [`ResultsError`] if it is not a results file or the line is damaged.
    pub(crate) fn next_record<S: Suite>(&mut self) -> Result<Option<Record<S>>, ResultsError> {
        let has_line_break =
            self.read_line().map_err(|error| ResultsError::from_io(&self.path, error))?;
        let Self { path, line, count, sum, .. } = self;
        if *count == 0 && !has_magic(line, RESULTS_MAGIC) {
            return Err(ResultsError::NotAResultsFile(path.clone()));
        }
        if !has_line_break {
            self.is_torn = !line.is_empty();
            return Ok(None);
        }
        *count += 1;
        let damaged = |error| ResultsError::Damaged(path.clone(), *count, error);
        if line.len() > MAX_LINE_BYTES {
            return Err(damaged(LineError::TooLong(MAX_LINE_BYTES)));
        }
        let text = String::from_utf8_lossy(&line[..line.len() - 1]);
        if *count == 1 {
            check_format(path, &text)?;
        }
        // A checksum covers the lines before it, so that removed and moved lines are detected, too.
        // A line with a line break was written completely, so damage is an error even at the end.
        let (record, next_sum) = decode_line(&text, *sum).map_err(damaged)?;
        *sum = next_sum;
        self.length += line.len() as u64;
        Ok(Some(record))
    }

    /// Reads a line with its line break. Returns `false` if it has none. A longer line than
    /// [`MAX_LINE_BYTES`] is skipped; only its start is kept.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        self.source.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
        if self.line.ends_with(b"\n") || self.line.len() <= MAX_LINE_BYTES {
            return Ok(self.line.ends_with(b"\n"));
        }
        loop {
            let buffer = self.source.fill_buf()?;
            let (length, end) = (buffer.len(), buffer.iter().position(|byte| *byte == b'\n'));
            self.source.consume(end.map_or(length, |end| end + 1));
            if length == 0 || end.is_some() {
                return Ok(end.is_some());
            }
        }
    }
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
