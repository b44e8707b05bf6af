//! The client of RFC 2217: a serial port of another computer.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

use crate::lock::{LockHolder, PortLock};
use crate::port::{OpenError, check_baud};
use crate::time::{Duration, Instant};
use crate::{ByteCounts, Capabilities, ControlLine, Transport};
use cli_support::text::escape_controls;

use crate::network::NetworkAddress;
use crate::network::comport::{self, SERVER_OFFSET, control, encode};
use crate::network::socket::Socket;
use crate::network::telnet::{BINARY, COM_PORT, Decoder, OptionNegotiation, TelnetEvent, escape};

/// How long to wait for a reply: a slow network, and a device that is being opened.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for the text of a server that refused and closed the connection.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum number of board bytes buffered while waiting for a reply: minutes of a line.
const MAX_RX_BYTES: usize = 1 << 20;
/// The maximum number of characters shown of a server's refusal.
const MAX_REFUSAL_CHARS: usize = 80;

/// A serial port behind a server of RFC 2217.
pub struct Rfc2217Port {
    name: String,
    socket: Socket,
    decoder: Decoder,
    options: OptionNegotiation,
    /// Bytes of the board, received while waiting for a reply.
    rx_buffer: VecDeque<u8>,
    /// The number of the expected reply, and its value once it is received.
    awaited_reply: Option<u8>,
    reply: Option<Vec<u8>>,
    /// Whether the server has suspended this client.
    suspended: bool,
    flow_control_enabled: bool,
    flow_control_available: bool,
    byte_counts: ByteCounts,
    /// The last field, so that the lock is released after the connection is closed.
    lock: PortLock,
}

impl Rfc2217Port {
    /// Connects to a server and sets its port to 8 data bits, no parity, 1 stop bit, hardware flow
    /// control and this speed.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the connection fails, the server does not support RFC 2217, or its
    /// port does not support these settings.
    pub fn open(address: &NetworkAddress, baud: u32) -> Result<Self, OpenError> {
        let (socket, lock) = Socket::connect(address)?;
        let mut port = Self {
            name: address.to_string(),
            socket,
            decoder: Decoder::default(),
            options: OptionNegotiation::default(),
            rx_buffer: VecDeque::new(),
            awaited_reply: None,
            reply: None,
            suspended: false,
            flow_control_enabled: false,
            flow_control_available: false,
            byte_counts: ByteCounts::default(),
            lock,
        };
        port.negotiate_settings(baud).map_err(|error| port.open_error(error))?;
        Ok(port)
    }

    fn negotiate_settings(&mut self, baud: u32) -> io::Result<()> {
        let requests = self.options.initial_requests();
        self.send(&requests)?;
        let deadline = Instant::now() + REPLY_TIMEOUT;
        // Only binary mode transfers all bytes unchanged.
        while self.options.is_local_enabled(COM_PORT).is_none()
            || self.options.is_local_enabled(BINARY).is_none()
            || self.options.is_remote_enabled(BINARY).is_none()
        {
            self.receive_before(deadline)?;
        }
        if self.options.is_local_enabled(COM_PORT) != Some(true) {
            let problem = "the server does not support RFC 2217; try tcp://";
            return Err(io::Error::new(ErrorKind::Unsupported, problem));
        }
        self.set_baud(baud)?;
        for (number, value) in [
            (comport::SET_DATASIZE, comport::EIGHT_BITS),
            (comport::SET_PARITY, comport::NO_PARITY),
            (comport::SET_STOPSIZE, comport::ONE_STOP_BIT),
        ] {
            if self.request(number, &[value])?.first() != Some(&value) {
                let problem = "the server's port does not support 8 bits, no parity, 1 stop bit";
                return Err(io::Error::new(ErrorKind::InvalidInput, problem));
            }
        }
        self.flow_control_available = self.set_control(control::HARDWARE_FLOW)?;
        self.flow_control_enabled = self.flow_control_available;
        Ok(())
    }

    fn open_error(&mut self, error: io::Error) -> OpenError {
        // A server that refuses closes the connection; its message may arrive after the error.
        let deadline = Instant::now() + REFUSAL_TIMEOUT;
        let disconnected = is_disconnected(&error);
        while disconnected && self.receive_before(deadline).is_ok() {}
        let message: Vec<u8> = self.rx_buffer.drain(..).take(MAX_REFUSAL_CHARS).collect();
        let message = escape_controls(String::from_utf8_lossy(&message).trim()).into_owned();
        let name = self.name.clone();
        if disconnected && !message.is_empty() {
            return OpenError::Refused(name, message);
        }
        OpenError::Other(name, error)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write(bytes, Instant::now() + REPLY_TIMEOUT)
    }

    /// Receives bytes for up to `timeout`. Returns `false` if nothing is received.
    fn receive(&mut self, timeout: Duration) -> io::Result<bool> {
        if self.rx_buffer.len() > MAX_RX_BYTES {
            let problem = "the server sends data without end and no reply";
            return Err(io::Error::new(ErrorKind::InvalidData, problem));
        }
        let mut buffer = [0; 4096];
        let count = self.socket.read(&mut buffer, timeout)?;
        for byte in &buffer[..count] {
            match self.decoder.push(*byte) {
                Some(TelnetEvent::Data(byte)) => self.rx_buffer.push_back(byte),
                Some(TelnetEvent::Option(verb, option)) => {
                    // A lost connection is reported by the next read, after the bytes before it.
                    let reply = self.options.negotiate(verb, option);
                    let _ = self.send(&reply);
                }
                Some(TelnetEvent::Subnegotiation(content)) => self.handle_subnegotiation(&content),
                None => {}
            }
        }
        Ok(count > 0)
    }

    fn receive_before(&mut self, deadline: Instant) -> io::Result<()> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() || !self.receive(remaining)? {
            return Err(io::Error::other("no reply from the server within 5 s"));
        }
        Ok(())
    }

    fn handle_subnegotiation(&mut self, content: &[u8]) {
        const SUSPEND: u8 = comport::SUSPEND + SERVER_OFFSET;
        const RESUME: u8 = comport::RESUME + SERVER_OFFSET;
        match comport::parse(content) {
            Some((SUSPEND, _)) => self.suspended = true,
            Some((RESUME, _)) => self.suspended = false,
            Some((number, value)) if self.awaited_reply == Some(number) => {
                self.reply = Some(value.to_vec());
            }
            _ => {} // an unsolicited report of modem lines or errors
        }
    }

    fn request(&mut self, number: u8, value: &[u8]) -> io::Result<Vec<u8>> {
        self.reply = None;
        self.awaited_reply = Some(number + SERVER_OFFSET);
        self.send(&encode(number, value))?;
        let deadline = Instant::now() + REPLY_TIMEOUT;
        loop {
            if let Some(value) = self.reply.take() {
                self.awaited_reply = None;
                return Ok(value);
            }
            self.receive_before(deadline)?;
        }
    }

    /// Sends SET-CONTROL. Returns `true` if the server confirms the value.
    fn set_control(&mut self, value: u8) -> io::Result<bool> {
        Ok(self.request(comport::SET_CONTROL, &[value])?.first() == Some(&value))
    }
}

fn is_disconnected(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

impl Transport for Rfc2217Port {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: self.flow_control_available, control_lines: true }
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.byte_counts)
    }

    fn previous_holder(&self) -> Option<&LockHolder> {
        self.lock.previous_holder()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
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
        // The bytes received may be a reply only, without data.
        while self.rx_buffer.is_empty() {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if !self.receive(remaining)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.rx_buffer.len());
        for (slot, byte) in buffer.iter_mut().zip(self.rx_buffer.drain(..count)) {
            *slot = byte;
        }
        self.byte_counts.received += count as u64;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        // The server may have suspended this client in the meantime.
        self.receive(Duration::ZERO)?;
        while self.suspended {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.receive(remaining)?;
        }
        self.socket.write(&escape(bytes), deadline)?;
        self.byte_counts.sent += bytes.len() as u64;
        Ok(())
    }

    fn set_flow_control(&mut self, enabled: bool) -> io::Result<bool> {
        let before = self.flow_control_enabled;
        let value = if enabled { control::HARDWARE_FLOW } else { control::NO_FLOW };
        if enabled != before && self.set_control(value)? {
            self.flow_control_enabled = enabled;
        }
        Ok(before)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        let reply = self.request(comport::SET_BAUD, &baud.to_be_bytes())?;
        let actual = <[u8; 4]>::try_from(&reply[..]).map_err(|_| {
            io::Error::new(
                ErrorKind::InvalidData,
                "the server's reply to SET-BAUDRATE has no speed",
            )
        })?;
        check_baud(u32::from_be_bytes(actual), baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.request(comport::PURGE, &[comport::PURGE_TO_BOARD]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_server_that_sends_without_end_does_not_exhaust_memory() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its number");
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("a client");
            let mut sent = 0_usize;
            while client.write_all(&[b'x'; 4096]).is_ok() {
                sent += 4096;
            }
            sent
        });
        let address = NetworkAddress::parse(&format!("rfc2217://{address}")).expect("an address");
        let address = address.expect("one of a network");
        let error = Rfc2217Port::open(&address, 115_200).err().expect("it never replies");
        let expected = "the server sends data without end and no reply";
        assert!(error.to_string().contains(expected), "{error}");
        // The rest is in buffers of the system.
        let sent = server.join().expect("it ends with its client");
        assert!(sent < 64 << 20, "{sent}");
    }
}
