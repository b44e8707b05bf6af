//! The log of sessions, an append-only file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use humantime::format_rfc3339_seconds;

/// An append-only file. Writes are unbuffered, so it is complete however the session ends.
#[derive(Debug)]
pub(crate) struct Log(File);

impl Log {
    /// Opens or creates a file, and appends a line with the time and `with`, the name of the peer.
    pub(crate) fn open(path: &Path, with: &str) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        let is_new = file.metadata()?.len() == 0;
        let now = format_rfc3339_seconds(SystemTime::now().max(UNIX_EPOCH));
        let gap = if is_new { "" } else { "\n" };
        file.write_all(format!("{gap}--- {now}, {with}\n").as_bytes())?;
        Ok(Self(file))
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}
