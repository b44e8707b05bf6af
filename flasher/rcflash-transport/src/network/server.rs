//! The server: gives clients on other computers access to a port of this one, one client at a time.
//! A client is judged before it may use the port, by `pending`.
//!
//! The port is opened for each client, so local programs can use it in between, and a replugged
//! adapter is found for the next client.

use std::fmt::Display;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Transport;
use crate::network::Protocol;
use crate::network::admission::refuse;
use crate::network::socket::Occupancy;

mod pending;
mod port_state;
mod session;
#[cfg(test)]
mod tests;

use pending::{Connection, PendingClient, PendingError, text_reply};
use session::{Session, SessionEnd};

/// How often a listening server checks for a client.
const ACCEPT_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often it checks the clients that are negotiating, and the maximum number of them.
const PENDING_POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_PENDING_CLIENTS: usize = 8;

/// A listening server.
pub struct Server {
    listener: TcpListener,
    protocol: Protocol,
    baud: u32,
}

/// An event to report to the user.
pub enum ServerEvent<'a> {
    /// A client connected, and the port is open.
    Connected(SocketAddr),
    /// A client was refused: the reason.
    Refused(SocketAddr, &'a dyn Display),
    /// A client was refused because the port can't be opened: the reason.
    PortUnavailable(SocketAddr, &'a dyn Display),
    /// The client disconnected: the error of its connection.
    Disconnected(SocketAddr, &'a io::Error),
    /// The port failed during a session.
    PortFailed(SocketAddr, &'a io::Error),
}

/// Error returned when a server can't start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Listening on the address failed.
    #[error("can't listen on {0}: {1}; choose another port with --listen")]
    Listen(SocketAddr, io::Error),
}

impl Server {
    /// Starts to listen on an address; port 0 selects a free one.
    ///
    /// # Errors
    /// Returns [`ServerError`] if the address is not one of this computer or is in use.
    pub fn bind(address: SocketAddr, protocol: Protocol, baud: u32) -> Result<Self, ServerError> {
        let failed = |error| ServerError::Listen(address, error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, protocol, baud })
    }

    /// Returns the address that clients connect to.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until `stop` is set. `open` opens the port for each of them; `on_event`
    /// receives what happens. An error of one connection ends that connection only.
    pub fn run<E: Display>(
        &self,
        mut open: impl FnMut() -> Result<Box<dyn Transport + Send>, E>,
        stop: &AtomicBool,
        mut on_event: impl FnMut(ServerEvent),
    ) {
        let mut pending = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            self.accept_pending(&mut pending, &mut on_event);
            let Some(client) = next_admitted(&mut pending, &mut on_event) else {
                let is_idle = pending.is_empty();
                crate::time::sleep(if is_idle {
                    ACCEPT_POLL_INTERVAL
                } else {
                    PENDING_POLL_INTERVAL
                });
                continue;
            };
            let client_address = client.address;
            match open() {
                Ok(port) => self.serve(client, &mut pending, port, stop, &mut on_event),
                Err(error) => {
                    client.socket.refuse(&text_reply(&error));
                    on_event(ServerEvent::PortUnavailable(client_address, &error));
                }
            }
        }
    }

    /// Adds a waiting client to those whose first bytes are judged.
    fn accept_pending(
        &self,
        pending: &mut Vec<PendingClient>,
        on_event: &mut impl FnMut(ServerEvent),
    ) {
        let Some((client, address)) = self.accept() else { return };
        if pending.len() >= MAX_PENDING_CLIENTS {
            let reason = "too many connections are negotiating";
            refuse(client, &text_reply(&reason));
            on_event(ServerEvent::Refused(address, &reason));
        } else if let Ok(client) = PendingClient::new(client, address, self.protocol) {
            pending.push(client);
        }
    }

    /// Accepts a waiting client. Returns `None` if there is none. An error is that of a client that
    /// has disconnected already, or passes, as the lack of file descriptors: the next poll tries
    /// again.
    fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        self.listener.accept().ok()
    }

    fn serve(
        &self,
        client: Connection,
        pending: &mut Vec<PendingClient>,
        port: Box<dyn Transport + Send>,
        stop: &AtomicBool,
        on_event: &mut impl FnMut(ServerEvent),
    ) {
        let client_address = client.address;
        on_event(ServerEvent::Connected(client_address));
        let in_use = format!("the port is in use by {client_address}");
        for other in pending.drain(..) {
            on_event(ServerEvent::Refused(other.address(), &in_use));
            other.refuse(&text_reply(&in_use));
        }
        let mut session = Session::new(client, port, self.baud);
        let end = session.run(stop, |occupancy| match occupancy {
            Occupancy::InUse => {
                if let Some((second_client, second_address)) = self.accept() {
                    refuse(second_client, &text_reply(&in_use));
                    on_event(ServerEvent::Refused(second_address, &in_use));
                }
                false
            }
            Occupancy::Ending => false,
            Occupancy::GivesWay => {
                self.accept_pending(pending, on_event);
                !pending.is_empty()
            }
        });
        match end {
            SessionEnd::ClientDisconnected(error) => {
                on_event(ServerEvent::Disconnected(client_address, &error))
            }
            SessionEnd::Refused(why) => {
                session.refuse_client(&why.reply());
                on_event(ServerEvent::Refused(client_address, &why));
            }
            SessionEnd::Stopped => {}
            SessionEnd::PortFailed(error) => {
                on_event(ServerEvent::PortFailed(client_address, &error))
            }
        }
    }
}

/// Returns the first client that may use the port, and refuses those that never may.
fn next_admitted(
    pending: &mut Vec<PendingClient>,
    on_event: &mut impl FnMut(ServerEvent),
) -> Option<Connection> {
    let mut index = 0;
    while index < pending.len() {
        match pending[index].poll(crate::time::Instant::now()) {
            Ok(true) => return Some(pending.remove(index).into_connection()),
            Ok(false) => index += 1,
            Err(error) => {
                let client = pending.remove(index);
                match error {
                    PendingError::Refused(why) => {
                        on_event(ServerEvent::Refused(client.address(), &why));
                        client.refuse(&why.reply());
                    }
                    // Nothing was opened for it.
                    PendingError::Disconnected => {}
                }
            }
        }
    }
    None
}
