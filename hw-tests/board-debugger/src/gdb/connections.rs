//! Accepts connections of gdb, one at a time; a silent connection does not block others.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use host_platform::net::enable_keepalive;

use super::packet::encode_packet;

/// TCP keep-alive: a peer that vanished is detected after about a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_COUNT: u32 = 6;
/// How long to wait for the first byte; gdb sends at once.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a refused gdb may take to close, and how many reads are made meanwhile.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_CLOSE_READS: usize = 64;
/// The error text sent to a second gdb, which shows it.
const BUSY_ERROR: &str = "E.another gdb is connected to this board; detach it first";

/// A connection from which a first byte has arrived. While it is alive, others are refused.
pub struct GdbConnection {
    /// The connection.
    pub stream: TcpStream,
    /// Its network address.
    pub peer: SocketAddr,
    is_busy: Arc<AtomicBool>,
}

impl Drop for GdbConnection {
    fn drop(&mut self) {
        self.is_busy.store(false, Ordering::Release);
    }
}

/// Accepts connections on a thread and sends each to the returned channel once its first byte has
/// arrived. While one is in use, others are refused, and `on_refused` is called.
///
/// # Errors
/// Returns the system's error if the thread can't be started.
pub fn accept_connections(
    listener: TcpListener,
    on_refused: impl Fn(SocketAddr) + Send + Sync + 'static,
) -> io::Result<Receiver<io::Result<GdbConnection>>> {
    let (send, receive) = channel();
    let is_busy = Arc::new(AtomicBool::new(false));
    let on_refused = Arc::new(on_refused);
    thread::Builder::new().name("gdb connections".into()).spawn(move || {
        for stream in listener.incoming() {
            let is_busy = Arc::clone(&is_busy);
            let refused = Arc::clone(&on_refused);
            let send = send.clone();
            // One thread per connection, so that a silent one does not delay the next.
            let wait = move || admit(stream, is_busy, &*refused, &send);
            if thread::Builder::new().spawn(wait).is_err() {
                break;
            }
        }
    })?;
    Ok(receive)
}

fn admit(
    stream: io::Result<TcpStream>,
    is_busy: Arc<AtomicBool>,
    refused: &dyn Fn(SocketAddr),
    send: &Sender<io::Result<GdbConnection>>,
) {
    let (mut stream, peer) = match stream.and_then(first_byte) {
        Ok(Some(accepted)) => accepted,
        Ok(None) => return,
        Err(error) => {
            let _ = send.send(Err(error));
            return;
        }
    };
    if is_busy.swap(true, Ordering::AcqRel) {
        refuse(&mut stream);
        refused(peer);
    } else {
        let _ = send.send(Ok(GdbConnection { stream, peer, is_busy }));
    }
}

/// Sends `BUSY_ERROR` and closes. Reads what gdb has sent first: closing with unread bytes would
/// reset the connection before gdb receives the error.
fn refuse(stream: &mut TcpStream) {
    let _ = stream.write_all(format!("+{}", encode_packet(BUSY_ERROR)).as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(CLOSE_TIMEOUT));
    let mut left = [0; 256];
    for _ in 0..MAX_CLOSE_READS {
        if !stream.read(&mut left).is_ok_and(|count| count > 0) {
            break;
        }
    }
}

/// Waits for the first byte; returns `None` if none arrives in time or the peer closes.
fn first_byte(stream: TcpStream) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    let peer = stream.peer_addr()?;
    stream.set_nodelay(true)?;
    enable_keepalive(&stream, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_COUNT);
    stream.set_read_timeout(Some(FIRST_BYTE_TIMEOUT))?;
    let has_sent = stream.peek(&mut [0]).is_ok_and(|count| count > 0);
    stream.set_read_timeout(None)?;
    Ok(has_sent.then_some((stream, peer)))
}
