//! The server and its clients over loopback, with a port that records what is written to it.

use std::io::{Read, Write};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use super::pending::{PendingClient, PendingError};
use super::*;
use crate::network::admission::Refusal;
use crate::network::{NetworkAddress, Rfc2217Port};

/// How long a test waits for anything.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The negotiation of pyserial 3.5, recorded: DO ECHO, WILL and DO SUPPRESS-GO-AHEAD, DO and WILL
/// COM-PORT-OPTION.
const PYSERIAL: [u8; 15] = [255, 253, 1, 255, 251, 3, 255, 253, 3, 255, 253, 44, 255, 251, 44];
/// Its first requests, recorded behind the server's replies: 115,200 baud, 8 bits, no parity, 1
/// stop bit.
const PYSERIAL_SETTINGS: [u8; 31] = [
    255, 250, 44, 1, 0, 1, 194, 0, 255, 240, 255, 250, 44, 2, 8, 255, 240, 255, 250, 44, 3, 1, 255,
    240, 255, 250, 44, 4, 1, 255, 240,
];

/// What was done to the ports that a server opened.
#[derive(Default)]
struct PortRecord {
    written: Mutex<Vec<u8>>,
    open_count: AtomicUsize,
}

struct RecordingPort(Arc<PortRecord>);

impl Transport for RecordingPort {
    fn name(&self) -> &str {
        "recording"
    }

    fn read(&mut self, _buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        std::thread::sleep(timeout);
        Ok(0)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.0.written.lock().expect("no panic").extend(bytes);
        Ok(())
    }

    fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        Ok(())
    }
}

struct RunningServer {
    address: SocketAddr,
    record: Arc<PortRecord>,
    events: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RunningServer {
    fn start(protocol: Protocol) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::bind(any, protocol, 115_200).expect("a free port");
        let address = server.local_addr().expect("it listens");
        let (record, events) = (Arc::<PortRecord>::default(), Arc::<Mutex<String>>::default());
        let stop = Arc::new(AtomicBool::new(false));
        let (port, log, is_over) = (Arc::clone(&record), Arc::clone(&events), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let open = || {
                port.open_count.fetch_add(1, Ordering::Relaxed);
                let opened: Box<dyn Transport + Send> = Box::new(RecordingPort(Arc::clone(&port)));
                Ok::<_, io::Error>(opened)
            };
            let report = |event: ServerEvent| {
                if let ServerEvent::Refused(client, why) = event {
                    *log.lock().expect("no panic") += &format!("{client} {why}\n");
                }
            };
            server.run(open, &is_over, report);
        });
        Self { address, record, events, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).expect("it listens");
        client.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
        client.set_nodelay(true).expect("a socket option");
        client
    }

    /// Stops the server. Returns what was written to its ports.
    fn stop(mut self) -> Vec<u8> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("no panic");
        std::mem::take(&mut *self.record.written.lock().expect("no panic"))
    }

    /// Waits until these bytes were written to the port, and no others.
    fn wait_for_written(&self, expected: &[u8]) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let written = self.record.written.lock().expect("no panic").clone();
            if written == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{written:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A request as Chromium 120 sends it for `fetch(url, {method: "POST", mode: "no-cors", body})`.
/// The body has a negotiation of RFC 2217 and the frame of IDENT.
fn browser_request() -> Vec<u8> {
    let body = [&PYSERIAL[..], &[0, 1, 5, 1, 1, 0x8C, 0xEF, 0]].concat();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:2217\r\nConnection: keep-alive\r\n\
         Content-Length: {}\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n\
         Content-Type: text/plain\r\nAccept: */*\r\nOrigin: https://evil.example\r\n\
         Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

/// Sends pieces, and returns all that the server sends. A server that has refused closes before all
/// is sent.
fn send_pieces<'a>(mut client: TcpStream, pieces: impl Iterator<Item = &'a [u8]>) -> String {
    for piece in pieces {
        if client.write_all(piece).is_err() {
            break;
        }
    }
    let mut reply = Vec::new();
    let _ = client.read_to_end(&mut reply); // it may end with a reset
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn a_web_request_reaches_no_port_in_whatever_pieces_it_arrives() {
    let request = browser_request();
    let head = request.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    for protocol in [Protocol::Raw, Protocol::Rfc2217] {
        let server = RunningServer::start(protocol);
        for piece_len in [request.len(), 1, 2, 7, head] {
            let reply = send_pieces(server.connect(), request.chunks(piece_len));
            assert!(reply.contains("HTTP/1.1 400 Bad Request\r\n"), "{piece_len}: {reply}");
        }
        // The body only after the reply to the head.
        let mut client = server.connect();
        client.write_all(&request[..head]).expect("it is sent");
        let mut reply = [0; 12];
        while reply != *b"HTTP/1.1 400" {
            reply.rotate_left(1);
            client.read_exact(&mut reply[11..]).expect("a reply");
        }
        send_pieces(client, [&request[head..]].into_iter());
        let opened = server.record.open_count.load(Ordering::Relaxed);
        assert!(protocol == Protocol::Raw || opened == 0, "the device is not touched");
        assert_eq!(server.stop(), b"", "{protocol:?}");
    }
}

/// The first bytes of a ClientHello: RFC 8448, section 3.
#[test]
fn tls_is_closed_without_a_byte_for_the_port() {
    let hello = [0x16, 0x03, 0x01, 0x00, 0xc4, 0x01, 0x00, 0x00, 0xc0, 0x03, 0x03];
    for protocol in [Protocol::Raw, Protocol::Rfc2217] {
        let server = RunningServer::start(protocol);
        for piece_len in [hello.len(), 1] {
            let reply = send_pieces(server.connect(), hello.chunks(piece_len));
            assert!(!reply.contains("HTTP") && !reply.contains("refused"), "{reply}");
        }
        assert!(server.events.lock().expect("no panic").contains("began TLS"));
        assert_eq!(server.stop(), b"", "{protocol:?}");
    }
}

#[test]
fn bytes_of_a_raw_client_arrive_whole() {
    for first in [&[0_u8, 1, 5, 1, 1, 0x8C, 0xEF, 0][..], b"\xFF\0", b"dump 8000\r"] {
        let server = RunningServer::start(Protocol::Raw);
        let mut client = server.connect();
        for byte in first {
            client.write_all(&[*byte]).expect("it is sent");
        }
        client.write_all(&browser_request()).expect("it is sent");
        server.wait_for_written(&[first, &browser_request()].concat());
    }
}

#[test]
fn data_of_pyserial_follows_its_negotiation() {
    let data = b"POST / HTTP/1.1\r\n";
    // In one piece, and byte by byte: no option is lost where the negotiation ends.
    for piece_len in [100, 1] {
        let server = RunningServer::start(Protocol::Rfc2217);
        let mut client = server.connect();
        let all = [&PYSERIAL[..], &PYSERIAL_SETTINGS, data].concat();
        for piece in all.chunks(piece_len) {
            client.write_all(piece).expect("it is sent");
        }
        server.wait_for_written(data);
    }
}

#[test]
fn data_without_the_option_of_serial_ports_is_not_passed_on() {
    for (sent, reason) in [
        (&b"\r"[..], "data before a Telnet command"),
        (b"\xFF\xF1data", "COM-PORT-OPTION"),
        (b"\xFF\xFB\0\xFF\xFD\0data", "COM-PORT-OPTION"),
        (b"\xFF\xFC\x2C\xFF\xFE\x2C", "COM-PORT-OPTION"),
    ] {
        let server = RunningServer::start(Protocol::Rfc2217);
        let reply = send_pieces(server.connect(), [sent].into_iter());
        assert!(reply.contains(reason), "{reply}");
        assert_eq!(server.record.open_count.load(Ordering::Relaxed), 0);
        assert_eq!(server.stop(), b"");
    }
}

#[test]
fn a_second_client_is_told_who_has_the_port_and_a_silent_one_keeps_nobody_out() {
    let server = RunningServer::start(Protocol::Rfc2217);
    let silent = server.connect();
    let name = format!("rfc2217://{}", server.address);
    let address = NetworkAddress::parse(&name).expect("an address").expect("of a network");
    let mut port = Rfc2217Port::open(&address, 115_200).expect("it negotiates");
    let refused = send_pieces(silent, std::iter::empty());
    assert!(refused.contains("the port is in use by 127.0.0.1:"), "{refused}");
    let mut second = server.connect();
    let mut reply = String::new();
    second.read_to_string(&mut reply).expect("text");
    assert!(reply.starts_with("the port is in use by 127.0.0.1:"), "{reply}");
    assert_eq!(server.record.open_count.load(Ordering::Relaxed), 1);
    port.write(b"data", Instant::now() + TIMEOUT).expect("it is sent");
    server.wait_for_written(b"data");
}

/// Returns a pending client of the server and the client's end of the connection.
fn pending_client(protocol: Protocol) -> (PendingClient, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let client = TcpStream::connect(address).expect("it listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
    let (accepted, address) = listener.accept().expect("a client");
    (PendingClient::new(accepted, address, protocol).expect("it is connected"), client)
}

#[test]
fn a_client_that_does_not_negotiate_times_out() {
    let (mut pending, mut client) = pending_client(Protocol::Rfc2217);
    let start = Instant::now();
    assert!(matches!(pending.poll(start), Ok(false)));
    assert!(matches!(pending.poll(start + Duration::from_secs(9)), Ok(false)));
    let mut first = [0; 3];
    client.read_exact(&mut first).expect("the server begins with a client that sends nothing");
    assert_eq!(first[0], 255);
    let late = pending.poll(start + Duration::from_secs(11));
    assert!(matches!(late, Err(PendingError::Refused(Refusal::Idle))));
}

#[test]
fn a_raw_client_that_only_receives_is_served() {
    let (mut pending, _client) = pending_client(Protocol::Raw);
    let start = Instant::now();
    assert!(matches!(pending.poll(start), Ok(false)));
    assert!(matches!(pending.poll(start + Duration::from_secs(1)), Ok(true)));
}

#[test]
fn a_raw_client_whose_first_line_is_incomplete_is_not_served() {
    let (mut pending, _client) = pending_client(Protocol::Raw);
    assert_eq!(pending.poll_raw(b"GET /", Duration::ZERO), Ok(false));
    assert_eq!(pending.poll_raw(b"", Duration::from_secs(29)), Ok(false));
    assert_eq!(pending.poll_raw(b"", Duration::from_secs(31)), Err(Refusal::IncompleteLine));
}

#[test]
fn a_raw_client_that_sends_a_web_request_later_gets_the_reply() {
    let server = RunningServer::start(Protocol::Raw);
    let (client, deadline) = (server.connect(), Instant::now() + TIMEOUT);
    while server.record.open_count.load(Ordering::Relaxed) == 0 {
        assert!(Instant::now() < deadline, "a client that only receives is served");
        std::thread::sleep(Duration::from_millis(1));
    }
    let reply = send_pieces(client, [&browser_request()[..]].into_iter());
    assert!(reply.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{reply}");
    assert_eq!(server.stop(), b"");
}
