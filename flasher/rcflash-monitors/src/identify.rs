//! Determines names and versions of stock monitors by commands that change nothing.

use std::time::Duration;

use crate::basic::Dialect;
use crate::error::Result;
use crate::exchange::{self, REPLY_TIMEOUT, exchange};
use crate::processor::{BoardProcessor, scm_processor};
use crate::prompt::{MEMORY_TOP_PROMPT, Peer, START_PROMPTS, at_romwbw_prompt};
use crate::session::MonitorSession;
use crate::{basic_output, dump, scm};

const OPERATION: &str = "asking for the version";
/// How long BASIC may take from `Memory top?` to its banner: it tests each byte of RAM.
const MEMORY_TEST_TIMEOUT: Duration = Duration::from_millis(1500);
/// HBIOS has `W` and its complement here, and then its version in two bytes.
const HBIOS_IDENT: u16 = 0xFE00;
const HBIOS_MAGIC: [u8; 2] = [0x57, 0xA8];

/// The name and version of a program, and whether it is certain: the program has reported it, or
/// its memory has. Otherwise it follows from the form of a prompt.
pub(crate) type Identification = (String, bool);

/// Identifies a peer whose last reply was `received`.
pub(crate) fn name_with_version(
    session: &mut MonitorSession,
    peer: Peer,
    received: &[u8],
) -> Result<Identification> {
    let text = String::from_utf8_lossy(received).into_owned();
    Ok(match peer {
        Peer::Scm => {
            let help = scm::help(session)?;
            if let BoardProcessor::Z180(profile) = scm_processor(&help) {
                session.set_board_profile(profile);
            }
            scm::parse_version(&help)
        }
        Peer::RomwbwLoader => boot_loader(session, &text)?,
        Peer::RomwbwMonitor => {
            let (release, is_certain) = romwbw_release(session, &text)?;
            (format!("{release}'s debug monitor"), is_certain)
        }
        Peer::Basic => basic_version(session, &text)?,
        Peer::Cpm if text.contains("\r\r\n") => ("CP/M 2.2".to_owned(), false),
        Peer::CpmMonitor => ("the factory's CP/M monitor 1.1".to_owned(), false),
        Peer::Cpm => (peer.to_string(), false),
        Peer::XmodemReceiver | Peer::OwnFirmware => (peer.to_string(), true),
    })
}

/// RomWBW's boot loader does not name its version; its dialogue differs by release.
fn boot_loader(session: &mut MonitorSession, text: &str) -> Result<Identification> {
    if text.ends_with("===> ") {
        return Ok(("RomWBW 2.9's boot loader".to_owned(), false));
    }
    let help = exchange(session, OPERATION, b"\r", REPLY_TIMEOUT)?;
    let help = String::from_utf8_lossy(&help);
    // The configuration program came with 3.5.
    let is_certain = help.contains("RomWBW Configure");
    let release = if is_certain { "RomWBW 3.5" } else { "RomWBW 3" };
    Ok((format!("{release}'s boot loader"), is_certain))
}

/// Returns the release of RomWBW: from HBIOS's magic number, or from the form of the prompt.
pub(crate) fn romwbw_release(session: &mut MonitorSession, text: &str) -> Result<Identification> {
    let command = format!("D {HBIOS_IDENT:04X} {:04X}", HBIOS_IDENT + 15);
    let received = exchange::command(session, OPERATION, &command, at_romwbw_prompt)?;
    let rows = dump::parse_rows(&received);
    let magic_row =
        rows.first().filter(|(at, bytes)| *at == HBIOS_IDENT && bytes[..2] == HBIOS_MAGIC);
    Ok(match magic_row {
        Some((_, bytes)) => {
            let first = bytes[2];
            let second = bytes[3];
            (format!("RomWBW {}.{}.{}", first >> 4, first & 0xF, second >> 4), true)
        }
        None if text.ends_with("\n>") => ("RomWBW 2.9".to_owned(), false),
        None => ("RomWBW 3".to_owned(), false),
    })
}

/// Answers the start prompts of a BASIC without losing its program, and returns its version.
fn basic_version(session: &mut MonitorSession, text: &str) -> Result<Identification> {
    let mut text = text.to_owned();
    if START_PROMPTS.iter().any(|question| text.ends_with(question)) {
        // A warm start keeps the program and the memory.
        text = String::from_utf8_lossy(&exchange(session, OPERATION, b"W", REPLY_TIMEOUT)?)
            .into_owned();
    }
    if text.ends_with(MEMORY_TOP_PROMPT) {
        session.send(OPERATION, b"\r")?;
        let banner = session.receive_until(OPERATION, 2 * MEMORY_TEST_TIMEOUT, |received| {
            received.ends_with(b"Ok\r\n")
        })?;
        text = String::from_utf8_lossy(&banner).into_owned();
    }
    let dialect = Dialect::detect(session)?;
    let name = match (dialect, text.contains("Ver 4.7c")) {
        (Dialect::Feilipu, _) | (Dialect::Unknown, true) => "ROM BASIC 4.7c (feilipu's)".to_owned(),
        (Dialect::Searle(_), _) => "ROM BASIC 4.7b (G. Searle's)".to_owned(),
        (Dialect::Romwbw, _) => "RomWBW's ROM BASIC 4.7b".to_owned(),
        (Dialect::Unknown, false) => format!("a ROM BASIC{}", basic_output::version(&text)),
    };
    Ok((name, dialect != Dialect::Unknown))
}
