//! The server: gives clients on other computers access to a port of this one, one client at a time.
//!
//! The port is opened for each client, so local programs can use it in between, and a replugged
//! adapter is found for the next client.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Transport;

use crate::network::Protocol;
use crate::network::socket::Socket;

mod port_state;
mod session;

use session::{Session, SessionEnd};

/// How often a listening server checks for a client.
const ACCEPT_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a refused client may take to receive the reason.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// A client was refused because another one uses the port.
    Refused(SocketAddr),
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
    /// receives what happens.
    ///
    /// # Errors
    /// Returns the system's error if no further connections can be accepted.
    pub fn run<E: Display>(
        &self,
        mut open: impl FnMut() -> Result<Box<dyn Transport + Send>, E>,
        stop: &AtomicBool,
        mut on_event: impl FnMut(ServerEvent),
    ) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            match self.accept()? {
                None => crate::time::sleep(ACCEPT_POLL_INTERVAL),
                Some((client, client_address)) => match open() {
                    Ok(port) => self.serve(client, client_address, port, stop, &mut on_event),
                    Err(error) => {
                        refuse(client, &error);
                        on_event(ServerEvent::PortUnavailable(client_address, &error));
                    }
                },
            }
        }
        Ok(())
    }

    /// Accepts a waiting client. Returns `None` if there is none, or if it has disconnected
    /// already.
    fn accept(&self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        match self.listener.accept() {
            Ok(client) => Ok(Some(client)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock
                | ErrorKind::Interrupted
                | ErrorKind::ConnectionAborted
                | ErrorKind::ConnectionReset => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn serve(
        &self,
        client: TcpStream,
        client_address: SocketAddr,
        port: Box<dyn Transport + Send>,
        stop: &AtomicBool,
        on_event: &mut impl FnMut(ServerEvent),
    ) {
        let Ok(socket) = Socket::new(client) else { return }; // it has disconnected already
        on_event(ServerEvent::Connected(client_address));
        let mut session = Session::new(socket, port, self.protocol, self.baud);
        let end = session.run(stop, || {
            if let Ok(Some((second_client, second_address))) = self.accept() {
                refuse(second_client, &format_args!("the port is in use by {client_address}"));
                on_event(ServerEvent::Refused(second_address));
            }
        });
        match end {
            SessionEnd::ClientDisconnected(error) => {
                on_event(ServerEvent::Disconnected(client_address, &error))
            }
            SessionEnd::Stopped => {}
            SessionEnd::PortFailed(error) => {
                on_event(ServerEvent::PortFailed(client_address, &error))
            }
        }
    }
}

/// Sends the reason of a refusal as text, which terminals and this crate's client show.
fn refuse(mut client: TcpStream, reason: &dyn Display) {
    let _ = client.set_nonblocking(false);
    let _ = client.set_write_timeout(Some(REFUSAL_TIMEOUT));
    let _ = write!(client, "{reason}\r\n"); // it may have disconnected
    let _ = client.shutdown(std::net::Shutdown::Write);
}
