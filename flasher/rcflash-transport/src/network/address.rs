//! Names of ports that are reached over a network.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use crate::port::OpenError;

/// The bytes that pass over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Those of the board and nothing else.
    Raw,
    /// Telnet with the option of RFC 2217.
    Rfc2217,
    /// Messages of a WebSocket, RFC 6455.
    WebSocket,
}

/// The port of a WebSocket whose address names none (RFC 6455, 3).
const HTTP_PORT: &str = "80";

impl Protocol {
    const ALL: [Self; 3] = [Self::Raw, Self::Rfc2217, Self::WebSocket];

    /// The scheme in front of an address.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Raw => "tcp",
            Self::Rfc2217 => "rfc2217",
            Self::WebSocket => "ws",
        }
    }
}

/// A port of another computer, or of another program of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The bytes that pass.
    pub protocol: Protocol,
    /// Name or number of the computer.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The rest behind the port, with its slash: which of a server's WebSockets it is. Empty for
    /// other protocols.
    pub path: String,
}

impl Address {
    /// Returns the address in a name; `None` if the name has no scheme, as a device.
    ///
    /// # Errors
    /// [`OpenError::Address`] for another scheme, or if there is no host, or no port and the
    /// protocol has none of its own.
    pub fn parse(name: &str) -> Result<Option<Self>, OpenError> {
        let Some((scheme, place)) = name.split_once("://") else { return Ok(None) };
        let wrong = |problem| OpenError::Address(name.to_owned(), problem);
        let protocol = Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.scheme() == scheme)
            .ok_or_else(|| wrong("it begins with tcp://, rfc2217:// or ws://"))?;
        let (place, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        let path = path_of(protocol, path).map_err(wrong)?;
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ if protocol == Protocol::WebSocket => (place, HTTP_PORT),
            _ => return Err(wrong("host and port are divided by a colon")),
        };
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(|| wrong("a ] is missing"))?,
            None if host.contains(':') => return Err(wrong("an IPv6 host is put in [ ]")),
            None => host,
        };
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let port = port.parse().ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| wrong("the port is a number from 1 to 65535"))?;
        Ok(Some(Self { protocol, host: host.to_owned(), port, path }))
    }
}

/// Checks what follows the port.
fn path_of(protocol: Protocol, path: &str) -> Result<String, &'static str> {
    match protocol {
        Protocol::WebSocket if path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') => {
            Ok(path.to_owned())
        }
        Protocol::WebSocket => Err("its path has a character that paths can't have"),
        _ if path.trim_end_matches('/').is_empty() => Ok(String::new()),
        _ => Err("nothing follows the port"),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, host, port, path } = self;
        match host.contains(':') {
            true => write!(f, "{}://[{host}]:{port}{path}", protocol.scheme()),
            false => write!(f, "{}://{host}:{port}{path}", protocol.scheme()),
        }
    }
}

/// Reads the place to wait for others at: `2217`, which only this computer reaches, or
/// `0.0.0.0:2217`.
///
/// # Errors
/// It is neither; the text says what was expected.
pub fn listen_at(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "a TCP port such as 2217, or an address and a port".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_reached_from_this_computer_only() {
        assert_eq!(listen_at("3000"), Ok(SocketAddr::from(([127, 0, 0, 1], 3000))));
        assert_eq!(listen_at("0.0.0.0:1"), Ok(SocketAddr::from(([0, 0, 0, 0], 1))));
        assert!(listen_at("[::1]:2").is_ok_and(|at| at.ip().is_loopback()));
        for wrong in ["", "x", "65536", "pi:1", "1.2.3.4"] {
            assert!(listen_at(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_are_read_and_shown() {
        let web = ["ws://pi:80", "ws://pi:80/", "ws://[::1]:80/boards/1?token=a%20b"];
        let others = ["tcp://pi.local:3000", "rfc2217://127.0.0.1:2217", "tcp://[::1]:1"];
        for name in others.into_iter().chain(web) {
            let address = Address::parse(name).expect("it is right").expect("it has a scheme");
            assert_eq!(address.to_string(), name);
        }
        for (name, whole) in
            [("ws://pi", "ws://pi:80"), ("ws://[::1]/board", "ws://[::1]:80/board")]
        {
            let address = Address::parse(name).expect("it is right").expect("it has a scheme");
            assert_eq!(address.to_string(), whole);
        }
        for device in ["/dev/ttyUSB0", "COM3", "bench"] {
            assert_eq!(Address::parse(device).expect("no address"), None);
        }
    }

    #[test]
    fn a_wrong_address_is_refused_with_its_fault() {
        for (name, fault) in [
            ("telnet://pi:23", "begins with"),
            ("tcp://pi", "colon"),
            ("tcp://:3000", "no host"),
            ("tcp://pi:0", "from 1"),
            ("tcp://pi:65536", "from 1"),
            ("tcp://[::1:80", "]"),
            ("tcp://::1:80", "[ ]"),
            ("tcp://pi:3000/board", "nothing follows"),
            ("wss://pi:443/", "begins with"),
            ("tcp://[::1]", "colon"),
            ("ws://:80/board", "no host"),
            ("ws:///board", "no host"),
            ("ws://pi:80/a b", "path"),
            ("ws://pi:80/a\r\nb", "path"),
        ] {
            let error = Address::parse(name).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(fault), "{error}");
        }
    }
}
