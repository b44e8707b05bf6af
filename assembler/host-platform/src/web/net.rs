//! Connections, of which there are none.

use std::net::TcpStream;
use std::time::Duration;

/// Has the system ask after a connection; there is none.
pub fn keep_alive(_stream: &TcpStream, _after: Duration, _between: Duration, _probes: u32) {}
