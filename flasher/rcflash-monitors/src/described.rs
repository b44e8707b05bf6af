//! A monitor that a [`MonitorDescription`] describes.
//!
//! Nothing else is known of it. So a command is entered only if its echo is correct, sending stops
//! at the first unexpected character, and a prompt is that of the description in a line of its own.

use std::sync::Arc;
use std::time::Duration;

use tdlasm::image::Image;

use crate::description::{ADDRESS, FIRST, LAST, LINE, LoadFormat, MonitorDescription};
use crate::dump::{self, Memory, ROW_BYTES};
use crate::error::{LoaderError, Result};
use crate::event::LoadObserver;
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT, type_checked};
use crate::handshake::{CORRUPTED_RECORD_FILL, abort_load_with, clear_line};
use crate::monitor::{HexMonitor, LoadReport, check_in_free_memory};
use crate::pace::Pace;
use crate::processor::BoardProcessor;
use crate::records::{HexRecord, hex_records};
use crate::session::MonitorSession;
use crate::xmodem::{BLOCK_BYTES, PAD, XmodemSender};

pub(crate) const NAME: &str = "the described monitor";
const FINDING: &str = "looking for the prompt of the described monitor";
const LOADING: &str = "starting a load";
const RECOVERING: &str = "getting back to the prompt of the described monitor";
/// How long the report of a load, or a page of a dump, may take after its last character.
const REPORT_TIMEOUT: Duration = Duration::from_secs(4);
/// How long an XMODEM receiver may take to reply; many repeat their request every ten seconds.
const RECEIVER_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Described {
    monitor: Arc<MonitorDescription>,
    image: Image,
}

impl Described {
    pub(crate) fn new(monitor: &Arc<MonitorDescription>) -> Self {
        Self { monitor: Arc::clone(monitor), image: Image::new([]) }
    }

    fn at_prompt(&self, received: &[u8]) -> bool {
        self.monitor.at_prompt(received)
    }

    /// Types a command. Its carriage return is sent only once the echo is correct.
    fn command(
        &self,
        session: &mut MonitorSession,
        operation: &'static str,
        command: &str,
    ) -> Result<()> {
        match command.strip_suffix('\r') {
            Some(text) if self.monitor.echo && !text.is_empty() => {
                type_checked(session, NAME, operation, text)?;
                session.send(operation, b"\r")
            }
            _ => {
                session.take_received();
                session.type_command(operation, command)
            }
        }
    }

    /// Tries to bring the monitor to its prompt, by keys that do the least first.
    fn find_prompt(&self, session: &mut MonitorSession, operation: &'static str) -> Result<bool> {
        let line = clear_line(session, operation)?;
        if self.at_prompt(&line) || self.at_prompt(&exchange::send_keys(session, operation, b"\r")?)
        {
            return Ok(true);
        }
        let cancel = self.monitor.cancel.as_bytes();
        if !cancel.is_empty() {
            exchange::send_keys(session, operation, cancel)?;
            if self.at_prompt(&exchange::send_keys(session, operation, b"\r")?) {
                return Ok(true);
            }
        }
        if self.monitor.load.format == LoadFormat::Xmodem {
            return Ok(false);
        }
        let end = self.monitor.load.end();
        let mut received = abort_load_with(session, operation, CORRUPTED_RECORD_FILL, &end)?;
        // A monitor that replies to each line needs its end record, others at most a line end.
        for keys in [end.as_bytes(), b"\r"] {
            if !self.at_prompt(&received) {
                received = exchange::send_keys(session, operation, keys)?;
            }
        }
        Ok(self.at_prompt(&received))
    }

    fn back_to_prompt(&self, session: &mut MonitorSession) -> Result<()> {
        match self.find_prompt(session, RECOVERING)? {
            true => Ok(()),
            false => Err(exchange::no_peer_error(session, RECOVERING)),
        }
    }

    /// Returns what is wrong with the reply to a line.
    fn line_problem(&self, session: &mut MonitorSession, line: &str) -> Result<Option<Vec<u8>>> {
        let expected = self.monitor.load.line_reply.replace(LINE, line);
        if expected.is_empty() {
            let is_silent = session.received().is_empty();
            return Ok((!is_silent).then(Vec::new));
        }
        let reply = session.receive_until("receiving the reply to a line", REPLY_TIMEOUT, |text| {
            text.len() >= expected.len()
        });
        match reply {
            Ok(reply) if reply == expected.as_bytes() => Ok(None),
            Ok(reply) => Ok(Some(reply)),
            Err(LoaderError::NoReply { .. }) => Ok(Some(session.take_received())),
            Err(error) => Err(error),
        }
    }

    /// Ends a load in which the monitor has replied something else than expected.
    fn refused(
        &self,
        session: &mut MonitorSession,
        number: usize,
        mut received: Vec<u8>,
    ) -> Result<LoadReport> {
        session.discard_unsent()?;
        let operation = "receiving its message about a line";
        received.extend(session.receive_until_quiet(operation, MAX_CHAR_GAP, REPORT_TIMEOUT)?);
        self.back_to_prompt(session)?;
        let text = exchange::escape_tail(&received);
        Ok(LoadReport::Failure(format!("at line {number} it replied {text}")))
    }

    /// Receives the report of a load up to the prompt.
    fn report(&self, session: &mut MonitorSession, end: &str) -> Result<LoadReport> {
        const OPERATION: &str = "waiting for the report of the load";
        let received =
            session.receive_until(OPERATION, REPORT_TIMEOUT, |text| self.at_prompt(text));
        let mut received = match received {
            Ok(received) => received,
            Err(LoaderError::NoReply { .. }) => {
                self.back_to_prompt(session)?;
                let text = "it waited for more characters than it received";
                return Ok(LoadReport::Failure(text.to_owned()));
            }
            Err(error) => return Err(error),
        };
        // The line end after the last line may be an empty command.
        received.extend(session.receive_until_quiet(OPERATION, MAX_CHAR_GAP, REPLY_TIMEOUT)?);
        let text = String::from_utf8_lossy(&received).into_owned();
        // Neither prompts nor the echo of the last line.
        let ignored = ["", self.monitor.prompt.trim(), end.trim()];
        let lines = |text: &'_ str| -> Vec<String> {
            let lines = text.split(['\r', '\n']).map(str::trim);
            lines.filter(|line| !ignored.contains(line)).map(str::to_owned).collect()
        };
        if lines(&text) == lines(&self.monitor.load.success) {
            return Ok(LoadReport::Success);
        }
        self.back_to_prompt(session)?;
        Ok(LoadReport::Failure(format!("it replied {}", exchange::escape_tail(&received))))
    }

    /// Sends each stretch of consecutive lines by XMODEM. Blocks are filled up with the bytes that
    /// the program has there.
    fn transfer(
        &self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport> {
        let follows = |a: &HexRecord, b: &HexRecord| {
            usize::from(a.address) + a.data.len() == usize::from(b.address)
        };
        for lines in lines.chunk_by(follows) {
            let mut data: Vec<u8> = lines.iter().flat_map(|line| line.data.clone()).collect();
            let count = data.len();
            let address = lines[0].address;
            let byte = |at: usize| self.image.byte(address.wrapping_add(at as u16)).unwrap_or(PAD);
            data.extend((count..count.next_multiple_of(BLOCK_BYTES)).map(byte));
            let command = with_address(&self.monitor.load.command, ADDRESS, address);
            self.command(session, LOADING, &command)?;
            let reply_timeout = RECEIVER_TIMEOUT;
            let observer = &mut ();
            XmodemSender { session, observer, reply_timeout, pace }.send(&data)?;
            let report = self.report(session, "")?;
            if report != LoadReport::Success {
                return Ok(report);
            }
            on_sent(count);
        }
        Ok(LoadReport::Success)
    }

    fn unexpected(&self, operation: &'static str, received: &[u8]) -> LoaderError {
        let text = exchange::escape_tail(received);
        LoaderError::UnexpectedReply { peer: NAME, operation, text }
    }
}

fn with_address(command: &str, placeholder: &str, address: u16) -> String {
    command.replace(placeholder, &format!("{address:04X}"))
}

impl HexMonitor for Described {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, session: &mut MonitorSession, _: &mut dyn LoadObserver) -> Result<String> {
        if self.find_prompt(session, FINDING)? {
            return Ok(format!("{NAME} at its prompt"));
        }
        let recent_traffic = session.recent_traffic();
        if recent_traffic.received.is_empty() {
            return Err(exchange::no_peer_error(session, FINDING));
        }
        let port = session.port_name();
        Err(LoaderError::UnknownPeer { port, expected: NAME, recent_traffic })
    }

    fn processor(&mut self, _: &mut MonitorSession) -> Result<BoardProcessor> {
        Ok(BoardProcessor::Unknown)
    }

    fn check(&self, image: &Image) -> Result<()> {
        let memory = self.monitor.memory.clone();
        check_in_free_memory(image, memory, |free| format!("memory = {free} in the description"))
    }

    fn prepare(
        &mut self,
        _: &mut MonitorSession,
        image: &Image,
        _: &mut dyn LoadObserver,
    ) -> Result<()> {
        self.image = image.clone();
        Ok(())
    }

    fn load(
        &mut self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport> {
        let load = &self.monitor.load;
        if load.format == LoadFormat::Xmodem {
            return self.transfer(session, lines, pace, on_sent);
        }
        session.take_received();
        if !load.command.is_empty() {
            self.command(session, LOADING, &load.command)?;
            session.receive_until_quiet(LOADING, MAX_CHAR_GAP, REPORT_TIMEOUT)?;
        }
        for record in lines {
            let line = load.line(record);
            let sent = line.clone() + load.line_end();
            session.send_paced("sending lines", sent.as_bytes(), pace)?;
            on_sent(record.data.len());
            if let Some(received) = self.line_problem(session, &line)? {
                return self.refused(session, record.number, received);
            }
        }
        let end = load.end();
        session.send_paced("sending the last line", end.as_bytes(), pace)?;
        self.report(session, &end)
    }

    fn can_read(&self) -> bool {
        self.monitor.dump.is_some()
    }

    fn read(&mut self, session: &mut MonitorSession, first: u16, last: u16) -> Result<Memory> {
        const OPERATION: &str = "reading memory back";
        let mut memory = Memory::new();
        let Some(dump) = &self.monitor.dump else { return Ok(memory) };
        let command = |at| with_address(&with_address(&dump.command, FIRST, at), LAST, last);
        let mut at = first;
        let mut keys = command(at);
        loop {
            self.command(session, OPERATION, &keys)?;
            let is_page = |text: &[u8]| {
                dump.rows > 0 && text.ends_with(b"\n") && dump::parse_rows(text).len() >= dump.rows
            };
            let received = session.receive_while_coming(OPERATION, REPLY_TIMEOUT, |text| {
                self.at_prompt(text) || is_page(text)
            })?;
            let rows = dump::parse_rows(&received);
            let (Some((begin, _)), Some((end, _))) = (rows.first(), rows.last()) else {
                return Err(self.unexpected(OPERATION, &received));
            };
            if *begin != at {
                return Err(self.unexpected(OPERATION, &received));
            }
            dump::store_rows(&mut memory, &rows);
            at = end.wrapping_add(ROW_BYTES as u16);
            let is_done = at > last || at <= first;
            keys = match self.at_prompt(&received) {
                true if is_done => return Ok(memory),
                true => command(at),
                false if is_done => break,
                false => dump.next.clone(),
            };
        }
        session.send(OPERATION, dump.quit.as_bytes())?;
        session.receive_until(OPERATION, REPLY_TIMEOUT, |text| self.at_prompt(text))?;
        Ok(memory)
    }

    fn start(&mut self, session: &mut MonitorSession, entry: u16) -> Result<()> {
        let command = with_address(&self.monitor.run, ADDRESS, entry);
        self.command(session, "starting the program", &command)
    }

    fn abandon(&mut self, session: &mut MonitorSession) -> &'static str {
        match session.discard_unsent().and_then(|()| self.find_prompt(session, RECOVERING)) {
            Ok(true) => {
                "the monitor is at its prompt, part of the program is loaded: write it again"
            }
            _ => "the monitor may wait for the rest of a load: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        let load = &self.monitor.load;
        let run = entry.map(|entry| with_address(&self.monitor.run, ADDRESS, entry));
        let lines: Vec<String> = match load.format {
            LoadFormat::Xmodem => (image.runs().iter())
                .flat_map(|run| {
                    let command = with_address(&load.command, ADDRESS, run.address);
                    [command, format!("({} bytes by XMODEM)", run.bytes.len())]
                })
                .collect(),
            _ => std::iter::once(load.command.clone())
                .chain(hex_records(image, pace.record_bytes).iter().map(|line| load.line(line)))
                .chain([load.end()])
                .collect(),
        };
        let lines = lines.into_iter().chain(run).map(|line| line.trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }
}
