//! A client of the server, from its connection to its end.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Transport;
use crate::time::{Duration, Instant};

use super::port::{Answer, PortRequests};
use crate::network::Protocol;
use crate::network::comport::{self, SERVER, message};
use crate::network::socket::Socket;
use crate::network::telnet::{COM_PORT, Decoder, Heard, Options, escape};

/// The time either side is listened to before the other is.
const LISTEN: Duration = Duration::from_millis(1);
/// The longest time that the port may take no byte before the client is looked after.
const TRY: Duration = Duration::from_millis(1);
/// Bytes handed to the port at a time.
const PIECE: usize = 64;
/// The time that a client may take nothing of what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that wait for the port when the client is asked to rest, when it may go on, and when
/// nothing more is taken from one that does not rest. Two tenths of a second pass between the first
/// two at 115,200 baud, in which no byte needs to come.
const REST: usize = 4096;
const GO_ON: usize = 2048;
const FULL: usize = 1 << 16;

/// The end of a session.
pub(super) enum Ended {
    /// The client has gone, or its connection failed.
    ByClient(io::Error),
    /// The port has gone.
    ByPort(io::Error),
    /// The server ends.
    Stopped,
}

/// A client and the port.
pub(super) struct Session {
    socket: Socket,
    port: Box<dyn Transport + Send>,
    telnet: Option<Telnet>,
    /// Bytes of the client that wait for the port.
    outbox: VecDeque<u8>,
}

/// The state of a client that speaks Telnet.
struct Telnet {
    decoder: Decoder,
    options: Options,
    requests: PortRequests,
    /// Whether the client was asked to rest.
    resting: bool,
    /// Whether the client has asked for a rest.
    suspended: bool,
}

impl Session {
    pub(super) fn new(
        socket: Socket,
        port: Box<dyn Transport + Send>,
        protocol: Protocol,
        baud: u32,
    ) -> Self {
        let telnet = (protocol == Protocol::Rfc2217).then(|| Telnet {
            decoder: Decoder::default(),
            options: Options::default(),
            requests: PortRequests::new(baud),
            resting: false,
            suspended: false,
        });
        Self { socket, port, telnet, outbox: VecDeque::new() }
    }

    /// Carries bytes and requests until either side has gone or `stop` is set; `meanwhile` is
    /// called again and again.
    pub(super) fn run(&mut self, stop: &AtomicBool, mut meanwhile: impl FnMut()) -> Ended {
        if let Some(telnet) = &mut self.telnet {
            let requests = telnet.options.begin();
            if let Err(error) = self.send(&requests) {
                return Ended::ByClient(error);
            }
        }
        while !stop.load(Ordering::Relaxed) {
            if let Err(ended) = self.turn() {
                return ended;
            }
            meanwhile();
        }
        Ended::Stopped
    }

    fn turn(&mut self) -> Result<(), Ended> {
        self.pass_to_client()?;
        self.take_from_client()?;
        self.pass_to_port()?;
        self.hold_up_client().map_err(Ended::ByClient)
    }

    /// Passes on what the board has sent, unless the client rests: the port keeps it then.
    fn pass_to_client(&mut self) -> Result<(), Ended> {
        if self.telnet.as_ref().is_some_and(|telnet| telnet.suspended) {
            crate::time::sleep(LISTEN);
            return Ok(());
        }
        let mut heard = [0; 1024];
        let wait = if self.outbox.is_empty() { LISTEN } else { Duration::ZERO };
        let count = self.port.read(&mut heard, wait).map_err(Ended::ByPort)?;
        if count == 0 {
            return Ok(());
        }
        let bytes = match self.telnet {
            Some(_) => escape(&heard[..count]),
            None => heard[..count].to_vec(),
        };
        self.send(&bytes).map_err(Ended::ByClient)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write(bytes, Instant::now() + PATIENCE)
    }

    fn take_from_client(&mut self) -> Result<(), Ended> {
        if self.outbox.len() >= FULL {
            return Ok(());
        }
        let mut said = [0; 1024];
        let count = self.socket.read(&mut said, Duration::ZERO).map_err(Ended::ByClient)?;
        if self.telnet.is_none() {
            self.outbox.extend(&said[..count]);
            return Ok(());
        }
        for byte in &said[..count] {
            self.take(*byte).map_err(Ended::ByClient)?;
        }
        Ok(())
    }

    /// Takes a byte of a client that speaks Telnet.
    fn take(&mut self, byte: u8) -> io::Result<()> {
        let Some(telnet) = &mut self.telnet else { return Ok(()) };
        let reply = match telnet.decoder.push(byte) {
            Some(Heard::Data(byte)) => {
                self.outbox.push_back(byte);
                return Ok(());
            }
            Some(Heard::Option(verb, option)) => telnet.options.hear(verb, option),
            Some(Heard::Sub(content)) => match comport::parse(&content) {
                Some((comport::SUSPEND, _)) => {
                    telnet.suspended = true;
                    return Ok(());
                }
                Some((comport::RESUME, _)) => {
                    telnet.suspended = false;
                    return Ok(());
                }
                Some((number, value)) => match telnet.requests.obey(&mut *self.port, number, value)
                {
                    Answer::None => return Ok(()),
                    Answer::Value(value) => message(number + SERVER, &value),
                    Answer::Purged(value) => {
                        self.outbox.clear();
                        message(number + SERVER, &value)
                    }
                },
                None => return Ok(()),
            },
            None => return Ok(()),
        };
        self.send(&reply)
    }

    /// Hands the port what it takes now.
    fn pass_to_port(&mut self) -> Result<(), Ended> {
        while !self.outbox.is_empty() {
            let front = self.outbox.as_slices().0;
            let piece = front[..front.len().min(PIECE)].to_vec();
            let before = self.port.passed();
            match self.port.write(&piece, Instant::now() + TRY) {
                Ok(()) => drop(self.outbox.drain(..piece.len())),
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    // A part of the piece may have gone.
                    let sent =
                        |passed: Option<crate::Passed>| passed.map_or(0, |passed| passed.sent);
                    let gone = sent(self.port.passed()) - sent(before);
                    self.outbox.drain(..(gone as usize).min(piece.len()));
                    return Ok(());
                }
                Err(error) => return Err(Ended::ByPort(error)),
            }
        }
        Ok(())
    }

    /// Asks the client to rest while much waits for the port, as RFC 2217 has it.
    fn hold_up_client(&mut self) -> io::Result<()> {
        let waiting = self.outbox.len();
        let Some(telnet) = &mut self.telnet else { return Ok(()) };
        if telnet.options.theirs(COM_PORT) != Some(true) {
            return Ok(());
        }
        let number = match telnet.resting {
            false if waiting >= REST => comport::SUSPEND,
            true if waiting <= GO_ON => comport::RESUME,
            _ => return Ok(()),
        };
        telnet.resting = !telnet.resting;
        self.send(&message(number + SERVER, &[]))
    }
}
