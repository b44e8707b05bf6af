//! Messages of the Debug Adapter Protocol on a stream.

use std::io::{self, BufRead, Read, Write};

use super::types::{Message, Request};

/// Most bytes of a message; no request comes near.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;
/// Most bytes of a line of the header, and most lines.
const MAX_HEADER_LINE_BYTES: u64 = 4096;
const MAX_HEADER_LINES: usize = 64;
/// The header that tells the length.
const CONTENT_LENGTH: &str = "Content-Length";

/// The next message; `None` at the end of the stream.
///
/// # Errors
/// Returns an error if the stream fails, or if what comes is no message or has too many bytes.
pub(super) fn read(mut input: &mut dyn BufRead) -> io::Result<Option<Request>> {
    let Some(length) = header(input)? else { return Ok(None) };
    if length > MAX_MESSAGE_BYTES {
        return Err(damaged(format!(
            "a message has {length} bytes, and {MAX_MESSAGE_BYTES} are the most that is read"
        )));
    }
    let mut body = Vec::new();
    let read = Read::take(&mut input, length).read_to_end(&mut body)?;
    if (read as u64) < length {
        return Err(damaged(format!("the stream ends within a message of {length} bytes")));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Reads the lines of a header, and returns the length that they tell.
fn header(mut input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    for _ in 0..MAX_HEADER_LINES {
        let mut line = Vec::new();
        let read = Read::take(&mut input, MAX_HEADER_LINE_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == MAX_HEADER_LINE_BYTES {
            return Err(damaged(format!(
                "a line of a header has {MAX_HEADER_LINE_BYTES} bytes or more"
            )));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            let missing = || damaged(format!("a message without its {CONTENT_LENGTH}"));
            return length.ok_or_else(missing).map(Some);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case(CONTENT_LENGTH)
        {
            let value = value.trim();
            let number = value.parse().map_err(|_| {
                damaged(format!(
                    "the {CONTENT_LENGTH} is {}, which is no length",
                    value.escape_debug()
                ))
            })?;
            length = Some(number);
        }
    }
    Err(damaged(format!("a header has more than {MAX_HEADER_LINES} lines")))
}

fn damaged(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Sends a message.
pub(super) fn write(output: &mut dyn Write, message: &Message<'_>) -> io::Result<()> {
    let body = serde_json::to_string(message).map_err(io::Error::other)?;
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(input: &str) -> String {
        match read(&mut input.as_bytes()) {
            Ok(request) => format!("{:?}", request.map(|request| request.command)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_no_message_is_told_and_not_kept() {
        let long = "x".repeat(100_000);
        let many = "A: b\r\n".repeat(100);
        for (input, expected) in [
            ("Content-Length: 2000000\r\n\r\n", "a message has 2000000 bytes, and 1048576 are"),
            ("Content-Length: 99999999999999999999\r\n\r\n", "is 99999999999999999999, which is"),
            ("Content-Length: -1\r\n\r\n", "is -1, which is no length"),
            ("Content-Length: \u{1b}\r\n\r\n", "is \\u{1b}, which is no length"),
            ("Content-Length: 9\r\n\r\n{}", "the stream ends within a message of 9 bytes"),
            ("Content-Type: x\r\n\r\n", "a message without its Content-Length"),
            (&long, "a line of a header has 4096 bytes or more"),
            (&many, "a header has more than 64 lines"),
            ("", "None"),
        ] {
            let error = error_of(input);
            assert!(error.contains(expected), "{error}");
        }
    }
}
