//! Lines to boards that are plugged in elsewhere: raw TCP, and RFC 2217, by which speed, flow
//! control, wires and break go over the network, too.
//!
//! | part | file |
//! |---|---|
//! | `tcp://host:port` and its like | `address` |
//! | a connection with deadlines | `socket` |
//! | bytes and nothing else | `raw` |
//! | Telnet's frames and options (RFC 854, 856, 858) | `telnet` |
//! | requests of RFC 2217 | `comport` |
//! | the client | `remote` |
//! | the server | `serve` |

mod address;
mod comport;
mod raw;
mod remote;
mod serve;
mod socket;
mod telnet;

pub use address::{Address, Protocol, listen_at};
pub use raw::TcpLine;
pub use remote::RemotePort;
pub use serve::{Event, ServeError, Server};

use rcflash_transport::Transport;
use rcflash_transport::port::{OpenError, Port};

/// Opens what a user named: a serial device, `tcp://host:port` or `rfc2217://host:port`.
///
/// # Errors
/// [`OpenError`], whose message says what to try.
pub fn open(name: &str, baud: u32) -> Result<Box<dyn Transport + Send>, OpenError> {
    Ok(match Address::parse(name)? {
        None => Box::new(Port::open(name, baud)?),
        Some(address) if address.protocol == Protocol::Raw => Box::new(TcpLine::open(&address)?),
        Some(address) => Box::new(RemotePort::open(&address, baud)?),
    })
}
