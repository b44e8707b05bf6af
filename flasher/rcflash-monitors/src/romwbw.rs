//! RomWBW's debug monitor: a command accepts Intel HEX until its end record, with a checksum for
//! every record.
//!
//! It has an interrupt-driven buffer of 32 characters and is slower than the line: without working
//! flow control it loses some. After an error it is at its prompt at once and executes the lines
//! that follow as commands, of which some are dangerous (`B` boots, `H` halts, `F` fills memory,
//! `X` leaves it). So only little may be in flight, no burst is sent before the flow control has
//! been tested with characters that do nothing, and lines end with several backspaces: those
//! complete a record that has lost as many characters, are ignored between records, and erase at
//! the prompt. A carriage return is sent only after the echo of a command is complete.
//!
//! 2.9 loads by `H`, reports no success and does not tolerate empty lines: see `v2`.

pub(crate) mod console;
mod v2;

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use crate::dump::{self, Memory};
use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver};
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT};
use crate::handshake::{CORRUPTED_RECORD_FILL, HandshakeResult, abort_hex_load};
use crate::monitor::{HexMonitor, LoadReport, check_in_free_memory};
use crate::pace::Pace;
use crate::processor::{self, BoardProcessor};
use crate::prompt::{Peer, at_romwbw_prompt};
use crate::records::{END_RECORD, HexRecord, hex_records};
use crate::session::MonitorSession;
use crate::{identify, reach};
use console::{ABORTING, NAME, abort_load, clear_command_line, report_refusal, type_command};

/// Below are the processor's vectors, above the monitor and HBIOS; their lower end differs by
/// version, so this range leaves a margin.
const FREE: RangeInclusive<u16> = 0x0100..=0xDFFF;
/// How long the report of a load may take: 3,400 characters a second, and 2,900 in a chunk.
const REPORT_TIMEOUT: Duration = Duration::from_secs(4);
/// The boot loader discards input for a second after its prompt.
const LOADER_DISCARD_TIME: Duration = Duration::from_millis(1100);
/// The maximum number of attempts to enter the monitor from the boot loader.
const ENTER_ATTEMPTS: usize = 4;
/// Carriage returns that test the flow control: three times the size of the monitor's buffer.
const FLOW_TEST_CHARS: usize = 100;
/// The line end: together with a line of 8 bytes it just fits into the monitor's buffer.
const LINE_END: &str = "\x08\x08\x08\x08";
const FINDING: &str = "looking for the prompt of RomWBW's debug monitor";

/// The releases, whose monitors differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Release {
    /// 2.9: the prompt is `>`.
    V2,
    /// 3: the prompt begins with the bank's number.
    #[default]
    V3,
}

#[derive(Default)]
pub(crate) struct Romwbw {
    release: Release,
}

impl HexMonitor for Romwbw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(
        &mut self,
        session: &mut MonitorSession,
        observer: &mut dyn LoadObserver,
    ) -> Result<String> {
        let accepted = [Peer::RomwbwMonitor, Peer::RomwbwLoader];
        let mut found = reach::reach_peer(session, observer, FINDING, NAME, &accepted)?;
        if found.peer == Some(Peer::RomwbwLoader) {
            found.received = enter_monitor(session, &found)?;
        }
        let text = String::from_utf8_lossy(&found.received).into_owned();
        self.release = if text.ends_with("\n>") { Release::V2 } else { Release::V3 };
        let (version, _) = identify::romwbw_release(session, &text)?;
        if self.release == Release::V2 {
            observer.on_event(LoadEvent::Warning(v2::WARNING));
        }
        Ok(format!("{version}'s debug monitor"))
    }

    fn processor(&mut self, session: &mut MonitorSession) -> Result<BoardProcessor> {
        match self.release {
            Release::V2 => Ok(BoardProcessor::Z80),
            Release::V3 => processor::romwbw_processor(session),
        }
    }

    fn first_pace(
        &mut self,
        session: &mut MonitorSession,
        observer: &mut dyn LoadObserver,
    ) -> Result<Pace> {
        if self.release == Release::V2 {
            return Ok(v2::PACE);
        }
        let received_count = test_flow_control(session)?;
        // A corrupted prompt does not imply ineffective flow control.
        if received_count * 10 >= FLOW_TEST_CHARS * 9 {
            return Ok(Pace::FULL);
        }
        let pace = Pace::FULL.slower().unwrap_or(Pace::FULL);
        observer.on_event(LoadEvent::FlowControlIneffective {
            received: received_count,
            sent: FLOW_TEST_CHARS,
            pace,
        });
        Ok(pace)
    }

    fn check(&self, image: &Image) -> Result<()> {
        check_in_free_memory(image, FREE, |free| {
            format!("only {free} is certain not to be used by the monitor or HBIOS")
        })
    }

    fn load(
        &mut self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport> {
        if self.release == Release::V2 {
            return v2::load(session, lines, pace, on_sent);
        }
        type_command(session, "starting a load", "L", b"L\r\n")?;
        if let Some(line) = session.send_records(lines, LINE_END, pace, on_sent)? {
            return report_refusal(session, line.number);
        }
        session.send_paced("sending the last line", END_RECORD.as_bytes(), pace)?;
        match session.receive_until(
            "waiting for the report of the load",
            REPORT_TIMEOUT,
            at_romwbw_prompt,
        ) {
            Ok(received) if is_success(&received) => Ok(LoadReport::Success),
            Ok(received) => {
                clear_command_line(session)?;
                Ok(LoadReport::Failure(format!("it replied {}", exchange::escape_tail(&received))))
            }
            Err(LoaderError::NoReply { .. }) => abort_load(session),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, session: &mut MonitorSession, first: u16, last: u16) -> Result<Memory> {
        const OPERATION: &str = "reading memory back";
        let command = format!("D {first:04X} {last:04X}");
        type_command(session, OPERATION, &command, command.as_bytes())?;
        let received = session.receive_while_coming(OPERATION, REPLY_TIMEOUT, at_romwbw_prompt)?;
        let mut memory = Memory::new();
        dump::store_rows(&mut memory, &dump::parse_rows(&received));
        if memory.contains_key(&first) && memory.contains_key(&last) {
            return Ok(memory);
        }
        let text = exchange::escape_tail(&received[..received.len().min(200)]);
        Err(LoaderError::UnexpectedReply { peer: NAME, operation: OPERATION, text })
    }

    fn start(&mut self, session: &mut MonitorSession, entry: u16) -> Result<()> {
        const OPERATION: &str = "starting the program";
        // The output of the program follows the command without a line end; a program may also
        // print nothing.
        let text = start_command(entry);
        type_command(session, OPERATION, &text, text.as_bytes())?;
        session.receives_within(OPERATION, MAX_CHAR_GAP)?;
        let received = String::from_utf8_lossy(session.received()).into_owned();
        if ["Unknown Command", "Syntax Error", "UNKNOWN COMMAND"]
            .iter()
            .any(|no| received.contains(no))
        {
            let text = exchange::escape_tail(session.received());
            return Err(LoaderError::Refused { peer: NAME, operation: OPERATION, text });
        }
        Ok(())
    }

    fn abandon(&mut self, session: &mut MonitorSession) -> &'static str {
        let mut recover = || -> Result<bool> {
            session.discard_unsent()?;
            let received = abort_hex_load(session, ABORTING, CORRUPTED_RECORD_FILL)?;
            Ok(at_romwbw_prompt(&received)
                || at_romwbw_prompt(&exchange::send_keys(session, ABORTING, b"\r")?))
        };
        match recover() {
            Ok(true) => {
                "the monitor is at its prompt, part of the program is loaded: write it again"
            }
            _ => "the monitor may wait for the rest of a load: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        (["L".to_owned()].into_iter())
            .chain(hex_records(image, pace.record_bytes).iter().map(HexRecord::text))
            .chain([END_RECORD.to_owned()])
            .chain(entry.map(start_command))
            .collect()
    }
}

fn start_command(entry: u16) -> String {
    format!("R {entry:04X}")
}

/// Returns `true` for `Loaded` and prompts only.
fn is_success(received: &[u8]) -> bool {
    let text = String::from_utf8_lossy(received);
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("Loaded") && words.all(|word| word.ends_with('>'))
}

/// Enters the monitor from the boot loader, which ignores input for a while after its prompt.
fn enter_monitor(session: &mut MonitorSession, found: &HandshakeResult) -> Result<Vec<u8>> {
    const OPERATION: &str = "starting the monitor from the boot loader";
    // 2.9 reads single keys; a carriage return would be the monitor's first empty line.
    let keys: &[u8] = if found.received.ends_with(b"===> ") { b"M" } else { b"M\r" };
    for _ in 0..ENTER_ATTEMPTS {
        let received = exchange::send_keys(session, OPERATION, keys)?;
        if at_romwbw_prompt(&received) {
            return Ok(received);
        }
        session.pause(OPERATION, LOADER_DISCARD_TIME)?;
        if at_romwbw_prompt(session.received()) {
            return Ok(session.take_received());
        }
    }
    Err(exchange::no_peer_error(session, OPERATION))
}

/// Sends empty lines without delays and counts the prompts: all if flow control works.
fn test_flow_control(session: &mut MonitorSession) -> Result<usize> {
    const OPERATION: &str = "testing the flow control";
    session.take_received();
    session.send(OPERATION, &[b'\r'; FLOW_TEST_CHARS])?;
    let received = session.receive_until_quiet(OPERATION, MAX_CHAR_GAP * 3, REPLY_TIMEOUT * 10)?;
    Ok(received.iter().filter(|byte| **byte == b'>').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_report_is_success() {
        assert!(is_success(b"\r\nLoaded\r\n8E>"));
        assert!(is_success(b"\r\nLoaded\r\n8E>\r\n8E>"));
        for received in
            [&b"\r\nChecksum Error\r\n8E>"[..], b"8E>", b"x\r\nLoaded\r\n8E>", b"Loaded Q\r\n8E>"]
        {
            assert!(!is_success(received), "{received:?}");
        }
    }

    #[test]
    fn the_prompt_needs_its_line_end_or_bank() {
        assert!(at_romwbw_prompt(b"\r\n8E>") && at_romwbw_prompt(b"\r\n>"));
        assert!(!at_romwbw_prompt(b">") && !at_romwbw_prompt(b"\r\nA0>"));
    }
}
