//! Admission of clients: one gdb at a time, and none that says nothing.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use host_platform::net::keep_alive;

use super::packet::packed;

/// The quiet after which the system asks for the other end, the time between two questions, and how
/// many of them stay without an answer.
const QUIET: Duration = Duration::from_secs(30);
const PROBE: Duration = Duration::from_secs(5);
const PROBES: u32 = 6;
/// The time a connection may stay without a byte: gdb speaks at once.
const SILENCE: Duration = Duration::from_secs(10);
/// The time a refused gdb may take to hang up, and how often it is read meanwhile.
const FAREWELL: Duration = Duration::from_secs(1);
const MOST_READS: usize = 64;
/// The error that a second gdb is sent and shows.
const BUSY: &str = "E.another gdb is connected to this board; detach it first";

/// A gdb that has begun to speak. While it is alive, others are refused.
pub struct Visitor {
    /// The line to it.
    pub stream: TcpStream,
    /// Its network address.
    pub peer: SocketAddr,
    is_busy: Arc<AtomicBool>,
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.is_busy.store(false, Ordering::Release);
    }
}

/// Accepts connections in a thread of its own and hands over those that speak, one at a time. A
/// connection that says nothing, such as one that was opened and forgotten, keeps nobody out; a
/// second gdb is refused, and `refused` is called for it.
///
/// # Errors
/// Returns the system's error if there can be no thread.
pub fn visitors(
    listener: TcpListener,
    refused: impl Fn(SocketAddr) + Send + Sync + 'static,
) -> io::Result<Receiver<io::Result<Visitor>>> {
    let (send, receive) = channel();
    let is_busy = Arc::new(AtomicBool::new(false));
    let refused = Arc::new(refused);
    thread::Builder::new().name("gdb connections".into()).spawn(move || {
        for stream in listener.incoming() {
            let is_busy = Arc::clone(&is_busy);
            let refused = Arc::clone(&refused);
            let send = send.clone();
            // Each connection is waited for by itself, so that a silent one holds up no other.
            let wait = move || welcome(stream, is_busy, &*refused, &send);
            if thread::Builder::new().spawn(wait).is_err() {
                break;
            }
        }
    })?;
    Ok(receive)
}

fn welcome(
    stream: io::Result<TcpStream>,
    is_busy: Arc<AtomicBool>,
    refused: &dyn Fn(SocketAddr),
    send: &Sender<io::Result<Visitor>>,
) {
    let (mut stream, peer) = match stream.and_then(first_byte) {
        Ok(Some(speaking)) => speaking,
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
        let _ = send.send(Ok(Visitor { stream, peer, is_busy }));
    }
}

/// Tells a second gdb that the board is taken. What it has sent is read, since closing with unread
/// bytes would reset the connection before gdb has seen the message.
fn refuse(stream: &mut TcpStream) {
    let _ = stream.write_all(format!("+{}", packed(BUSY)).as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(FAREWELL));
    let mut left = [0; 256];
    for _ in 0..MOST_READS {
        if !stream.read(&mut left).is_ok_and(|count| count > 0) {
            break;
        }
    }
}

/// Waits until a connection speaks; `None` for one that does not, or is gone.
fn first_byte(stream: TcpStream) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    let peer = stream.peer_addr()?;
    stream.set_nodelay(true)?;
    // One whose other end is gone without a word ends within a minute, and makes room for the next.
    keep_alive(&stream, QUIET, PROBE, PROBES);
    stream.set_read_timeout(Some(SILENCE))?;
    let speaks = stream.peek(&mut [0]).is_ok_and(|count| count > 0);
    stream.set_read_timeout(None)?;
    Ok(speaks.then_some((stream, peer)))
}
