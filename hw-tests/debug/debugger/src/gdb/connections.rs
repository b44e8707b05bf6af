//! Accepts connections of gdb, one at a time; a silent connection does not block others. Clients
//! whose first bytes are not gdb's are refused, such as a browser.

use std::fmt::Display;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Weak};
use std::{io, thread};

use rcflash_transport::network::{ClientKind, Judgement, Refusal, judge_first_bytes, refuse};
use rcflash_transport::platform::net::enable_keepalive;
use rcflash_transport::platform::time::{Duration, Instant, sleep};

use super::client::encode_packet;

/// How long to wait for the first bytes; gdb sends at once.
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);
/// How often connections, and their first bytes, are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of connections whose first bytes are awaited; further ones are closed.
const MAX_PENDING: usize = 16;

/// A connection whose first bytes are gdb's. While it is alive, others are refused.
pub struct GdbConnection {
    /// The connection.
    pub stream: TcpStream,
    /// Its network address.
    pub peer: Arc<SocketAddr>,
}

/// Accepts connections on a thread and sends each to the returned channel once its first bytes are
/// known to be gdb's. While one is in use, others are refused. `on_refused` is called with
/// the reason for each that is refused.
///
/// # Errors
/// Returns the system's error if the thread can't be started.
pub fn accept_connections(
    listener: TcpListener,
    on_refused: impl Fn(SocketAddr, &dyn Display) + Send + 'static,
) -> io::Result<Receiver<GdbConnection>> {
    let (send, receive) = channel();
    listener.set_nonblocking(true)?;
    thread::Builder::new().name("gdb connections".into()).spawn(move || {
        let mut pending: Vec<PendingClient> = Vec::new();
        let mut holder = Weak::new();
        loop {
            // An error passes: the client is gone already, or resources are short for a while.
            if let Ok((stream, peer)) = listener.accept()
                && pending.len() < MAX_PENDING
            {
                pending.extend(PendingClient::new(stream, peer).ok());
            }
            pending.iter_mut().for_each(PendingClient::judge);
            let is_judged = |client: &mut PendingClient| client.judgement != Judgement::Undecided;
            let judged = pending.extract_if(.., is_judged);
            for connection in judged.filter_map(|client| client.admit(&mut holder, &on_refused)) {
                let _ = send.send(connection); // fails after the last session
            }
            sleep(POLL_INTERVAL);
        }
    })?;
    Ok(receive)
}

/// A connection whose first bytes are awaited.
struct PendingClient {
    stream: TcpStream,
    peer: SocketAddr,
    deadline: Instant,
    judgement: Judgement,
}

impl PendingClient {
    fn new(stream: TcpStream, peer: SocketAddr) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        // A peer that vanished is detected after about a minute.
        enable_keepalive(&stream, Duration::from_secs(30), Duration::from_secs(5), 6);
        let deadline = Instant::now() + FIRST_BYTES_TIMEOUT;
        Ok(Self { stream, peer, deadline, judgement: Judgement::Undecided })
    }

    /// Judges the first bytes, and leaves them unread.
    fn judge(&mut self) {
        let mut first = [0; 4096];
        let is_late = Instant::now() > self.deadline;
        let count = match self.stream.peek(&mut first) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !is_late => return,
            received => received.unwrap_or(0),
        };
        self.judgement = match judge_first_bytes(ClientKind::Gdb, &first[..count]) {
            // No packet is that long.
            Judgement::Undecided if count == first.len() => Judgement::Refused(Refusal::NotGdb),
            Judgement::Undecided if count == 0 || is_late => Judgement::Refused(Refusal::Idle),
            judgement => judgement,
        };
    }

    /// Returns the connection of a client that is gdb, unless there is another one.
    fn admit(
        self,
        holder: &mut Weak<SocketAddr>,
        on_refused: &impl Fn(SocketAddr, &dyn Display),
    ) -> Option<GdbConnection> {
        let Self { stream, peer, judgement, .. } = self;
        if let Judgement::Refused(why) = judgement {
            refuse(stream, &why.reply());
            // A silent client has not asked for the board.
            if why != Refusal::Idle {
                on_refused(peer, &why);
            }
            return None;
        }
        if let Some(present) = holder.upgrade() {
            let text =
                format!("E.another gdb, at {present}, is connected to this board; detach it first");
            refuse(stream, format!("+{}", encode_packet(&text)).as_bytes());
            on_refused(peer, &format!("another gdb is connected from {present}"));
            return None;
        }
        // gdb shows an error of the line, if this fails.
        let _ = stream.set_nonblocking(false);
        let peer = Arc::new(peer);
        *holder = Arc::downgrade(&peer);
        Some(GdbConnection { stream, peer })
    }
}
