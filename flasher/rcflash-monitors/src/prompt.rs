//! Recognises a program by its prompt at the end of the received text.

use std::fmt;

/// A program at the other end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The Small Computer Monitor.
    Scm,
    /// RomWBW's boot loader.
    RomwbwLoader,
    /// RomWBW's debug monitor.
    RomwbwMonitor,
    /// A Microsoft BASIC of the family 4.7, ready or in its start dialogue.
    Basic,
    /// CP/M, or a system with its prompt.
    Cpm,
    /// An XMODEM receiver that waits for a file.
    XmodemReceiver,
    /// The factory's CP/M monitor by G. Searle.
    CpmMonitor,
    /// This project's own monitor or application.
    OwnFirmware,
}

impl Peer {
    /// Returns a hint on how to load a program there.
    #[must_use]
    pub fn load_hint(self) -> &'static str {
        match self {
            Self::Scm => "try --via scm",
            Self::RomwbwLoader | Self::RomwbwMonitor => "try --via romwbw",
            Self::Basic => "try --via basic",
            Self::Cpm => "try --via cpm, or start the monitor there",
            Self::XmodemReceiver => "try --via cpm, or press Ctrl-X there",
            Self::CpmMonitor => "boot CP/M there (X), then try --via cpm",
            Self::OwnFirmware => "try --via monitor",
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scm => "the Small Computer Monitor",
            Self::RomwbwLoader => "RomWBW's boot loader",
            Self::RomwbwMonitor => "RomWBW's debug monitor",
            Self::Basic => "a ROM BASIC",
            Self::Cpm => "CP/M",
            Self::XmodemReceiver => "an XMODEM receiver",
            Self::CpmMonitor => "the factory's CP/M monitor",
            Self::OwnFirmware => "this project's monitor",
        })
    }
}

/// Returns `true` if the text ends with the prompt of RomWBW's debug monitor.
pub(crate) fn at_romwbw_prompt(received: &[u8]) -> bool {
    // The whole text is read only where it may end: a dump asks after each character.
    received.len() > 1
        && received.ends_with(b">")
        && identify_prompt(received) == Some(Peer::RomwbwMonitor)
}

/// The prompts of a BASIC after its start.
pub(crate) const MEMORY_TOP_PROMPT: &str = "Memory top? ";
pub(crate) const START_PROMPTS: [&str; 2] = ["Cold or warm start (C or W)? ", "(C|W) ? "];

/// Returns the program whose prompt is at the end of `received`, or `None` if there is no known
/// prompt.
///
/// ```
/// use rcflash_monitors::{Peer, identify_prompt};
/// assert_eq!(identify_prompt(b"\r\n8E>"), Some(Peer::RomwbwMonitor));
/// assert_eq!(identify_prompt(b"\r\nA>"), Some(Peer::Cpm));
/// assert_eq!(identify_prompt(b"hello"), None);
/// ```
pub fn identify_prompt(received: &[u8]) -> Option<Peer> {
    let text = String::from_utf8_lossy(received);
    // The banner of this project is a line of its own; in a dump the same text is at the end of a
    // row.
    if text.split(['\r', '\n']).any(|line| line.starts_with("Sargon ")) {
        return Some(Peer::OwnFirmware);
    }
    let last_line = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    let line_before = text.trim_end().rsplit(['\r', '\n']).next().unwrap_or_default();
    match last_line {
        "*" => Some(Peer::Scm),
        _ if is_boot_loader(last_line) => Some(Peer::RomwbwLoader),
        ">" if is_cpm_monitor(&text) => Some(Peer::CpmMonitor),
        _ if is_romwbw_monitor(last_line) => Some(Peer::RomwbwMonitor),
        _ if is_cpm(last_line) => Some(Peer::Cpm),
        _ if is_start_question(last_line) => Some(Peer::Basic),
        "" if line_before == "Ok" => Some(Peer::Basic),
        _ if is_receiver(received) => Some(Peer::XmodemReceiver),
        _ => None,
    }
}

fn is_start_question(last_line: &str) -> bool {
    last_line.ends_with(MEMORY_TOP_PROMPT)
        || START_PROMPTS.iter().any(|question| last_line.ends_with(question))
}

/// `Boot [H=Help]: `, and the older `Boot: (C)PM, ... or Disk Unit # ===> `.
fn is_boot_loader(last_line: &str) -> bool {
    (last_line.starts_with("Boot") && last_line.ends_with(": ")) || last_line.ends_with("===> ")
}

/// `8E>`, the bank in hexadecimal, or `>` alone in older releases. Bank numbers begin with a digit:
/// `A0>` is CP/M's.
fn is_romwbw_monitor(last_line: &str) -> bool {
    match last_line.strip_suffix('>').map(str::as_bytes) {
        Some([]) => true,
        Some([first, second]) => first.is_ascii_digit() && second.is_ascii_hexdigit(),
        _ => false,
    }
}

/// The factory's CP/M monitor, which has the prompt of RomWBW 2.9: a key with a question mark, the
/// end of a load, or the banner precedes it.
fn is_cpm_monitor(text: &str) -> bool {
    let line_before = text.trim_end_matches('>').trim_end();
    let line = line_before.rsplit(['\r', '\n']).next().unwrap_or_default();
    matches!(line.as_bytes(), [_, b'?'])
        || line == "Load complete."
        || line_before.ends_with("Type ? for options")
}

/// `A>`, or with the user number `A0>` or `A15>`, as in ZCPR and CP/M 3.
fn is_cpm(last_line: &str) -> bool {
    let Some(drive) = last_line.strip_suffix('>').map(|text| text.trim_end_matches(':')) else {
        return false;
    };
    let mut letters = drive.chars();
    letters.next().is_some_and(|drive| drive.is_ascii_uppercase() && drive <= 'P')
        && letters.as_str().len() <= 2
        && letters.all(|digit| digit.is_ascii_digit())
}

/// A last line with only requests for a block: NAK, `C`, or XM 12.5's `CK`.
fn is_receiver(received: &[u8]) -> bool {
    let last_line =
        received.rsplit(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    matches!(last_line, [0x15 | b'C', ..])
        && last_line.iter().all(|byte| matches!(byte, 0x15 | b'C' | b'K'))
}

/// Returns `true` if at most an eighth of the bytes is neither printable nor a terminal's.
pub(crate) fn is_text(received: &[u8]) -> bool {
    let plain = |byte: &&u8| matches!(byte, 0x20..=0x7E | 0x07..=0x0D | 0x1B);
    let odd = received.iter().filter(|byte| !plain(byte)).count();
    odd * 8 <= received.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_prompt_is_recognised() {
        let cases: &[(&[u8], Peer)] = &[
            (b"\r\n*", Peer::Scm),
            (b"*", Peer::Scm),
            (b"Ready\r\n\r\n*", Peer::Scm),
            (b"\r\n\r\nSmall Computer Monitor - RC2014\r\n*", Peer::Scm),
            (b"\r\nRCBus [RCZ80_std] Boot Loader\r\n\r\nBoot [H=Help]: ", Peer::RomwbwLoader),
            (
                b"\r\nBoot: (C)PM, (Z)System, (M)onitor,\r\n      (L)ist disks, or Disk Unit # \
                ===> ",
                Peer::RomwbwLoader,
            ),
            (b"\r\n8E>", Peer::RomwbwMonitor),
            (b"\r\r\nUNKNOWN COMMAND.\r\n>", Peer::RomwbwMonitor),
            (b"\r\n>", Peer::RomwbwMonitor),
            (b"\r\r\nB>", Peer::Cpm),
            (b"\r\nA0>", Peer::Cpm),
            (b"\r\nB12:>", Peer::Cpm),
            (b"\x0cZ80 SBC By Grant Searle\r\n\r\nMemory top? ", Peer::Basic),
            (b"Cold or warm start (C or W)? ", Peer::Basic),
            (b"z88dk - feilipu\r\n\r\nCold | Warm start (C|W) ? ", Peer::Basic),
            (b"32382 Bytes free\r\nOk\r\n", Peer::Basic),
            (b"W?\r\n>", Peer::CpmMonitor),
            (b"Load complete.\r\n\r\n>", Peer::CpmMonitor),
            (b"\x15", Peer::XmodemReceiver),
            (b"CCC", Peer::XmodemReceiver),
            (b"To cancel: Ctrl-X, pause, Ctrl-X\r\nCKCK", Peer::XmodemReceiver),
            (b"START TRANSFER OF YOUR UPDATE IMAGE OR ROM\r\n\x15", Peer::XmodemReceiver),
            (b"\r\nSargon board monitor 1, build 12345678\r\n", Peer::OwnFirmware),
            (b"\r\n8480: 53 61 72 67 6F 6E 20 31  Sargon 1\r\n8E>", Peer::RomwbwMonitor),
        ];
        for (received, peer) in cases {
            assert_eq!(
                identify_prompt(received),
                Some(*peer),
                "{}",
                String::from_utf8_lossy(received)
            );
        }
    }

    #[test]
    fn other_text_and_noise_are_not_prompts() {
        for received in [&b""[..], b"\r\n", b"hello", b"\xff\x00\x93>", b"\r\nQ>", b"Ok", b"* * "] {
            assert_eq!(identify_prompt(received), None, "{received:?}");
        }
    }
}
