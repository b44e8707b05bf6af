//! A simulated board's line as a TCP port: what of a client's bytes the board receives.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use board_simulator::{NetworkLine, SerialLine};

/// The longest that anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

fn line() -> NetworkLine {
    NetworkLine::listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port")
}

fn connect(line: &NetworkLine) -> TcpStream {
    let address = line.name().trim_start_matches("tcp://");
    let client = TcpStream::connect(address).expect("it listens");
    client.set_nodelay(true).expect("a socket option");
    client.set_read_timeout(Some(POLL_INTERVAL)).expect("a deadline");
    client
}

/// Polls the line until the client's connection is closed. Returns what the client received; the
/// board must receive nothing.
fn poll_until_closed(line: &mut NetworkLine, client: &mut TcpStream) -> String {
    let deadline = Instant::now() + TIMEOUT;
    let mut reply = Vec::new();
    let mut buffer = [0; 256];
    loop {
        assert!(Instant::now() < deadline, "{}", String::from_utf8_lossy(&reply));
        line.flush(Some(POLL_INTERVAL));
        assert_eq!(line.receive(), None);
        match client.read(&mut buffer) {
            Ok(count @ 1..) => reply.extend(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Ok(0) | Err(_) => return String::from_utf8_lossy(&reply).into_owned(),
        }
    }
}

#[test]
fn the_board_receives_no_byte_of_a_web_request() {
    let request = b"PUT /x HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n\
                    Content-Length: 8\r\n\r\n\x00\x01\x05\x01\x01\x8C\xEF\x00";
    let mut line = line();
    for piece_len in [request.len(), 1] {
        let mut client = connect(&line);
        for piece in request.chunks(piece_len) {
            if client.write_all(piece).is_err() {
                break; // the line has refused and closed
            }
            line.flush(None);
            assert_eq!(line.receive(), None);
        }
        let reply = poll_until_closed(&mut line, &mut client);
        assert!(reply.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{reply}");
    }
}

#[test]
fn the_board_receives_no_byte_of_a_tls_hello() {
    let mut line = line();
    let mut client = connect(&line);
    client.write_all(&[0x16, 0x03, 0x01, 0x00, 0xc4, 0x01]).expect("it is sent");
    assert_eq!(poll_until_closed(&mut line, &mut client), "");
}

#[test]
fn a_client_that_disconnects_makes_room_for_the_next() {
    let mut line = line();
    let first = connect(&line);
    let holder = first.local_addr().expect("an address");
    line.flush(None);
    let mut second = connect(&line);
    let reply = poll_until_closed(&mut line, &mut second);
    assert_eq!(reply, format!("the board is in use by {holder}\r\n"));
    drop(first);
    serve_next_client(&mut line);
}

/// Connects clients until one is served and the board receives what it sends. One that comes before
/// the line has noticed the end of the last is refused.
fn serve_next_client(line: &mut NetworkLine) {
    let deadline = Instant::now() + TIMEOUT;
    let mut client = connect(line);
    loop {
        assert!(Instant::now() < deadline, "the next client is not served");
        if client.write_all(b"\0next").is_err() || client.read(&mut [0]).is_ok() {
            client = connect(line);
        }
        line.flush(Some(POLL_INTERVAL));
        if line.receive() == Some(b'n') {
            return;
        }
    }
}

/// Polls the line until the board has received these bytes, and returns all that it received.
fn receive_until(line: &mut NetworkLine, last: &[u8]) -> Vec<u8> {
    let deadline = Instant::now() + TIMEOUT;
    let mut received = Vec::new();
    while !received.ends_with(last) {
        assert!(Instant::now() < deadline, "{} bytes", received.len());
        line.flush(Some(POLL_INTERVAL));
        received.extend(line.receive());
    }
    received
}

#[test]
fn a_client_that_resets_its_connection_keeps_nobody_out() {
    let mut line = line();
    for _ in 0..20 {
        rcflash_transport::platform::net::reset_on_close(&connect(&line)).expect("a socket option");
        line.flush(None);
    }
    serve_next_client(&mut line);
}

#[test]
fn a_client_that_sends_and_closes_at_once_has_all_bytes_delivered() {
    let mut line = line();
    let script = [&[0; 2000][..], b"end"].concat();
    connect(&line).write_all(&script).expect("sent");
    line.flush(None);
    // What the board sends meets a closed connection, twice.
    for _ in 0..2 {
        line.transmit(b'x');
        line.flush(None);
        std::thread::sleep(10 * POLL_INTERVAL);
    }
    assert_eq!(receive_until(&mut line, b"end"), script);
}

#[test]
fn a_client_that_is_gone_gives_way_to_the_next_with_what_the_board_has_not_taken() {
    let mut line = line();
    let address = line.name().trim_start_matches("tcp://").to_owned();
    let sender = std::thread::spawn(move || {
        let mut first = TcpStream::connect(address).expect("it listens");
        first.write_all(&vec![0; 3 << 20]).expect("sent");
    });
    while !sender.is_finished() {
        line.flush(Some(POLL_INTERVAL));
    }
    // A board that takes a byte each millisecond would need 52 minutes for the first client's.
    serve_next_client(&mut line);
}
