//! The queue of characters to send, with pacing.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use rcflash_link::rig::Pacing;
use rcflash_transport::Transport;

/// How long one write may block before received bytes are read.
const WRITE_ATTEMPT_TIMEOUT: Duration = Duration::from_millis(5);
/// Characters sent before received bytes are read.
const MAX_BURST: usize = 64;

#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<u8>,
    pacing: Pacing,
    not_before: Instant,
    refused_since: Option<Instant>,
}

impl Outbox {
    pub(super) fn new(pacing: Pacing) -> Self {
        let not_before = Instant::now();
        Self { waiting: VecDeque::new(), pacing, not_before, refused_since: None }
    }

    pub(super) fn push(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.waiting.extend(bytes);
    }

    /// Discards the queue. Returns the number of discarded characters.
    pub(super) fn clear(&mut self) -> usize {
        self.refused_since = None;
        std::mem::take(&mut self.waiting).len()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns since when flow control has blocked sending.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.refused_since
    }

    /// Sends what is due, with `by_line` at most to the end of a line; returns what was sent.
    pub(super) fn send(&mut self, board: &mut dyn Transport, by_line: bool) -> io::Result<Vec<u8>> {
        let mut sent = Vec::new();
        while let Some(&next) = self.waiting.front() {
            if by_line && sent.last().is_some_and(ends_line) {
                break;
            }
            if sent.len() >= MAX_BURST || Instant::now() < self.not_before {
                break;
            }
            match board.write(&[next], Instant::now() + WRITE_ATTEMPT_TIMEOUT) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    self.refused_since.get_or_insert_with(Instant::now);
                    break;
                }
                Err(error) => return Err(error),
            }
            self.refused_since = None;
            self.waiting.pop_front();
            sent.push(next);
            self.not_before = Instant::now() + self.rest_after(next);
        }
        Ok(sent)
    }

    fn rest_after(&self, character: u8) -> Duration {
        let is_end = ends_line(&character);
        self.pacing.char_delay + if is_end { self.pacing.line_delay } else { Duration::ZERO }
    }
}

/// Returns `true` for CR and LF.
pub(super) fn ends_line(character: &u8) -> bool {
    matches!(character, b'\r' | b'\n')
}

/// Converts the line ends of a text that arrives in chunks to carriage returns, which monitors
/// expect.
#[derive(Debug, Clone, Default)]
pub(super) struct LineEndFilter {
    after_return: bool,
}

impl LineEndFilter {
    pub(super) fn convert(&mut self, text: &[u8]) -> Vec<u8> {
        let mut turned = Vec::with_capacity(text.len());
        for &byte in text {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            if !is_second_half {
                turned.push(if byte == b'\n' { b'\r' } else { byte });
            }
        }
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_line_becomes_a_return_wherever_the_text_is_cut() {
        let text = b"a\nb\r\nc\rd\n\ne\r\n";
        for cut in 0..=text.len() {
            let mut ends = LineEndFilter::default();
            let mut turned = ends.convert(&text[..cut]);
            turned.extend(ends.convert(&text[cut..]));
            assert_eq!(turned, b"a\rb\rc\rd\r\re\r", "cut at {cut}");
        }
    }
}
