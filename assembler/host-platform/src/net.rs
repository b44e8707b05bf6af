//! Connections whose other end may be gone without a word.

use std::net::TcpStream;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Has the system ask after so much quiet whether the other end of a connection is still there, and
/// end the connection when `probes` questions, `between` apart, had no answer. A system that does
/// not know one of these times (wine 8, for one) keeps its own, and notices later.
pub fn keep_alive(stream: &TcpStream, after: Duration, between: Duration, probes: u32) {
    let times = TcpKeepalive::new().with_time(after).with_interval(between).with_retries(probes);
    let _ = SockRef::from(stream).set_tcp_keepalive(&times);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_asked_after() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let stream = TcpStream::connect(address).expect("it listens");
        let second = Duration::from_secs(1);
        keep_alive(&stream, 5 * second, 5 * second, 3);
        assert!(SockRef::from(&stream).keepalive().expect("the system answers"));
    }
}
