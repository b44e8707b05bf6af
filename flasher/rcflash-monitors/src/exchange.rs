//! Single exchanges with a monitor: sends keys and receives the complete reply.

use std::time::Duration;

use rcflash_link::escape_bytes;

use crate::error::{LoaderError, Result, hex_pairs};
use crate::prompt::identify_prompt;
use crate::session::MonitorSession;

/// How long a monitor that is known to be there may be silent before a reply and within it: many
/// times the latency of an adapter, a network or a busy emulator.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(4);
/// The maximum gap between characters of a reply, which is complete after that if it ends with a
/// prompt; USB adapters delay characters by up to 16 ms.
pub(crate) const MAX_CHAR_GAP: Duration = Duration::from_millis(60);
/// A reply without a prompt is complete after this gap.
pub(crate) const REPLY_QUIET: Duration = Duration::from_millis(300);
/// About how long a board without a reply is tried.
const HANDSHAKE_TIME: Duration = Duration::from_secs(2);
/// The maximum duration of a reply; longer ones have no end.
const MAX_REPLY_TIME: Duration = Duration::from_secs(3);

/// More backspaces than RomWBW's longest line needs.
const MAX_LINE_CHARS: usize = 80;
/// The maximum number of times a command is typed whose echo is wrong.
const MAX_TYPING_ATTEMPTS: usize = 4;

pub(crate) fn send_keys(
    session: &mut MonitorSession,
    operation: &'static str,
    keys: &[u8],
) -> Result<Vec<u8>> {
    exchange(session, operation, keys, REPLY_TIMEOUT)
}

/// Sends keys and returns the complete reply, which is empty if none starts within `start_timeout`.
pub(crate) fn exchange(
    session: &mut MonitorSession,
    operation: &'static str,
    keys: &[u8],
    start_timeout: Duration,
) -> Result<Vec<u8>> {
    session.take_received();
    session.send(operation, keys)?;
    let end = session.now() + session.tx_remaining() + start_timeout;
    while session.received().is_empty() {
        session.check_stop(operation)?;
        let left = end.saturating_duration_since(session.now());
        if left.is_zero() {
            return Ok(Vec::new());
        }
        session.receive(operation, left.min(Duration::from_millis(50)))?;
    }
    receive_reply(session, operation)
}

/// Types a command at a prompt, and returns its echo and the reply. What comes before its echo is a
/// late reply to something else. If there is no echo or no prompt, returns what was received.
pub(crate) fn command(
    session: &mut MonitorSession,
    operation: &'static str,
    command: &str,
    at_prompt: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>> {
    let echo = |received: &[u8]| {
        received.windows(command.len()).position(|typed| typed == command.as_bytes())
    };
    session.take_received();
    session.send(operation, format!("{command}\r").as_bytes())?;
    let is_whole = |received: &[u8]| at_prompt(received) && echo(received).is_some();
    let mut received = match session.receive_while_coming(operation, REPLY_TIMEOUT, is_whole) {
        Err(LoaderError::NoReply { .. }) => session.take_received(),
        received => received?,
    };
    Ok(received.split_off(echo(&received).unwrap_or(0)))
}

/// Receives a reply until [`MAX_CHAR_GAP`] after a prompt, else [`REPLY_QUIET`].
pub(crate) fn receive_reply(
    session: &mut MonitorSession,
    operation: &'static str,
) -> Result<Vec<u8>> {
    let end = session.now() + MAX_REPLY_TIME;
    let mut quiet_since = session.now();
    loop {
        session.check_stop(operation)?;
        if session.receive(operation, Duration::from_millis(20))? > 0 {
            quiet_since = session.now();
        }
        let received = session.received();
        let is_whole =
            received.is_empty() || identify_prompt(received).is_some() || is_erase_echo(received);
        let timeout = if is_whole { MAX_CHAR_GAP } else { REPLY_QUIET };
        if session.now().saturating_duration_since(quiet_since) >= timeout {
            return Ok(session.take_received());
        }
        if session.now() > end {
            return Err(session.endless_error(operation));
        }
    }
}

/// Types a command without its carriage return until its echo is correct. A corrupted command is
/// erased and typed again.
pub(crate) fn type_checked(
    session: &mut MonitorSession,
    peer: &'static str,
    operation: &'static str,
    command: &str,
) -> Result<()> {
    let mut attempts = 0;
    loop {
        session.take_received();
        session.type_command(operation, command)?;
        let echoed = session
            .receive_until(operation, REPLY_TIMEOUT, |received| received.len() >= command.len());
        attempts += 1;
        match echoed {
            Ok(echoed) if echoed == command.as_bytes() => return Ok(()),
            Ok(_) | Err(LoaderError::NoReply { .. }) if attempts < MAX_TYPING_ATTEMPTS => {
                erase_line(session, operation)?;
            }
            Ok(echoed) => {
                erase_line(session, operation)?;
                let text = escape_tail(&echoed);
                return Err(LoaderError::UnexpectedReply { peer, operation, text });
            }
            Err(error) => return Err(error),
        }
    }
}

/// Erases the command line, of which nothing is executed.
pub(crate) fn erase_line(session: &mut MonitorSession, operation: &'static str) -> Result<()> {
    for _ in 0..MAX_LINE_CHARS {
        session.send(operation, b"\x08")?;
        session.pause(operation, Duration::from_millis(2))?;
    }
    session.receive_until_quiet(operation, MAX_CHAR_GAP, REPLY_TIMEOUT).map(drop)
}

/// Returns `true` for the echo of backspaces that erase a character each.
pub(crate) fn is_erase_echo(received: &[u8]) -> bool {
    !received.is_empty() && received.iter().all(|byte| matches!(byte, 0x08 | b' '))
}

/// Returns the error for a board that does not reply to anything.
pub(crate) fn no_peer_error(session: &MonitorSession, operation: &'static str) -> LoaderError {
    LoaderError::NoReply {
        port: session.port_name(),
        operation,
        waited: HANDSHAKE_TIME,
        recent_traffic: session.recent_traffic(),
        hint: "press reset, check the cable and the board's speed, or try --flow none",
    }
}

/// Returns the last 64 bytes, escaped and in hexadecimal.
pub(crate) fn escape_with_hex(received: &[u8]) -> String {
    let tail = &received[received.len().saturating_sub(64)..];
    format!("{} (in hexadecimal {})", escape_bytes(tail), hex_pairs(tail))
}

/// Returns the last 200 bytes, escaped for messages.
pub(crate) fn escape_tail(received: &[u8]) -> String {
    escape_bytes(&received[received.len().saturating_sub(200)..])
}
