//! Ports reached over a network: raw TCP; RFC 2217, which also carries speed, flow control, control
//! lines and break; and WebSockets, with the feature `web-socket`.
//!
//! | part | module |
//! |---|---|
//! | addresses such as `tcp://host:port` | `address` |
//! | a TCP connection with deadlines | `socket` |
//! | client of a raw TCP port | `tcp` |
//! | Telnet commands and options (RFC 854, 856, 858) | `telnet` |
//! | requests of RFC 2217 | `comport` |
//! | client of RFC 2217 | `rfc2217_client` |
//! | client of a WebSocket | `web_socket` |
//! | server for raw TCP and RFC 2217 | `server` |
//! | which clients a server accepts | `admission` |

mod address;
mod admission;
mod comport;
mod receive_queue;
mod rfc2217_client;
mod server;
mod socket;
mod tcp;
mod telnet;
#[cfg(feature = "web-socket")]
mod web_socket;

pub use address::{NetworkAddress, Protocol, parse_listen_address};
pub use admission::{ClientKind, Judgement, RawGate, Refusal, judge_first_bytes, refuse};
pub use rfc2217_client::Rfc2217Port;
pub use server::{Server, ServerError, ServerEvent};
pub use socket::Occupancy;
pub use tcp::TcpTransport;

use crate::Transport;
use crate::port::{OpenError, Port};

/// Opens a port by the name that a user gave: a serial device, `tcp://host:port`,
/// `rfc2217://host:port` or `ws://host:port/path`.
///
/// # Errors
/// Returns [`OpenError`], whose message includes a hint.
pub fn open(name: &str, baud: u32) -> Result<Box<dyn Transport + Send>, OpenError> {
    let Some(address) = NetworkAddress::parse(name)? else {
        return Ok(Box::new(Port::open(name, baud)?));
    };
    Ok(match address.protocol {
        Protocol::Raw => Box::new(TcpTransport::open(&address)?),
        Protocol::Rfc2217 => Box::new(Rfc2217Port::open(&address, baud)?),
        #[cfg(feature = "web-socket")]
        Protocol::WebSocket => Box::new(web_socket::WebSocketTransport::open(&address)?),
        #[cfg(not(feature = "web-socket"))]
        Protocol::WebSocket => {
            return Err(OpenError::InvalidAddress(
                name.to_owned(),
                "this program was built without ws://",
            ));
        }
    })
}
