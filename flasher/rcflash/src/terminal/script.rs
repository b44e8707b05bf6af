//! Scripts for the terminal: what to send, and what to wait for.

use cli_support::text::unescape;
use cli_support::time::time_within;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rcflash_link::escape_bytes;

use super::{Session, SessionEnd, TerminalError};

/// The timeout of an `expect` before any `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TIMEOUT: Duration = Duration::from_secs(86_400);
/// The received bytes that the message shows if an `expect` fails.
const MAX_SHOWN_BYTES: usize = 200;

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits until these bytes were received, after those of the `expect` before.
    Expect(Vec<u8>),
    /// How long each further `expect` waits.
    Timeout(Duration),
}

/// The steps of a script, each with its line number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script(Vec<(usize, Step)>);

impl Script {
    /// Parses lines `send TEXT`, `expect TEXT` and `timeout TIME`; empty lines and lines that
    /// begin with `#` are ignored. The texts have the escapes `\r`, `\n`, `\t`, `\\` and `\xHH`.
    ///
    /// # Errors
    /// Returns the number of the first line that is none of these, and what was expected.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let lines = text.lines().zip(1..).filter(|(line, _)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with('#')
        });
        let steps = lines.map(|(line, number)| match parse_step(line.trim_start()) {
            Ok(step) => Ok((number, step)),
            Err(message) => Err((number, message)),
        });
        steps.collect::<Result<_, _>>().map(Self)
    }
}

impl Session<'_> {
    pub(super) fn run_script(
        &mut self,
        script: &Script,
        stop: &AtomicBool,
    ) -> Result<SessionEnd, TerminalError> {
        let mut timeout = DEFAULT_TIMEOUT;
        for (line, step) in &script.0 {
            let began = Instant::now();
            match step {
                Step::Send(text) => self.outbox.push(text.clone()),
                Step::Timeout(time) => timeout = *time,
                Step::Expect(_) => {}
            }
            while self.outbox.len() > 0 || !self.is_matched(step) {
                if stop.load(Ordering::Relaxed) {
                    return Err(TerminalError::Interrupted);
                }
                if let Step::Expect(text) = step
                    && began.elapsed() >= timeout
                {
                    self.finish_row()?;
                    return Err(self.unexpected_error(*line, text, timeout));
                }
                self.receive()?;
                self.send()?;
            }
        }
        self.finish_row()?;
        Ok(SessionEnd::ScriptEnded)
    }

    /// Returns `true` if the step does not wait for more, and removes what it waited for.
    fn is_matched(&mut self, step: &Step) -> bool {
        let (Step::Expect(text), Some(unmatched)) = (step, &mut self.unmatched) else {
            return true;
        };
        let at = unmatched.windows(text.len()).position(|window| window == text);
        unmatched.drain(..at.map_or(0, |at| at + text.len()));
        at.is_some()
    }

    fn unexpected_error(&self, line: usize, text: &[u8], timeout: Duration) -> TerminalError {
        let received = self.unmatched.as_deref().unwrap_or_default();
        let received = &received[received.len().saturating_sub(MAX_SHOWN_BYTES)..];
        let expected = escape_bytes(text);
        TerminalError::Unexpected { line, expected, timeout, received: escape_bytes(received) }
    }
}

fn parse_step(line: &str) -> Result<Step, String> {
    match line.split_once(' ') {
        Some(("send", text)) => unescape(text).map(Step::Send),
        Some(("expect", text)) if !text.is_empty() => unescape(text).map(Step::Expect),
        Some(("timeout", text)) => {
            time_within(Duration::ZERO..=MAX_TIMEOUT)(text.trim()).map(Step::Timeout)
        }
        _ => Err("expected `send TEXT`, `expect TEXT` or `timeout TIME`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_their_lines_and_escapes() {
        let text = "# hello\n\nsend a b\\r\\x1b\\\\\n  expect Ok \ntimeout 0.5s\r\n";
        let steps = [
            (3, Step::Send(b"a b\r\x1b\\".to_vec())),
            (4, Step::Expect(b"Ok ".to_vec())),
            (5, Step::Timeout(Duration::from_millis(500))),
        ];
        assert_eq!(Script::parse(text).expect("it is valid").0, steps);
    }

    #[test]
    fn an_invalid_line_is_located() {
        for line in [
            "wait 5",
            "expect ",
            "expect",
            "send \\q",
            "send \\x1",
            "send \\xé",
            "send \\",
            "timeout 5",
            "timeout -1",
            "timeout x",
            "timeout nan",
            "timeout 1e9s",
        ] {
            let error = Script::parse(&format!("send x\n{line}")).expect_err(line);
            assert_eq!(error.0, 2, "{line}");
        }
    }
}
