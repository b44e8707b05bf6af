//! Reads messages from the editor: a header with the length, an empty line, the JSON.

use std::io::{self, BufRead, Read};

use lsp_server::Message;

/// The maximum length of a message in bytes, far more than any source needs.
const MAX_LENGTH: u64 = 64 << 20;
/// The maximum length of a header line in bytes.
const MAX_LINE: u64 = 4096;
const LENGTH: &[u8] = b"Content-Length:";

#[derive(Debug)]
pub(super) enum Frame {
    Message(Message),
    /// The length of a message that is too long and was not read.
    TooLong(u64),
}

pub(super) struct FrameReader<R> {
    input: R,
    /// Whether the name of the next length header was consumed with a long message.
    at_length: bool,
}

impl<R: BufRead> FrameReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, at_length: false }
    }

    /// Returns the next frame, or `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame>> {
        if self.at_length && !self.skip_to_next_length()? {
            return Ok(None);
        }
        let Some(length) = self.header()? else { return Ok(None) };
        if length > MAX_LENGTH {
            // The length may be wrong, so the next header is searched for instead of skipping that
            // many bytes.
            self.at_length = true;
            return Ok(Some(Frame::TooLong(length)));
        }
        let mut body = Vec::new();
        let read = (&mut self.input).take(length).read_to_end(&mut body)?;
        if (read as u64) < length {
            return Err(invalid_data("the input ends within a message"));
        }
        let message = serde_json::from_slice(&body).map_err(io::Error::other)?;
        Ok(Some(Frame::Message(message)))
    }

    /// Reads the lines of a header and returns the length in it.
    fn header(&mut self) -> io::Result<Option<u64>> {
        let mut length = None;
        let mut is_first = true;
        loop {
            let mut line = Vec::new();
            if std::mem::take(&mut self.at_length) {
                line.extend_from_slice(LENGTH);
            }
            let read = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 && is_first {
                return Ok(None);
            }
            let line = line
                .strip_suffix(b"\r\n")
                .ok_or_else(|| invalid_data("a header has no line end"))?;
            if line.is_empty() {
                return length
                    .ok_or_else(|| invalid_data("a header has no Content-Length"))
                    .map(Some);
            }
            is_first = false;
            if line.len() >= LENGTH.len() && line[..LENGTH.len()].eq_ignore_ascii_case(LENGTH) {
                let number = String::from_utf8_lossy(&line[LENGTH.len()..]);
                let number = number
                    .trim()
                    .parse()
                    .map_err(|_| invalid_data("the Content-Length is not a number"))?;
                length = Some(number);
            } else if !line.contains(&b':') {
                return Err(invalid_data("a line of a header has no colon"));
            }
        }
    }

    /// Skips past the name of the next length header; returns `false` at the end of the input.
    fn skip_to_next_length(&mut self) -> io::Result<bool> {
        let mut matched = 0;
        loop {
            let mut byte = [0];
            if self.input.read(&mut byte)? == 0 {
                return Ok(false);
            }
            // The first byte of the name occurs only once in it, so after a mismatch the search can
            // only restart.
            matched = match byte[0] {
                byte if byte == LENGTH[matched] => matched + 1,
                b'C' => 1,
                _ => 0,
            };
            if matched == LENGTH.len() {
                return Ok(true);
            }
        }
    }
}

fn invalid_data(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(input: &str) -> Vec<String> {
        let mut frames = FrameReader::new(input.as_bytes());
        let mut found = Vec::new();
        loop {
            found.push(match frames.next() {
                Ok(Some(Frame::Message(Message::Notification(notice)))) => notice.method,
                Ok(Some(Frame::Message(other))) => format!("{other:?}"),
                Ok(Some(Frame::TooLong(length))) => length.to_string(),
                Ok(None) => return found,
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            });
        }
    }

    fn framed(method: &str) -> String {
        let body = format!(r#"{{"method":"{method}","params":null}}"#);
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn a_message_that_is_too_long_is_skipped_and_the_next_one_read() {
        let long = "Content-Length: 99999999999\r\n\r\n{\"CContent-\":1}";
        let input = [&framed("one"), long, &framed("two"), long, long, &framed("three")].concat();
        let length = "99999999999";
        assert_eq!(methods(&input), ["one", length, "two", length, length, "three"]);
        assert_eq!(methods(long), [length]);
    }

    #[test]
    fn an_invalid_header_is_an_error() {
        for (input, expected) in [
            ("Content-Length: 5\r\n\r\n{", "the input ends within a message"),
            ("Content-Length: five\r\n\r\n", "the Content-Length is not a number"),
            ("Content-Type: x\r\n\r\n", "a header has no Content-Length"),
            ("Nonsense\r\n\r\n", "a line of a header has no colon"),
            ("Content-Length: 5", "a header has no line end"),
        ] {
            assert_eq!(methods(input), [expected]);
        }
        assert_eq!(methods(&"x".repeat(10_000)), ["a header has no line end"]);
        assert_eq!(methods(""), Vec::<String>::new());
    }
}
