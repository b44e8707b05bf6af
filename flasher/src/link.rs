//! Requests and their replies over a line: sequence numbers, deadlines, bounded repetition.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use firmware::wire::{
    Decoder, ErrorCode, ErrorReply, Event, Frame, MAX_PAYLOAD, MessageError, Reply, Request,
};

use crate::transport::Transport;

/// How often a request is sent before the link gives up.
const ATTEMPTS: u32 = 3;
/// What USB adapters and this computer may add to a reply's time.
const SLACK: Duration = Duration::from_millis(1500);
/// A line on which nothing came for this long is quiet.
const QUIET: Duration = Duration::from_millis(20);
/// How long a banner may go on: 480 characters at 9600 baud.
const BANNER: Duration = Duration::from_millis(500);
/// Bytes of the conversation kept for messages, each way.
const KEPT: usize = 64;
/// Bits of a character on the line.
const BITS: u64 = 10;

/// What passed over a link, and what went wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Requests answered.
    pub requests: u64,
    /// Bytes sent and received.
    pub bytes: (u64, u64),
    /// Repetitions because no reply came in time.
    pub timeouts: u64,
    /// Repetitions because the board said that a frame arrived damaged.
    pub damaged_there: u64,
    /// Repetitions because the board's receiver lost a byte.
    pub overruns: u64,
    /// Frames that arrived damaged here.
    pub damaged_here: u64,
    /// Replies to requests that had been given up.
    pub strays: u64,
}

impl LinkStats {
    /// Requests that had to be repeated.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.timeouts + self.damaged_there + self.overruns
    }
}

/// The last bytes of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overheard {
    /// Sent to the board.
    pub sent: VecDeque<u8>,
    /// Heard from it.
    pub heard: VecDeque<u8>,
}

impl fmt::Display for Overheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "last sent: {}; last heard: {}", show(&self.sent), show(&self.heard))
    }
}

impl Overheard {
    /// Adds what was sent.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        keep(&mut self.sent, bytes);
    }

    /// Adds what was heard.
    pub(crate) fn heard(&mut self, bytes: &[u8]) {
        keep(&mut self.heard, bytes);
    }
}

/// Printable text as such, other bytes in hexadecimal.
pub(crate) fn show<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let one = |byte: &u8| match byte {
        0x20..=0x7E => char::from(*byte).to_string(),
        _ => format!("<{byte:02X}>"),
    };
    let text: String = bytes.into_iter().map(one).collect();
    if text.is_empty() { "nothing".to_owned() } else { text }
}

/// Why a request has no reply.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The line failed.
    #[error("{port}: the line failed while {what}: {source}")]
    Line {
        /// The line.
        port: String,
        /// What was being done.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Nobody answered.
    #[error(
        "{port}: no answer while {what}, asked {ATTEMPTS} times within {:.1} s; {overheard}",
        waited.as_secs_f64()
    )]
    Timeout {
        /// The line.
        port: String,
        /// What was being done.
        what: &'static str,
        /// How long all attempts took.
        waited: Duration,
        /// The last bytes.
        overheard: Box<Overheard>,
    },
    /// The board refused.
    #[error("the board refused while {what}: {error}")]
    Refused {
        /// What was being done.
        what: &'static str,
        /// Why.
        error: ErrorReply,
    },
    /// The board answered something that makes no sense here.
    #[error("the board's answer while {what} makes no sense: {why}")]
    Nonsense {
        /// What was being done.
        what: &'static str,
        /// Why not.
        why: String,
    },
}

impl LinkError {
    fn nonsense(what: &'static str, error: MessageError) -> Self {
        Self::Nonsense { what, why: error.to_string() }
    }
}

/// A conversation with a board.
pub struct Link {
    transport: Box<dyn Transport + Send>,
    baud: u32,
    seq: u8,
    decoder: Decoder,
    waiting: VecDeque<Frame>,
    damage: Option<ErrorCode>,
    stats: LinkStats,
    overheard: Overheard,
}

impl Link {
    /// A conversation over `transport` at `baud`.
    #[must_use]
    pub fn new(transport: Box<dyn Transport + Send>, baud: u32) -> Self {
        Self {
            transport,
            baud: baud.max(1),
            seq: 0,
            decoder: Decoder::default(),
            waiting: VecDeque::new(),
            damage: None,
            stats: LinkStats::default(),
            overheard: Overheard::default(),
        }
    }

    /// What passed so far.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// The line's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.transport.name()
    }

    /// Asks, and waits for the one reply. `what` names the wait in messages; `work` is what the board may
    /// take besides the time on the line.
    ///
    /// # Errors
    /// No reply after three attempts, a refusal, or a line that failed.
    pub fn ask(
        &mut self,
        what: &'static str,
        request: &Request,
        work: Duration,
    ) -> Result<Reply, LinkError> {
        let replies = self.ask_until(what, request, work, 1, |_| true)?;
        replies
            .into_iter()
            .next_back()
            .ok_or_else(|| LinkError::Nonsense { what, why: "it is empty".to_owned() })
    }

    /// Asks, and gathers replies until `last` says that one was the last; at most `frames` are expected. All of
    /// them are asked for again when one is missing.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_until(
        &mut self,
        what: &'static str,
        request: &Request,
        work: Duration,
        frames: u32,
        last: impl Fn(&[Reply]) -> bool,
    ) -> Result<Vec<Reply>, LinkError> {
        self.seq = self.seq.wrapping_add(1).max(1);
        let frame = Frame { seq: self.seq, kind: request.kind(), payload: request.payload() };
        let line = frame.encode();
        let time = self.line_time(line.len() + frames as usize * (MAX_PAYLOAD + 8)) + work + SLACK;
        let began = Instant::now();
        for _ in 0..ATTEMPTS {
            self.send(what, &line, time)?;
            if let Some(replies) = self.gather(what, frame.seq, Instant::now() + time, &last)? {
                self.stats.requests += 1;
                return Ok(replies);
            }
        }
        let overheard = Box::new(self.overheard.clone());
        let port = self.name().to_owned();
        Err(LinkError::Timeout { port, what, waited: began.elapsed(), overheard })
    }

    /// Lets a program that was just started say its banner: listens up to `patience` for it to begin, then
    /// until it has been quiet for a moment. A line that never falls quiet is left to the next request to judge.
    ///
    /// # Errors
    /// The line failed.
    pub fn hear_out(&mut self, what: &'static str, patience: Duration) -> Result<(), LinkError> {
        let deadline = Instant::now() + patience + BANNER;
        let mut timeout = patience;
        loop {
            let before = self.stats.bytes.1;
            self.listen(timeout).map_err(|source| self.line_error(what, source))?;
            if self.stats.bytes.1 == before || Instant::now() >= deadline {
                self.waiting.clear();
                return Ok(());
            }
            timeout = QUIET;
        }
    }

    /// Gathers the replies to one attempt; `None` when it must be repeated.
    fn gather(
        &mut self,
        what: &'static str,
        seq: u8,
        deadline: Instant,
        last: impl Fn(&[Reply]) -> bool,
    ) -> Result<Option<Vec<Reply>>, LinkError> {
        let mut replies = Vec::new();
        loop {
            let Some(frame) = self.next_frame(what, deadline)? else {
                self.count_repetition();
                return Ok(None);
            };
            if frame.seq != seq {
                self.stats.strays += 1;
                continue;
            }
            let reply = Reply::parse(frame.kind, &frame.payload)
                .map_err(|error| LinkError::nonsense(what, error))?;
            if let Reply::Error(error) = reply {
                return Err(LinkError::Refused { what, error });
            }
            replies.push(reply);
            if last(&replies) {
                return Ok(Some(replies));
            }
        }
    }

    /// The next good frame; `None` when the deadline passes or the board tells that it got a damaged one.
    fn next_frame(
        &mut self,
        what: &'static str,
        deadline: Instant,
    ) -> Result<Option<Frame>, LinkError> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                if let Some(code) = damage(&frame) {
                    self.damage = Some(code);
                    return Ok(None);
                }
                return Ok(Some(frame));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.listen(left).map_err(|source| self.line_error(what, source))?;
        }
    }

    fn listen(&mut self, timeout: Duration) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let count = self.transport.read(&mut buffer, timeout)?;
        self.stats.bytes.1 += count as u64;
        self.overheard.heard(&buffer[..count]);
        for byte in &buffer[..count] {
            match self.decoder.push(*byte) {
                Some(Event::Frame(frame)) => self.waiting.push_back(frame),
                Some(Event::Damaged(_)) => self.stats.damaged_here += 1,
                None => {}
            }
        }
        Ok(())
    }

    fn send(&mut self, what: &'static str, line: &[u8], time: Duration) -> Result<(), LinkError> {
        self.transport
            .write(line, Instant::now() + time)
            .map_err(|source| self.line_error(what, source))?;
        self.stats.bytes.0 += line.len() as u64;
        self.overheard.sent(line);
        Ok(())
    }

    fn count_repetition(&mut self) {
        match self.damage.take() {
            Some(ErrorCode::Overrun) => self.stats.overruns += 1,
            Some(_) => self.stats.damaged_there += 1,
            None => self.stats.timeouts += 1,
        }
    }

    fn line_error(&self, what: &'static str, source: io::Error) -> LinkError {
        LinkError::Line { port: self.name().to_owned(), what, source }
    }

    /// The time that so many characters take on the line.
    fn line_time(&self, characters: usize) -> Duration {
        Duration::from_micros(characters as u64 * BITS * 1_000_000 / u64::from(self.baud))
    }
}

/// The cause, when the frame tells that a request arrived damaged.
fn damage(frame: &Frame) -> Option<ErrorCode> {
    match Reply::parse(frame.kind, &frame.payload) {
        Ok(Reply::Error(error))
            if matches!(error.code, ErrorCode::Damaged | ErrorCode::Overrun) =>
        {
            Some(error.code)
        }
        _ => None,
    }
}

fn keep(store: &mut VecDeque<u8>, bytes: &[u8]) {
    store.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
    store.drain(..store.len().saturating_sub(KEPT));
}
