//! The first contact with whoever listens. No banner is waited for: it passed long ago, and nothing
//! ever times out there.
//!
//! The order of what is sent follows from what each monitor does with each byte in each of its
//! states:
//!
//! 1. a backspace: it shows a line that somebody has typed in part, before a carriage return could
//!    carry that out;
//! 2. a carriage return: every prompt answers it;
//! 3. IDENT of this project's protocol: a board in the middle of a frame answers it, and no idle
//!    monitor minds its bytes;
//! 4. only if all that is silent: `W` for a BASIC that asks for a cold or a warm start (a warm one
//!    keeps the program); carriage returns and an end record for a load that was cut short; Ctrl-O
//!    for a BASIC whose output is switched off; a blank for the factory's CP/M monitor.
//!
//! `C` is never among them, since it clears BASIC's program, nor Ctrl-C or ESC, which stop one that
//! runs.

use std::time::Duration;

use firmware_wire::{Decoder, Event, Frame, Request};
use rcflash_link::escape_bytes;

use super::error::{LoaderError, Result};
use super::prompt::{Peer, recognise};
use super::records::END;
use super::talk::Talk;

/// The time for which it is listened for what nobody asked for.
const UNASKED: Duration = Duration::from_millis(100);
/// The time in which an idle monitor begins its answer: 1 ms, an adapter's 16 ms, and what a busy
/// computer adds.
const BEGINS: Duration = Duration::from_millis(500);
/// The same for a single key.
const KEY: Duration = Duration::from_millis(150);
/// After so long without a character an answer that ends in a prompt is complete; USB adapters hold
/// back for 16 ms.
const QUIET: Duration = Duration::from_millis(60);
/// After so long any other answer is.
const PATIENT: Duration = Duration::from_millis(300);
/// A BASIC that was given its memory's top says nothing for so long while it looks at each byte of
/// it.
const MEMORY_TEST: Duration = Duration::from_millis(1500);
/// The longest that something may talk before it is noise.
const TALKATIVE: Duration = Duration::from_secs(3);
/// Backspaces sent at once: a polled chip keeps two while the monitor echoes.
const BACKSPACES: &[u8] = b"\x08\x08";
/// More groups of backspaces than the longest line, 126 characters, needs.
const LONGEST_LINE: usize = 70;
/// Carriage returns that fill what is missing of a record of 32 bytes, the longest in use.
const RECORD: usize = 80;
/// The same for a record whose count was damaged: up to 255 bytes.
const DAMAGED_RECORD: usize = 520;
/// Carriage returns sent between two looks at what they did.
const RETURNS: usize = 8;
/// The rest after each of them: RomWBW keeps 32 characters and was seen to need 2 ms.
const REST: Duration = Duration::from_millis(2);
/// The rest after each character of the end record: time for an answer through an adapter, so that
/// no character more goes to a monitor that has left its load (an `F` there fills memory).
const CAREFUL: Duration = Duration::from_millis(30);
const ESCAPE: &[u8] = b"\x1B";
const KILL_LINE: &[u8] = b"\x15";
const OUTPUT: &[u8] = b"\x0F\r";

/// The one who answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contact {
    /// The monitor, if it is a known one.
    pub(super) peer: Option<Peer>,
    /// Its last words.
    pub(super) heard: Vec<u8>,
    /// Whether it was brought back from something that it waited for.
    pub(super) unstuck: bool,
}

/// Finds whoever listens at the line's speed. `heard` is empty if nobody does.
pub(super) fn contact(talk: &mut Talk, what: &'static str) -> Result<Contact> {
    let first = glance(talk, what)?;
    if !first.heard.is_empty() {
        return Ok(first);
    }
    wake(talk, what)
}

/// Finds whoever waits for a command, and a BASIC that asks how to start. One that is in the middle
/// of a load stays silent.
pub(super) fn glance(talk: &mut Talk, what: &'static str) -> Result<Contact> {
    let first = greet(talk, what)?;
    if !first.heard.is_empty() {
        return Ok(first);
    }
    let heard = ask(talk, what, b"W", KEY * 2)?;
    settle(talk, what, heard, true)
}

/// Steps 1 to 3: nothing that could change anything.
pub(super) fn greet(talk: &mut Talk, what: &'static str) -> Result<Contact> {
    talk.pause(what, UNASKED)?;
    let mut unasked = talk.take();
    if is_receiver(talk, what, &mut unasked)? {
        return Ok(known(Peer::XmodemReceiver, unasked));
    }
    let line = clear_line(talk, what)?;
    let contact = settle(talk, what, line, false)?;
    if contact.peer.is_some() {
        return Ok(contact);
    }
    let heard = ask(talk, what, b"\r", BEGINS)?;
    let contact = settle(talk, what, heard, false)?;
    if contact.peer.is_some() || !contact.heard.is_empty() && !has_frame(&contact.heard) {
        return Ok(contact);
    }
    let heard = ask(talk, what, &identify(), KEY * 2)?;
    let contact = settle(talk, what, heard, false)?;
    // A hex loader's late answer to the line before, while it waits for the rest of the next one,
    // is nobody's prompt: a line that is silent since is for `wake`.
    if contact.heard.is_empty() && !unasked.is_empty() && !is_hex_loader(&unasked) {
        return Ok(Contact { heard: unasked, ..contact });
    }
    Ok(contact)
}

/// Step 4 after its `W`: for a line that was silent so far.
fn wake(talk: &mut Talk, what: &'static str) -> Result<Contact> {
    for returns in [RECORD, DAMAGED_RECORD] {
        let heard = end_load(talk, what, returns)?;
        if !heard.is_empty() {
            return settle(talk, what, heard, true);
        }
        if returns == RECORD {
            for keys in [OUTPUT, OUTPUT, b" "] {
                let heard = ask(talk, what, keys, KEY * 2)?;
                if !heard.is_empty() {
                    return settle(talk, what, heard, true);
                }
            }
        }
    }
    Ok(Contact::default())
}

/// Removes what somebody has typed of a line, and gives what a board said to that which is no echo.
fn clear_line(talk: &mut Talk, what: &'static str) -> Result<Vec<u8>> {
    let mut keys: &[u8] = b"\x08";
    for _ in 0..LONGEST_LINE {
        let heard = ask(talk, what, keys, KEY)?;
        match heard.as_slice() {
            [0x08] | [0x08, b'\r', b'\n'] => {
                // A BASIC, whose lines a single key removes.
                ask(talk, what, KILL_LINE, KEY)?;
                return Ok(Vec::new());
            }
            erased if is_erasure(erased) => keys = BACKSPACES,
            _ => return Ok(heard),
        }
    }
    Ok(Vec::new())
}

/// Whether it is the echo of backspaces that remove a character each.
fn is_erasure(heard: &[u8]) -> bool {
    !heard.is_empty() && heard.iter().all(|byte| matches!(byte, 0x08 | b' '))
}

/// Brings somebody who said something to a prompt that is known, by what that one is known to need.
fn settle(
    talk: &mut Talk,
    what: &'static str,
    mut heard: Vec<u8>,
    unstuck: bool,
) -> Result<Contact> {
    // Each round answers what was recognised, by what it is known to need. An empty line goes only
    // to a prompt that is not recognised: another program might take it for a command. The bound
    // ends a dialogue with a program that asks on and on.
    for _ in 0..4 {
        let peer = recognise(&heard);
        if peer == Some(Peer::XmodemReceiver) && !is_receiver(talk, what, &mut heard)? {
            continue;
        }
        let keys: &[u8] = match peer {
            // Its first words may be a rest of the answer to what stood in its line.
            Some(peer) => return Ok(Contact { peer: Some(peer), heard, unstuck }),
            None if heard.is_empty() => return Ok(Contact { peer: None, heard, unstuck }),
            None if has_frame(&heard) => {
                return Ok(Contact { unstuck, ..known(Peer::Ours, heard) });
            }
            None if is_assembler(&heard) => ESCAPE,
            // Our hex loader in a BASIC answers every line; an end record sends it back.
            None if is_hex_loader(&heard) => b":00000001FF\r",
            None if is_line_end(&heard) => {
                // A BASIC that is ready says no more to an empty line; one that tests its memory
                // will.
                talk.is_any_within(what, PATIENT)?;
                let more = complete(talk, what)?;
                if !more.is_empty() {
                    heard.extend(more);
                    continue;
                }
                return calculating(talk, what, heard, unstuck);
            }
            None => b"\r",
        };
        let more = ask(talk, what, keys, BEGINS)?;
        if more.is_empty() {
            break;
        }
        heard = if is_line_end(&more) { [heard, more].concat() } else { more };
    }
    Ok(Contact { peer: None, heard, unstuck })
}

/// Finds out whether who answers by empty lines is a BASIC.
fn calculating(
    talk: &mut Talk,
    what: &'static str,
    heard: Vec<u8>,
    unstuck: bool,
) -> Result<Contact> {
    let peer = match super::basic::calculates(talk, what, MEMORY_TEST) {
        Ok(true) => Some(Peer::Basic),
        Ok(false) | Err(LoaderError::Silence { .. } | LoaderError::Nonsense { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(Contact { peer, heard, unstuck })
}

/// Returns whether an XMODEM receiver calls for a block: it is silent between its calls, which are
/// seconds apart, where noise that began with the same byte continues. What comes meanwhile is
/// added to `received`.
fn is_receiver(talk: &mut Talk, what: &'static str, received: &mut Vec<u8>) -> Result<bool> {
    if recognise(received) != Some(Peer::XmodemReceiver) {
        return Ok(false);
    }
    talk.pause(what, PATIENT)?;
    received.extend(talk.take());
    Ok(recognise(received) == Some(Peer::XmodemReceiver))
}

fn known(peer: Peer, heard: Vec<u8>) -> Contact {
    Contact { peer: Some(peer), heard, unstuck: false }
}

/// The line-by-line assembler of the Small Computer Monitor and its like: an address, and `> ` at
/// the end.
fn is_assembler(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard);
    let last = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    let digits = last.bytes().take_while(u8::is_ascii_hexdigit).count();
    digits == 4 && last[4..].starts_with(':') && (last.ends_with("> ") || last.ends_with('>'))
}

/// Whether these are the answers of the hex loader for BASIC, for a line that was taken or not.
fn is_hex_loader(heard: &[u8]) -> bool {
    !heard.is_empty() && heard.iter().all(|byte| matches!(byte, b'+' | b'-'))
}

/// Whether it is nothing but empty lines.
pub(super) fn is_line_end(heard: &[u8]) -> bool {
    !heard.is_empty() && heard.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Ends a load that was cut short. In half a record every character counts as a digit until the
/// record is full, and between two records only an end record is answered; so carriage returns come
/// first, which no monitor minds. What is said then, if anything is.
pub(super) fn end_load(talk: &mut Talk, what: &'static str, returns: usize) -> Result<Vec<u8>> {
    talk.take();
    for _ in 0..returns.div_ceil(RETURNS) {
        for _ in 0..RETURNS {
            talk.put(what, b"\r")?;
            talk.pause(what, REST)?;
        }
        if talk.is_any_within(what, REST)? {
            return complete(talk, what);
        }
    }
    // What the last of them brings may still be on its way.
    if talk.is_any_within(what, CAREFUL)? {
        return complete(talk, what);
    }
    for key in END.as_bytes() {
        talk.put(what, std::slice::from_ref(key))?;
        if talk.is_any_within(what, CAREFUL)? {
            return complete(talk, what);
        }
    }
    talk.is_any_within(what, PATIENT)?;
    let heard = complete(talk, what)?;
    if heard.is_empty() { ask(talk, what, b"\r", KEY) } else { Ok(heard) }
}

/// Sends keys and takes what is said to them; nothing if nothing begins to come within `begins`.
pub(super) fn ask(
    talk: &mut Talk,
    what: &'static str,
    keys: &[u8],
    begins: Duration,
) -> Result<Vec<u8>> {
    talk.take();
    talk.put(what, keys)?;
    let end = talk.now() + talk.unsent() + begins;
    while talk.inbox().is_empty() {
        talk.check_stop(what)?;
        let left = end.saturating_duration_since(talk.now());
        if left.is_zero() {
            return Ok(Vec::new());
        }
        talk.listen(what, left.min(Duration::from_millis(50)))?;
    }
    complete(talk, what)
}

/// Waits until an answer that has begun is complete, and takes it: soon after a prompt, later after
/// anything else.
fn complete(talk: &mut Talk, what: &'static str) -> Result<Vec<u8>> {
    let end = talk.now() + TALKATIVE;
    let mut quiet_since = talk.now();
    loop {
        talk.check_stop(what)?;
        if talk.listen(what, Duration::from_millis(20))? > 0 {
            quiet_since = talk.now();
        }
        let heard = talk.inbox();
        let is_whole = heard.is_empty() || recognise(heard).is_some() || is_erasure(heard);
        let patience = if is_whole { QUIET } else { PATIENT };
        if talk.now().saturating_duration_since(quiet_since) >= patience {
            return Ok(talk.take());
        }
        if talk.now() > end {
            return Err(talk.noise(what));
        }
    }
}

/// IDENT with sequence number 1. None of its bytes is a key of a monitor, also with bit 7 cut off.
fn identify() -> Vec<u8> {
    Frame::empty(1, Request::Identify.kind()).encode()
}

/// Whether a whole frame of this project's is in it.
pub(super) fn has_frame(heard: &[u8]) -> bool {
    let mut decoder = Decoder::default();
    heard.iter().any(|byte| matches!(decoder.push(*byte), Some(Event::Frame(_))))
}

/// The error for somebody else than the one who was wanted.
pub(super) fn not_wanted(talk: &Talk, wanted: &'static str, contact: &Contact) -> LoaderError {
    let port = talk.name();
    if let Some(found) = contact.peer {
        return LoaderError::WrongPeer { port, wanted, found };
    }
    if contact.heard.is_empty() {
        return nobody(talk, wanted);
    }
    if !is_text(&contact.heard) {
        return talk.noise("looking for the prompt");
    }
    LoaderError::Stranger { port, wanted, overheard: talk.overheard() }
}

/// The error for nobody at all.
pub(super) fn nobody(talk: &Talk, what: &'static str) -> LoaderError {
    LoaderError::Silence {
        port: talk.name(),
        what,
        waited: super::knock::ANSWER * 2,
        overheard: talk.overheard(),
        try_this: "press reset, check the cable and the board's speed, or try --flow none",
    }
}

/// Whether it reads like text: at most an eighth of it is neither printable nor a control character
/// of terminals.
pub(super) fn is_text(heard: &[u8]) -> bool {
    let plain = |byte: &&u8| matches!(byte, 0x20..=0x7E | 0x07..=0x0D | 0x1B);
    let odd = heard.iter().filter(|byte| !plain(byte)).count();
    odd * 8 <= heard.len()
}

/// Returns the bytes heard, for messages.
pub(super) fn shown(heard: &[u8]) -> String {
    escape_bytes(&heard[heard.len().saturating_sub(200)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_of_a_wrong_speed_is_no_text() {
        assert!(is_text(b"\x07\r\nRC2014 - MS Basic Loader\r\nz88dk - feilipu\r\n"));
        assert!(!is_text(&[0x9C, 0x78, 0xF8, 0x0D, 0xFE]));
    }

    #[test]
    fn no_byte_of_ident_is_a_key_of_any_monitor() {
        let keys = b"\x03\x08\x0D\x0F\x10\x11\x13\x1BCcWwMmZzXx0123456789:";
        assert!(identify().iter().all(|byte| !keys.contains(&(byte & 0x7F))));
        assert_eq!(identify(), [0x00, 0x01, 0x05, 0x01, 0x01, 0x8C, 0xEF, 0x00]);
    }

    #[test]
    fn erased_characters_and_assemblers_are_told_from_other_words() {
        assert!(is_erasure(b"\x08 \x08\x08 \x08") && !is_erasure(b"") && !is_erasure(b"*"));
        assert!(is_assembler(b"\r\n8000: C9  RET  > ") && !is_assembler(b"\r\n8E>"));
    }
}
