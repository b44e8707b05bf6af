//! Web pages: a browser on the same computer can send requests to the port of each server of a
//! board, with frames in the body.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use firmware_wire::Request;

use crate::network::programs::rcflash;
use crate::network::sim::ServedBoard;
use crate::network::{hw_tests, run, servers};

/// The longest that a server may take for anything.
const TIMEOUT: Duration = Duration::from_secs(60);
/// RAM that no program uses, and what the frames write to it.
const ADDRESS: u16 = 0x9000;
const MARKER: [u8; 4] = [0x5A, 0xC3, 0x96, 0x3C];

/// Frames that a board executes: WRITE, twice, since the first could be cut by what is before it.
fn frames() -> Vec<u8> {
    let write = Request::Write { address: ADDRESS, data: MARKER.to_vec() };
    let frames = [1, 2].map(|seq| write.frame(seq).expect("it fits").encode());
    frames.concat()
}

/// A request as a page of another origin can send it without being asked by the browser first: a
/// "simple request" of the Fetch standard, of which the server receives all before the page is
/// refused the reply.
fn page_request(place: &str) -> (Vec<u8>, Vec<u8>) {
    // The negotiation of RFC 2217, for a server that looks for it anywhere.
    let body = [&[255, 251, 44, 255, 253, 44][..], &frames()].concat();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {place}\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n\
         Origin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    (head.into_bytes(), body)
}

fn connect(place: &str) -> TcpStream {
    let client = TcpStream::connect(place).expect("it listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
    client.set_nodelay(true).expect("a socket option");
    client
}

/// Sends pieces, as far as the server receives them, and returns all that it sends.
fn send_pieces<'a>(place: &str, pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let mut client = connect(place);
    for piece in pieces {
        if client.write_all(piece).is_err() {
            break;
        }
    }
    let mut reply = Vec::new();
    let _ = client.read_to_end(&mut reply); // it may end with a reset
    String::from_utf8_lossy(&reply).into_owned()
}

/// Sends pieces when no client before holds the board any more, and returns all that it sends.
fn send_when_free(place: &str, pieces: &[&[u8]]) -> String {
    let start = Instant::now();
    loop {
        let reply = send_pieces(place, pieces.iter().copied());
        if !reply.contains("the board is in use by") || start.elapsed() > TIMEOUT {
            return reply;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Reads the memory that the frames write, by `rcflash read`.
fn memory(port: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("memory.bin");
    let mut read = rcflash();
    read.args(["read", "--range", "9000-9003", "--port", port, "-o"]).arg(&file);
    run(&mut read, 0);
    std::fs::read(&file).expect("the file")
}

/// Sends a page's request to a server in several pieces; the memory of the board stays.
fn assert_page_is_refused(port: &str) {
    let place = port.split_once("://").expect("an address").1;
    let before = memory(port);
    assert_ne!(before, MARKER);
    let (head, body) = page_request(place);
    let whole = [&head[..], &body].concat();
    let pieces: [Vec<&[u8]>; 3] = [vec![&whole], whole.chunks(1).collect(), vec![&head, &body]];
    for pieces in pieces {
        let count = pieces.len();
        let reply = send_when_free(place, &pieces);
        assert!(reply.contains("HTTP/1.1 400 Bad Request\r\n"), "{port}, {count} pieces: {reply}");
    }
    assert_eq!(memory(port), before, "{port}");
}

/// The same frames as the first bytes are executed, so that it is the request that was refused.
fn assert_frames_are_executed(port: &str) {
    let mut client = connect(port.split_once("://").expect("an address").1);
    client.write_all(&frames()).expect("they are sent");
    let mut replies = [0; 5];
    client.read_exact(&mut replies).expect("a reply");
    drop(client);
    assert_eq!(memory(port), MARKER);
}

#[test]
fn a_web_page_writes_nothing_to_a_simulated_board() {
    let board = ServedBoard::start(&["--listen", "0"]);
    assert_page_is_refused(&board.path);
    assert_frames_are_executed(&board.path);
}

#[test]
fn a_web_page_writes_nothing_through_a_served_port() {
    for more in [&[][..], &["--raw"]] {
        let board = ServedBoard::start(&[]);
        let server = servers::ours(&board.path, more);
        assert_page_is_refused(&server.address);
        if !more.is_empty() {
            assert_frames_are_executed(&server.address);
        }
    }
}

#[test]
fn a_simulated_board_tells_a_second_client_who_has_it() {
    let board = ServedBoard::start(&["--listen", "0"]);
    let place = board.path.trim_start_matches("tcp://");
    let first = connect(place);
    let holder = first.local_addr().expect("an address");
    let reply = send_pieces(place, std::iter::empty());
    assert_eq!(reply, format!("the board is in use by {holder}\r\n"));
}

#[test]
fn a_simulated_board_is_served_to_other_computers_only_where_that_is_asked_for() {
    let printed = run(hw_tests().args(["simulate", "board", "--listen", "0.0.0.0:0"]), 2);
    assert!(printed.contains("--unprotected"), "{printed}");
    let board = ServedBoard::start(&["--listen", "0.0.0.0:0", "--unprotected"]);
    assert!(board.path.starts_with("tcp://0.0.0.0:"), "{}", board.path);
}

#[cfg(feature = "system-tests")]
mod system;
