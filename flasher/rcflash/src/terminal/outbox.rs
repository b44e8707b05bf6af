//! The bytes that wait to be sent, and their pace.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use rcflash_rig::Pacing;
use rcflash_transport::Transport;

/// The time a board may hold up a character before others are looked after.
const TRY: Duration = Duration::from_millis(5);
/// Most characters sent in one go, so that what the board says is heard in between.
const BURST: usize = 64;

/// Characters for the board.
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

    /// Puts something behind what waits.
    pub(super) fn push(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.waiting.extend(bytes);
    }

    /// Forgets what waits; how much that was.
    pub(super) fn clear(&mut self) -> usize {
        self.refused_since = None;
        std::mem::take(&mut self.waiting).len()
    }

    /// Returns the number of waiting characters.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Since when the board takes nothing, though something waits.
    pub(super) fn refused_since(&self) -> Option<Instant> {
        self.refused_since
    }

    /// Sends what may go now; what went.
    pub(super) fn send(&mut self, board: &mut dyn Transport) -> io::Result<Vec<u8>> {
        let mut sent = Vec::new();
        while let Some(&next) = self.waiting.front() {
            if sent.len() >= BURST || Instant::now() < self.not_before {
                break;
            }
            match board.write(&[next], Instant::now() + TRY) {
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
        let ends_line = matches!(character, b'\r' | b'\n');
        self.pacing.character + if ends_line { self.pacing.line } else { Duration::ZERO }
    }
}

/// Line endings as they are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// As carriage returns, which is what monitors want: a line feed, alone or behind a return,
    /// becomes one.
    #[default]
    Return,
    /// As they are.
    Keep,
}

/// Turns the ends of lines as they are to be sent, whatever the parts in which a text comes.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    how: LineEnd,
    after_return: bool,
}

impl Ends {
    pub(super) fn new(how: LineEnd) -> Self {
        Self { how, after_return: false }
    }

    pub(super) fn turn(&mut self, text: &[u8]) -> Vec<u8> {
        if self.how == LineEnd::Keep {
            return text.to_vec();
        }
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
            let mut ends = Ends::new(LineEnd::Return);
            let mut turned = ends.turn(&text[..cut]);
            turned.extend(ends.turn(&text[cut..]));
            assert_eq!(turned, b"a\rb\rc\rd\r\re\r", "cut at {cut}");
        }
        assert_eq!(Ends::new(LineEnd::Keep).turn(text), text);
    }
}
