//! Appends lines to a file, each completely or not at all.

use std::io;

use super::AppendFile;

/// Appends complete lines to a file.
pub(crate) struct LineAppender {
    file: Box<dyn AppendFile>,
    /// Length of the complete lines in bytes.
    length: u64,
    has_failed: bool,
}

impl LineAppender {
    /// Creates an appender for a file whose complete lines end at `length`.
    pub(crate) fn new(file: Box<dyn AppendFile>, length: u64) -> Self {
        Self { file, length, has_failed: false }
    }

    /// Appends a line, which ends with a line break. After a failure no other line is appended,
    /// since the failed one would be missing before it.
    ///
    /// # Errors
    /// Returns the system's error. The incomplete line is removed if the system permits that.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier line could not be written"));
        }
        if let Err(error) = self.file.append(line.as_bytes()) {
            self.has_failed = true;
            // A full disk may have taken a part of the line.
            let _ = self.file.truncate(self.length);
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Writes all lines to the device, so that they survive a power cut.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
