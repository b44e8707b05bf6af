//! A conversation with a monitor made for people: text goes out at a pace, and answers are waited
//! for by how they end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rcflash_transport::time::{Duration, Instant};

use super::error::{LoaderError, Result};
use super::pace::Pace;
use super::records::Record;
use rcflash_link::RecentTraffic;
use rcflash_transport::Transport;

/// Bits of a character on the line.
const BITS: u64 = 10;
/// The time the line may take nothing before it counts as blocked.
const STALL: Duration = Duration::from_secs(5);
/// The extent to which sending may run ahead of the line: what then still lies in buffers is sent
/// whatever happens.
const AHEAD: Duration = Duration::from_millis(20);
/// The longest time without a look whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Heard bytes beyond which it is noise: four times the longest answer, a dump of 1 KiB.
const TOO_MUCH: usize = 32 * 1024;

/// A conversation. What is heard gathers in an inbox until somebody takes it.
pub struct Talk {
    line: Box<dyn Transport + Send>,
    baud: u32,
    stop: Arc<AtomicBool>,
    closing: bool,
    /// The rest after each character of a command.
    typing: Duration,
    inbox: Vec<u8>,
    carried: Instant,
    overheard: RecentTraffic,
}

impl Talk {
    /// A conversation over `line` at `baud`. It ends with [`LoaderError::Interrupted`] soon after
    /// `stop` is set.
    #[must_use]
    pub fn new(line: Box<dyn Transport + Send>, baud: u32, stop: Arc<AtomicBool>) -> Self {
        let carried = line.now();
        Self {
            line,
            baud: baud.max(1),
            stop,
            closing: false,
            typing: Duration::ZERO,
            inbox: Vec::new(),
            carried,
            overheard: RecentTraffic::default(),
        }
    }

    /// A conversation in which this was heard already.
    #[must_use]
    pub fn with_heard(mut self, heard: &[u8]) -> Self {
        self.overheard.add_received(heard);
        self.give_back(heard);
        self
    }

    /// The line, when the conversation is over.
    #[must_use]
    pub fn into_line(self) -> Box<dyn Transport + Send> {
        self.line
    }

    /// The line, and what was heard on it and not taken: the first words of a program that was
    /// started.
    #[must_use]
    pub fn into_parts(self) -> (Box<dyn Transport + Send>, Vec<u8>) {
        (self.line, self.inbox)
    }

    /// Goes on although the user wants to stop: the board is to be left in a state that can be
    /// told.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// Returns the bytes heard and not taken yet.
    pub(super) fn inbox(&self) -> &[u8] {
        &self.inbox
    }

    /// Takes what was heard.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.inbox)
    }

    /// Puts back what was taken too much.
    pub(super) fn give_back(&mut self, heard: &[u8]) {
        self.inbox.splice(0..0, heard.iter().copied());
    }

    /// Whether the line has the wires of flow control.
    pub(super) fn has_flow_control(&self) -> bool {
        self.line.capabilities().flow_control
    }

    /// Whether the host obeys the board's RTS.
    pub(super) fn obey_rts(&mut self, obey: bool) -> Result<bool> {
        let what = "setting the flow control";
        self.line.obey_rts(obey).map_err(|error| self.line_error(what, error))
    }

    /// The line's speed.
    pub(super) fn baud(&self) -> u32 {
        self.baud
    }

    /// Goes on at another speed.
    pub(super) fn set_baud(&mut self, baud: u32) -> Result<()> {
        let what = "setting the speed";
        self.line.set_baud(baud).map_err(|error| self.line_error(what, error))?;
        self.baud = baud.max(1);
        Ok(())
    }

    /// Forgets what was sent and still waits in this computer.
    pub(super) fn discard_unsent(&mut self) -> Result<()> {
        self.carried = self.line.now();
        let what = "taking back what was sent";
        self.line.discard_unsent().map_err(|error| self.line_error(what, error))
    }

    /// The time by the line's clock.
    pub(super) fn now(&self) -> Instant {
        self.line.now()
    }

    /// The time that so many characters take on the line.
    pub(super) fn line_time(&self, characters: usize) -> Duration {
        Duration::from_micros(characters as u64 * BITS * 1_000_000 / u64::from(self.baud))
    }

    /// Sends bytes at once.
    pub(super) fn put(&mut self, what: &'static str, bytes: &[u8]) -> Result<()> {
        let deadline = self.line.now() + self.line_time(bytes.len()) + STALL;
        self.line.write(bytes, deadline).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => {
                LoaderError::Stalled { port: self.name(), what, waited: STALL }
            }
            _ => self.line_error(what, error),
        })?;
        self.overheard.add_sent(bytes);
        self.carried = self.carried.max(self.line.now()) + self.line_time(bytes.len());
        Ok(())
    }

    /// Sends a line at a pace, and listens meanwhile. The user can stop it between lines only, so
    /// that no line is left half sent.
    pub(super) fn say(&mut self, what: &'static str, line: &[u8], pace: Pace) -> Result<()> {
        self.check_stop(what)?;
        if pace.character.is_zero() {
            self.put(what, line)?;
        } else {
            for byte in line {
                self.put(what, std::slice::from_ref(byte))?;
                self.pause(what, pace.character)?;
            }
        }
        let ahead = self.carried.saturating_duration_since(self.line.now() + AHEAD);
        let rest = if pace.line.is_zero() { ahead } else { self.unsent() + pace.line };
        self.pause(what, rest)
    }

    /// Sends lines of Intel HEX, each with `end`, until something is heard, and returns the line at
    /// which that was. `sent` gets the bytes of each.
    ///
    /// # Errors
    /// As [`Self::say`].
    pub(super) fn say_lines<'r>(
        &mut self,
        lines: &'r [Record],
        end: &str,
        pace: Pace,
        sent: &mut dyn FnMut(usize),
    ) -> Result<Option<&'r Record>> {
        for line in lines {
            self.say("sending lines", (line.text() + end).as_bytes(), pace)?;
            sent(line.data.len());
            if !self.inbox().is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// From now on commands are typed as slowly as lines are sent.
    pub(super) fn type_at(&mut self, pace: Pace) {
        self.typing = pace.character;
    }

    /// Types a command, which ends with its carriage return or is a single key.
    pub(super) fn command(&mut self, what: &'static str, keys: &str) -> Result<()> {
        let pace = Pace { character: self.typing, ..Pace::FULL };
        self.say(what, keys.as_bytes(), pace)
    }

    /// Returns the time that the line still needs for the bytes sent.
    pub(super) fn unsent(&self) -> Duration {
        self.carried.saturating_duration_since(self.line.now())
    }

    /// Listens for a time.
    pub(super) fn pause(&mut self, what: &'static str, time: Duration) -> Result<()> {
        let end = self.line.now() + time;
        loop {
            let left = end.saturating_duration_since(self.line.now());
            self.listen(what, left)?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Takes in what has arrived, waiting up to `timeout`; how many bytes came.
    pub(super) fn listen(&mut self, what: &'static str, timeout: Duration) -> Result<usize> {
        let mut buffer = [0; 1024];
        let count =
            self.line.read(&mut buffer, timeout).map_err(|error| self.line_error(what, error))?;
        self.overheard.add_received(&buffer[..count]);
        self.inbox.extend(&buffer[..count]);
        if self.inbox.len() > TOO_MUCH {
            return Err(self.noise(what));
        }
        Ok(count)
    }

    /// Listens until `done` says that the answer is complete, for `patience` after the line has
    /// carried what was sent, and takes it.
    pub(super) fn hear_until(
        &mut self,
        what: &'static str,
        patience: Duration,
        done: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>> {
        let waited = self.unsent() + patience;
        let end = self.line.now() + waited;
        loop {
            if done(&self.inbox) {
                return Ok(self.take());
            }
            self.check_stop(what)?;
            let left = end.saturating_duration_since(self.line.now());
            if left.is_zero() {
                return Err(self.silence(what, waited));
            }
            self.listen(what, left.min(LOOK))?;
        }
    }

    /// Listens until nothing has come for `quiet`, and takes what was heard.
    ///
    /// # Errors
    /// [`LoaderError::Noise`] when the line does not fall quiet within `limit`.
    pub(super) fn receive_until_quiet(
        &mut self,
        what: &'static str,
        quiet: Duration,
        limit: Duration,
    ) -> Result<Vec<u8>> {
        let end = self.line.now() + limit;
        loop {
            let unsent = self.unsent();
            if self.listen(what, quiet + unsent)? == 0 {
                return Ok(self.take());
            }
            self.check_stop(what)?;
            if self.line.now() > end {
                return Err(self.noise(what));
            }
        }
    }

    /// One byte, for protocols that look at each; `None` when none comes within `patience`.
    pub(super) fn get(&mut self, what: &'static str, patience: Duration) -> Result<Option<u8>> {
        let mut left = patience;
        while self.inbox.is_empty() {
            self.check_stop(what)?;
            if left.is_zero() {
                return Ok(None);
            }
            let look = left.min(LOOK);
            self.listen(what, look)?;
            left -= look;
        }
        Ok(Some(self.inbox.remove(0)))
    }

    /// Whether anything comes within a time.
    pub(super) fn is_any_within(&mut self, what: &'static str, time: Duration) -> Result<bool> {
        if self.inbox.is_empty() {
            self.listen(what, time)?;
        }
        Ok(!self.inbox.is_empty())
    }

    /// Whether the user wants to stop.
    pub(super) fn check_stop(&self, what: &'static str) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) && !self.closing {
            return Err(LoaderError::Interrupted { what, state: "nothing was sent" });
        }
        Ok(())
    }

    /// The line's name.
    pub(super) fn name(&self) -> String {
        self.line.name().to_owned()
    }

    /// The last bytes, for messages.
    pub(super) fn overheard(&self) -> Box<RecentTraffic> {
        Box::new(self.overheard.clone())
    }

    pub(super) fn silence(&self, what: &'static str, waited: Duration) -> LoaderError {
        let overheard = self.overheard();
        let try_this = "press reset and try again";
        LoaderError::Silence { port: self.name(), what, waited, overheard, try_this }
    }

    pub(super) fn noise(&self, what: &'static str) -> LoaderError {
        LoaderError::Noise { port: self.name(), what, baud: self.baud, overheard: self.overheard() }
    }

    fn line_error(&self, what: &'static str, source: io::Error) -> LoaderError {
        LoaderError::Line { port: self.name(), what, source }
    }
}
