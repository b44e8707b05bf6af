//! A client that may not use the port yet: its first bytes are judged, and one of RFC 2217 has to
//! agree to the option of serial ports.

use std::fmt::Display;
use std::io;
use std::net::{SocketAddr, TcpStream};

use crate::network::Protocol;
use crate::network::admission::{ClientKind, Judgement, RawGate, Refusal, judge_first_bytes};
use crate::network::socket::Socket;
use crate::network::telnet::{COM_PORT, Decoder, OptionNegotiation, TelnetEvent};
use crate::time::{Duration, Instant};

/// How long the negotiation of a client may take.
const NEGOTIATION_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server waits for the first byte of a raw client before it opens the port, which can
/// reset a board. A browser sends its request at once; a terminal may only want to receive.
const SILENT_CLIENT_DELAY: Duration = Duration::from_millis(100);
/// How long the server leaves the first request of Telnet to the client, so that the reply to a web
/// request begins with its status line. Known clients of RFC 2217 begin at once.
const TELNET_DELAY: Duration = Duration::from_secs(1);
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct Connection {
    pub(super) socket: Socket,
    pub(super) address: SocketAddr,
    /// Bytes received behind the negotiation.
    pub(super) unread: Vec<u8>,
    /// The state of Telnet; `None` for a raw client.
    pub(super) telnet: Option<(Decoder, OptionNegotiation)>,
    pub(super) gate: RawGate,
}

/// Why a pending client does not become the port's client.
pub(super) enum PendingError {
    Refused(Refusal),
    Disconnected,
}

/// A client that may not use the port yet.
pub(super) struct PendingClient {
    connection: Connection,
    since: Instant,
    /// Whether the server has sent its requests of Telnet.
    has_begun: bool,
    /// Whether the client has sent its first byte.
    has_sent: bool,
}

impl PendingClient {
    pub(super) fn new(
        client: TcpStream,
        address: SocketAddr,
        protocol: Protocol,
    ) -> io::Result<Self> {
        let socket = Socket::new(client)?;
        let telnet = (protocol == Protocol::Rfc2217).then(Default::default);
        let gate = RawGate::default();
        let connection = Connection { socket, address, unread: Vec::new(), telnet, gate };
        Ok(Self { connection, since: Instant::now(), has_begun: false, has_sent: false })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.connection.address
    }

    pub(super) fn refuse(self, reply: &[u8]) {
        self.connection.socket.refuse(reply);
    }

    /// Returns the connection of a client that may use the port.
    pub(super) fn into_connection(self) -> Connection {
        self.connection
    }

    /// Handles received bytes. Returns whether the client may use the port now.
    pub(super) fn poll(&mut self, now: Instant) -> Result<bool, PendingError> {
        let mut received = [0; 1024];
        let count = self.connection.socket.read(&mut received, Duration::ZERO);
        let received = &received[..count.map_err(|_| PendingError::Disconnected)?];
        let waited = now.duration_since(self.since);
        if self.connection.telnet.is_none() {
            return self.poll_raw(received, waited).map_err(PendingError::Refused);
        }
        for byte in received {
            self.handle_telnet_byte(*byte)?;
        }
        match self.is_com_port_agreed() {
            Some(true) => Ok(true),
            Some(false) => Err(PendingError::Refused(Refusal::NoComPortOption)),
            None if waited > NEGOTIATION_TIMEOUT => Err(PendingError::Refused(Refusal::Idle)),
            None if waited > TELNET_DELAY => self.begin_telnet().map(|()| false),
            None => Ok(false),
        }
    }

    /// Handles received bytes of a raw client, so long after it connected.
    pub(super) fn poll_raw(&mut self, received: &[u8], waited: Duration) -> Result<bool, Refusal> {
        let Connection { gate, unread, .. } = &mut self.connection;
        unread.extend(gate.pass(received, self.since + waited)?);
        let is_silent = unread.is_empty() && !gate.is_withholding();
        Ok(!unread.is_empty() || (is_silent && waited > SILENT_CLIENT_DELAY))
    }

    fn begin_telnet(&mut self) -> Result<(), PendingError> {
        let Connection { socket, telnet: Some((_, options)), .. } = &mut self.connection else {
            return Ok(());
        };
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let sent = socket.write(&options.initial_requests(), Instant::now() + WRITE_TIMEOUT);
        sent.map_err(|_| PendingError::Disconnected)
    }

    /// Handles a byte of the negotiation. What follows its end is left to the session.
    fn handle_telnet_byte(&mut self, byte: u8) -> Result<(), PendingError> {
        if !std::mem::replace(&mut self.has_sent, true)
            && let Judgement::Refused(why) = judge_first_bytes(ClientKind::Telnet, &[byte])
        {
            return Err(PendingError::Refused(why));
        }
        self.begin_telnet()?;
        let is_agreed = self.is_com_port_agreed() == Some(true);
        let Connection { socket, unread, telnet, .. } = &mut self.connection;
        let Some((decoder, options)) = telnet.as_mut().filter(|_| !is_agreed) else {
            unread.push(byte);
            return Ok(());
        };
        match decoder.push(byte) {
            Some(TelnetEvent::Data(_)) => Err(PendingError::Refused(Refusal::NoComPortOption)),
            Some(TelnetEvent::Option(verb, option)) => {
                let reply = options.negotiate(verb, option);
                let sent = socket.write(&reply, Instant::now() + WRITE_TIMEOUT);
                sent.map_err(|_| PendingError::Disconnected)
            }
            Some(TelnetEvent::Subnegotiation(_)) | None => Ok(()),
        }
    }

    /// Returns whether a side agreed to COM-PORT-OPTION; `None` before the replies.
    fn is_com_port_agreed(&self) -> Option<bool> {
        let (_, options) = self.connection.telnet.as_ref()?;
        let sides = [options.is_remote_enabled(COM_PORT), options.is_local_enabled(COM_PORT)];
        match sides {
            [Some(false), Some(false)] => Some(false),
            _ => sides.contains(&Some(true)).then_some(true),
        }
    }
}

/// Returns the reply to a client that is refused for a reason that its user can act on.
pub(super) fn text_reply(reason: &dyn Display) -> Vec<u8> {
    format!("{reason}\r\n").into_bytes() // terminals and this crate's client show it
}
