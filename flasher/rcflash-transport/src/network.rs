//! Lines to boards that are plugged in elsewhere: raw TCP, RFC 2217, by which speed, flow control,
//! wires and break go over the network, too, and WebSockets, with the feature `web-socket`.
//!
//! | part | file |
//! |---|---|
//! | `tcp://host:port` and its like | `address` |
//! | a connection with deadlines | `socket` |
//! | bytes and nothing else | `raw` |
//! | Telnet's frames and options (RFC 854, 856, 858) | `telnet` |
//! | requests of RFC 2217 | `comport` |
//! | the client | `remote` |
//! | a WebSocket's client | `web_socket` |
//! | the server | `serve` |

mod address;
mod comport;
mod raw;
mod remote;
mod serve;
mod socket;
mod telnet;
#[cfg(feature = "web-socket")]
mod web_socket;

pub use address::{Address, Protocol, listen_at};
pub use raw::TcpLine;
pub use remote::RemotePort;
pub use serve::{Event, ServeError, Server};

use crate::Transport;
use crate::port::{OpenError, Port};

/// Opens what a user named: a serial device, `tcp://host:port`, `rfc2217://host:port` or
/// `ws://host:port/path`.
///
/// # Errors
/// [`OpenError`], whose message says what to try.
pub fn open(name: &str, baud: u32) -> Result<Box<dyn Transport + Send>, OpenError> {
    let Some(address) = Address::parse(name)? else { return Ok(Box::new(Port::open(name, baud)?)) };
    Ok(match address.protocol {
        Protocol::Raw => Box::new(TcpLine::open(&address)?),
        Protocol::Rfc2217 => Box::new(RemotePort::open(&address, baud)?),
        #[cfg(feature = "web-socket")]
        Protocol::WebSocket => Box::new(web_socket::WebSocketLine::open(&address)?),
        #[cfg(not(feature = "web-socket"))]
        Protocol::WebSocket => {
            return Err(OpenError::Address(name.to_owned(), "ws:// is left out of this program"));
        }
    })
}
