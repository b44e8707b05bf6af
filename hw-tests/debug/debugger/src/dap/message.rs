//! Reads and writes messages of the Debug Adapter Protocol.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use super::types::Request;

/// Maximum size of a message, far above that of any request.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;
/// Maximum size of a header.
const MAX_HEADER_BYTES: u64 = 4096;
/// The header field with the length of the message.
const CONTENT_LENGTH: &str = "Content-Length";

/// Reads the next message; returns `None` at the end of the stream.
pub(super) fn read(mut input: &mut dyn BufRead) -> io::Result<Option<Request>> {
    let Some(length) = header(input)? else { return Ok(None) };
    if length > MAX_MESSAGE_BYTES {
        let problem = format!("message too long: {length} bytes, maximum {MAX_MESSAGE_BYTES}");
        return Err(invalid_data(problem));
    }
    let mut body = Vec::new();
    if (Read::take(&mut input, length).read_to_end(&mut body)? as u64) < length {
        let problem = format!("unexpected end of the stream in a message of {length} bytes");
        return Err(invalid_data(problem));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| invalid_data(error.to_string()))
}

/// Reads a header, and returns the length of the message; `None` at the end of the stream.
fn header(mut input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut input = Read::take(&mut input, MAX_HEADER_BYTES);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            let too_long = format!("header too long: over {MAX_HEADER_BYTES} bytes");
            return if input.limit() == 0 { Err(invalid_data(too_long)) } else { Ok(None) };
        }
        let line = String::from_utf8_lossy(&line);
        let (name, value) = line.trim_end().split_once(':').unwrap_or_default();
        if line.trim_end().is_empty() {
            let missing = || invalid_data(format!("message without {CONTENT_LENGTH}"));
            return length.ok_or_else(missing).map(Some);
        }
        if name.eq_ignore_ascii_case(CONTENT_LENGTH) {
            let value = value.trim();
            let shown = value.escape_debug();
            let problem =
                || format!("invalid {CONTENT_LENGTH} '{shown}': expected a number of bytes");
            length = Some(value.parse().map_err(|_| invalid_data(problem()))?);
        }
    }
}

fn invalid_data(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub(super) fn write(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
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
    fn invalid_messages_are_errors() {
        let long = "x".repeat(100_000);
        let many = "A: b\r\n".repeat(1000);
        for (input, expected) in [
            ("Content-Length: 2000000\r\n\r\n", "message too long: 2000000 bytes, maximum 1048576"),
            (
                "Content-Length: 99999999999999999999\r\n\r\n",
                "invalid Content-Length '99999999999999999999'",
            ),
            ("Content-Length: -1\r\n\r\n", "invalid Content-Length '-1': expected"),
            ("Content-Length: \u{1b}\r\n\r\n", "invalid Content-Length '\\u{1b}': expected"),
            ("Content-Length: 9\r\n\r\n{}", "unexpected end of the stream in a message of 9 bytes"),
            ("Content-Type: x\r\n\r\n", "message without Content-Length"),
            (&long, "header too long: over 4096 bytes"),
            (&many, "header too long: over 4096 bytes"),
            ("", "None"),
        ] {
            let error = error_of(input);
            assert!(error.contains(expected), "{error}");
        }
    }
}
