//! The server: a port of this computer for clients elsewhere, one at a time.
//!
//! The port is open only while a client is connected, so that it can be used here in between, and
//! an adapter that was unplugged is found again by the next client.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Transport;

use crate::network::Protocol;
use crate::network::socket::Socket;

mod port;
mod session;

use session::{Ended, Session};

/// The time between two looks for a client.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a client which is refused may take to hear why.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    protocol: Protocol,
    baud: u32,
}

/// An event of a server, for people.
pub enum Event<'a> {
    /// A client has the port.
    Connected(SocketAddr),
    /// A client was refused, since another one has the port.
    Refused(SocketAddr),
    /// A client was refused, since the port can't be opened: the reason.
    NoPort(SocketAddr, &'a dyn Display),
    /// The client has gone, in the way that the system reported.
    Left(SocketAddr, &'a io::Error),
    /// The port failed while the client had it.
    PortFailed(SocketAddr, &'a io::Error),
}

/// Error returned by a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be listened at.
    #[error("can't listen at {0}: {1}; name another port by --listen")]
    Listen(SocketAddr, io::Error),
}

impl Server {
    /// Listens at an address; port 0 is any that is free.
    ///
    /// # Errors
    /// The address is not this computer's, or is in use.
    pub fn listen(at: SocketAddr, protocol: Protocol, baud: u32) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Listen(at, error);
        let listener = TcpListener::bind(at).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, protocol, baud })
    }

    /// The address that clients connect to.
    ///
    /// # Errors
    /// The system's error.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until `stop` is set. `open` opens the port for each of them.
    ///
    /// # Errors
    /// The system can't take in clients any more.
    pub fn run<E: Display>(
        &self,
        mut open: impl FnMut() -> Result<Box<dyn Transport + Send>, E>,
        stop: &AtomicBool,
        mut note: impl FnMut(Event),
    ) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            match self.next()? {
                None => crate::time::sleep(LOOK),
                Some((client, from)) => match open() {
                    Ok(port) => self.serve(client, from, port, stop, &mut note),
                    Err(error) => {
                        refuse(client, &error);
                        note(Event::NoPort(from, &error));
                    }
                },
            }
        }
        Ok(())
    }

    /// The next client, if one waits. One that has gone already is none.
    fn next(&self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
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
        from: SocketAddr,
        port: Box<dyn Transport + Send>,
        stop: &AtomicBool,
        note: &mut impl FnMut(Event),
    ) {
        let Ok(socket) = Socket::new(client) else { return }; // it has gone already
        note(Event::Connected(from));
        let mut session = Session::new(socket, port, self.protocol, self.baud);
        let ended = session.run(stop, || {
            if let Ok(Some((other, place))) = self.next() {
                refuse(other, &format_args!("the port is in use by {from}"));
                note(Event::Refused(place));
            }
        });
        match ended {
            Ended::ByClient(error) => note(Event::Left(from, &error)),
            Ended::Stopped => {}
            Ended::ByPort(error) => note(Event::PortFailed(from, &error)),
        }
    }
}

/// Tells a client in words why it is not served, which terminals and our own client show.
fn refuse(mut client: TcpStream, why: &dyn Display) {
    let _ = client.set_nonblocking(false);
    let _ = client.set_write_timeout(Some(FAREWELL));
    let _ = write!(client, "{why}\r\n"); // it may have gone
    let _ = client.shutdown(std::net::Shutdown::Write);
}
