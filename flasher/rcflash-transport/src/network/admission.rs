//! Decides by the first bytes of a connection whether its client may use a board.
//!
//! A page in a browser can send HTTP requests to any port of this computer, with bytes of its
//! choice in the body. So every server of a board judges the first bytes before it passes any on.
//!
//! | client | accepted | refused |
//! |---|---|---|
//! | RFC 2217 | a Telnet command, FF | any other byte |
//! | gdb | `+`, `-`, 03, `$packet#xx`, as often as received | any other byte |
//! | raw | anything else; frames of the wire protocol begin with 00 or FF | the line of an HTTP request with any method, of HTTP/2 too, or a TLS ClientHello |
//!
//! The bytes of a raw client are withheld while they may begin a request: a terminal's first line
//! passes with its end, or with the first character that no request has there.

use std::net::TcpStream;

use crate::network::socket::Socket;
use crate::network::telnet::IAC;
use crate::time::{Duration, Instant};

/// The type of a TLS record with a handshake, and all versions' major (RFC 8446, 5.1).
const TLS_HANDSHAKE: u8 = 22;
const TLS_MAJOR_VERSION: u8 = 3;
/// The most withheld bytes: a request line that all servers support (RFC 9112, section 3).
const MAX_WITHHELD_BYTES: usize = 8000;
/// How long bytes are withheld, from the first on: time to type a line.
const WITHHOLD_TIMEOUT: Duration = Duration::from_secs(30);

/// The kind of client that a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// Sends the board's bytes without any protocol.
    Raw,
    /// Speaks Telnet, as RFC 2217 requires.
    Telnet,
    /// gdb, with its remote protocol.
    Gdb,
}

/// What the first bytes of a connection show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// More bytes are needed.
    Undecided,
    /// The client may use the board.
    Accepted,
    /// The client is to be refused.
    Refused(Refusal),
}

/// The reason for which a client is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The client sent a line of HTTP.
    #[error("it sent a web request, and this port leads to a board")]
    WebRequest,
    /// The client began TLS.
    #[error("it began TLS, and this port leads to a board")]
    TlsHello,
    /// The client sent something other than Telnet.
    #[error("it sent data before a Telnet command; this port needs a client of RFC 2217")]
    NotTelnet,
    /// The client sent something other than packets of gdb.
    #[error("it sent a byte that begins no packet of gdb; this port is for `target remote`")]
    NotGdb,
    /// The client sent data before the options were agreed, or refused the option.
    #[error("it did not agree to COM-PORT-OPTION; this port needs a client of RFC 2217")]
    NoComPortOption,
    /// The client did not finish the negotiation in time.
    #[error("it sent nothing, or no complete negotiation, in time")]
    Idle,
    /// The client sent the beginning of a line that may be a web request, and nothing else.
    #[error("its first line may be a web request, and is not complete; press Enter first")]
    IncompleteLine,
}

impl Refusal {
    /// Returns the reply before the connection is closed: text, in an HTTP response for a client
    /// that may understand it, or nothing for TLS, in which text would be an invalid record.
    #[must_use]
    pub fn reply(self) -> Vec<u8> {
        let text = format!("refused: {self}\r\n");
        match self {
            Self::TlsHello => Vec::new(),
            Self::WebRequest | Self::NotTelnet | Self::NotGdb => format!(
                "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            )
            .into_bytes(),
            Self::NoComPortOption | Self::Idle | Self::IncompleteLine => text.into_bytes(),
        }
    }
}

/// Judges the first bytes of a connection, which may arrive in any pieces: `first` has all of them
/// so far.
///
/// ```
/// use rcflash_transport::network::{ClientKind, Judgement, Refusal, judge_first_bytes};
///
/// let refused = Judgement::Refused(Refusal::WebRequest);
/// assert_eq!(judge_first_bytes(ClientKind::Raw, b"POST / HTTP/1.1\r\n"), refused);
/// assert_eq!(judge_first_bytes(ClientKind::Raw, b"POST /"), Judgement::Undecided);
/// assert_eq!(judge_first_bytes(ClientKind::Raw, b"dump 8000\r"), Judgement::Accepted);
/// ```
pub fn judge_first_bytes(kind: ClientKind, first: &[u8]) -> Judgement {
    match (kind, first) {
        (_, []) => Judgement::Undecided,
        (ClientKind::Raw, _) => judge_raw(first),
        (ClientKind::Telnet, [IAC, ..]) => Judgement::Accepted,
        (_, [TLS_HANDSHAKE, ..]) => Judgement::Refused(Refusal::TlsHello),
        (ClientKind::Telnet, _) => Judgement::Refused(Refusal::NotTelnet),
        (ClientKind::Gdb, _) => judge_gdb(first),
    }
}

/// Judges all bytes so far. A method of HTTP can be `$`, or `$g#67`, and an incomplete packet can
/// contain all of a request.
fn judge_gdb(first: &[u8]) -> Judgement {
    match (gdb_packets(first), request_line(first)) {
        (GdbPackets::Other, _) | (_, RequestLine::Complete) => Judgement::Refused(Refusal::NotGdb),
        (GdbPackets::Incomplete, RequestLine::Incomplete) => Judgement::Undecided,
        _ => Judgement::Accepted,
    }
}

fn judge_raw(first: &[u8]) -> Judgement {
    let is_undecided = match first {
        [TLS_HANDSHAKE] => true,
        [TLS_HANDSHAKE, TLS_MAJOR_VERSION, ..] => return Judgement::Refused(Refusal::TlsHello),
        _ => match request_line(first) {
            RequestLine::Complete => return Judgement::Refused(Refusal::WebRequest),
            RequestLine::Incomplete => true,
            RequestLine::Other => false,
        },
    };
    match is_undecided {
        true if first.len() > MAX_WITHHELD_BYTES => Judgement::Refused(Refusal::WebRequest),
        true => Judgement::Undecided,
        false => Judgement::Accepted,
    }
}

enum RequestLine {
    Complete,
    Incomplete,
    Other,
}

fn request_line(bytes: &[u8]) -> RequestLine {
    const PROTOCOL: &[u8] = b"HTTP/";
    let mut fields = bytes.splitn(3, |byte| *byte == b' ');
    let method = fields.next().unwrap_or_default();
    if !method.iter().all(|byte| is_token_character(*byte)) {
        return RequestLine::Other;
    }
    let Some(target) = fields.next() else { return RequestLine::Incomplete };
    if method.is_empty() || !target.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80) {
        return RequestLine::Other;
    }
    let Some(protocol) = fields.next() else { return RequestLine::Incomplete };
    match target.is_empty() {
        false if protocol.starts_with(PROTOCOL) => RequestLine::Complete,
        false if PROTOCOL.starts_with(protocol) => RequestLine::Incomplete,
        _ => RequestLine::Other,
    }
}

/// Returns `true` for a character of a method (RFC 9110, section 5.6.2).
fn is_token_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether bytes are acknowledgements, interrupts and packets of gdb.
enum GdbPackets {
    Complete,
    /// The last packet is incomplete.
    Incomplete,
    Other,
}

fn gdb_packets(mut bytes: &[u8]) -> GdbPackets {
    while let [first, rest @ ..] = bytes {
        bytes = match first {
            b'+' | b'-' | 3 => rest,
            b'$' => match rest.iter().position(|byte| *byte == b'#') {
                Some(at) if rest.len() >= at + 3 => &rest[at + 3..],
                _ => return GdbPackets::Incomplete,
            },
            _ => return GdbPackets::Other,
        };
    }
    GdbPackets::Complete
}

/// Withholds the bytes of a raw client until they can't begin a web request or TLS.
#[derive(Debug, Default)]
pub struct RawGate {
    withheld: Vec<u8>,
    since: Option<Instant>,
    is_open: bool,
}

impl RawGate {
    /// Takes received bytes, which may be none, and returns those to pass on to the board.
    ///
    /// # Errors
    /// Returns the reason if the client is to be refused; nothing was passed on then.
    pub fn pass(&mut self, received: &[u8], now: Instant) -> Result<Vec<u8>, Refusal> {
        if self.is_open {
            return Ok(received.to_vec());
        }
        self.withheld.extend(received);
        match judge_first_bytes(ClientKind::Raw, &self.withheld) {
            Judgement::Accepted => self.is_open = true,
            Judgement::Refused(refusal) => return Err(refusal),
            Judgement::Undecided if self.withheld.is_empty() => {}
            Judgement::Undecided => {
                if now.duration_since(*self.since.get_or_insert(now)) > WITHHOLD_TIMEOUT {
                    return Err(Refusal::IncompleteLine);
                }
                return Ok(Vec::new());
            }
        }
        Ok(std::mem::take(&mut self.withheld))
    }

    /// Returns `true` while bytes are withheld.
    pub fn is_withholding(&self) -> bool {
        !self.withheld.is_empty()
    }
}

/// Sends the reply to a refused client and closes its connection, in a thread: the caller is not
/// blocked, and the client has a second to receive the reply.
pub fn refuse(client: TcpStream, reply: &[u8]) {
    if let Ok(socket) = Socket::new(client) {
        socket.refuse(reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Judgement::{Accepted, Refused, Undecided};

    /// Judges growing pieces of the bytes until there is a decision.
    fn judge_byte_by_byte(kind: ClientKind, bytes: &[u8]) -> Judgement {
        let pieces = (0..=bytes.len()).map(|end| judge_first_bytes(kind, &bytes[..end]));
        pieces.into_iter().find(|one| *one != Undecided).unwrap_or(Undecided)
    }

    /// Request lines from RFC 9112, section 3.2, RFC 9113, section 3.4, and RFC 9110, section 9.
    const REQUESTS: [&[u8]; 9] = [
        b"GET /where?q=now HTTP/1.1\r\nHost: www.example.org\r\n\r\n",
        b"GET http://www.example.org/pub/WWW/TheProject.html HTTP/1.1\r\n",
        b"CONNECT www.example.com:80 HTTP/1.1\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\n",
        b"HEAD / HTTP/1.0\r\n",
        b"!#$%&'*+-.^_`|~09azAZ / HTTP/1.1\r\n",
        b"$c#63 / HTTP/1.1\r\n",
    ];

    #[test]
    fn web_requests_are_refused_in_any_pieces() {
        for request in REQUESTS {
            let text = String::from_utf8_lossy(request);
            let raw = Refused(Refusal::WebRequest);
            assert_eq!(judge_first_bytes(ClientKind::Raw, request), raw, "{text}");
            assert_eq!(judge_byte_by_byte(ClientKind::Raw, request), raw, "{text}");
            let telnet = Refused(Refusal::NotTelnet);
            assert_eq!(judge_first_bytes(ClientKind::Telnet, request), telnet, "{text}");
            assert_eq!(judge_byte_by_byte(ClientKind::Telnet, request), telnet, "{text}");
            assert_eq!(judge_first_bytes(ClientKind::Gdb, request), Refused(Refusal::NotGdb));
        }
        let endless = vec![b'A'; MAX_WITHHELD_BYTES + 1];
        assert_eq!(judge_first_bytes(ClientKind::Raw, &endless[1..]), Undecided);
        assert_eq!(judge_first_bytes(ClientKind::Raw, &endless), Refused(Refusal::WebRequest));
    }

    /// The first bytes of a ClientHello: RFC 8448, section 3.
    #[test]
    fn a_tls_hello_is_refused_without_a_reply() {
        let hello = [0x16, 0x03, 0x01, 0x00, 0xc4, 0x01, 0x00, 0x00, 0xc0, 0x03, 0x03];
        for kind in [ClientKind::Raw, ClientKind::Telnet, ClientKind::Gdb] {
            assert_eq!(judge_first_bytes(kind, &hello), Refused(Refusal::TlsHello), "{kind:?}");
            assert_eq!(judge_byte_by_byte(kind, &hello), Refused(Refusal::TlsHello), "{kind:?}");
        }
        assert!(Refusal::TlsHello.reply().is_empty());
    }

    #[test]
    fn frames_and_lines_of_a_terminal_are_accepted_from_a_raw_client() {
        let accepted: [&[u8]; 12] = [
            &[0, 2, 1, 0],
            &[0xff, 0],
            b"\r",
            b"\x03",
            b"\x1b[A",
            b"\x16\x01",
            b"C\r",
            b"dump 8000 10",
            b"GET / index",
            b":10000000",
            b" POST",
            b"hello world\r",
        ];
        for bytes in accepted {
            assert_eq!(judge_first_bytes(ClientKind::Raw, bytes), Accepted, "{bytes:?}");
            let text: &[u8] = &[bytes, b"POST / HTTP/1.1\r\n"].concat();
            assert_eq!(judge_byte_by_byte(ClientKind::Raw, text), Accepted, "{bytes:?}");
        }
    }

    /// The first packets of gdb 13 and of lldb 14 ("Debugging with GDB", appendix E.5).
    #[test]
    fn packets_of_gdb_are_accepted_and_what_follows_is_judged_too() {
        let hello = b"+$qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+#c9";
        assert_eq!(judge_first_bytes(ClientKind::Gdb, hello), Accepted);
        assert_eq!(judge_byte_by_byte(ClientKind::Gdb, hello), Accepted);
        for bytes in [&b"$QStart"[..], b"$g#", b"$g#6"] {
            assert_eq!(judge_first_bytes(ClientKind::Gdb, bytes), Undecided, "{bytes:?}");
        }
        for bytes in [&b"+$QStartNoAckMode#b0"[..], b"-", b"\x03", b"$g#67+$?#3f"] {
            assert_eq!(judge_first_bytes(ClientKind::Gdb, bytes), Accepted, "{bytes:?}");
        }
        for bytes in [&b"$g#67 / HTTP/1.1"[..], b"$x / HTTP/1.1\r\n\r\n#00$M", b"+ ", b"\r", b"g"] {
            let refused = Refused(Refusal::NotGdb);
            assert_eq!(judge_first_bytes(ClientKind::Gdb, bytes), refused, "{bytes:?}");
        }
    }

    #[test]
    fn a_raw_gate_passes_bytes_whole_and_in_order_and_withholds_for_a_limited_time() {
        let start = Instant::now();
        let mut gate = RawGate::default();
        assert_eq!(gate.pass(b"", start), Ok(Vec::new()));
        assert_eq!(gate.pass(b"d", start + 2 * WITHHOLD_TIMEOUT), Ok(Vec::new()));
        assert!(gate.is_withholding());
        assert_eq!(gate.pass(b"ump\r", start + 3 * WITHHOLD_TIMEOUT), Ok(b"dump\r".to_vec()));
        assert!(!gate.is_withholding());
        let request = b"POST / HTTP/1.1";
        assert_eq!(gate.pass(request, start), Ok(request.to_vec()), "only first bytes count");

        let mut gate = RawGate::default();
        assert_eq!(gate.pass(b"POST", start), Ok(Vec::new()));
        assert_eq!(gate.pass(b"", start + WITHHOLD_TIMEOUT), Ok(Vec::new()));
        let late = start + WITHHOLD_TIMEOUT + Duration::from_millis(1);
        assert_eq!(gate.pass(b"", late), Err(Refusal::IncompleteLine));
    }
}
