//! Names and versions of stock monitors, found out by questions that change nothing.

use std::time::Duration;

use super::basic::{self, Dialect};
use super::contact::ask;
use super::dump;
use super::error::Result;
use super::knock::ANSWER;
use super::prompt::{HOW_TO_START, MEMORY_TOP, Peer};
use super::talk::Talk;

const WHAT: &str = "asking for the version";
/// The longest wait for BASIC's banner after the answer to `Memory top?`: it looks at each byte of
/// RAM first.
const MEMORY_TEST: Duration = Duration::from_millis(1500);
/// HBIOS keeps a mark, `W` and its complement, and then its version in two bytes of two digits
/// each.
const HBIOS_IDENT: u16 = 0xFE00;
const HBIOS_MARK: [u8; 2] = [0x57, 0xA8];

/// The name and version of somebody who said `heard` at its prompt.
pub(super) fn describe(talk: &mut Talk, peer: Peer, heard: &[u8]) -> Result<String> {
    let text = String::from_utf8_lossy(heard).into_owned();
    Ok(match peer {
        Peer::Scm => {
            let help = ask(talk, WHAT, b"HELP\r", ANSWER)?;
            scm(&String::from_utf8_lossy(&help))
        }
        Peer::RomwbwLoader => boot_loader(talk, &text)?,
        Peer::RomwbwMonitor => {
            let release = romwbw(talk, &text)?;
            format!("{release}'s debug monitor")
        }
        Peer::Basic => basic_version(talk, &text)?,
        Peer::Cpm if text.contains("\r\r\n") => "CP/M 2.2".to_owned(),
        Peer::CpmMonitor => "the factory's CP/M monitor 1.1".to_owned(),
        Peer::Cpm | Peer::XmodemReceiver | Peer::Ours => peer.to_string(),
    })
}

/// The monitor's name and version, from its answer to HELP.
pub(super) fn scm(help: &str) -> String {
    let line = help.lines().find(|line| line.contains("onfiguration"));
    let version = line.and_then(|line| {
        line.split([' ', ',']).find(|word| {
            word.split('.').count() == 3 && word.split('.').all(|part| part.parse::<u8>().is_ok())
        })
    });
    match version {
        Some(version) => format!("Small Computer Monitor {version}"),
        None => "a monitor with the prompt of the Small Computer Monitor".to_owned(),
    }
}

/// RomWBW's boot loader does not name its version; its dialogue differs by release.
fn boot_loader(talk: &mut Talk, text: &str) -> Result<String> {
    if text.ends_with("===> ") {
        return Ok("RomWBW 2.9's boot loader".to_owned());
    }
    let help = ask(talk, WHAT, b"\r", ANSWER)?;
    let help = String::from_utf8_lossy(&help);
    // The configuration program came with 3.5.
    let release = if help.contains("RomWBW Configure") { "RomWBW 3.5" } else { "RomWBW 3" };
    Ok(format!("{release}'s boot loader"))
}

/// The release of RomWBW under a debug monitor: from HBIOS's own mark, or from the form of the
/// prompt.
pub(super) fn romwbw(talk: &mut Talk, text: &str) -> Result<String> {
    let command = format!("D {HBIOS_IDENT:04X} {:04X}\r", HBIOS_IDENT + 15);
    let heard = ask(talk, WHAT, command.as_bytes(), ANSWER)?;
    let rows = dump::rows(&heard);
    let of_mark = rows.first().filter(|(at, bytes)| *at == HBIOS_IDENT && bytes[..2] == HBIOS_MARK);
    Ok(match of_mark {
        Some((_, bytes)) => {
            let first = bytes[2];
            let second = bytes[3];
            format!("RomWBW {}.{}.{}", first >> 4, first & 0xF, second >> 4)
        }
        None if text.ends_with("\n>") => "RomWBW 2.9".to_owned(),
        None => "RomWBW 3".to_owned(),
    })
}

/// Answers a BASIC's questions as far as that takes nothing away, and gives its version.
fn basic_version(talk: &mut Talk, text: &str) -> Result<String> {
    let mut text = text.to_owned();
    if HOW_TO_START.iter().any(|question| text.ends_with(question)) {
        // A warm start keeps the program and the memory.
        text = String::from_utf8_lossy(&ask(talk, WHAT, b"W", ANSWER)?).into_owned();
    }
    if text.ends_with(MEMORY_TOP) {
        talk.put(WHAT, b"\r")?;
        let banner = talk.hear_until(WHAT, 2 * MEMORY_TEST, |heard| heard.ends_with(b"Ok\r\n"))?;
        text = String::from_utf8_lossy(&banner).into_owned();
    }
    let dialect = Dialect::of(talk)?;
    Ok(match (dialect, text.contains("Ver 4.7c")) {
        (Dialect::Feilipu, _) | (Dialect::Unknown, true) => "ROM BASIC 4.7c (feilipu's)".to_owned(),
        (Dialect::Searle(_), _) => "ROM BASIC 4.7b (G. Searle's)".to_owned(),
        (Dialect::Romwbw, _) => "RomWBW's ROM BASIC 4.7b".to_owned(),
        (Dialect::Unknown, false) => format!("a ROM BASIC{}", basic::version(&text)),
    })
}

#[cfg(test)]
mod tests {
    use super::scm;

    #[test]
    fn the_version_is_found_in_both_forms_of_help() {
        let old = "HELP\r\nSmall Computer Monitor\r\nVersion 1.0.0 configuration R1 for Z80 based \
        RC2014 systems\r\n";
        let new = "Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0\r\n";
        assert_eq!(scm(old), "Small Computer Monitor 1.0.0");
        assert_eq!(scm(new), "Small Computer Monitor 1.3.0");
        assert!(scm("*").starts_with("a monitor with the prompt"));
    }
}
