//! Piped input line by line: the next line is sent once the board has replied to the last one.

use std::time::{Duration, Instant};

use rcflash_monitors::{Peer, identify_prompt};

/// How long nothing follows a prompt; USB adapters delay characters by up to 16 ms.
const PROMPT_QUIET: Duration = Duration::from_millis(60);
/// How long a line without a prompt is idle after its reply.
const REPLY_QUIET: Duration = Duration::from_millis(500);
/// How long a board that has shown a prompt may take until the next one.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a reply may take to begin. A board that does not reply to a line, as while it loads
/// Intel HEX, gets the next ones at once until it sends something.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// The received bytes among which the prompt is looked for.
const MAX_TAIL_BYTES: usize = 512;

/// Waits for the reply to each line.
#[derive(Debug, Default)]
pub(super) struct ReplyGate {
    /// When the last line was sent, until its reply is complete.
    sent: Option<Instant>,
    /// The end of what was received since then, and when.
    tail: Vec<u8>,
    received: Option<Instant>,
    has_prompt: bool,
    is_mute: bool,
}

impl ReplyGate {
    pub(super) fn on_line_sent(&mut self, now: Instant) {
        (self.sent, self.received) = (Some(now), None);
        self.tail.clear();
    }

    pub(super) fn on_received(&mut self, bytes: &[u8], now: Instant) {
        self.is_mute = false;
        self.received = Some(now);
        self.tail.extend(bytes);
        self.tail.drain(..self.tail.len().saturating_sub(MAX_TAIL_BYTES));
    }

    /// Returns `true` if the next line may be sent.
    pub(super) fn is_open(&mut self, now: Instant) -> bool {
        let Some(sent) = self.sent else { return true };
        let is_complete = match self.received {
            None => {
                self.is_mute |= now.duration_since(sent) >= REPLY_TIMEOUT;
                self.is_mute
            }
            Some(received) => {
                let quiet = now.duration_since(received);
                let is_prompt = !matches!(
                    identify_prompt(&self.tail),
                    None | Some(Peer::XmodemReceiver | Peer::OwnFirmware)
                );
                self.has_prompt |= is_prompt && quiet >= PROMPT_QUIET;
                quiet
                    >= match (is_prompt, self.has_prompt) {
                        (true, _) => PROMPT_QUIET,
                        (false, true) => PROMPT_TIMEOUT,
                        (false, false) => REPLY_QUIET,
                    }
            }
        };
        if is_complete {
            self.sent = None;
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a line at 0 and `replies` at their times in milliseconds; returns when it is open.
    fn open_at(gate: &mut ReplyGate, replies: &[(u64, &[u8])]) -> u64 {
        let start = Instant::now();
        gate.on_line_sent(start);
        (0..30_000)
            .find(|&ms| {
                let now = start + Duration::from_millis(ms);
                let due = replies.iter().filter(|(at, _)| *at == ms);
                due.for_each(|(_, bytes)| gate.on_received(bytes, now));
                gate.is_open(now)
            })
            .expect("every wait has an end")
    }

    #[test]
    fn a_line_waits_for_the_prompt_or_an_idle_line() {
        let mut gate = ReplyGate::default();
        assert!(gate.is_open(Instant::now()), "nothing was sent");
        // The echo, and then nothing, of a board whose prompt is not known.
        assert_eq!(open_at(&mut gate, &[(5, b"10 PRINT\r\n")]), 505);
        assert_eq!(open_at(&mut gate, &[(5, b"D 8000\r\n"), (300, b"\r\n8E>")]), 360);
        // A board that has a prompt is waited for: here it computes for three seconds.
        assert_eq!(open_at(&mut gate, &[(5, b"G 8000\r\n"), (3005, b"*")]), 3065);
        assert_eq!(open_at(&mut gate, &[(5, b"R 8000")]), 10_005);
    }

    #[test]
    fn a_mute_board_is_waited_for_once() {
        let mut gate = ReplyGate::default();
        assert_eq!(open_at(&mut gate, &[]), 1000);
        assert_eq!(open_at(&mut gate, &[]), 0);
        gate.on_received(b"Ready\r\n\r\n*", Instant::now());
        assert_eq!(open_at(&mut gate, &[]), 1000);
    }
}
