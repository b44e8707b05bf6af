//! Accepts connections of gdb, one at a time; a silent connection does not block others. Clients
//! whose first bytes are not gdb's are refused, such as a browser.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use rcflash_transport::network::{ClientKind, Judgement, Refusal, judge_first_bytes, refuse};
use rcflash_transport::platform::net::enable_keepalive;
use rcflash_transport::platform::time::{Duration, Instant};

use super::client::encode_packet;

/// TCP keep-alive: a peer that vanished is detected after about a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_COUNT: u32 = 6;
/// How long to wait for the first bytes; gdb sends at once.
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);
/// How often first bytes that do not suffice for a decision are read again.
const PEEK_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of connections whose first bytes are awaited; further ones are closed.
const MAX_PENDING: usize = 16;

/// A connection whose first bytes are gdb's. While it is alive, others are refused.
pub struct GdbConnection {
    /// The connection.
    pub stream: TcpStream,
    /// Its network address.
    pub peer: SocketAddr,
    holder: Holder,
}

/// The address of the gdb that is connected.
#[derive(Clone, Default)]
struct Holder(Arc<Mutex<Option<SocketAddr>>>);

impl Holder {
    fn lock(&self) -> MutexGuard<'_, Option<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GdbConnection {
    fn drop(&mut self) {
        *self.holder.lock() = None;
    }
}

/// Why a connection was refused.
#[derive(Debug, thiserror::Error)]
pub enum GdbRefusal {
    /// Another gdb is connected, from this address.
    #[error("another gdb is connected from {0}")]
    Busy(SocketAddr),
    /// The first bytes are not gdb's.
    #[error(transparent)]
    FirstBytes(Refusal),
}

/// Accepts connections on a thread and sends each to the returned channel once its first bytes are
/// known to be gdb's. While one is in use, others are refused. `on_refused` is called for each that
/// is refused.
///
/// # Errors
/// Returns the system's error if the thread can't be started.
pub fn accept_connections(
    listener: TcpListener,
    on_refused: impl Fn(SocketAddr, &GdbRefusal) + Send + Sync + 'static,
) -> io::Result<Receiver<GdbConnection>> {
    let (send, receive) = channel();
    let holder = Holder::default();
    let on_refused = Arc::new(on_refused);
    // Each connection whose first bytes are awaited has a copy.
    let pending = Arc::new(());
    thread::Builder::new().name("gdb connections".into()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // The client is gone already, or resources are short for a while.
                rcflash_transport::platform::time::sleep(PEEK_INTERVAL);
                continue;
            };
            if Arc::strong_count(&pending) > MAX_PENDING {
                continue;
            }
            let (pending, holder, send) = (Arc::clone(&pending), holder.clone(), send.clone());
            let refused = Arc::clone(&on_refused);
            // One thread per connection, so that a silent one does not delay the next. Without
            // resources for it, this connection is closed.
            let _ = thread::Builder::new().spawn(move || {
                let judged = judge(stream);
                drop(pending);
                // An error means that the client is gone.
                if let Ok((stream, peer, judgement)) = judged {
                    admit(stream, peer, judgement, holder, &*refused, &send);
                }
            });
        }
    })?;
    Ok(receive)
}

fn admit(
    stream: TcpStream,
    peer: SocketAddr,
    judgement: Judgement,
    holder: Holder,
    refused: &dyn Fn(SocketAddr, &GdbRefusal),
    send: &Sender<GdbConnection>,
) {
    match judgement {
        Judgement::Undecided => refuse(stream, &Refusal::Idle.reply()),
        Judgement::Refused(why) => {
            refuse(stream, &why.reply());
            refused(peer, &GdbRefusal::FirstBytes(why));
        }
        Judgement::Accepted => {
            let present = *holder.lock().get_or_insert(peer);
            if present == peer {
                return drop(send.send(GdbConnection { stream, peer, holder }));
            }
            refuse(stream, busy_reply(present).as_bytes());
            refused(peer, &GdbRefusal::Busy(present));
        }
    }
}

/// Returns the reply to a second gdb, which shows the text.
fn busy_reply(holder: SocketAddr) -> String {
    let text = format!("E.another gdb, at {holder}, is connected to this board; detach it first");
    format!("+{}", encode_packet(&text))
}

/// Waits for the first bytes, and leaves them unread.
fn judge(stream: TcpStream) -> io::Result<(TcpStream, SocketAddr, Judgement)> {
    let peer = stream.peer_addr()?;
    stream.set_nodelay(true)?;
    enable_keepalive(&stream, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_COUNT);
    stream.set_read_timeout(Some(FIRST_BYTES_TIMEOUT))?;
    let judgement = judge_received(&stream, Instant::now() + FIRST_BYTES_TIMEOUT);
    stream.set_read_timeout(None)?;
    Ok((stream, peer, judgement))
}

fn judge_received(stream: &TcpStream, deadline: Instant) -> Judgement {
    let mut first = [0; 4096];
    let mut previous = 0;
    loop {
        // The first call waits for a byte; the following ones return what has arrived so far.
        let count = stream.peek(&mut first).unwrap_or(0);
        let judgement = judge_first_bytes(ClientKind::Gdb, &first[..count]);
        if judgement != Judgement::Undecided || count == 0 || Instant::now() > deadline {
            return judgement;
        }
        if count == first.len() {
            return Judgement::Refused(Refusal::NotGdb); // no packet is that long
        }
        if count == previous {
            rcflash_transport::platform::time::sleep(PEEK_INTERVAL);
        }
        previous = count;
    }
}
