//! Z180 boards, as stock monitors show them before a program is started.

use crate::error::Result;
use crate::exchange;
use crate::session::MonitorSession;

/// The profile named for a board whose maker's name is unknown: those of Z180 boards fit it, too.
const ANY_PROFILE: &str = "sc126";
/// Ports of ICR and CBAR on boards that have the chip's registers at C0h to FFh, the bits of each
/// that count, and their values under RomWBW. A port that nothing drives reads as another value.
const REGISTERS: [(u8, u8, u8); 2] = [(0xFF, 0xE0, 0xC0), (0xFA, 0xFF, 0x80)];

/// Returns the board profile by the reply to HELP of the Small Computer Monitor for a Z180.
pub(crate) fn scm_profile(help: &str) -> Option<&'static str> {
    let line = help.lines().find(|line| line.contains("onfiguration") && line.contains("Z180"))?;
    Some(if line.contains("onfiguration F3") { "sc140" } else { ANY_PROFILE })
}

/// Returns a board profile if RomWBW's debug monitor, at its prompt, runs on a Z180.
pub(crate) fn romwbw_profile(session: &mut MonitorSession) -> Result<Option<&'static str>> {
    for (port, mask, expected) in REGISTERS {
        let command = format!("I {port:02X}\r");
        let reply = exchange::send_keys(session, "identifying the processor", command.as_bytes())?;
        if parse_port(&reply).is_none_or(|value| value & mask != expected) {
            return Ok(None);
        }
    }
    Ok(Some(ANY_PROFILE))
}

/// Returns the value in the line after the echo.
fn parse_port(reply: &[u8]) -> Option<u8> {
    let text = String::from_utf8_lossy(reply);
    let digits = text.split("\r\n").nth(1)?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_in_the_configuration_that_help_names() {
        for (line, profile) in [
            ("Configuration S6 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0", Some("sc126")),
            ("Configuration S6 20190715, Monitor 1.1.0, Z180 native BIOS 1.1.0", Some("sc126")),
            ("Configuration F3 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0", Some("sc140")),
            ("Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0", None),
        ] {
            assert_eq!(scm_profile(&format!("HELP\r\n{line}\r\n")), profile, "{line}");
        }
    }

    #[test]
    fn a_port_is_read_from_the_recorded_reply() {
        assert_eq!(parse_port(b"I FA\r\n80\r\n8E>"), Some(0x80));
        assert_eq!(parse_port(b"I FA\r\nUnknown Command (? for Help)\r\n8E>"), None);
    }
}
