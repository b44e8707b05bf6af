//! A session with an interactive monitor: sends text at a pace, and recognises a reply by its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rcflash_transport::time::{Duration, Instant};

use crate::banner::{MAX_NAME_BYTES, romwbw_profile};
use crate::error::{LoaderError, Result};
use crate::pace::Pace;
use crate::prompt::is_text;
use crate::records::HexRecord;
use rcflash_link::RecentTraffic;
use rcflash_transport::Transport;

const BITS_PER_CHAR: u64 = 10;
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// How far writes may run ahead of the line. Bytes already in OS buffers can't be recalled.
const MAX_TX_LEAD: Duration = Duration::from_millis(20);
/// How often a blocking read checks the stop flag.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The longest that a dump may take.
const MAX_DUMP_TIME: Duration = Duration::from_secs(60);
/// The maximum of unread bytes: four times the longest reply, a dump of 1 KiB.
const MAX_RX_BYTES: usize = 32 * 1024;

/// The processor that a program is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the processor of that name")]
pub enum Processor {
    Z80,
    Z180,
}

/// A session with a monitor. Received bytes are buffered until they are taken.
pub struct MonitorSession {
    transport: Box<dyn Transport + Send>,
    baud: u32,
    stop: Arc<AtomicBool>,
    stop_ignored: bool,
    /// The delay after each character of a command.
    typing_delay: Duration,
    /// The processor that the program to load is built for, if that matters.
    required: Option<Processor>,
    /// The board profile that a banner, or the reply to HELP, named.
    board_profile: Option<&'static str>,
    received: Vec<u8>,
    tx_done_at: Instant,
    recent_traffic: RecentTraffic,
}

impl MonitorSession {
    /// Creates a session whose operations fail with [`LoaderError::Interrupted`] after `stop`.
    pub fn new(transport: Box<dyn Transport + Send>, baud: u32, stop: Arc<AtomicBool>) -> Self {
        let tx_done_at = transport.now();
        Self {
            transport,
            baud: baud.max(1),
            stop,
            stop_ignored: false,
            typing_delay: Duration::ZERO,
            required: None,
            board_profile: None,
            received: Vec::new(),
            tx_done_at,
            recent_traffic: RecentTraffic::default(),
        }
    }

    /// Lets [`load_hex`](crate::load_hex) fail before it sends a program if the board has another
    /// processor, as far as its monitor shows that.
    pub fn require_processor(&mut self, processor: Processor) {
        self.required = Some(processor);
    }

    /// Returns the processor that the program to load is built for, if that matters.
    pub(crate) fn required_processor(&self) -> Option<Processor> {
        self.required
    }

    /// Returns the board profile that the monitor has named since the session began.
    pub(crate) fn board_profile(&self) -> Option<&'static str> {
        self.board_profile
    }

    /// Notes the board profile that the monitor has named, if it has named any.
    pub(crate) fn set_board_profile(&mut self, named: Option<&'static str>) {
        self.board_profile = named.or(self.board_profile);
    }

    /// Looks for a board's name in the last `count` unread bytes.
    fn read_banner(&mut self, count: usize) {
        let from = self.received.len().saturating_sub(count + MAX_NAME_BYTES);
        self.set_board_profile(romwbw_profile(&self.received[from..]));
    }

    /// Adds bytes that were received before the session.
    #[must_use]
    pub fn with_received(mut self, received: &[u8]) -> Self {
        self.recent_traffic.add_received(received);
        self.unread(received);
        self.read_banner(received.len());
        self
    }

    /// Returns the transport.
    #[must_use]
    pub fn into_transport(self) -> Box<dyn Transport + Send> {
        self.transport
    }

    /// Returns the transport and the unread bytes: the first output of a program that was started.
    #[must_use]
    pub fn into_parts(self) -> (Box<dyn Transport + Send>, Vec<u8>) {
        (self.transport, self.received)
    }

    /// Ignores the stop flag from now on, so that the board can be brought to a known state.
    pub(crate) fn ignore_stop(&mut self) {
        self.stop_ignored = true;
    }

    pub(crate) fn received(&self) -> &[u8] {
        &self.received
    }

    pub(crate) fn take_received(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.received)
    }

    /// Pushes back received bytes that were not consumed.
    pub(crate) fn unread(&mut self, received: &[u8]) {
        self.received.splice(0..0, received.iter().copied());
    }

    pub(crate) fn has_flow_control(&self) -> bool {
        self.transport.capabilities().flow_control
    }

    /// Sets whether the board can suspend the host by RTS, and returns the previous setting.
    pub(crate) fn set_flow_control(&mut self, enabled: bool) -> Result<bool> {
        let operation = "setting the flow control";
        self.transport.set_flow_control(enabled).map_err(|error| self.io_error(operation, error))
    }

    pub(crate) fn baud(&self) -> u32 {
        self.baud
    }

    pub(crate) fn set_baud(&mut self, baud: u32) -> Result<()> {
        let operation = "setting the speed";
        self.transport.set_baud(baud).map_err(|error| self.io_error(operation, error))?;
        self.baud = baud.max(1);
        Ok(())
    }

    /// Discards bytes that were sent but not transmitted yet.
    pub(crate) fn discard_unsent(&mut self) -> Result<()> {
        self.tx_done_at = self.transport.now();
        let operation = "discarding what was sent";
        self.transport.discard_unsent().map_err(|error| self.io_error(operation, error))
    }

    pub(crate) fn now(&self) -> Instant {
        self.transport.now()
    }

    /// Returns how long the line needs for some characters.
    pub(crate) fn line_time(&self, characters: usize) -> Duration {
        Duration::from_micros(characters as u64 * BITS_PER_CHAR * 1_000_000 / u64::from(self.baud))
    }

    pub(crate) fn send(&mut self, operation: &'static str, bytes: &[u8]) -> Result<()> {
        let deadline = self.transport.now() + self.line_time(bytes.len()) + WRITE_TIMEOUT;
        self.transport.write(bytes, deadline).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => LoaderError::WriteTimeout {
                port: self.port_name(),
                operation,
                waited: WRITE_TIMEOUT,
            },
            _ => self.io_error(operation, error),
        })?;
        self.recent_traffic.add_sent(bytes);
        self.tx_done_at = self.tx_done_at.max(self.transport.now()) + self.line_time(bytes.len());
        Ok(())
    }

    /// Sends a line at a pace and receives meanwhile; it is never interrupted in part.
    pub(crate) fn send_paced(
        &mut self,
        operation: &'static str,
        line: &[u8],
        pace: Pace,
    ) -> Result<()> {
        self.check_stop(operation)?;
        let (piece, delay) = pace.piece;
        if piece > 0 {
            for piece in line.chunks(piece) {
                self.send(operation, piece)?;
                self.pause(operation, self.tx_remaining() + delay)?;
            }
            return Ok(());
        }
        self.send_delayed(operation, line, pace.char_delay)?;
        let lead = self.tx_done_at.saturating_duration_since(self.transport.now() + MAX_TX_LEAD);
        let delay =
            if pace.line_delay.is_zero() { lead } else { self.tx_remaining() + pace.line_delay };
        self.pause(operation, delay)
    }

    /// Sends bytes with a delay after each, and receives meanwhile.
    pub(crate) fn send_delayed(
        &mut self,
        operation: &'static str,
        bytes: &[u8],
        char_delay: Duration,
    ) -> Result<()> {
        if char_delay.is_zero() {
            return self.send(operation, bytes);
        }
        for byte in bytes {
            self.send(operation, std::slice::from_ref(byte))?;
            self.pause(operation, char_delay)?;
        }
        Ok(())
    }

    /// Sends lines of Intel HEX, each followed by `line_end`. If something is received, returns the
    /// line after which that was. `on_sent` is called with the number of bytes of each line.
    pub(crate) fn send_records<'r>(
        &mut self,
        lines: &'r [HexRecord],
        line_end: &str,
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<Option<&'r HexRecord>> {
        for line in lines {
            self.send_paced("sending lines", (line.text() + line_end).as_bytes(), pace)?;
            on_sent(line.data.len());
            if !self.received().is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Types further commands as slowly as lines are sent.
    pub(crate) fn set_typing_pace(&mut self, pace: Pace) {
        self.typing_delay = pace.char_delay;
    }

    /// Types a command, which ends with its carriage return or is a single key.
    pub(crate) fn type_command(&mut self, operation: &'static str, keys: &str) -> Result<()> {
        let pace = Pace { char_delay: self.typing_delay, ..Pace::FULL };
        self.send_paced(operation, keys.as_bytes(), pace)
    }

    /// Returns how long the line still needs for the bytes sent.
    pub(crate) fn tx_remaining(&self) -> Duration {
        self.tx_done_at.saturating_duration_since(self.transport.now())
    }

    pub(crate) fn pause(&mut self, operation: &'static str, time: Duration) -> Result<()> {
        let deadline = self.transport.now() + time;
        loop {
            let remaining = deadline.saturating_duration_since(self.transport.now());
            self.receive(operation, remaining)?;
            if remaining.is_zero() {
                return Ok(());
            }
        }
    }

    pub(crate) fn receive(&mut self, operation: &'static str, timeout: Duration) -> Result<usize> {
        let mut buffer = [0; 1024];
        let count = self
            .transport
            .read(&mut buffer, timeout)
            .map_err(|error| self.io_error(operation, error))?;
        self.recent_traffic.add_received(&buffer[..count]);
        self.received.extend(&buffer[..count]);
        self.read_banner(count);
        if self.received.len() > MAX_RX_BYTES {
            return Err(self.endless_error(operation));
        }
        Ok(count)
    }

    /// Receives until `done` accepts the unread bytes, up to `timeout` after transmission.
    pub(crate) fn receive_until(
        &mut self,
        operation: &'static str,
        timeout: Duration,
        done: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>> {
        let timeout = self.tx_remaining() + timeout;
        self.receive_done(operation, timeout, Duration::ZERO, done)
    }

    /// Like [`Self::receive_until`], but goes on while anything arrives at least every `silence`, for
    /// at most [`MAX_DUMP_TIME`] beyond the time of the line: a busy host or network delays a long
    /// reply.
    pub(crate) fn receive_while_coming(
        &mut self,
        operation: &'static str,
        silence: Duration,
        done: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>> {
        let more = MAX_DUMP_TIME + self.line_time(MAX_RX_BYTES);
        self.receive_done(operation, self.tx_remaining() + silence, more, done)
    }

    /// Receives until `done` accepts the unread bytes, up to `timeout` from now, and again from each
    /// time that something arrives within `more`.
    fn receive_done(
        &mut self,
        operation: &'static str,
        timeout: Duration,
        more: Duration,
        done: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>> {
        let mut deadline = self.transport.now() + timeout;
        let end = self.transport.now() + more;
        loop {
            if done(&self.received) {
                return Ok(self.take_received());
            }
            self.check_stop(operation)?;
            let remaining = deadline.saturating_duration_since(self.transport.now());
            if remaining.is_zero() {
                return Err(self.timeout_error(operation, timeout));
            }
            if self.receive(operation, remaining.min(STOP_POLL_INTERVAL))? > 0 {
                deadline = deadline.max(end.min(self.transport.now() + timeout));
            }
        }
    }

    /// Receives until nothing arrives for `quiet`, and takes the unread bytes.
    pub(crate) fn receive_until_quiet(
        &mut self,
        operation: &'static str,
        quiet: Duration,
        limit: Duration,
    ) -> Result<Vec<u8>> {
        let deadline = self.transport.now() + limit;
        loop {
            let tx_remaining = self.tx_remaining();
            if self.receive(operation, quiet + tx_remaining)? == 0 {
                return Ok(self.take_received());
            }
            self.check_stop(operation)?;
            if self.transport.now() > deadline {
                return Err(self.endless_error(operation));
            }
        }
    }

    /// Returns the next byte, or `None` if none arrives within `timeout`.
    pub(crate) fn read_byte(
        &mut self,
        operation: &'static str,
        timeout: Duration,
    ) -> Result<Option<u8>> {
        let mut remaining = timeout;
        while self.received.is_empty() {
            self.check_stop(operation)?;
            if remaining.is_zero() {
                return Ok(None);
            }
            let interval = remaining.min(STOP_POLL_INTERVAL);
            self.receive(operation, interval)?;
            remaining -= interval;
        }
        Ok(Some(self.received.remove(0)))
    }

    /// Returns `true` if there are unread bytes or any arrive within `time`.
    pub(crate) fn receives_within(
        &mut self,
        operation: &'static str,
        time: Duration,
    ) -> Result<bool> {
        if self.received.is_empty() {
            self.receive(operation, time)?;
        }
        Ok(!self.received.is_empty())
    }

    pub(crate) fn check_stop(&self, operation: &'static str) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) && !self.stop_ignored {
            return Err(LoaderError::Interrupted { operation, state: "nothing was sent" });
        }
        Ok(())
    }

    pub(crate) fn port_name(&self) -> String {
        self.transport.name().to_owned()
    }

    /// Returns the last bytes sent and received, for messages.
    pub(crate) fn recent_traffic(&self) -> Box<RecentTraffic> {
        Box::new(self.recent_traffic.clone())
    }

    pub(crate) fn timeout_error(&self, operation: &'static str, waited: Duration) -> LoaderError {
        let recent_traffic = self.recent_traffic();
        let hint = "press reset and try again";
        LoaderError::NoReply { port: self.port_name(), operation, waited, recent_traffic, hint }
    }

    pub(crate) fn noise_error(&self, operation: &'static str) -> LoaderError {
        LoaderError::Noise {
            port: self.port_name(),
            operation,
            baud: self.baud,
            recent_traffic: self.recent_traffic(),
        }
    }

    /// Returns the error for unread bytes that have no end: those of a program that prints, or noise.
    pub(crate) fn endless_error(&self, operation: &'static str) -> LoaderError {
        if !is_text(&self.received) {
            return self.noise_error(operation);
        }
        let recent_traffic = self.recent_traffic();
        LoaderError::EndlessText { port: self.port_name(), operation, recent_traffic }
    }

    fn io_error(&self, operation: &'static str, source: io::Error) -> LoaderError {
        LoaderError::Io { port: self.port_name(), operation, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line on which a character arrives at these intervals.
    struct SlowLine {
        now: Instant,
        left: Vec<Duration>,
    }

    impl Transport for SlowLine {
        fn name(&self) -> &str {
            "slow line"
        }

        fn now(&self) -> Instant {
            self.now
        }

        fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
            let Some(next) = self.left.first_mut().filter(|next| **next <= timeout) else {
                self.now += timeout;
                self.left.first_mut().into_iter().for_each(|next| *next -= timeout);
                return Ok(0);
            };
            self.now += *next;
            self.left.remove(0);
            buffer[0] = b'.';
            Ok(1)
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Ok(())
        }
    }

    /// Receives all characters of a line with these intervals, at most two seconds apart.
    fn received(intervals: Vec<u64>) -> Result<Vec<u8>> {
        let count = intervals.len();
        let left = intervals.into_iter().map(Duration::from_millis).collect();
        let line = Box::new(SlowLine { now: Instant::now(), left });
        let mut session = MonitorSession::new(line, 115_200, Arc::default());
        session.receive_while_coming("reading", Duration::from_secs(2), |text| text.len() == count)
    }

    #[test]
    fn a_dump_may_take_long_while_it_comes_but_has_an_end() {
        assert_eq!(received(vec![1900; 20]).ok().map(|text| text.len()), Some(20));
        assert!(received([vec![1; 19], vec![2100]].concat()).is_err());
        let endless = received(vec![1900; 40]);
        assert!(matches!(endless, Err(LoaderError::NoReply { .. })), "{endless:?}");
    }
}
