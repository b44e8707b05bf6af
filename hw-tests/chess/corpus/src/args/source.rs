//! Reads sources of positions in batches of lines.

use std::fs::File;
use std::io::{ErrorKind, Read, stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use chess_rules::epd;
use cli_support::exit::{CommandError, ENVIRONMENT};
use cli_support::text::Escape;

/// Bytes to read at once. A batch holds the lines of one read, so a pipe's lines don't wait for
/// others.
const READ_BYTES: usize = 32 * 1024;
/// Longest line; the time to parse one grows with the square of its length.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Where positions come from.
pub(super) enum Source {
    StandardInput,
    File(String),
    Text { name: Arc<str>, text: String },
}

/// Successive lines of a source.
pub(super) struct Batch {
    pub(super) file: Arc<str>,
    /// The number of its first line, from 1.
    pub(super) first_line: usize,
    pub(super) text: String,
}

/// Receives batches; closed when no more are wanted.
type Batches = SyncSender<Result<Batch, CommandError>>;

impl Source {
    /// Returns the source that an argument names: an existing file, or a FEN with blanks.
    pub(super) fn of(argument: &str) -> Result<Self, CommandError> {
        if argument == "-" {
            return Ok(Self::StandardInput);
        }
        let found = Path::new(argument).metadata();
        if argument.contains(char::is_whitespace) && found.is_err() {
            return Ok(Self::text("FEN", argument));
        }
        found.map_err(|error| unreadable(argument, &error))?;
        Ok(Self::File(argument.to_owned()))
    }

    pub(super) fn text(name: &str, text: &str) -> Self {
        Self::Text { name: name.into(), text: text.to_owned() }
    }

    /// Sends the lines, at the end perhaps an error.
    pub(super) fn send(self, batches: &Batches) {
        let sent = match self {
            Self::StandardInput => send_lines("standard input", stdin().lock(), batches),
            Self::Text { name, text } => send_lines(&name, text.as_bytes(), batches),
            Self::File(name) => match File::open(&name) {
                Ok(file) => send_lines(&name, file, batches),
                Err(error) => Err(unreadable(&name, &error)),
            },
        };
        if let Err(error) = sent {
            let _ = batches.send(Err(error)); // the receiver may be closed
        }
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> CommandError {
    CommandError::new(ENVIRONMENT, format!("can't read {}: {error}", name.escaped()))
}

fn send_lines(name: &str, mut source: impl Read, batches: &Batches) -> Result<(), CommandError> {
    let file: Arc<str> = name.into();
    let mut first_line = 1;
    let mut unsent = Vec::new();
    loop {
        let start = unsent.len();
        unsent.resize(start + READ_BYTES, 0);
        let read = source.read(&mut unsent[start..]);
        unsent.truncate(start + *read.as_ref().unwrap_or(&0));
        let count = match read {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(|error| unreadable(name, &error))?,
        };
        let is_end = count == 0;
        let whole = unsent.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = if is_end { Vec::new() } else { unsent.split_off(whole) };
        if rest.len() > MAX_LINE_BYTES {
            let line = first_line + unsent.iter().filter(|byte| **byte == b'\n').count();
            let problem = format!("the line is longer than {MAX_LINE_BYTES} bytes");
            let place = format!("{}:{line}", name.escaped());
            return Err(CommandError::new(ENVIRONMENT, format!("{place}: {problem}")));
        }
        let mut text = String::from_utf8_lossy(&unsent).into_owned();
        let open_row = if is_end { String::new() } else { text.split_off(epd::complete(&text)) };
        unsent = open_row.into_bytes();
        unsent.extend(rest);
        let next_line = first_line + text.bytes().filter(|byte| *byte == b'\n').count();
        let batch = Batch { file: Arc::clone(&file), first_line, text };
        first_line = next_line;
        let is_closed = !batch.text.is_empty() && batches.send(Ok(batch)).is_err();
        if is_end || is_closed {
            return Ok(());
        }
    }
}
