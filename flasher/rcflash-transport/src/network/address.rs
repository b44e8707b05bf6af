//! Addresses of ports that are reached over a network.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use crate::port::OpenError;

/// The protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The board's bytes without any protocol.
    Raw,
    /// Telnet with the option of RFC 2217.
    Rfc2217,
    /// WebSocket messages, RFC 6455.
    WebSocket,
}

/// The default TCP port of a WebSocket (RFC 6455, section 3).
const HTTP_PORT: &str = "80";

impl Protocol {
    const ALL: [Self; 3] = [Self::Raw, Self::Rfc2217, Self::WebSocket];

    /// Returns the scheme of an address.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Raw => "tcp",
            Self::Rfc2217 => "rfc2217",
            Self::WebSocket => "ws",
        }
    }
}

/// The address of a port that is reached over a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkAddress {
    /// The protocol.
    pub protocol: Protocol,
    /// Host name or IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The path after the TCP port, including its slash. Empty except for WebSockets.
    pub path: String,
}

impl NetworkAddress {
    /// Parses an address. Returns `None` if `name` has no scheme and so is a device.
    ///
    /// # Errors
    /// Returns [`OpenError::InvalidAddress`] for an unknown scheme, a missing host, or a missing
    /// port of a protocol without a default.
    pub fn parse(name: &str) -> Result<Option<Self>, OpenError> {
        let Some((scheme, authority)) = name.split_once("://") else { return Ok(None) };
        let invalid = |problem| OpenError::InvalidAddress(name.to_owned(), problem);
        let protocol = Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.scheme() == scheme)
            .ok_or_else(|| invalid("expected tcp://, rfc2217:// or ws://"))?;
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        let path = check_path(protocol, path).map_err(invalid)?;
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ if protocol == Protocol::WebSocket => (authority, HTTP_PORT),
            _ => return Err(invalid("expected a colon between host and port")),
        };
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(|| invalid("missing ]"))?,
            None if host.contains(':') => return Err(invalid("expected [ ] around an IPv6 host")),
            None => host,
        };
        if host.is_empty() {
            return Err(invalid("missing host"));
        }
        let port = port.parse().ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| invalid("expected a port from 1 to 65535"))?;
        Ok(Some(Self { protocol, host: host.to_owned(), port, path }))
    }
}

/// Checks the text after the port.
fn check_path(protocol: Protocol, path: &str) -> Result<String, &'static str> {
    match protocol {
        Protocol::WebSocket if path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') => {
            Ok(path.to_owned())
        }
        Protocol::WebSocket => Err("invalid character in the path"),
        _ if path.trim_end_matches('/').is_empty() => Ok(String::new()),
        _ => Err("unexpected text after the port"),
    }
}

impl fmt::Display for NetworkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, host, port, path } = self;
        match host.contains(':') {
            true => write!(f, "{}://[{host}]:{port}{path}", protocol.scheme()),
            false => write!(f, "{}://{host}:{port}{path}", protocol.scheme()),
        }
    }
}

/// Parses an address to listen on: `2217`, which only this computer can reach, or `0.0.0.0:2217`.
///
/// # Errors
/// Returns what was expected.
pub fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "expected a TCP port such as 2217, or an address with a port".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_reached_from_this_computer_only() {
        assert_eq!(parse_listen_address("3000"), Ok(SocketAddr::from(([127, 0, 0, 1], 3000))));
        assert_eq!(parse_listen_address("0.0.0.0:1"), Ok(SocketAddr::from(([0, 0, 0, 0], 1))));
        assert!(parse_listen_address("[::1]:2").is_ok_and(|at| at.ip().is_loopback()));
        for invalid in ["", "x", "65536", "pi:1", "1.2.3.4"] {
            assert!(parse_listen_address(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn addresses_are_read_and_shown() {
        let web = ["ws://pi:80", "ws://pi:80/", "ws://[::1]:80/boards/1?token=a%20b"];
        let others = ["tcp://pi.local:3000", "rfc2217://127.0.0.1:2217", "tcp://[::1]:1"];
        for name in others.into_iter().chain(web) {
            let address =
                NetworkAddress::parse(name).expect("it is right").expect("it has a scheme");
            assert_eq!(address.to_string(), name);
        }
        for (name, whole) in
            [("ws://pi", "ws://pi:80"), ("ws://[::1]/board", "ws://[::1]:80/board")]
        {
            let address =
                NetworkAddress::parse(name).expect("it is right").expect("it has a scheme");
            assert_eq!(address.to_string(), whole);
        }
        for device in ["/dev/ttyUSB0", "COM3", "bench"] {
            assert_eq!(NetworkAddress::parse(device).expect("no address"), None);
        }
    }

    #[test]
    fn a_wrong_address_is_refused_with_its_fault() {
        for (name, fault) in [
            ("telnet://pi:23", "expected tcp"),
            ("tcp://pi", "colon"),
            ("tcp://:3000", "missing host"),
            ("tcp://pi:0", "from 1"),
            ("tcp://pi:65536", "from 1"),
            ("tcp://[::1:80", "]"),
            ("tcp://::1:80", "[ ]"),
            ("tcp://pi:3000/board", "after the port"),
            ("wss://pi:443/", "expected tcp"),
            ("tcp://[::1]", "colon"),
            ("ws://:80/board", "missing host"),
            ("ws:///board", "missing host"),
            ("ws://pi:80/a b", "path"),
            ("ws://pi:80/a\r\nb", "path"),
        ] {
            let error = NetworkAddress::parse(name).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(fault), "{error}");
        }
    }
}
