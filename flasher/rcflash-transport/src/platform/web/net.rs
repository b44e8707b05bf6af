//! Stub: a web page has no sockets.

use std::net::TcpStream;
use std::time::Duration;

/// Does nothing.
pub fn enable_keepalive(_stream: &TcpStream, _idle: Duration, _interval: Duration, _probes: u32) {}
