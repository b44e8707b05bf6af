//! A WebSocket that carries a board's bytes in its messages (RFC 6455): the client.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

use crate::lock::{Holder, PortLock};
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use crate::{Passed, Transport};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

use crate::network::Address;
use crate::network::socket::{Socket, ended};

/// The time that a server may take to agree to the protocol.
const ANSWER: Duration = Duration::from_secs(5);
/// The time in which a server closes that does not give its port: one way on the network and back.
const REFUSAL: Duration = Duration::from_millis(250);
/// The time that a farewell may take.
const FAREWELL: Duration = Duration::from_millis(100);
/// The longest message of a server, and most bytes that may wait to be sent.
const LONGEST: usize = 1 << 20;
/// Bytes that are asked of the connection at a time.
const PIECE: usize = 4096;

/// The line: without a speed, wires or flow control of its own, which are the other side's.
pub(crate) struct WebSocketLine {
    name: String,
    line: WebSocket<Timed>,
    /// The rest of the messages that have come.
    heard: VecDeque<u8>,
    passed: Passed,
    /// The last field, so that it is let go when all else is closed.
    lock: PortLock,
}

impl WebSocketLine {
    /// Connects to a server.
    ///
    /// # Errors
    /// Nobody listens there, no WebSocket is there, or another program of this project uses it.
    pub(crate) fn open(address: &Address) -> Result<Self, OpenError> {
        let (socket, lock) = Socket::connect(address)?;
        let name = address.to_string();
        let other = |error| OpenError::Other(name.clone(), error);
        let line = shake_hands(&name, socket).map_err(other)?;
        let (heard, passed) = (VecDeque::new(), Passed::default());
        let mut port = Self { name: name.clone(), line, heard, passed, lock };
        port.hear_until(Instant::now() + REFUSAL).map_err(other)?;
        Ok(port)
    }

    /// Waits for bytes of the board.
    fn hear_until(&mut self, deadline: Instant) -> io::Result<()> {
        self.line.get_mut().until = deadline;
        while self.heard.is_empty() {
            match self.line.read() {
                Ok(Message::Binary(bytes)) => self.heard.extend(bytes),
                Ok(Message::Text(text)) => self.heard.extend(text.as_bytes()),
                Ok(Message::Close(frame)) => {
                    let reason = frame.map_or_else(String::new, |frame| frame.reason.to_string());
                    return Err(ended(&reason));
                }
                // A server that asks whether we are there, and is answered at the next turn.
                Ok(_) if Instant::now() < deadline => {}
                Ok(_) => return Ok(()),
                Err(error) if is_late(&error) => return Ok(()),
                Err(error) => return Err(failure(error)),
            }
        }
        Ok(())
    }
}

impl Transport for WebSocketLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn passed(&self) -> Option<Passed> {
        Some(self.passed)
    }

    fn left_by(&self) -> Option<&Holder> {
        self.lock.left_by()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.hear_until(Instant::now() + timeout)?;
        let count = self.heard.read(buffer)?;
        self.passed.heard += count as u64;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.line.get_mut().until = deadline;
        match self.line.send(Message::binary(bytes.to_vec())) {
            Err(Error::WriteBufferFull(_)) => return Err(ErrorKind::TimedOut.into()),
            // What is left of the message goes out with the next one.
            Err(error) if is_late(&error) => return Err(ErrorKind::TimedOut.into()),
            sent => sent.map_err(failure)?,
        }
        self.passed.sent += bytes.len() as u64;
        Ok(())
    }
}

impl Drop for WebSocketLine {
    fn drop(&mut self) {
        self.line.get_mut().until = Instant::now() + FAREWELL;
        let _ = self.line.close(None); // it may have gone
        let _ = self.line.flush();
    }
}

/// Agrees with the server on the protocol.
fn shake_hands(name: &str, socket: Socket) -> io::Result<WebSocket<Timed>> {
    let settings = WebSocketConfig::default()
        .read_buffer_size(PIECE)
        .write_buffer_size(0)
        .max_write_buffer_size(LONGEST)
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST));
    let stream = Timed { socket, until: Instant::now() + ANSWER };
    match tungstenite::client::client_with_config(name, stream, Some(settings)) {
        Ok((line, _)) => Ok(line),
        Err(HandshakeError::Interrupted(_)) => Err(io::Error::other(format!(
            "the server did not answer within {} s",
            ANSWER.as_secs()
        ))),
        Err(HandshakeError::Failure(Error::Http(answer))) => {
            let problem = format!("the server answers {}; is the path right?", answer.status());
            Err(io::Error::new(ErrorKind::Unsupported, problem))
        }
        Err(HandshakeError::Failure(Error::Io(error))) => Err(error),
        Err(HandshakeError::Failure(error)) => {
            let problem = format!("the server speaks no WebSocket ({error}); tcp:// may do");
            Err(io::Error::new(ErrorKind::Unsupported, problem))
        }
    }
}

fn failure(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => ended(""),
        error => io::Error::new(ErrorKind::InvalidData, error.to_string()),
    }
}

/// Whether only the time was over.
fn is_late(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == ErrorKind::WouldBlock)
}

/// A connection whose reads and writes end at a moment.
struct Timed {
    socket: Socket,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        match self.socket.read(buffer, left)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write_some(bytes, self.until).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => ErrorKind::WouldBlock.into(),
            _ => error,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::thread::JoinHandle;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A server whose first connection is a function's; its address, and the thread.
    fn server(serve: impl FnOnce(TcpStream) + Send + 'static) -> (Address, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let place = listener.local_addr().expect("it has one");
        let thread = std::thread::spawn(move || serve(listener.accept().expect("a client").0));
        let address = Address::parse(&format!("ws://{place}/board")).expect("it is right");
        (address.expect("it has a scheme"), thread)
    }

    /// A server that answers a request with these words and no other.
    fn words(words: &'static str) -> Address {
        let serve = |mut client: TcpStream| {
            let mut request = [0; 4096];
            let _ = client.read(&mut request);
            let _ = client.write_all(words.as_bytes());
            let _ = client.read(&mut request); // until the client has gone
        };
        server(serve).0
    }

    fn web_socket(client: TcpStream) -> WebSocket<TcpStream> {
        tungstenite::accept(client).expect("a handshake")
    }

    fn refused(address: &Address) -> String {
        WebSocketLine::open(address).err().expect("it can't be used").to_string()
    }

    #[test]
    fn answers_that_are_no_websocket_are_reported_with_the_address() {
        for (answer, problem) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "speaks no WebSocket"),
            ("READY\r\n> \x1B[2J\r\n\r\n", "speaks no WebSocket"),
            ("the port is in use by another\r\n", "speaks no WebSocket"),
        ] {
            let address = words(answer);
            let said = refused(&address);
            assert!(said.contains(problem) && said.contains(&address.to_string()), "{said}");
            assert!(!said.contains('\x1B'), "{said}");
        }
    }

    #[test]
    fn a_server_without_an_answer_is_waited_for_so_long_and_no_longer() {
        let begun = Instant::now();
        let said = refused(&words(""));
        assert!(said.contains("did not answer within 5 s"), "{said}");
        assert!((ANSWER..2 * ANSWER).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }

    #[test]
    fn bytes_come_from_messages_of_both_kinds_and_go_in_binary_ones() {
        let (address, thread) = server(|client| {
            let mut line = web_socket(client);
            for message in [Message::binary(vec![0, 255]), Message::Ping(vec![1].into())] {
                line.send(message).expect("it is taken");
            }
            line.send(Message::text("ok")).expect("it is taken");
            assert_eq!(line.read().expect("an answer"), Message::Pong(vec![1].into()));
            assert_eq!(line.read().expect("a message"), Message::binary(vec![1, 2, 3]));
        });
        let mut line = WebSocketLine::open(&address).expect("it is one");
        let mut heard: Vec<u8> = Vec::new();
        let deadline = Instant::now() + 10 * SECOND;
        while heard.len() < 4 && Instant::now() < deadline {
            let mut one = [0; 3];
            let count = line.read(&mut one, SECOND).expect("it is there");
            heard.extend(&one[..count]);
        }
        assert_eq!(heard, [0, 255, b'o', b'k']);
        line.write(&[1, 2, 3], Instant::now() + SECOND).expect("it is taken");
        thread.join().expect("the server saw all that it should");
        let passed = line.passed().expect("it counts");
        assert_eq!((passed.heard, passed.sent), (4, 3));
    }

    #[test]
    fn silence_ends_a_read_in_time() {
        let (address, _thread) = server(|client| {
            let _ = web_socket(client).read();
        });
        let mut line = WebSocketLine::open(&address).expect("it is one");
        let begun = Instant::now();
        assert_eq!(line.read(&mut [0; 9], SECOND / 10).expect("it is there"), 0);
        assert!((SECOND / 10..5 * SECOND).contains(&begun.elapsed()));
    }

    #[test]
    fn a_server_that_takes_nothing_ends_a_write_in_time() {
        let (address, _thread) = server(|client| {
            let line = web_socket(client);
            while !matches!(line.get_ref().peek(&mut [0; 1]), Ok(0) | Err(_)) {
                std::thread::yield_now();
            }
        });
        let mut line = WebSocketLine::open(&address).expect("it is one");
        let piece = vec![0; 1 << 16];
        let begun = Instant::now();
        let late = (0..10_000).find_map(|_| line.write(&piece, Instant::now() + SECOND / 10).err());
        assert_eq!(late.map(|error| error.kind()), Some(ErrorKind::TimedOut));
        assert!(begun.elapsed() < 60 * SECOND);
    }

    #[test]
    fn a_server_that_closes_is_quoted() {
        use tungstenite::protocol::CloseFrame;
        use tungstenite::protocol::frame::coding::CloseCode;
        let (address, _thread) = server(|client| {
            let mut line = web_socket(client);
            let frame = CloseFrame { code: CloseCode::Policy, reason: "in use\x07".into() };
            line.close(Some(frame)).expect("it is taken");
            while line.read().is_ok() {}
        });
        let said = refused(&address);
        assert!(said.contains("it said: in use\\x07"), "{said}");
    }
}
