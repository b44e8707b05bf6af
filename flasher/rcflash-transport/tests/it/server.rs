//! A server of a port and its clients over loopback, by RFC 2217 and by bytes alone.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rcflash_transport::network::{self, Protocol, Server, ServerEvent, TcpTransport};
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, Transport};

use crate::test_port::TestPort;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A server of a port, stopped on drop.
struct PortServer {
    address: SocketAddr,
    port: TestPort,
    events: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PortServer {
    fn start(protocol: Protocol) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::bind(any, protocol, 115_200).expect("a free port");
        let address = server.local_addr().expect("it listens");
        let (port, stop) = (TestPort::default(), Arc::new(AtomicBool::new(false)));
        let events = Arc::<Mutex<Vec<String>>>::default();
        let (opened, log, is_over) = (port.clone(), Arc::clone(&events), Arc::clone(&stop));
        let open = move || -> io::Result<Box<dyn Transport + Send>> {
            match opened.with(|state| state.is_unplugged) {
                true => Err(io::Error::other("no adapter")),
                false => Ok(Box::new(opened.clone())),
            }
        };
        let on_event = move |event: ServerEvent| {
            let text = match event {
                ServerEvent::Connected(_) => "connected".to_owned(),
                ServerEvent::Refused(_, why) => format!("refused: {why}"),
                ServerEvent::PortUnavailable(_, why) => format!("unavailable: {why}"),
                ServerEvent::Disconnected(_, why) => format!("disconnected: {why}"),
                ServerEvent::PortFailed(_, why) => format!("failed: {why}"),
            };
            log.lock().expect("no panic").push(text);
        };
        let thread = std::thread::spawn(move || {
            server.run(open, &is_over, on_event);
        });
        Self { address, port, events, stop, thread: Some(thread) }
    }

    fn open(&self, scheme: &str) -> Box<dyn Transport + Send> {
        network::open(&format!("{scheme}://{}", self.address), 115_200).expect("it is served")
    }

    /// Opens the port as soon as no other client has it.
    fn open_when_free(&self, scheme: &str) -> Box<dyn Transport + Send> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match network::open(&format!("{scheme}://{}", self.address), 115_200) {
                Ok(port) => return port,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn open_error(&self, baud: u32) -> String {
        let name = format!("rfc2217://{}", self.address);
        network::open(&name, baud).err().expect("it can't be used").to_string()
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).expect("it listens");
        client.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
        client
    }

    fn wait_for_event(&self, text: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.events.lock().expect("no panic").iter().any(|event| event.contains(text)) {
            assert!(Instant::now() < deadline, "{text}: {:?}", self.events);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for PortServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Reads as many bytes from a transport.
fn read_exactly(transport: &mut dyn Transport, count: usize) -> Vec<u8> {
    let (mut received, deadline) = (Vec::new(), Instant::now() + TIMEOUT);
    while received.len() < count && Instant::now() < deadline {
        let mut buffer = [0; 100];
        let length = transport.read(&mut buffer, Duration::from_secs(1)).expect("it is connected");
        received.extend(&buffer[..length]);
    }
    received
}

/// Every byte, so that those of Telnet are among them.
fn all_bytes() -> Vec<u8> {
    (0..=255).chain([255, 255, 13, 0]).collect()
}

#[test]
fn bytes_pass_unchanged_in_both_directions() {
    for (protocol, scheme) in [(Protocol::Rfc2217, "rfc2217"), (Protocol::Raw, "tcp")] {
        let server = PortServer::start(protocol);
        let mut client = server.open(scheme);
        assert_eq!(client.name(), format!("{scheme}://{}", server.address));
        assert_eq!(client.previous_holder(), None);
        client.write(&all_bytes(), Instant::now() + TIMEOUT).expect("it is accepted");
        server.port.wait_for(|state| state.written == all_bytes());
        server.port.with(|state| state.from_board.extend(all_bytes()));
        assert_eq!(read_exactly(&mut *client, 260), all_bytes());
        let counts = ByteCounts { sent: 260, received: 260 };
        assert_eq!(client.byte_counts(), Some(counts));
        assert_eq!(client.read(&mut [0; 9], Duration::ZERO).expect("it is connected"), 0);
        let message = network::open(&format!("{scheme}://{}", server.address), 115_200)
            .err()
            .expect("this process has it");
        assert!(message.to_string().contains("in use by"), "{message}");
        drop(client);
        server.wait_for_event("disconnected: the peer closed");
    }
}

#[test]
fn settings_of_a_client_of_rfc_2217_reach_the_port() {
    let server = PortServer::start(Protocol::Rfc2217);
    let mut client = server.open("rfc2217");
    let capabilities = Capabilities { flow_control: true, control_lines: true };
    assert_eq!(client.capabilities(), capabilities);
    for line in [ControlLine::Dtr, ControlLine::Rts, ControlLine::Break] {
        client.set_control_line(line, false).expect("the port has it");
        client.set_control_line(line, true).expect("the port has it");
    }
    assert!(client.set_flow_control(false).expect("the port has it"));
    assert!(!client.set_flow_control(false).expect("the port has it"), "it is off already");
    assert!(!client.set_flow_control(true).expect("the port has it"));
    client.set_baud(9600).expect("the port has it");
    client.discard_unsent().expect("the port can");
    let calls = [
        "baud 115200",
        "flow control true",
        "Dtr false",
        "Dtr true",
        "Rts false",
        "Rts true",
        "Break false",
        "Break true",
        "flow control false",
        "flow control true",
        "baud 9600",
        "discard",
    ];
    assert_eq!(server.port.with(|state| state.calls.clone()), calls);
    let wrong = client.set_baud(300).expect_err("the port refuses it").to_string();
    assert!(wrong.contains("set 9600 baud instead of 300"), "{wrong}");
}

#[test]
fn a_port_that_accepts_bytes_in_pieces_gets_each_once_and_suspends_its_client() {
    let server = PortServer::start(Protocol::Rfc2217);
    let mut client = server.open("rfc2217");
    let sent: Vec<u8> = (0..20_000_u32).map(|index| (index % 251) as u8).collect();
    server.port.with(|state| state.room = Some(0));
    let (mut accepted, deadline) = (0, Instant::now() + TIMEOUT);
    // The client is suspended when 4096 bytes wait.
    loop {
        assert!(accepted < 20_000 && Instant::now() < deadline, "{accepted}");
        let chunk = &sent[accepted..accepted + 100];
        match client.write(chunk, Instant::now() + Duration::from_millis(50)) {
            Ok(()) => accepted += 100,
            Err(error) => break assert_eq!(error.kind(), ErrorKind::TimedOut),
        }
        // The server suspends the client, if it does, before it replies to the second request.
        for _ in 0..2 {
            client.set_control_line(ControlLine::Dtr, true).expect("the port has it");
        }
    }
    assert_eq!(accepted, 4100);
    for piece in [1, 63, 64, 65, 500] {
        let before = server.port.with(|state| {
            state.room = Some(piece);
            state.written.len()
        });
        server.port.wait_for(|state| state.written.len() == before + piece);
    }
    server.port.with(|state| state.room = None);
    client.write(&sent[accepted..], Instant::now() + TIMEOUT).expect("it is resumed");
    server.port.wait_for(|state| state.written.len() == sent.len());
    assert!(server.port.with(|state| state.written == sent));
}

#[test]
fn a_client_that_suspends_the_server_gets_replies_and_no_data() {
    const REQUEST_DTR: [u8; 7] = [255, 250, 44, 5, 7, 255, 240];
    const DTR_IS_ON: [u8; 7] = [255, 250, 44, 105, 8, 255, 240];
    let server = PortServer::start(Protocol::Rfc2217);
    let mut client = server.connect();
    let read = |client: &mut TcpStream, count: usize| {
        let mut received = vec![0; count];
        client.read_exact(&mut received).expect("the server replies");
        received
    };
    // WILL COM-PORT-OPTION: the server has requested each of three options for both sides.
    client.write_all(&[255, 251, 44]).expect("it is sent");
    read(&mut client, 18);
    // FLOWCONTROL-SUSPEND, then a request.
    client.write_all(&[255, 250, 44, 8, 255, 240]).expect("it is sent");
    client.write_all(&REQUEST_DTR).expect("it is sent");
    assert_eq!(read(&mut client, 7), DTR_IS_ON);
    server.port.with(|state| state.from_board.extend(b"ok"));
    for _ in 0..3 {
        client.write_all(&REQUEST_DTR).expect("it is sent");
        assert_eq!(read(&mut client, 7), DTR_IS_ON);
    }
    client.write_all(&[255, 250, 44, 9, 255, 240]).expect("it is sent");
    assert_eq!(read(&mut client, 2), b"ok");
}

#[test]
fn a_port_that_is_missing_or_fails_or_refuses_the_speed_is_reported() {
    let server = PortServer::start(Protocol::Rfc2217);
    let message = server.open_error(300);
    assert!(message.contains("set 115200 baud instead of 300"), "{message}");
    server.wait_for_event("disconnected");
    server.port.with(|state| state.is_unplugged = true);
    let message = server.open_error(115_200);
    assert!(message.contains("refused by the server: no adapter"), "{message}");
    server.wait_for_event("unavailable: no adapter");
    server.port.with(|state| state.is_unplugged = false);
    let mut client = server.open("rfc2217");
    server.port.with(|state| state.is_unplugged = true);
    server.wait_for_event("failed: broken pipe");
    let deadline = Instant::now() + TIMEOUT;
    while client.read(&mut [0; 9], Duration::from_secs(1)).is_ok() {
        assert!(Instant::now() < deadline, "it is disconnected");
    }
}

#[test]
fn a_port_that_fails_to_write_ends_the_session() {
    let server = PortServer::start(Protocol::Rfc2217);
    server.port.with(|state| state.is_read_only = true);
    let mut client = server.open("rfc2217");
    client.write(b"data", Instant::now() + TIMEOUT).expect("it is sent");
    server.wait_for_event("failed: broken pipe");
}

#[test]
fn at_most_eight_clients_negotiate_at_a_time() {
    let server = PortServer::start(Protocol::Rfc2217);
    let silent: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    let mut reply = String::new();
    server.connect().read_to_string(&mut reply).expect("text");
    assert!(reply.contains("too many connections are negotiating"), "{reply}");
    let events = server.events.lock().expect("no panic").len();
    assert_eq!((silent.len(), events), (8, 1), "the others wait");
}

/// Returns the error of a raw client whose server sends this and closes.
fn raw_open_error(sent: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its number");
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        client.write_all(sent).expect("it is sent");
    });
    let message = network::open(&format!("tcp://{address}"), 115_200).err().expect("it is closed");
    server.join().expect("it ends");
    message.to_string()
}

#[test]
fn the_text_of_a_server_that_refuses_is_shown() {
    let message = raw_open_error(b"in use\r\n");
    assert!(message.ends_with("with the message: in use"), "{message}");
}

/// Returns the error of a raw client after its peer has sent this and closed.
fn closed_error(sent: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = TcpStream::connect(listener.local_addr().expect("its number")).expect("it");
    let (mut peer, _) = listener.accept().expect("a client");
    peer.write_all(sent).expect("it is sent");
    drop(peer);
    let mut client = TcpTransport::new("a server".to_owned(), client).expect("it is open");
    loop {
        if let Err(error) = client.read(&mut [0; 300], TIMEOUT) {
            return error.to_string();
        }
    }
}

#[test]
fn a_short_text_before_the_end_is_shown_and_bytes_of_a_board_are_not() {
    let message = closed_error(&[b'x'; 199]);
    assert!(message.ends_with(&"x".repeat(199)), "{message}");
    for sent in [&b""[..], b"\x1B[2Jin use", b"\xFFin use", &[b'x'; 200]] {
        let message = closed_error(sent);
        assert!(message.ends_with("the peer closed the connection"), "{message}");
    }
}

#[test]
fn a_refused_raw_client_gets_the_reply() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut client = TcpStream::connect(listener.local_addr().expect("its number")).expect("it");
    let (accepted, _) = listener.accept().expect("a client");
    let transport = TcpTransport::new("a client".to_owned(), accepted).expect("it is connected");
    transport.refuse(b"not now");
    let mut reply = String::new();
    client.read_to_string(&mut reply).expect("text");
    assert_eq!(reply, "not now");
}

#[test]
fn a_peer_that_reads_nothing_is_a_timeout_and_one_that_is_gone_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = format!("tcp://{}", listener.local_addr().expect("its number"));
    let mut client = network::open(&name, 115_200).expect("it is connected");
    let (peer, _) = listener.accept().expect("a client");
    let sent = vec![0; 64 << 20];
    let write = |client: &mut dyn Transport, time| {
        let error = client.write(&sent, Instant::now() + time).expect_err("nobody reads");
        (error.kind(), client.byte_counts().expect("they are counted").sent)
    };
    // Until the buffers of both ends are full.
    let mut before = 0;
    loop {
        let (kind, accepted) = write(&mut *client, Duration::from_millis(100));
        assert_eq!(kind, ErrorKind::TimedOut);
        if std::mem::replace(&mut before, accepted) == accepted {
            break;
        }
    }
    drop(peer); // unread bytes reset the connection
    let error = client.read(&mut [0; 9], TIMEOUT).expect_err("it is reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_ne!(write(&mut *client, TIMEOUT).0, ErrorKind::TimedOut);
}

#[test]
fn a_raw_client_is_refused_at_a_server_of_rfc_2217() {
    let server = PortServer::start(Protocol::Rfc2217);
    let mut client = server.open("tcp");
    client.write(b"\r", Instant::now() + TIMEOUT).expect("it is sent");
    let reply = read_exactly(&mut *client, 12);
    assert!(reply.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&reply));
}

/// Serves one client with all options and settings, and sends NOTIFY-MODEMSTATE before and after
/// each reply.
fn serve_with_reports(listener: &TcpListener) {
    let (mut client, _) = listener.accept().expect("a client");
    let mut requests = [0; 18];
    client.read_exact(&mut requests).expect("WILL and DO for each of three options");
    for option in [0, 3, 44] {
        client.write_all(&[255, 253, option, 255, 251, option]).expect("it is sent");
    }
    let (mut request, mut byte) = (Vec::new(), [0]);
    while client.read_exact(&mut byte).is_ok() {
        request.push(byte[0]);
        if let [255, 250, 44, number, value @ .., 255, 240] = &request[..] {
            let report = [255, 250, 44, 107, 0x10, 255, 240];
            let reply = [&[255, 250, 44, number + 100], value, &[255, 240]].concat();
            client.write_all(&[&report[..], &reply, &report].concat()).expect("it is sent");
            request.clear();
        }
    }
}

#[test]
fn reports_that_were_not_requested_are_not_taken_for_replies() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = format!("rfc2217://{}", listener.local_addr().expect("its number"));
    let thread = std::thread::spawn(move || serve_with_reports(&listener));
    let mut client = network::open(&name, 115_200).expect("it has all settings");
    client.set_control_line(ControlLine::Rts, false).expect("it has all lines");
    drop(client);
    thread.join().expect("it ends with its client");
}

/// Connects and resets the connection at once.
fn reset(address: SocketAddr) {
    let client = TcpStream::connect(address).expect("it listens");
    rcflash_transport::platform::net::reset_on_close(&client).expect("a socket option");
}

#[test]
fn a_client_that_resets_its_connection_keeps_nobody_out() {
    for (protocol, scheme) in [(Protocol::Rfc2217, "rfc2217"), (Protocol::Raw, "tcp")] {
        let server = PortServer::start(protocol);
        for _ in 0..20 {
            reset(server.address);
        }
        // One that comes before the server has noticed the end of the last is refused.
        let mut client = server.open_when_free(scheme);
        client.write(b"\0hello", Instant::now() + TIMEOUT).expect("it is accepted");
        server.port.wait_for(|state| state.written == b"\0hello");
    }
}

/// Sends all that a client of RFC 2217 or a raw one sends, whether the server takes it or not.
fn send_and_close(server: &PortServer, protocol: Protocol, bytes: &[u8]) {
    // WILL COM-PORT-OPTION (RFC 2217, section 2), which the server agrees to.
    const WILL_COM_PORT: [u8; 3] = [255, 251, 44];
    let mut client = server.connect();
    if protocol == Protocol::Rfc2217 {
        client.write_all(&WILL_COM_PORT).expect("sent");
    }
    client.write_all(bytes).expect("sent");
    client.shutdown(std::net::Shutdown::Write).expect("connected");
    // As a program that is over, without a reset for replies that it did not read.
    std::thread::spawn(move || io::copy(&mut client, &mut io::sink()));
}

#[test]
fn a_client_that_sends_and_closes_at_once_has_all_bytes_delivered() {
    for protocol in [Protocol::Rfc2217, Protocol::Raw] {
        let server = PortServer::start(protocol);
        // The port takes no byte before the client is gone.
        server.port.with(|state| state.room = Some(0));
        let script = vec![0; 100_000];
        send_and_close(&server, protocol, &script);
        server.wait_for_event("connected");
        std::thread::sleep(Duration::from_millis(100));
        server.port.with(|state| state.room = None);
        server.port.wait_for(|state| state.written == script);
        server.wait_for_event("disconnected: the peer closed the connection");
    }
}

#[test]
fn a_client_that_is_gone_gives_way_to_the_next_with_what_the_port_has_not_taken() {
    for (protocol, scheme) in [(Protocol::Rfc2217, "rfc2217"), (Protocol::Raw, "tcp")] {
        let server = PortServer::start(protocol);
        server.port.with(|state| state.room = Some(5));
        send_and_close(&server, protocol, &vec![0; 3 << 20]);
        server.wait_for_event("connected");
        // It is refused until the end of the first one's bytes was received.
        let mut next = server.open_when_free(scheme);
        next.write(b"\0hello", Instant::now() + TIMEOUT).expect("it is accepted");
        server.wait_for_event("the next client is served, and 3145723 bytes");
        server.port.with(|state| state.room = None);
        server.port.wait_for(|state| state.written == b"\0\0\0\0\0\0hello");
    }
}

#[test]
fn a_client_that_is_far_ahead_of_the_port_gives_way_and_one_that_is_not_does_not() {
    let server = PortServer::start(Protocol::Raw);
    server.port.with(|state| state.room = Some(0));
    let mut client = server.connect();
    client.write_all(&[0; 100_000]).expect("sent");
    server.wait_for_event("connected");
    let mut refused = String::new();
    server.connect().read_to_string(&mut refused).expect("a reply");
    assert!(refused.contains("the port is in use by"), "{refused}");
    let endless = std::thread::spawn(move || while client.write_all(&[0; 100_000]).is_ok() {});
    let mut next = server.connect();
    // It is refused until the first one is 4 MiB ahead.
    let deadline = Instant::now() + TIMEOUT;
    while !server.events.lock().expect("no panic").iter().any(|one| one.contains("is served")) {
        assert!(Instant::now() < deadline, "the next client is not served");
        if next.write_all(b"\0").is_err() {
            next = server.connect();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    endless.join().expect("its connection ends");
}
