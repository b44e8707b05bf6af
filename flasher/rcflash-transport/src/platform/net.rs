//! Options of TCP connections: keep-alive, which detects a peer that vanished without closing its
//! connection, and closing by a reset.

use std::net::TcpStream;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Enables TCP keep-alive: after `idle` without data the system sends probes, `interval` apart, and
/// closes the connection after `probes` without a reply. A system that does not support one of the
/// settings (such as wine 8) keeps its default.
pub fn enable_keepalive(stream: &TcpStream, idle: Duration, interval: Duration, probes: u32) {
    let settings = TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(probes);
    let _ = SockRef::from(stream).set_tcp_keepalive(&settings);
}

/// Makes closing reset the connection and drop what was not sent, as when a program is killed that
/// has not read all.
///
/// # Errors
/// Returns the system's error if it does not support the option.
pub fn reset_on_close(stream: &TcpStream) -> std::io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keepalive_is_enabled() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the bound address");
        let stream = TcpStream::connect(address).expect("the listener accepts");
        let second = Duration::from_secs(1);
        enable_keepalive(&stream, 5 * second, 5 * second, 3);
        assert!(SockRef::from(&stream).keepalive().expect("the socket option"));
    }
}
