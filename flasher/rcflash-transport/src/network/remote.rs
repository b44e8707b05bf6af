//! A serial port of another computer by RFC 2217: the client.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

use crate::lock::{Holder, PortLock};
use crate::port::{OpenError, check_speed};
use crate::time::{Duration, Instant};
use crate::{Capabilities, ControlLine, Passed, Transport};
use cli_support::text::visible;

use crate::network::Address;
use crate::network::comport::{self, SERVER, control, message};
use crate::network::socket::Socket;
use crate::network::telnet::{BINARY, COM_PORT, Decoder, Heard, Options, escape};

/// The time that a server may take for an answer: a slow network, and a device that is just opened.
const ANSWER: Duration = Duration::from_secs(5);
/// The time that the words of a server may take which has closed the connection.
const FAREWELL: Duration = Duration::from_millis(500);
/// Most bytes of the board that are kept while something else is waited for: minutes of a line.
const MOST_HEARD: usize = 1 << 20;
/// Most characters of a server's words that are shown.
const WORDS: usize = 80;

/// The port.
pub struct RemotePort {
    name: String,
    socket: Socket,
    decoder: Decoder,
    options: Options,
    /// Bytes of the board that came while something else was waited for.
    heard: VecDeque<u8>,
    /// The number of the answer that is waited for, and its value when it has come.
    awaited: Option<u8>,
    answer: Option<Vec<u8>>,
    /// Whether the server takes no bytes at present.
    suspended: bool,
    obeys_rts: bool,
    flow_control: bool,
    passed: Passed,
    /// The last field, so that it is let go when all else is closed.
    lock: PortLock,
}

impl RemotePort {
    /// Connects to a server and sets its port to 8 data bits, no parity, 1 stop bit and this speed,
    /// obeying the board's RTS.
    ///
    /// # Errors
    /// Nobody listens there, it is no such server, or its port does not take these settings.
    pub fn open(address: &Address, baud: u32) -> Result<Self, OpenError> {
        let (socket, lock) = Socket::connect(address)?;
        let mut port = Self {
            name: address.to_string(),
            socket,
            decoder: Decoder::default(),
            options: Options::default(),
            heard: VecDeque::new(),
            awaited: None,
            answer: None,
            suspended: false,
            obeys_rts: false,
            flow_control: false,
            passed: Passed::default(),
            lock,
        };
        port.set_up(baud).map_err(|error| port.refusal(error))?;
        Ok(port)
    }

    fn set_up(&mut self, baud: u32) -> io::Result<()> {
        let requests = self.options.begin();
        self.send(&requests)?;
        let deadline = Instant::now() + ANSWER;
        // Bytes pass unchanged only in binary.
        while self.options.ours(COM_PORT).is_none()
            || self.options.ours(BINARY).is_none()
            || self.options.theirs(BINARY).is_none()
        {
            self.hear_until(deadline)?;
        }
        if self.options.ours(COM_PORT) != Some(true) {
            let problem = "the server knows no RFC 2217; tcp:// may do";
            return Err(io::Error::new(ErrorKind::Unsupported, problem));
        }
        self.set_baud(baud)?;
        for (number, value) in [
            (comport::SET_DATASIZE, comport::EIGHT_BITS),
            (comport::SET_PARITY, comport::NO_PARITY),
            (comport::SET_STOPSIZE, comport::ONE_STOP_BIT),
        ] {
            if self.ask(number, &[value])?.first() != Some(&value) {
                let problem = "the server's port does not take 8 bits, no parity, 1 stop bit";
                return Err(io::Error::new(ErrorKind::InvalidInput, problem));
            }
        }
        self.flow_control = self.set_control(control::HARDWARE_FLOW)?;
        self.obeys_rts = self.flow_control;
        Ok(())
    }

    /// The reason why the port can't be used: what the server has said in words comes first.
    fn refusal(&mut self, error: io::Error) -> OpenError {
        // A server that refuses has closed already; its words may come after that shows.
        let deadline = Instant::now() + FAREWELL;
        let lost = is_lost(&error);
        while lost && self.hear_until(deadline).is_ok() {}
        let words: Vec<u8> = self.heard.drain(..).take(WORDS).collect();
        let words = visible(String::from_utf8_lossy(&words).trim()).into_owned();
        let name = self.name.clone();
        if lost && !words.is_empty() {
            return OpenError::Refused(name, words);
        }
        OpenError::Other(name, error)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write(bytes, Instant::now() + ANSWER)
    }

    /// Takes in what comes within `timeout`; `false` when nothing came.
    fn hear(&mut self, timeout: Duration) -> io::Result<bool> {
        if self.heard.len() > MOST_HEARD {
            let problem = "the server sends without end and does not answer";
            return Err(io::Error::new(ErrorKind::InvalidData, problem));
        }
        let mut buffer = [0; 4096];
        let count = self.socket.read(&mut buffer, timeout)?;
        for byte in &buffer[..count] {
            match self.decoder.push(*byte) {
                Some(Heard::Data(byte)) => self.heard.push_back(byte),
                Some(Heard::Option(verb, option)) => {
                    // A connection that is lost shows at the next read, behind what came before.
                    let answer = self.options.hear(verb, option);
                    let _ = self.send(&answer);
                }
                Some(Heard::Sub(content)) => self.take(&content),
                None => {}
            }
        }
        Ok(count > 0)
    }

    fn hear_until(&mut self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !self.hear(left)? {
            return Err(io::Error::other("the server did not answer within 5 s"));
        }
        Ok(())
    }

    fn take(&mut self, content: &[u8]) {
        const SUSPEND: u8 = comport::SUSPEND + SERVER;
        const RESUME: u8 = comport::RESUME + SERVER;
        match comport::parse(content) {
            Some((SUSPEND, _)) => self.suspended = true,
            Some((RESUME, _)) => self.suspended = false,
            Some((number, value)) if self.awaited == Some(number) => {
                self.answer = Some(value.to_vec());
            }
            _ => {} // a report of wires or errors, which come unasked
        }
    }

    /// Asks the server, and waits for its answer.
    fn ask(&mut self, number: u8, value: &[u8]) -> io::Result<Vec<u8>> {
        self.answer = None;
        self.awaited = Some(number + SERVER);
        self.send(&message(number, value))?;
        let deadline = Instant::now() + ANSWER;
        loop {
            if let Some(value) = self.answer.take() {
                self.awaited = None;
                return Ok(value);
            }
            self.hear_until(deadline)?;
        }
    }

    /// Sets something by SET-CONTROL; whether the server says that it is so.
    fn set_control(&mut self, value: u8) -> io::Result<bool> {
        Ok(self.ask(comport::SET_CONTROL, &[value])?.first() == Some(&value))
    }
}

/// Whether the other side has ended the connection.
fn is_lost(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

impl Transport for RemotePort {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: self.flow_control, control_lines: true }
    }

    fn passed(&self) -> Option<Passed> {
        Some(self.passed)
    }

    fn left_by(&self) -> Option<&Holder> {
        self.lock.left_by()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        let value = match (line, on) {
            (ControlLine::Dtr, true) => control::DTR_ON,
            (ControlLine::Dtr, false) => control::DTR_OFF,
            (ControlLine::Rts, true) => control::RTS_ON,
            (ControlLine::Rts, false) => control::RTS_OFF,
            (ControlLine::Break, true) => control::BREAK_ON,
            (ControlLine::Break, false) => control::BREAK_OFF,
        };
        match self.set_control(value)? {
            true => Ok(()),
            false => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let deadline = Instant::now() + timeout;
        // What comes may be an answer to nobody: then the wait goes on.
        while self.heard.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.hear(left)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.heard.len());
        for (place, byte) in buffer.iter_mut().zip(self.heard.drain(..count)) {
            *place = byte;
        }
        self.passed.heard += count as u64;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        // The server may have asked for a rest meanwhile.
        self.hear(Duration::ZERO)?;
        while self.suspended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.hear(left)?;
        }
        self.socket.write(&escape(bytes), deadline)?;
        self.passed.sent += bytes.len() as u64;
        Ok(())
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        let before = self.obeys_rts;
        let value = if obey { control::HARDWARE_FLOW } else { control::NO_FLOW };
        if obey != before && self.set_control(value)? {
            self.obeys_rts = obey;
        }
        Ok(before)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        let answer = self.ask(comport::SET_BAUD, &baud.to_be_bytes())?;
        let took = <[u8; 4]>::try_from(&answer[..]).map_err(|_| {
            io::Error::new(ErrorKind::InvalidData, "the server's answer has no speed in it")
        })?;
        check_speed(u32::from_be_bytes(took), baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.ask(comport::PURGE, &[comport::PURGE_TO_BOARD]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_server_that_sends_without_end_fills_no_memory() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let place = listener.local_addr().expect("its number");
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("a client");
            let mut sent = 0_usize;
            while client.write_all(&[b'x'; 4096]).is_ok() {
                sent += 4096;
            }
            sent
        });
        let address = Address::parse(&format!("rfc2217://{place}")).expect("an address");
        let address = address.expect("one of a network");
        let error = RemotePort::open(&address, 115_200).err().expect("it never answers");
        let expected = "the server sends without end and does not answer";
        assert!(error.to_string().contains(expected), "{error}");
        // What the system keeps between the two is the rest.
        let sent = server.join().expect("it ends with its client");
        assert!(sent < 64 << 20, "{sent}");
    }
}
