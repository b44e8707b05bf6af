//! Requests and their replies over a line: sequence numbers, deadlines, bounded repetition, and as
//! many requests under way as the board's window takes.

#![deny(clippy::cast_possible_truncation)]

mod chip;
mod distance;
mod error;
mod exit;
pub mod flash;
mod flight;
pub mod inspect;
pub mod kernel;
pub mod loader;
mod narrow;
mod place;
mod stats;

pub use error::LinkError;
pub use flight::{Answer, Judge, Progress, Question, Ticket};
pub use stats::{LinkStats, Overheard, Repeats, show};

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firmware_wire::{Decoder, Event, Frame, MAX_ENCODED, MAX_PAYLOAD, Reply, Request};
use rcflash_transport::time::{Duration, Instant};

use distance::Distance;
use flight::{Consequence, Flight, Pending, SILENCES};
use narrow::narrow;
use rcflash_transport::Transport;
use stats::Cause;

/// The number of times a request may be damaged on the line before the link gives it up.
const SPOILT: u64 = 8;
/// The time that USB adapters and this computer may add to a reply's.
const SLACK: Duration = Duration::from_millis(1500);
/// A line on which nothing came for this long is quiet.
const QUIET: Duration = Duration::from_millis(20);
/// The time a banner may go on: 480 characters at 9600 baud.
const BANNER: Duration = Duration::from_millis(500);
/// The longest time without a look whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Most bytes of a frame on the line, its delimiters included.
const MAX_FRAME: usize = MAX_ENCODED + 2;
/// Most bytes outside frames that are kept.
const UNFRAMED: usize = 4096;
/// Bits of a character on the line.
const BITS: u64 = 10;

/// A conversation with a board.
pub struct Link {
    transport: Box<dyn Transport + Send>,
    baud: u32,
    /// Bytes of requests that may be under way together; one request always may.
    window: usize,
    slowness: u32,
    distance: Distance,
    seq: u8,
    tickets: u64,
    decoder: Decoder,
    waiting: VecDeque<Frame>,
    /// Program counter in the board's last report of it.
    place: Option<u16>,
    flight: Flight,
    finished: VecDeque<Answer>,
    occupied_since: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
    stats: LinkStats,
    overheard: Overheard,
    /// Bytes heard since the end of the last frame: words of a program that does not speak the
    /// protocol.
    unframed: Vec<u8>,
}

impl Link {
    /// A conversation over `transport` at `baud`, with one request under way at a time.
    #[must_use]
    pub fn new(transport: Box<dyn Transport + Send>, baud: u32) -> Self {
        let flight = Flight::new(transport.now());
        Self {
            transport,
            baud: baud.max(1),
            window: 0,
            slowness: 1,
            distance: Distance::default(),
            seq: 0,
            tickets: 0,
            decoder: Decoder::default(),
            waiting: VecDeque::new(),
            place: None,
            flight,
            finished: VecDeque::new(),
            occupied_since: None,
            stop: None,
            stats: LinkStats::default(),
            overheard: Overheard::default(),
            unframed: Vec::new(),
        }
    }

    /// Closes the line and goes on over another, as after a board was unplugged; what was under way
    /// is forgotten.
    ///
    /// # Errors
    /// There is no other line. Until there is one, every request fails.
    pub fn reconnect<E>(
        &mut self,
        open: impl FnOnce() -> Result<Box<dyn Transport + Send>, E>,
    ) -> Result<(), E> {
        drop(self.take_line());
        self.put_line(open()?);
        Ok(())
    }

    /// Takes the line, for a conversation of another kind on it; what was under way is forgotten.
    /// Until [`Self::put_line`] every request fails.
    pub fn take_line(&mut self) -> Box<dyn Transport + Send> {
        self.abandon();
        self.decoder.clear();
        self.waiting.clear();
        self.distance = Distance::default();
        let closed = Box::new(Closed(self.name().to_owned()));
        std::mem::replace(&mut self.transport, closed)
    }

    /// Goes on over a line that was taken.
    pub fn put_line(&mut self, line: Box<dyn Transport + Send>) {
        self.transport = line;
    }

    /// Ends waits with [`LinkError::Interrupted`] soon after `stop` is set.
    pub fn set_stop(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// The line itself, to set its wires.
    pub fn line(&mut self) -> &mut dyn Transport {
        &mut *self.transport
    }

    /// Takes the bytes heard since the end of the last frame: the first words of a program that was
    /// started.
    #[must_use]
    pub fn take_unframed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unframed)
    }

    /// Lets several requests be under way: as many as fit into the window that the board stated in
    /// its identity.
    pub fn set_window(&mut self, bytes: u16) {
        self.window = bytes.into();
    }

    /// The line's speed.
    #[must_use]
    pub fn baud(&self) -> u32 {
        self.baud
    }

    /// Waits so many times longer, for a board that runs slower than by its own clock.
    pub fn set_slowness(&mut self, times: u32) {
        self.slowness = times.max(1);
    }

    /// The last sequence number used; the next request gets the one after it.
    #[must_use]
    pub fn seq(&self) -> u8 {
        self.seq
    }

    /// Goes on after this sequence number.
    pub fn set_seq(&mut self, seq: u8) {
        self.seq = seq;
    }

    /// Returns the statistics so far.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// The last bytes each way.
    #[must_use]
    pub fn overheard(&self) -> &Overheard {
        &self.overheard
    }

    /// The line's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.transport.name()
    }

    /// The line's clock, which runs ahead where time is simulated.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.transport.now()
    }

    /// Asks, and waits for the one reply. `what` names the wait in messages; `work` is what the
    /// board may take besides the time on the line.
    ///
    /// # Errors
    /// No reply after three attempts, a refusal, or a line that failed.
    ///
    /// # Examples
    /// ```
    /// use std::io;
    /// use rcflash_transport::time::{Duration, Instant};
    ///
    /// use firmware_wire::{Decoder, Event, Frame, REPLY, Reply, Request};
    /// use rcflash_link::Link;
    /// use rcflash_transport::Transport;
    ///
    /// /// A board that answers each request by an empty reply.
    /// #[derive(Default)]
    /// struct Board {
    ///     decoder: Decoder,
    ///     says: Vec<u8>,
    /// }
    ///
    /// impl Transport for Board {
    ///     fn name(&self) -> &str {
    ///         "a board"
    ///     }
    ///
    ///     fn read(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
    ///         let count = buffer.len().min(self.says.len());
    ///         buffer[..count].copy_from_slice(&self.says[..count]);
    ///         self.says.drain(..count);
    ///         Ok(count)
    ///     }
    ///
    ///     fn write(&mut self, bytes: &[u8], _: Instant) -> io::Result<()> {
    ///         for byte in bytes {
    ///             if let Some(Event::Frame(request)) = self.decoder.push(*byte) {
    ///                 self.says.extend(Frame::empty(request.seq, request.kind + REPLY).encode());
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let mut link = Link::new(Box::new(Board::default()), 115_200);
    /// let reply = link.ask("resetting the board", &Request::Reset, Duration::from_secs(1))?;
    /// assert_eq!(reply, Reply::Resetting);
    /// # Ok::<(), rcflash_link::LinkError>(())
    /// ```
    pub fn ask(
        &mut self,
        what: &'static str,
        request: &Request,
        work: Duration,
    ) -> Result<Reply, LinkError> {
        let replies = self.ask_all(&Question::new(what, request.clone(), work))?;
        replies
            .into_iter()
            .next_back()
            .ok_or_else(|| LinkError::Nonsense { what, why: "it is empty".to_owned() })
    }

    /// Asks, and waits for all replies. Answers to requests that were under way before stay for
    /// [`Self::next_answer`].
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_all(&mut self, question: &Question) -> Result<Vec<Reply>, LinkError> {
        let ticket = self.submit(question)?;
        loop {
            if let Some(place) = self.finished.iter().position(|done| done.ticket == ticket)
                && let Some(answer) = self.finished.remove(place)
            {
                return answer.replies;
            }
            self.make_way()?;
        }
    }

    /// Whether the board has room for one more request.
    #[must_use]
    pub fn has_room(&self, request: &Request) -> bool {
        let line = request.payload().len() + (MAX_FRAME - MAX_PAYLOAD);
        let ahead = self.distance.ahead(request, narrow(u64::from(self.baud) / BITS));
        self.flight.is_empty() || self.flight.bytes() + line <= self.window + ahead
    }

    /// Sends a request, and leaves its answer for [`Self::next_answer`].
    ///
    /// # Errors
    /// The line failed.
    pub fn submit(&mut self, question: &Question) -> Result<Ticket, LinkError> {
        self.seq = self.seq.wrapping_add(1).max(1);
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let work = question.work * self.slowness;
        let time = self.line_time(question.frames * MAX_FRAME) + work + SLACK;
        let now = self.now();
        let pending = Pending::new(ticket, self.seq, question, time, now)
            .map_err(|error| LinkError::nonsense(question.what, error))?;
        if self.flight.is_empty() {
            self.occupied_since = Some(now);
        }
        self.flight.add(pending);
        self.send(self.seq)?;
        Ok(ticket)
    }

    /// Waits for the next request to end; `None` when none is under way.
    ///
    /// # Errors
    /// The line failed. What was under way still is, until [`Self::abandon`].
    pub fn next_answer(&mut self) -> Result<Option<Answer>, LinkError> {
        loop {
            if let Some(answer) = self.finished.pop_front() {
                return Ok(Some(answer));
            }
            if self.flight.is_empty() {
                return Ok(None);
            }
            self.make_way()?;
        }
    }

    /// The answers that came while another one was waited for.
    pub fn take_finished(&mut self) -> VecDeque<Answer> {
        std::mem::take(&mut self.finished)
    }

    /// Forgets all requests under way.
    pub fn abandon(&mut self) {
        self.flight = Flight::new(self.now());
        self.count_occupied();
    }

    /// Lets a program that was just started say its banner: listens up to `patience` for it to
    /// begin, then until it has been quiet for a moment. A line that never falls quiet is left to
    /// the next request to judge.
    ///
    /// # Errors
    /// The line failed.
    pub fn hear_out(&mut self, what: &'static str, patience: Duration) -> Result<(), LinkError> {
        let deadline = self.now() + patience + BANNER;
        let mut timeout = patience;
        loop {
            let before = self.stats.bytes.1;
            self.listen(timeout).map_err(|source| self.line_error(what, source))?;
            if self.stats.bytes.1 == before || self.now() >= deadline {
                self.waiting.clear();
                return Ok(());
            }
            timeout = QUIET;
        }
    }

    /// Works off what was heard, or listens until something comes or the deadline passes.
    fn make_way(&mut self) -> Result<(), LinkError> {
        if let Some(frame) = self.waiting.pop_front() {
            let outcomes = self.flight.heard(&frame, self.now());
            return self.carry_out(outcomes);
        }
        let deadline = self.flight.deadline(|bytes| self.line_time(bytes));
        let left = deadline.saturating_duration_since(self.now());
        if left.is_zero() {
            let outcomes = self.flight.silent();
            return self.carry_out(outcomes);
        }
        let what = self.flight.what();
        self.listen(left).map_err(|source| self.line_error(what, source))
    }

    fn carry_out(&mut self, outcomes: Vec<Consequence>) -> Result<(), LinkError> {
        for outcome in outcomes {
            match outcome {
                Consequence::Stray => self.stats.strays += 1,
                Consequence::Repeat(seq, cause) => self.repeat(seq, cause)?,
                Consequence::Finished(pending, replies) => {
                    self.stats.requests += u64::from(replies.is_ok());
                    self.finish(*pending, replies);
                }
            }
        }
        Ok(())
    }

    /// Sends a request again, unless that was done too often.
    fn repeat(&mut self, seq: u8, cause: Cause) -> Result<(), LinkError> {
        let Some(pending) = self.flight.find(seq) else { return Ok(()) };
        let is_spoilt = cause != Cause::Silence && pending.repeats.total() >= SPOILT;
        if is_spoilt || pending.silences >= SILENCES {
            if let Some(pending) = self.flight.take(seq) {
                let error = self.given_up(&pending, is_spoilt);
                self.finish(pending, Err(error));
            }
            return Ok(());
        }
        pending.repeats.count(cause);
        self.stats.repeats.count(cause);
        self.distance.distrust();
        self.send(seq)
    }

    fn given_up(&self, pending: &Pending, is_spoilt: bool) -> LinkError {
        let port = self.name().to_owned();
        let what = pending.what;
        let overheard = Box::new(self.overheard.clone());
        if is_spoilt {
            return LinkError::Damaged {
                port,
                what,
                attempts: pending.repeats.total() + 1,
                overheard,
            };
        }
        let waited = self.now().saturating_duration_since(pending.first_sent);
        LinkError::Timeout { port, what, waited, overheard }
    }

    fn finish(&mut self, pending: Pending, replies: Result<Vec<Reply>, LinkError>) {
        let Pending { ticket, seq, repeats, first_sent, .. } = pending;
        let took = self.now().saturating_duration_since(first_sent);
        if matches!(replies.as_deref(), Ok([Reply::Identity(_)])) && repeats.total() == 0 {
            self.distance.note(took);
        }
        self.finished.push_back(Answer { ticket, replies, seq, repeats, took });
        if self.flight.is_empty() {
            self.count_occupied();
        }
    }

    fn count_occupied(&mut self) {
        if let Some(since) = self.occupied_since.take() {
            self.stats.occupied += self.now().saturating_duration_since(since);
        }
    }

    fn listen(&mut self, timeout: Duration) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let count = self.read(&mut buffer, timeout)?;
        self.stats.bytes.1 += count as u64;
        self.overheard.heard(&buffer[..count]);
        for byte in &buffer[..count] {
            match self.decoder.push(*byte) {
                Some(Event::Frame(frame)) => self.take_in(frame),
                Some(Event::Damaged(_)) if is_text(&self.unframed) => {}
                Some(Event::Damaged(_)) => self.stats.damaged_here += 1,
                None => {}
            }
            match byte {
                0 => self.unframed.clear(),
                byte if self.unframed.len() < UNFRAMED => self.unframed.push(*byte),
                _ => {}
            }
        }
        Ok(())
    }

    /// A place may be reported at any time and answers no request.
    fn take_in(&mut self, frame: Frame) {
        match Reply::parse(frame.kind, &frame.payload) {
            Ok(Reply::Place(at)) => self.place = Some(at),
            _ => self.waiting.push_back(frame),
        }
    }

    /// Reads, in short looks where the user can stop it.
    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let Some(stop) = &self.stop else { return self.transport.read(buffer, timeout) };
        let end = self.transport.now() + timeout;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let left = end.saturating_duration_since(self.transport.now());
            let count = self.transport.read(buffer, left.min(LOOK))?;
            if count > 0 || left <= LOOK {
                return Ok(count);
            }
        }
    }

    fn send(&mut self, seq: u8) -> Result<(), LinkError> {
        let now = self.now();
        self.flight.sent(seq, now);
        let Some(pending) = self.flight.find(seq) else { return Ok(()) };
        let what = pending.what;
        let line = pending.line.clone();
        let deadline = now + pending.time;
        self.transport.write(&line, deadline).map_err(|source| self.line_error(what, source))?;
        self.stats.bytes.0 += line.len() as u64;
        self.overheard.sent(&line);
        Ok(())
    }

    fn line_error(&self, what: &'static str, source: io::Error) -> LinkError {
        if source.kind() == io::ErrorKind::Interrupted {
            return LinkError::Interrupted { what };
        }
        LinkError::Line { port: self.name().to_owned(), what, source }
    }

    /// The time that so many characters take on the line.
    fn line_time(&self, characters: usize) -> Duration {
        let bits = characters as u64 * BITS * u64::from(self.slowness);
        Duration::from_micros(bits * 1_000_000 / u64::from(self.baud))
    }
}

/// Whether bytes between delimiters are lines of text, such as a program's greeting, and not what a
/// fault has left of a frame.
fn is_text(bytes: &[u8]) -> bool {
    let is_letter = |byte: &u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n');
    bytes.ends_with(b"\r\n") && bytes.iter().all(is_letter)
}

/// A line that was closed.
struct Closed(String);

impl Transport for Closed {
    fn name(&self) -> &str {
        &self.0
    }

    fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        Err(io::ErrorKind::NotConnected.into())
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Err(io::ErrorKind::NotConnected.into())
    }
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn greetings_are_text_and_frames_are_not() {
        assert!(is_text(b"\r\nBoot monitor 1, build 0123ABCD\r\n"));
        for other in [&b""[..], b"Boot", b"\x01\r\n", b"\xffBoot\r\n", b"\r\nBoot\r\n\x02"] {
            assert!(!is_text(other), "{other:?}");
        }
    }
}
