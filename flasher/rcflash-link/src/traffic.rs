//! The last bytes sent and received, for error messages.

use std::collections::VecDeque;
use std::fmt;

const RECENT_BYTES: usize = 64;
/// Fewer bytes may be equal by chance.
const MIN_ECHO_BYTES: usize = 8;

/// The last bytes sent and received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentTraffic {
    /// The last bytes sent to the board.
    pub sent: VecDeque<u8>,
    /// The last bytes received from it.
    pub received: VecDeque<u8>,
}

impl RecentTraffic {
    /// Adds bytes that were sent.
    pub fn add_sent(&mut self, bytes: &[u8]) {
        append(&mut self.sent, bytes);
    }

    /// Returns `true` if what was received last is what was sent last.
    pub(crate) fn is_echo(&self) -> bool {
        let count = self.received.len().min(self.sent.len());
        let last = |bytes: &VecDeque<u8>| bytes.range(bytes.len() - count..).copied().collect();
        let [sent, received]: [Vec<u8>; 2] = [last(&self.sent), last(&self.received)];
        count >= MIN_ECHO_BYTES && sent == received
    }

    /// Adds bytes that were received.
    pub fn add_received(&mut self, bytes: &[u8]) {
        append(&mut self.received, bytes);
    }
}

/// Appends bytes and drops the oldest ones beyond [`RECENT_BYTES`].
fn append(store: &mut VecDeque<u8>, bytes: &[u8]) {
    store.extend(&bytes[bytes.len().saturating_sub(RECENT_BYTES)..]);
    store.drain(..store.len().saturating_sub(RECENT_BYTES));
}

impl fmt::Display for RecentTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "last sent: {}; last received: {}",
            escape_bytes(&self.sent),
            escape_bytes(&self.received)
        )
    }
}

/// Returns printable characters as they are and other bytes in hexadecimal; `nothing` for none.
///
/// # Examples
/// ```
/// use rcflash_link::escape_bytes;
///
/// assert_eq!(escape_bytes(b"OK\r"), "OK<0D>");
/// ```
pub fn escape_bytes<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let one = |byte: &u8| match byte {
        0x20..=0x7E => char::from(*byte).to_string(),
        _ => format!("<{byte:02X}>"),
    };
    let text: String = bytes.into_iter().map(one).collect();
    if text.is_empty() { "nothing".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_each_way_are_kept_and_shown() {
        let mut recent_traffic = RecentTraffic::default();
        assert_eq!(recent_traffic.to_string(), "last sent: nothing; last received: nothing");
        recent_traffic.add_sent(&[b'x'; 70]);
        recent_traffic.add_sent(b"\r\n");
        recent_traffic.add_received(b"Hi~ \x7F\x1F");
        let sent = format!("{}<0D><0A>", "x".repeat(62));
        assert_eq!(
            recent_traffic.to_string(),
            format!("last sent: {sent}; last received: Hi~ <7F><1F>")
        );
        recent_traffic.add_received(&(0..200).collect::<Vec<u8>>());
        assert_eq!(Vec::from(recent_traffic.received), (136..200).collect::<Vec<u8>>());
    }
}
