//! Z180 boards, as stock monitors show them before a program is started.

use crate::error::Result;
use crate::exchange;
use crate::prompt::at_romwbw_prompt;
use crate::session::MonitorSession;

/// Ports of ICR and CBAR on boards that have the chip's registers at C0h to FFh, the bits of each
/// that count, and their values under RomWBW. A port that nothing drives reads as another value.
const REGISTERS: [(u8, u8, u8); 2] = [(0xFF, 0xE0, 0xC0), (0xFA, 0xFF, 0x80)];
/// The processor of a board, as its monitor shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BoardProcessor {
    /// A Z80, as far as is known.
    #[default]
    Z80,
    /// A Z180, and the profile if the board's name is known.
    Z180(Option<&'static str>),
    /// The monitor does not show it.
    Unknown,
}

/// What precedes the configuration in the reply to HELP of the Small Computer Monitor: the word
/// begins with a small letter in old versions.
pub(crate) const CONFIGURATION: &str = "onfiguration ";

/// Returns the processor by the reply to HELP of the Small Computer Monitor.
pub(crate) fn scm_processor(help: &str) -> BoardProcessor {
    let mut configurations = help.lines().filter_map(|line| line.split_once(CONFIGURATION));
    let Some((_, line)) = configurations.next().filter(|(_, line)| line.contains("Z180")) else {
        return BoardProcessor::Z80;
    };
    BoardProcessor::Z180(match line.split(' ').next() {
        Some("S5" | "S6") => Some("sc126"),
        Some("F3") => Some("sc140"),
        _ => None,
    })
}

/// Returns the processor under RomWBW's debug monitor, which is at its prompt.
pub(crate) fn romwbw_processor(session: &mut MonitorSession) -> Result<BoardProcessor> {
    for (port, mask, expected) in REGISTERS {
        let command = format!("I {port:02X}");
        let reply =
            exchange::command(session, "identifying the processor", &command, at_romwbw_prompt)?;
        if parse_port(&reply).is_none_or(|value| value & mask != expected) {
            return Ok(BoardProcessor::Z80);
        }
    }
    Ok(BoardProcessor::Z180(session.board_profile()))
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
        for (line, processor) in [
            (
                "Configuration S6 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0",
                BoardProcessor::Z180(Some("sc126")),
            ),
            (
                "Configuration S6 20190715, Monitor 1.1.0, Z180 native BIOS 1.1.0",
                BoardProcessor::Z180(Some("sc126")),
            ),
            (
                "Configuration F3 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0",
                BoardProcessor::Z180(Some("sc140")),
            ),
            (
                "Configuration S9 20230825, Monitor 1.3.1, SCZ180 BIOS 1.3.1",
                BoardProcessor::Z180(None),
            ),
            ("Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0", BoardProcessor::Z80),
        ] {
            assert_eq!(scm_processor(&format!("HELP\r\n{line}\r\n")), processor, "{line}");
        }
    }

    #[test]
    fn a_port_is_read_from_the_recorded_reply() {
        assert_eq!(parse_port(b"I FA\r\n80\r\n8E>"), Some(0x80));
        assert_eq!(parse_port(b"I FA\r\nUnknown Command (? for Help)\r\n8E>"), None);
    }
}
