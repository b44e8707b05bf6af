//! The client of a WebSocket whose messages carry a board's bytes (RFC 6455).

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

use crate::lock::{LockHolder, PortLock};
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use crate::{ByteCounts, Transport};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

use crate::network::NetworkAddress;
use crate::network::socket::{Socket, closed_error};

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });
/// How long to wait for a server that refuses the connection: one round trip.
const REFUSAL_WINDOW: Duration = Duration::from_millis(250);
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);
/// The maximum size of a received message, and of the bytes queued for sending.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
const READ_CHUNK_BYTES: usize = 4096;

/// A WebSocket transport. Speed, control lines and flow control belong to the server.
pub(crate) struct WebSocketTransport {
    name: String,
    web_socket: WebSocket<DeadlineStream>,
    /// The unread bytes of the received messages.
    rx_buffer: VecDeque<u8>,
    byte_counts: ByteCounts,
    /// The last field, so that the lock is released after the connection is closed.
    lock: PortLock,
}

impl WebSocketTransport {
    pub(crate) fn open(address: &NetworkAddress) -> Result<Self, OpenError> {
        let (socket, lock) = Socket::connect(address)?;
        let name = address.to_string();
        let other = |error| OpenError::Other(name.clone(), error);
        let web_socket = handshake(&name, socket).map_err(other)?;
        let (rx_buffer, byte_counts) = (VecDeque::new(), ByteCounts::default());
        let mut port = Self { name: name.clone(), web_socket, rx_buffer, byte_counts, lock };
        port.receive_until(Instant::now() + REFUSAL_WINDOW).map_err(other)?;
        Ok(port)
    }

    /// Waits for bytes of the board until `deadline`.
    fn receive_until(&mut self, deadline: Instant) -> io::Result<()> {
        self.web_socket.get_mut().deadline = deadline;
        while self.rx_buffer.is_empty() {
            match self.web_socket.read() {
                Ok(Message::Binary(bytes)) => self.rx_buffer.extend(bytes),
                Ok(Message::Text(text)) => self.rx_buffer.extend(text.as_bytes()),
                Ok(Message::Close(frame)) => {
                    let reason = frame.map_or_else(String::new, |frame| frame.reason.to_string());
                    return Err(closed_error(&reason));
                }
                // A ping, whose reply goes out with the next read.
                Ok(_) if Instant::now() < deadline => {}
                Ok(_) => return Ok(()),
                Err(error) if is_timeout(&error) => return Ok(()),
                Err(error) => return Err(io_error(error)),
            }
        }
        Ok(())
    }
}

impl Transport for WebSocketTransport {
    fn name(&self) -> &str {
        &self.name
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.byte_counts)
    }

    fn previous_holder(&self) -> Option<&LockHolder> {
        self.lock.previous_holder()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.receive_until(Instant::now() + timeout)?;
        let count = self.rx_buffer.read(buffer)?;
        self.byte_counts.received += count as u64;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.web_socket.get_mut().deadline = deadline;
        match self.web_socket.send(Message::binary(bytes.to_vec())) {
            Err(Error::WriteBufferFull(_)) => return Err(ErrorKind::TimedOut.into()),
            // The rest of the message goes out with the next one.
            Err(error) if is_timeout(&error) => return Err(ErrorKind::TimedOut.into()),
            sent => sent.map_err(io_error)?,
        }
        self.byte_counts.sent += bytes.len() as u64;
        Ok(())
    }
}

impl Drop for WebSocketTransport {
    fn drop(&mut self) {
        self.web_socket.get_mut().deadline = Instant::now() + CLOSE_TIMEOUT;
        let _ = self.web_socket.close(None); // it may have disconnected
        let _ = self.web_socket.flush();
    }
}

/// Requests the upgrade to WebSocket.
fn handshake(name: &str, socket: Socket) -> io::Result<WebSocket<DeadlineStream>> {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_CHUNK_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_MESSAGE_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let stream = DeadlineStream { socket, deadline: Instant::now() + HANDSHAKE_TIMEOUT };
    match tungstenite::client::client_with_config(name, stream, Some(config)) {
        Ok((web_socket, _)) => Ok(web_socket),
        Err(HandshakeError::Interrupted(_)) => Err(io::Error::other(format!(
            "no reply from the server within {} s",
            HANDSHAKE_TIMEOUT.as_secs()
        ))),
        Err(HandshakeError::Failure(Error::Http(response))) => {
            let problem = format!("the server replied {}; check the path", response.status());
            Err(io::Error::new(ErrorKind::Unsupported, problem))
        }
        Err(HandshakeError::Failure(Error::Io(error))) => Err(error),
        Err(HandshakeError::Failure(error)) => {
            let problem = format!("the server does not support WebSocket ({error}); try tcp://");
            Err(io::Error::new(ErrorKind::Unsupported, problem))
        }
    }
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => closed_error(""),
        error => io::Error::new(ErrorKind::InvalidData, error.to_string()),
    }
}

fn is_timeout(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == ErrorKind::WouldBlock)
}

/// A connection whose reads and writes have a deadline.
struct DeadlineStream {
    socket: Socket,
    deadline: Instant,
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.socket.read(buffer, left)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write_some(bytes, self.deadline).map_err(|error| match error.kind() {
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

    /// Starts a server that passes its first connection to `serve`. Returns its address and its
    /// thread.
    fn server(serve: impl FnOnce(TcpStream) + Send + 'static) -> (NetworkAddress, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let socket_address = listener.local_addr().expect("it has one");
        let thread = std::thread::spawn(move || serve(listener.accept().expect("a client").0));
        let address =
            NetworkAddress::parse(&format!("ws://{socket_address}/board")).expect("it is right");
        (address.expect("it has a scheme"), thread)
    }

    /// Starts a server that replies to any request with this text.
    fn server_with_response(response: &'static str) -> NetworkAddress {
        let serve = |mut client: TcpStream| {
            let mut request = [0; 4096];
            let _ = client.read(&mut request);
            let _ = client.write_all(response.as_bytes());
            let _ = client.read(&mut request); // until the client disconnects
        };
        server(serve).0
    }

    fn accept(client: TcpStream) -> WebSocket<TcpStream> {
        tungstenite::accept(client).expect("a handshake")
    }

    fn open_error(address: &NetworkAddress) -> String {
        WebSocketTransport::open(address).err().expect("it can't be used").to_string()
    }

    #[test]
    fn responses_other_than_an_upgrade_are_reported_with_the_address() {
        for (response, problem) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "does not support WebSocket"),
            ("READY\r\n> \x1B[2J\r\n\r\n", "does not support WebSocket"),
            ("the port is in use by another\r\n", "does not support WebSocket"),
        ] {
            let address = server_with_response(response);
            let message = open_error(&address);
            assert!(
                message.contains(problem) && message.contains(&address.to_string()),
                "{message}"
            );
            assert!(!message.contains('\x1B'), "{message}");
        }
    }

    #[test]
    fn a_handshake_without_a_response_times_out() {
        let start = Instant::now();
        let message = open_error(&server_with_response(""));
        assert!(message.contains("no reply from the server within 1 s"), "{message}");
        assert!(
            (HANDSHAKE_TIMEOUT..2 * HANDSHAKE_TIMEOUT).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
    }

    #[test]
    fn text_and_binary_messages_are_received_and_binary_ones_sent() {
        let (address, thread) = server(|client| {
            let mut web_socket = accept(client);
            for message in [Message::binary(vec![0, 255]), Message::Ping(vec![1].into())] {
                web_socket.send(message).expect("it is accepted");
            }
            web_socket.send(Message::text("ok")).expect("it is accepted");
            assert_eq!(web_socket.read().expect("a reply"), Message::Pong(vec![1].into()));
            assert_eq!(web_socket.read().expect("a message"), Message::binary(vec![1, 2, 3]));
        });
        let mut web_socket = WebSocketTransport::open(&address).expect("it is one");
        let mut rx_buffer: Vec<u8> = Vec::new();
        let deadline = Instant::now() + 10 * SECOND;
        while rx_buffer.len() < 4 && Instant::now() < deadline {
            let mut one = [0; 3];
            let count = web_socket.read(&mut one, SECOND).expect("it is there");
            rx_buffer.extend(&one[..count]);
        }
        assert_eq!(rx_buffer, [0, 255, b'o', b'k']);
        web_socket.write(&[1, 2, 3], Instant::now() + SECOND).expect("it is accepted");
        thread.join().expect("the server saw all that it should");
        let counts = web_socket.byte_counts().expect("it counts");
        assert_eq!((counts.received, counts.sent), (4, 3));
    }

    #[test]
    fn a_read_without_data_times_out() {
        let (address, _thread) = server(|client| {
            let _ = accept(client).read();
        });
        let mut web_socket = WebSocketTransport::open(&address).expect("it is one");
        let start = Instant::now();
        assert_eq!(web_socket.read(&mut [0; 9], SECOND / 10).expect("it is there"), 0);
        assert!((SECOND / 10..5 * SECOND).contains(&start.elapsed()));
    }

    #[test]
    fn a_write_to_a_server_that_reads_nothing_times_out() {
        let (address, _thread) = server(|client| {
            let web_socket = accept(client);
            while !matches!(web_socket.get_ref().peek(&mut [0; 1]), Ok(0) | Err(_)) {
                std::thread::yield_now();
            }
        });
        let mut web_socket = WebSocketTransport::open(&address).expect("it is one");
        let chunk = vec![0; 1 << 16];
        let start = Instant::now();
        let error =
            (0..10_000).find_map(|_| web_socket.write(&chunk, Instant::now() + SECOND / 10).err());
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::TimedOut));
        assert!(start.elapsed() < 60 * SECOND);
    }

    #[test]
    fn the_reason_of_a_close_is_reported() {
        use tungstenite::protocol::CloseFrame;
        use tungstenite::protocol::frame::coding::CloseCode;
        let (address, _thread) = server(|client| {
            let mut web_socket = accept(client);
            let frame = CloseFrame { code: CloseCode::Policy, reason: "in use\x07".into() };
            web_socket.close(Some(frame)).expect("it is accepted");
            while web_socket.read().is_ok() {}
        });
        let message = open_error(&address);
        assert!(message.contains("with the message: in use\\x07"), "{message}");
    }
}
