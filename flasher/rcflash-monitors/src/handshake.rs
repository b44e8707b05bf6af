//! Identifies the monitor at the other end. It does not wait for a banner, which was printed long
//! ago.
//!
//! The order of the steps follows from what each monitor does with each byte in each of its states:
//!
//! 1. a backspace: its echo shows a partly typed line, before a carriage return could execute that;
//! 2. a carriage return: every prompt replies to it;
//! 3. IDENT of this project's protocol: a board in the middle of a frame replies to it, and its
//!    bytes do nothing at an idle monitor;
//! 4. only without a reply so far: `W` for a BASIC at its question for a cold or warm start (a warm
//!    start keeps the program); carriage returns and an end record for an interrupted load; Ctrl-O
//!    for a BASIC whose output is switched off; a space for the factory's CP/M monitor.
//!
//! Never sent: `C`, which clears BASIC's program; Ctrl-C and ESC, which stop a running one.

use std::time::Duration;

use firmware_wire::{Decoder, DecoderEvent, Frame, Request};

use crate::basic_output::{integers, is_ready};
use crate::error::{LoaderError, Result};
use crate::exchange::{
    REPLY_QUIET, REPLY_TIMEOUT, exchange, is_erase_echo, no_peer_error, receive_reply,
};
use crate::prompt::{Peer, identify_prompt, is_text};
use crate::records::END_RECORD;
use crate::session::MonitorSession;

/// How long to receive before the first step.
const UNSOLICITED_WINDOW: Duration = Duration::from_millis(100);
/// How long an idle monitor may take to start a reply: 1 ms, an adapter's 16 ms, a busy host.
const REPLY_START_TIMEOUT: Duration = Duration::from_millis(500);
/// The same for a single key.
const KEY_REPLY_TIMEOUT: Duration = Duration::from_millis(150);
/// How long a program that replies with empty lines may take to evaluate a product: a BASIC that was
/// given the top of memory is silent for 1.5 s while it tests each byte.
const MEMORY_TEST_TIMEOUT: Duration = Duration::from_millis(3500);
/// Backspaces sent at a time: a polled serial chip buffers two while the monitor echoes.
const BACKSPACES: &[u8] = b"\x08\x08";
/// More pairs of backspaces than the longest line, 126 characters, needs.
const MAX_BACKSPACE_ROUNDS: usize = 70;
/// Carriage returns that complete a partial record of up to 32 bytes, the longest in use.
const RECORD_FILL: usize = 80;
/// The same for a record whose byte count was corrupted: up to 255 bytes.
pub(crate) const CORRUPTED_RECORD_FILL: usize = 520;
/// Carriage returns sent before the reply is checked.
const RETURNS_PER_ROUND: usize = 8;
/// The delay after each of them: RomWBW buffers 32 characters and was measured to need 2 ms.
const RETURN_DELAY: Duration = Duration::from_millis(2);
/// The delay after each character of the end record: time for a reply through an adapter, so that
/// no further character goes to a monitor that has left its load (an `F` there fills memory).
const END_RECORD_CHAR_DELAY: Duration = Duration::from_millis(30);
/// How long an XMODEM receiver takes at most between two requests: XM 12.5 five seconds, others
/// ten.
const REQUEST_INTERVAL: Duration = Duration::from_secs(11);
/// Fewer bytes are not taken for noise: some may have been received wrongly before a prompt.
const MIN_NOISE: usize = 32;
const ESCAPE: &[u8] = b"\x1B";
const KILL_LINE: &[u8] = b"\x15";
const TOGGLE_OUTPUT: &[u8] = b"\x0F\r";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HandshakeResult {
    pub(crate) peer: Option<Peer>,
    pub(crate) received: Vec<u8>,
    /// Whether it was waiting for something and was brought back to its prompt.
    pub(crate) recovered: bool,
}

/// Identifies the monitor at the current speed, in all four steps.
pub(crate) fn handshake(
    session: &mut MonitorSession,
    operation: &'static str,
) -> Result<HandshakeResult> {
    let first = handshake_gentle(session, operation)?;
    if !first.received.is_empty() {
        return Ok(first);
    }
    recover_stuck(session, operation)
}

/// Steps 1 to 3 and the `W` of step 4: finds a monitor that waits for a command, and a BASIC at its
/// start prompt. A monitor in the middle of a load does not reply.
pub(crate) fn handshake_gentle(
    session: &mut MonitorSession,
    operation: &'static str,
) -> Result<HandshakeResult> {
    let first = handshake_passive(session, operation)?;
    if !first.received.is_empty() {
        return Ok(first);
    }
    let mut received = exchange(session, operation, b"W", KEY_REPLY_TIMEOUT * 2)?;
    let is_reply = !received.is_empty();
    if !is_reply || received == b"W" {
        // No monitor may find it as a command before the next carriage return: at RomWBW's boot
        // loader, `W` starts the configuration.
        received = exchange(session, operation, b"\x08", KEY_REPLY_TIMEOUT)?;
    }
    bring_to_prompt(session, operation, received, is_reply)
}

/// Steps 1 to 3, which change nothing.
pub(crate) fn handshake_passive(
    session: &mut MonitorSession,
    operation: &'static str,
) -> Result<HandshakeResult> {
    session.pause(operation, UNSOLICITED_WINDOW)?;
    let mut unsolicited = session.take_received();
    if is_xmodem_receiver(session, operation, &mut unsolicited)? {
        return Ok(known_peer(Peer::XmodemReceiver, unsolicited));
    }
    let line = clear_line(session, operation)?;
    let handshake = bring_to_prompt(session, operation, line, false)?;
    if handshake.peer.is_some() {
        return Ok(handshake);
    }
    let received = exchange(session, operation, b"\r", REPLY_START_TIMEOUT)?;
    let handshake = bring_to_prompt(session, operation, received, false)?;
    if handshake.peer.is_some()
        || !handshake.received.is_empty() && !contains_frame(&handshake.received)
    {
        return Ok(handshake);
    }
    // What has sent a banner is there, however late a busy host or network brings its reply.
    let has_banner = identify_prompt(&unsolicited).is_some();
    let timeout = if has_banner { REPLY_TIMEOUT } else { KEY_REPLY_TIMEOUT * 2 };
    let received = exchange(session, operation, &ident_request(), timeout)?;
    let handshake = bring_to_prompt(session, operation, received, false)?;
    // A late reply of the hex loader to an earlier line, while it waits for the rest of the next
    // one, is not a prompt: such a board is left to `recover_stuck`.
    if handshake.received.is_empty()
        && !unsolicited.is_empty()
        && !is_hex_loader_reply(&unsolicited)
    {
        return Ok(HandshakeResult { received: unsolicited, ..handshake });
    }
    Ok(handshake)
}

/// Step 4 after its `W`, for a board that has not replied so far.
fn recover_stuck(session: &mut MonitorSession, operation: &'static str) -> Result<HandshakeResult> {
    for returns in [RECORD_FILL, CORRUPTED_RECORD_FILL] {
        let received = abort_hex_load(session, operation, returns)?;
        if !received.is_empty() {
            return bring_to_prompt(session, operation, received, true);
        }
        if returns == RECORD_FILL {
            for keys in [TOGGLE_OUTPUT, TOGGLE_OUTPUT, b" "] {
                let mut received = exchange(session, operation, keys, KEY_REPLY_TIMEOUT * 2)?;
                if !received.is_empty() && keys == TOGGLE_OUTPUT {
                    // It may be a late reply to earlier keys, and the output be off now.
                    received = exchange(session, operation, b"\r", REPLY_START_TIMEOUT)?;
                }
                if !received.is_empty() {
                    return bring_to_prompt(session, operation, received, true);
                }
            }
        }
    }
    Ok(HandshakeResult::default())
}

/// Erases a partly typed line. Returns a reply other than an echo.
pub(crate) fn clear_line(session: &mut MonitorSession, operation: &'static str) -> Result<Vec<u8>> {
    let mut keys: &[u8] = b"\x08";
    for _ in 0..MAX_BACKSPACE_ROUNDS {
        let received = exchange(session, operation, keys, KEY_REPLY_TIMEOUT)?;
        match received.as_slice() {
            [0x08] | [0x08, b'\r', b'\n'] => {
                // BASIC erases a whole line with one key.
                exchange(session, operation, KILL_LINE, KEY_REPLY_TIMEOUT)?;
                return Ok(Vec::new());
            }
            erased if is_erase_echo(erased) => keys = BACKSPACES,
            _ => return Ok(received),
        }
    }
    Ok(Vec::new())
}

/// Brings a program that replied to a known prompt, by the keys that it is known to need.
fn bring_to_prompt(
    session: &mut MonitorSession,
    operation: &'static str,
    mut received: Vec<u8>,
    recovered: bool,
) -> Result<HandshakeResult> {
    // An empty line is sent only at an unknown prompt, since a known program might execute it. Four
    // rounds bound the dialogue with a program that keeps prompting.
    for _ in 0..4 {
        let peer = identify_prompt(&received).filter(|_| !is_noise(&received));
        if peer == Some(Peer::XmodemReceiver)
            && !is_xmodem_receiver(session, operation, &mut received)?
        {
            if identify_prompt(&received) == Some(Peer::XmodemReceiver) {
                return Ok(HandshakeResult { peer: None, received, recovered });
            }
            continue;
        }
        let keys: &[u8] = match peer {
            // The start of the reply may belong to an earlier line.
            Some(peer) => return Ok(HandshakeResult { peer: Some(peer), received, recovered }),
            None if received.is_empty() => {
                return Ok(HandshakeResult { peer: None, received, recovered });
            }
            None if contains_frame(&received) => {
                return Ok(HandshakeResult {
                    recovered,
                    ..known_peer(Peer::OwnFirmware, received)
                });
            }
            None if is_assembler_prompt(&received) => ESCAPE,
            // The hex loader in a BASIC replies to every line; an end record returns to BASIC.
            None if is_hex_loader_reply(&received) => b":00000001FF\r",
            None if is_blank(&received) => {
                // A BASIC at its prompt adds nothing to an empty line; one that tests its memory
                // will.
                session.receives_within(operation, REPLY_QUIET)?;
                let reply = receive_reply(session, operation)?;
                if !reply.is_empty() {
                    received.extend(reply);
                    continue;
                }
                return detect_basic(session, operation, received, recovered);
            }
            None => b"\r",
        };
        // What has sent text is there, however late a busy host or network brings its reply.
        let timeout = if is_text(&received) { REPLY_TIMEOUT } else { REPLY_START_TIMEOUT };
        let reply = exchange(session, operation, keys, timeout)?;
        if reply.is_empty() {
            break;
        }
        received = if is_blank(&reply) { [received, reply].concat() } else { reply };
    }
    Ok(HandshakeResult { peer: None, received, recovered })
}

/// Determines whether a program that replies with empty lines is a BASIC.
fn detect_basic(
    session: &mut MonitorSession,
    operation: &'static str,
    received: Vec<u8>,
    recovered: bool,
) -> Result<HandshakeResult> {
    let peer = match evaluates_print(session, operation, MEMORY_TEST_TIMEOUT) {
        Ok(true) => Some(Peer::Basic),
        Ok(false) | Err(LoaderError::NoReply { .. } | LoaderError::UnexpectedReply { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(HandshakeResult { peer, received, recovered })
}

/// Returns `true` if the peer evaluates a product, as only BASIC does.
pub(crate) fn evaluates_print(
    session: &mut MonitorSession,
    operation: &'static str,
    timeout: Duration,
) -> Result<bool> {
    session.take_received();
    session.send(operation, b"PRINT 6*7\r")?;
    match session.receive_until(operation, timeout, is_ready) {
        Ok(received) => {
            let text = String::from_utf8_lossy(&received).into_owned();
            Ok(integers(text.trim_end().trim_end_matches("Ok")).next_back() == Some(42))
        }
        Err(LoaderError::NoReply { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns `true` if an XMODEM receiver requests a block twice. A receiver is silent for seconds
/// between requests, while noise that begins with the same byte continues, or is not repeated.
/// Bytes that arrive meanwhile are added to `received`.
fn is_xmodem_receiver(
    session: &mut MonitorSession,
    operation: &'static str,
    received: &mut Vec<u8>,
) -> Result<bool> {
    if identify_prompt(received) != Some(Peer::XmodemReceiver) {
        return Ok(false);
    }
    session.pause(operation, REPLY_QUIET)?;
    received.extend(session.take_received());
    if identify_prompt(received) != Some(Peer::XmodemReceiver) {
        return Ok(false);
    }
    let Some(next) = session.read_byte(operation, REQUEST_INTERVAL)? else { return Ok(false) };
    received.push(next);
    session.pause(operation, REPLY_QUIET)?;
    received.extend(session.take_received());
    Ok(identify_prompt(received) == Some(Peer::XmodemReceiver))
}

fn known_peer(peer: Peer, received: Vec<u8>) -> HandshakeResult {
    HandshakeResult { peer: Some(peer), received, recovered: false }
}

/// Returns `true` for the prompt of the line assembler of the Small Computer Monitor and similar
/// ones: an address, and `> ` at the end.
fn is_assembler_prompt(received: &[u8]) -> bool {
    let text = String::from_utf8_lossy(received);
    let last = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    let digits = last.bytes().take_while(u8::is_ascii_hexdigit).count();
    digits == 4 && last[4..].starts_with(':') && (last.ends_with("> ") || last.ends_with('>'))
}

/// Returns `true` for replies of the hex loader for BASIC to accepted or rejected lines.
fn is_hex_loader_reply(received: &[u8]) -> bool {
    !received.is_empty() && received.iter().all(|byte| matches!(byte, b'+' | b'-'))
}

pub(crate) fn is_blank(received: &[u8]) -> bool {
    !received.is_empty() && received.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Ends an interrupted load and returns the reply. In a partial record every character counts as a
/// digit until the record is complete, and between records only an end record has a reply; so
/// carriage returns are sent first, which are harmless at every prompt.
pub(crate) fn abort_hex_load(
    session: &mut MonitorSession,
    operation: &'static str,
    returns: usize,
) -> Result<Vec<u8>> {
    abort_load_with(session, operation, returns, END_RECORD)
}

/// Like [`abort_hex_load`], with another end of a load.
pub(crate) fn abort_load_with(
    session: &mut MonitorSession,
    operation: &'static str,
    returns: usize,
    end: &str,
) -> Result<Vec<u8>> {
    session.take_received();
    for _ in 0..returns.div_ceil(RETURNS_PER_ROUND) {
        for _ in 0..RETURNS_PER_ROUND {
            session.send(operation, b"\r")?;
            session.pause(operation, RETURN_DELAY)?;
        }
        if session.receives_within(operation, RETURN_DELAY)? {
            return receive_reply(session, operation);
        }
    }
    // The reply to the last of them may still arrive.
    if session.receives_within(operation, END_RECORD_CHAR_DELAY)? {
        return receive_reply(session, operation);
    }
    for key in end.as_bytes() {
        session.send(operation, std::slice::from_ref(key))?;
        if session.receives_within(operation, END_RECORD_CHAR_DELAY)? {
            return receive_reply(session, operation);
        }
    }
    session.receives_within(operation, REPLY_QUIET)?;
    let received = receive_reply(session, operation)?;
    if received.is_empty() {
        exchange(session, operation, b"\r", KEY_REPLY_TIMEOUT)
    } else {
        Ok(received)
    }
}

/// Returns the IDENT request with sequence number 1. None of its bytes is a key of a monitor, even
/// without bit 7.
pub(crate) fn ident_request() -> Vec<u8> {
    Frame::empty(1, Request::Identify.kind()).encode()
}

/// Returns `true` if the bytes contain a complete frame of this project's protocol.
pub(crate) fn contains_frame(received: &[u8]) -> bool {
    let mut decoder = Decoder::default();
    received.iter().any(|byte| matches!(decoder.push(*byte), Some(DecoderEvent::Frame(_))))
}

pub(crate) fn wrong_peer_error(
    session: &MonitorSession,
    expected: &'static str,
    handshake: &HandshakeResult,
) -> LoaderError {
    let port = session.port_name();
    if let Some(found) = handshake.peer {
        return LoaderError::WrongPeer { port, expected, actual: found };
    }
    if handshake.received.is_empty() {
        return no_peer_error(session, expected);
    }
    if !is_text(&handshake.received) {
        return session.noise_error("looking for the prompt");
    }
    LoaderError::UnknownPeer { port, expected, recent_traffic: session.recent_traffic() }
}

/// Returns `true` for noise, which may end like a prompt. A few wrong bytes are none.
fn is_noise(received: &[u8]) -> bool {
    received.len() >= MIN_NOISE && !is_text(received)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_a_wrong_speed_is_not_text() {
        assert!(is_text(b"\x07\r\nRC2014 - MS Basic Loader\r\nz88dk - feilipu\r\n"));
        assert!(!is_text(&[0x9C, 0x78, 0xF8, 0x0D, 0xFE]));
    }

    #[test]
    fn noise_that_ends_like_a_prompt_is_noise() {
        let noise: Vec<u8> = (0..50).map(|number: u8| number.wrapping_mul(157)).collect();
        assert!(is_noise(&[&noise[..], b"\r\n*"].concat()));
        assert!(!is_noise(b"\xFE\x80\r\n*") && !is_noise(b"\x15"));
        let banner = b"\xF8\xFERCBus [RCZ80_std] Boot Loader\r\n\r\nBoot [H=Help]: ";
        assert!(!is_noise(banner));
    }

    #[test]
    fn no_byte_of_ident_is_a_key_of_any_monitor() {
        let keys = b"\x03\x08\x0D\x0F\x10\x11\x13\x1BCcWwMmZzXx0123456789:";
        assert!(ident_request().iter().all(|byte| !keys.contains(&(byte & 0x7F))));
        assert_eq!(ident_request(), [0x00, 0x01, 0x05, 0x01, 0x01, 0x8C, 0xEF, 0x00]);
    }

    #[test]
    fn erase_echoes_and_assembler_prompts_are_recognised() {
        assert!(
            is_erase_echo(b"\x08 \x08\x08 \x08") && !is_erase_echo(b"") && !is_erase_echo(b"*")
        );
        assert!(is_assembler_prompt(b"\r\n8000: C9  RET  > ") && !is_assembler_prompt(b"\r\n8E>"));
    }
}
