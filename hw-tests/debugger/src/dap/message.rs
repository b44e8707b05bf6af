//! Messages of the Debug Adapter Protocol on a stream.

use std::io::{self, BufRead, Write};

use super::types::{Message, Request};

/// Most bytes of a message; no request comes near.
const MOST: usize = 1 << 20;

/// The next message; `None` at the end of the stream.
///
/// # Errors
/// Returns an error if the stream fails, or if what comes is no message.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Option<Request>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = value.trim().parse().ok().filter(|length| *length <= MOST);
        }
    }
    let damaged = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let length =
        length.ok_or_else(|| damaged("a message without its Content-Length".to_owned()))?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Sends a message.
pub(super) fn write(output: &mut dyn Write, message: &Message<'_>) -> io::Result<()> {
    let body = serde_json::to_string(message).map_err(io::Error::other)?;
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}
