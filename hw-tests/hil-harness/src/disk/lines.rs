//! Lines that are added to a file whole or not at all.

use std::io;

use super::DiskFile;

/// A file to which whole lines are added.
pub struct Lines {
    file: Box<dyn DiskFile>,
    /// Bytes of whole lines.
    length: u64,
    has_failed: bool,
}

impl Lines {
    /// Adds lines to a file that has whole lines up to `length`.
    #[must_use]
    pub fn new(file: Box<dyn DiskFile>, length: u64) -> Self {
        Self { file, length, has_failed: false }
    }

    /// Adds a line, with its line break. After a line that could not be added no other is, since it
    /// would stand where that one is missing.
    ///
    /// # Errors
    /// The system's error; the file ends with the line before, or with a torn one if the system
    /// refuses that, too.
    pub fn add(&mut self, line: &str) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier line could not be written"));
        }
        if let Err(error) = self.file.append(line.as_bytes()) {
            self.has_failed = true;
            // A full disk has often taken a part of the line.
            let _ = self.file.cut(self.length);
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Returns when all lines are on the disk.
    ///
    /// # Errors
    /// The system's error.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
