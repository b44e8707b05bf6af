//! What a program sends, and what that says about it.

use cli_support::text::{Escape, escape_stream};
use hil_harness::live::{ProgramEnd, ProgramOutput};
use hil_harness::select::NamePatterns;

use super::suite::{Criteria, ProgramDetails};

/// End of transmission (EOT): the exit code follows as two hexadecimal digits, and CR LF.
const EXIT_MARK: u8 = 0x04;
/// The bytes of output that are stored, and those of a line that are compared at least.
const MAX_STORED: usize = 4096;

/// Returns what a program sends to end with an exit code.
pub(super) fn exit_message(code: u8) -> Vec<u8> {
    [&[EXIT_MARK][..], format!("{code:02X}\r\n").as_bytes()].concat()
}

/// What ends a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    ExitCode(u8),
    /// A line by which it passes.
    Pass,
    /// A line by which it fails.
    Fail(String),
}

/// Receives what a program sends, until that ends it.
pub(super) struct Console<'a> {
    criteria: &'a Criteria,
    sent: u64,
    /// The last bytes.
    stored: Vec<u8>,
    /// The bytes of the line that is not complete.
    line: Vec<u8>,
    found: Option<Found>,
}

impl<'a> Console<'a> {
    pub(super) fn new(criteria: &'a Criteria) -> Self {
        Self { criteria, sent: 0, stored: Vec::new(), line: Vec::new(), found: None }
    }

    /// Returns what was found, and why the program has failed if it has.
    pub(super) fn judge(mut self, end: ProgramEnd) -> (ProgramDetails, Option<String>) {
        if self.found.is_none() {
            self.end_line();
        }
        let exit_code = match self.found {
            Some(Found::ExitCode(code)) => Some(code),
            _ => None,
        };
        let first = self.stored.len().saturating_sub(MAX_STORED);
        let output = escape_stream(&self.stored[first..]).replace("\r\n", "\n");
        (ProgramDetails { exit_code, sent_bytes: self.sent, output }, self.failure(end))
    }

    fn failure(&self, end: ProgramEnd) -> Option<String> {
        let missing = match self.criteria.pass {
            Some(_) => "no line matches --pass",
            None => "it sent no exit code",
        };
        match (&self.found, end) {
            (Some(Found::Pass), _) => None,
            (Some(Found::Fail(line)), _) => Some(format!("it sent the line: {}", line.escaped())),
            (Some(Found::ExitCode(0)), _) if self.criteria.pass.is_none() => None,
            (Some(Found::ExitCode(0)), _) => Some(format!("exit code 0, but {missing}")),
            (Some(Found::ExitCode(code)), _) => Some(format!("exit code {code}")),
            (None, ProgramEnd::Returned) if self.criteria.return_passes => None,
            (None, ProgramEnd::Output | ProgramEnd::Returned) => {
                Some(format!("it returned or crashed to the monitor, and {missing}"))
            }
            (None, ProgramEnd::Silent) => {
                Some(format!("it hangs: the time of --silence passed, and {missing}"))
            }
            (None, ProgramEnd::TooLong) => Some("it had not ended in time".to_owned()),
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let code = exit_code(&line);
        if code.is_some() {
            line.truncate(line.len() - EXIT_BYTES);
            self.stored.truncate(self.stored.len() - EXIT_BYTES);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_matches(['\r', '\n']);
        let matches = |patterns: &Option<NamePatterns>| {
            patterns.as_ref().is_some_and(|patterns| patterns.includes(text))
        };
        self.found = if matches(&self.criteria.fail) {
            Some(Found::Fail(text.to_owned()))
        } else if matches(&self.criteria.pass) {
            Some(Found::Pass)
        } else {
            code.map(Found::ExitCode)
        };
    }
}

/// The length of an exit code and its marks: EOT, two digits, CR LF.
const EXIT_BYTES: usize = 5;

/// Returns the exit code at the end of a line.
fn exit_code(line: &[u8]) -> Option<u8> {
    let [EXIT_MARK, high, low, b'\r', b'\n'] = *line.last_chunk::<EXIT_BYTES>()? else {
        return None;
    };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

impl ProgramOutput for Console<'_> {
    fn start(&mut self) {
        *self = Self::new(self.criteria);
    }

    fn receive(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, &byte) in bytes.iter().enumerate() {
            self.sent += 1;
            self.line.push(byte);
            self.stored.push(byte);
            if byte == b'\n' {
                self.end_line();
            }
            for kept in [&mut self.line, &mut self.stored] {
                if kept.len() >= 2 * MAX_STORED {
                    kept.drain(..MAX_STORED);
                }
            }
            if self.found.is_some() {
                return Some(index + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(text: &str) -> Option<NamePatterns> {
        Some(NamePatterns::new(&[format!("*{text}*")], std::iter::empty::<&str>()))
    }

    /// Returns why a program fails that sends these bytes in chunks of any size.
    fn failure(criteria: &Criteria, bytes: &[u8], end: ProgramEnd) -> Option<String> {
        let judged = |size: usize| {
            let mut console = Console::new(criteria);
            console.start();
            let ended = bytes.chunks(size).any(|chunk| console.receive(chunk).is_some());
            console.judge(if ended { ProgramEnd::Output } else { end })
        };
        let whole = judged(bytes.len().max(1));
        for size in 1..8 {
            assert_eq!(judged(size), whole, "in chunks of {size}");
        }
        whole.1
    }

    #[test]
    fn an_exit_code_needs_all_its_marks() {
        let criteria = Criteria::default();
        let ended = |bytes: &[u8]| failure(&criteria, bytes, ProgramEnd::Silent);
        assert_eq!(ended(b"hello\r\n\x0400\r\n"), None);
        assert_eq!(ended(b"hello\x0400\r\nlater"), None);
        assert_eq!(ended(b"\x04fF\r\n").as_deref(), Some("exit code 255"));
        for wrong in [&b"00\r\n"[..], b"\x040\r\n", b"\x04000\r\n", b"\x0400\n", b"\x04G0\r\n"] {
            assert!(ended(wrong).is_some_and(|why| why.contains("hangs")), "{wrong:?}");
        }
    }

    #[test]
    fn the_first_line_that_matches_decides_and_an_incomplete_one_at_the_end() {
        let criteria =
            Criteria { pass: patterns("PASS"), fail: patterns("FAIL"), ..<_>::default() };
        let ended = |bytes: &[u8]| failure(&criteria, bytes, ProgramEnd::Silent);
        assert_eq!(ended(b"1..2\r\nPASS\r\nFAIL\r\n"), None);
        assert_eq!(ended(b"all PASSED"), None);
        assert!(ended(b"PASS expected\nFAIL\n").is_none());
        assert!(ended(b"FAIL, not PASS\n").is_some_and(|why| why.contains("FAIL, not PASS")));
        assert_eq!(ended(b"PASS\x0407\r\n"), None, "the line comes before the code");
        assert_eq!(
            ended(b"\x0400\r\n").as_deref(),
            Some("exit code 0, but no line matches --pass")
        );
        assert_eq!(ended(b"\x0407\r\n").as_deref(), Some("exit code 7"));
    }

    #[test]
    fn only_the_end_of_a_long_output_is_stored() {
        let criteria = Criteria::default();
        let mut console = Console::new(&criteria);
        for _ in 0..100_000 {
            assert_eq!(console.receive(b"0123456789"), None);
        }
        assert!(console.line.len() < 2 * MAX_STORED && console.stored.len() < 2 * MAX_STORED);
        let (details, why) = console.judge(ProgramEnd::TooLong);
        assert_eq!((details.sent_bytes, why.is_some()), (1_000_000, true));
        assert!(details.output.ends_with("0123456789") && details.output.len() == MAX_STORED);
    }
}
