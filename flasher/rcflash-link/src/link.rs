//! The link: sends requests, matches their replies, and retries.

mod locate;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firmware_wire::{Decoder, DecoderEvent, Frame, MAX_ENCODED, MAX_PAYLOAD, Reply, Request};
use rcflash_transport::time::{Duration, Instant};

use crate::error::LinkError;
use crate::narrow::narrow;
use crate::queue::{Completion, PendingRequest, QueueAction, RequestId, RequestQueue, RequestSpec};
use crate::rtt::RttEstimate;
use crate::stats::{LinkStats, RetryCause};
use crate::traffic::RecentTraffic;
use rcflash_transport::Transport;

/// The number of retries after corruption or loss, after which a request fails.
const MAX_CORRUPTIONS: u64 = 8;
/// Latency that a USB adapter and the host may add to a reply.
const ADAPTER_LATENCY: Duration = Duration::from_millis(1500);
/// A banner has ended when the line is quiet for this long.
const BANNER_QUIET: Duration = Duration::from_millis(20);
/// The longest banner: 480 characters at 9600 baud.
const MAX_BANNER_TIME: Duration = Duration::from_millis(500);
/// How often a blocking read checks the stop flag.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of bytes of a frame on the line, including both delimiters.
pub(crate) const MAX_FRAME: usize = MAX_ENCODED + 2;
const MAX_UNFRAMED_BYTES: usize = 4096;
const BITS_PER_CHAR: u64 = 10;

/// A link to a board, with any number of requests in flight.
pub struct Link {
    transport: Box<dyn Transport + Send>,
    baud: u32,
    /// The maximum number of bytes in flight. A single request may exceed it.
    window: usize,
    pub(crate) timeout_scale: u32,
    rtt: RttEstimate,
    seq: u8,
    last_id: u64,
    decoder: Decoder,
    rx_frames: VecDeque<Frame>,
    /// The program counter in the last PC report.
    located_pc: Option<u16>,
    queue: RequestQueue,
    completions: VecDeque<Completion>,
    /// The end of the last request.
    last_end: Option<Instant>,
    busy_since: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
    stats: LinkStats,
    recent_traffic: RecentTraffic,
    /// Bytes received since the last delimiter: output of a program without the protocol.
    unframed: Vec<u8>,
}

impl Link {
    /// Creates a link at `baud`, with one request in flight until [`Self::set_window`].
    pub fn new(transport: Box<dyn Transport + Send>, baud: u32) -> Self {
        let queue = RequestQueue::new(transport.now());
        Self {
            transport,
            baud: baud.max(1),
            window: 0,
            timeout_scale: 1,
            rtt: RttEstimate::default(),
            seq: 0,
            last_id: 0,
            decoder: Decoder::default(),
            rx_frames: VecDeque::new(),
            located_pc: None,
            queue,
            completions: VecDeque::new(),
            last_end: None,
            busy_since: None,
            stop: None,
            stats: LinkStats::default(),
            recent_traffic: RecentTraffic::default(),
            unframed: Vec::new(),
        }
    }

    /// Replaces the transport, for example after the adapter was replugged. Requests in flight are
    /// dropped.
    ///
    /// # Errors
    /// Returns the error of `open`. The link is then closed, and every request fails until
    /// `reconnect` succeeds.
    pub fn reconnect<E>(
        &mut self,
        open: impl FnOnce() -> Result<Box<dyn Transport + Send>, E>,
    ) -> Result<(), E> {
        drop(self.take_transport());
        self.set_transport(open()?);
        Ok(())
    }

    /// Takes the transport, to use it with another protocol. Requests in flight are dropped, and
    /// every request fails until [`Self::set_transport`].
    pub fn take_transport(&mut self) -> Box<dyn Transport + Send> {
        self.cancel_all();
        self.decoder.clear();
        self.rx_frames.clear();
        self.rtt = RttEstimate::default();
        let closed = Box::new(ClosedTransport(self.name().to_owned()));
        std::mem::replace(&mut self.transport, closed)
    }

    /// Sets the transport after [`Self::take_transport`].
    pub fn set_transport(&mut self, transport: Box<dyn Transport + Send>) {
        self.transport = transport;
    }

    /// Sets the stop flag: while it is `true`, reads fail with [`LinkError::Interrupted`].
    pub fn set_stop(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Returns the transport, for example to set its control lines.
    pub fn transport_mut(&mut self) -> &mut dyn Transport {
        &mut *self.transport
    }

    /// Takes the bytes since the last delimiter: output of a program without the protocol.
    pub fn take_unframed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unframed)
    }

    /// Allows as many requests in flight as fit into `bytes`, the board's receive window.
    pub fn set_window(&mut self, bytes: u16) {
        self.window = bytes.into();
    }

    /// Returns the line's speed.
    pub fn baud(&self) -> u32 {
        self.baud
    }

    /// Multiplies all timeouts by `times`, for a board that runs slower than its nominal clock.
    pub fn set_timeout_scale(&mut self, times: u32) {
        self.timeout_scale = times.max(1);
    }

    /// Returns the last sequence number used; the next request gets the one after it.
    pub fn seq(&self) -> u8 {
        self.seq
    }

    /// Sets the last sequence number used.
    pub fn set_seq(&mut self, seq: u8) {
        self.seq = seq;
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// Returns the last bytes sent and received.
    pub fn recent_traffic(&self) -> &RecentTraffic {
        &self.recent_traffic
    }

    /// Returns the name of the port.
    pub fn name(&self) -> &str {
        self.transport.name()
    }

    /// Returns the time of the transport's clock, which a simulated transport advances itself.
    pub fn now(&self) -> Instant {
        self.transport.now()
    }

    /// Sends a request and waits for its reply. `operation` names it in errors; `processing_time`
    /// is what the board may take in addition to the time on the line.
    ///
    /// # Errors
    /// Returns [`LinkError`] if the port fails, no valid reply arrives after the retries, the board
    /// replies with an error, or the stop flag is set.
    ///
    /// # Examples
    /// ```
    /// use std::io;
    /// use rcflash_transport::time::{Duration, Instant};
    ///
    /// use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, Reply, Request};
    /// use rcflash_link::Link;
    /// use rcflash_transport::Transport;
    ///
    /// /// A board that sends an empty reply to each request.
    /// #[derive(Default)]
    /// struct Board {
    ///     decoder: Decoder,
    ///     tx: Vec<u8>,
    /// }
    ///
    /// impl Transport for Board {
    ///     fn name(&self) -> &str {
    ///         "a board"
    ///     }
    ///
    ///     fn read(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
    ///         let count = buffer.len().min(self.tx.len());
    ///         buffer[..count].copy_from_slice(&self.tx[..count]);
    ///         self.tx.drain(..count);
    ///         Ok(count)
    ///     }
    ///
    ///     fn write(&mut self, bytes: &[u8], _: Instant) -> io::Result<()> {
    ///         for byte in bytes {
    ///             if let Some(DecoderEvent::Frame(request)) = self.decoder.push(*byte) {
    ///                 let reply = Frame::empty(request.seq, request.kind + REPLY_BIT);
    ///                 self.tx.extend(reply.encode());
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let mut link = Link::new(Box::new(Board::default()), 115_200);
    /// let reply = link.request("resetting the board", &Request::Reset, Duration::from_secs(1))?;
    /// assert_eq!(reply, Reply::Resetting);
    /// # Ok::<(), rcflash_link::LinkError>(())
    /// ```
    pub fn request(
        &mut self,
        operation: &'static str,
        request: &Request,
        processing_time: Duration,
    ) -> Result<Reply, LinkError> {
        let replies =
            self.request_all(&RequestSpec::new(operation, request.clone(), processing_time))?;
        replies.into_iter().next_back().ok_or_else(|| LinkError::UnexpectedReply {
            operation,
            cause: "it is empty".to_owned(),
        })
    }

    /// Sends a request and waits for all of its replies. Completions of earlier requests remain
    /// queued for [`Self::next_completion`].
    ///
    /// # Errors
    /// The same as for [`Self::request`].
    pub fn request_all(&mut self, spec: &RequestSpec) -> Result<Vec<Reply>, LinkError> {
        let id = self.submit(spec)?;
        loop {
            if let Some(index) = self.completions.iter().position(|done| done.id == id)
                && let Some(answer) = self.completions.remove(index)
            {
                return answer.replies;
            }
            self.poll()?;
        }
    }

    /// Returns `true` if one more request fits into the window.
    pub fn has_room(&self, request: &Request) -> bool {
        let line = request.payload().len() + (MAX_FRAME - MAX_PAYLOAD);
        let ahead = self.rtt.extra_window(request, narrow(u64::from(self.baud) / BITS_PER_CHAR));
        self.queue.is_empty()
            || self.queue.bytes() + line <= self.window + ahead
                && self.queue.next_seq(self.seq).is_some()
    }

    /// Sends a request without waiting for its reply; [`Self::next_completion`] returns it. If all
    /// 255 sequence numbers are in flight, waits for one of them first.
    ///
    /// # Errors
    /// Returns [`LinkError::Io`] if the port fails.
    pub fn submit(&mut self, spec: &RequestSpec) -> Result<RequestId, LinkError> {
        self.seq = loop {
            match self.queue.next_seq(self.seq) {
                Some(seq) => break seq,
                None => self.poll()?,
            }
        };
        self.last_id += 1;
        let id = RequestId(self.last_id);
        let processing_time = spec.processing_time * self.timeout_scale;
        let timeout =
            self.line_time(spec.max_frames * MAX_FRAME) + processing_time + ADAPTER_LATENCY;
        let now = self.now();
        let pending = PendingRequest::new(id, self.seq, spec, timeout, now)
            .map_err(|error| LinkError::unexpected_reply(spec.operation, error))?;
        if self.queue.is_empty() {
            self.busy_since = Some(now);
        }
        self.queue.add(pending);
        self.send(self.seq)?;
        Ok(id)
    }

    /// Waits for the next request to complete. Returns `None` if no request is in flight.
    ///
    /// # Errors
    /// Returns [`LinkError::Io`] if the port fails, or [`LinkError::Interrupted`]. Requests stay
    /// in flight until [`Self::cancel_all`].
    pub fn next_completion(&mut self) -> Result<Option<Completion>, LinkError> {
        loop {
            if let Some(answer) = self.completions.pop_front() {
                return Ok(Some(answer));
            }
            if self.queue.is_empty() {
                return Ok(None);
            }
            self.poll()?;
        }
    }

    /// Takes the completions that were queued while another request was waited for.
    pub fn take_completions(&mut self) -> VecDeque<Completion> {
        std::mem::take(&mut self.completions)
    }

    /// Drops all requests in flight; replies that still arrive are counted as unmatched.
    pub fn cancel_all(&mut self) {
        self.queue = RequestQueue::new(self.now());
        self.count_busy();
    }

    /// Discards the banner of a program that was just started: waits up to `timeout` for it to
    /// begin, then until the line is quiet for 20 ms, at most 500 ms. A line that stays busy is
    /// not an error; the next request will fail.
    ///
    /// # Errors
    /// Returns [`LinkError::Io`] if the port fails, or [`LinkError::Interrupted`].
    pub fn drain_banner(
        &mut self,
        operation: &'static str,
        timeout: Duration,
    ) -> Result<(), LinkError> {
        let deadline = self.now() + timeout + MAX_BANNER_TIME;
        let mut timeout = timeout;
        loop {
            let before = self.stats.bytes.1;
            self.receive(timeout).map_err(|source| self.io_error(operation, source))?;
            if self.stats.bytes.1 == before || self.now() >= deadline {
                self.rx_frames.clear();
                return Ok(());
            }
            timeout = BANNER_QUIET;
        }
    }

    /// Counts a request that a client of the link sends again itself.
    pub(crate) fn count_retry(&mut self) {
        self.stats.retries.count(RetryCause::Timeout);
    }

    /// Handles one received frame or a missed deadline, or else reads from the port.
    fn poll(&mut self) -> Result<(), LinkError> {
        if let Some(frame) = self.rx_frames.pop_front() {
            let actions = self.queue.on_frame(&frame, self.now());
            return self.apply(actions);
        }
        let deadline = self.queue.deadline(|bytes| self.line_time(bytes));
        let left = deadline.saturating_duration_since(self.now());
        if left.is_zero() {
            let actions = self.queue.on_timeout();
            return self.apply(actions);
        }
        let operation = self.queue.operation();
        self.receive(left).map_err(|source| self.io_error(operation, source))
    }

    fn apply(&mut self, actions: Vec<QueueAction>) -> Result<(), LinkError> {
        for outcome in actions {
            match outcome {
                QueueAction::Unmatched => self.stats.unmatched_replies += 1,
                QueueAction::Retry(seq, cause) => self.retry(seq, cause)?,
                QueueAction::Complete(pending, replies) => {
                    self.stats.requests += u64::from(replies.is_ok());
                    self.finish(*pending, replies);
                }
            }
        }
        Ok(())
    }

    /// Sends a request again, or completes it with an error after too many retries.
    fn retry(&mut self, seq: u8, cause: RetryCause) -> Result<(), LinkError> {
        let Some(pending) = self.queue.find(seq) else { return Ok(()) };
        let is_corrupted =
            cause != RetryCause::Timeout && pending.retries.total() >= MAX_CORRUPTIONS;
        if is_corrupted || pending.timeouts >= pending.max_timeouts {
            if let Some(pending) = self.queue.take(seq) {
                let error = self.give_up_error(&pending, is_corrupted);
                self.finish(pending, Err(error));
            }
            return Ok(());
        }
        pending.retries.count(cause);
        self.stats.retries.count(cause);
        self.rtt.mark_lossy();
        self.send(seq)
    }

    fn give_up_error(&self, pending: &PendingRequest, is_corrupted: bool) -> LinkError {
        let port = self.name().to_owned();
        let operation = pending.operation;
        let recent_traffic = Box::new(self.recent_traffic.clone());
        if is_corrupted {
            return LinkError::Corrupted {
                port,
                operation,
                attempts: pending.retries.total() + 1,
                recent_traffic,
            };
        }
        let waited = self.now().saturating_duration_since(pending.first_sent);
        let attempts = pending.timeouts;
        LinkError::Timeout { port, operation, attempts, waited, recent_traffic }
    }

    fn finish(&mut self, pending: PendingRequest, replies: Result<Vec<Reply>, LinkError>) {
        let PendingRequest { id, seq, retries, first_sent, .. } = pending;
        let now = self.now();
        let elapsed = now.saturating_duration_since(first_sent);
        let began = self.last_end.map_or(first_sent, |end| end.max(first_sent));
        self.last_end = Some(now);
        let share = now.saturating_duration_since(began);
        if matches!(replies.as_deref(), Ok([Reply::Identity(_)])) && retries.total() == 0 {
            self.rtt.add_sample(elapsed);
        }
        self.completions.push_back(Completion { id, replies, seq, retries, share });
        if self.queue.is_empty() {
            self.count_busy();
        }
    }

    fn count_busy(&mut self) {
        if let Some(since) = self.busy_since.take() {
            self.stats.busy += self.now().saturating_duration_since(since);
        }
    }

    fn receive(&mut self, timeout: Duration) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let count = self.read(&mut buffer, timeout)?;
        self.stats.bytes.1 += count as u64;
        self.recent_traffic.add_received(&buffer[..count]);
        for byte in &buffer[..count] {
            match self.decoder.push(*byte) {
                Some(DecoderEvent::Frame(frame)) => self.dispatch(frame),
                Some(DecoderEvent::Invalid(_)) if is_text(&self.unframed) => {}
                Some(DecoderEvent::Invalid(_)) => self.stats.corrupted_at_host += 1,
                None => {}
            }
            match byte {
                0 => self.unframed.clear(),
                byte if self.unframed.len() < MAX_UNFRAMED_BYTES => self.unframed.push(*byte),
                _ => {}
            }
        }
        Ok(())
    }

    /// Queues a frame. A PC report may arrive at any time and is not a reply.
    fn dispatch(&mut self, frame: Frame) {
        match Reply::parse(frame.kind, &frame.payload) {
            Ok(Reply::ProgramCounter(at)) => self.located_pc = Some(at),
            _ => self.rx_frames.push_back(frame),
        }
    }

    /// Reads, and checks the stop flag in between if there is one.
    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let Some(stop) = &self.stop else { return self.transport.read(buffer, timeout) };
        let end = self.transport.now() + timeout;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let left = end.saturating_duration_since(self.transport.now());
            let count = self.transport.read(buffer, left.min(STOP_POLL_INTERVAL))?;
            if count > 0 || left <= STOP_POLL_INTERVAL {
                return Ok(count);
            }
        }
    }

    fn send(&mut self, seq: u8) -> Result<(), LinkError> {
        let now = self.now();
        self.queue.transmitted(seq, now);
        let Some(pending) = self.queue.find(seq) else { return Ok(()) };
        let operation = pending.operation;
        let line = pending.line.clone();
        let deadline = now + pending.timeout;
        self.transport.write(&line, deadline).map_err(|source| self.io_error(operation, source))?;
        self.stats.bytes.0 += line.len() as u64;
        self.recent_traffic.add_sent(&line);
        Ok(())
    }

    fn io_error(&self, operation: &'static str, source: io::Error) -> LinkError {
        if source.kind() == io::ErrorKind::Interrupted {
            return LinkError::interrupted(operation, &self.recent_traffic);
        }
        LinkError::Io { port: self.name().to_owned(), operation, source }
    }

    fn line_time(&self, characters: usize) -> Duration {
        let bits = characters as u64 * BITS_PER_CHAR * u64::from(self.timeout_scale);
        Duration::from_micros(bits * 1_000_000 / u64::from(self.baud))
    }
}

/// Returns `true` if bytes between two delimiters are text, such as a banner.
fn is_text(bytes: &[u8]) -> bool {
    let is_letter = |byte: &u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n');
    bytes.ends_with(b"\r\n") && bytes.iter().all(is_letter)
}

/// Stands for a transport that was taken: every operation fails. Contains the port's name.
pub(crate) struct ClosedTransport(pub(crate) String);

impl Transport for ClosedTransport {
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
