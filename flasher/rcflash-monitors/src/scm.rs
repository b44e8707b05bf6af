//! The Small Computer Monitor, 1.0 and 1.3: a colon at its prompt starts a load, which ends with
//! `Ready` or `File error`.
//!
//! It computes one checksum for the whole load, recognises no record type but 01, stores bytes
//! before it checks them, and waits without limit for the rest of a record. So only types 00 and 01
//! are sent, lines end with CR alone (the LF of a CR LF after the last line turns the next load
//! into commands), and `Ready` counts only if nothing else was received.
//!
//! It polls its serial chip: what arrives while it prints is lost except for two characters. So
//! nothing is sent before a reply is complete, and a page of the dump is complete only with its
//! last line end.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::{Image, ImageRun};

use crate::dump::{self, Memory, ROW_BYTES};
use crate::error::{LoaderError, Result};
use crate::event::LoadObserver;
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT};
use crate::handshake::{CORRUPTED_RECORD_FILL, abort_hex_load};
use crate::monitor::{HexMonitor, LoadReport, check_in_free_memory};
use crate::pace::Pace;
use crate::processor::{self, BoardProcessor, CONFIGURATION};
use crate::prompt::{Peer, identify_prompt};
use crate::reach;
use crate::records::{END_RECORD, HexRecord, hex_records};
use crate::routine::Routine;
use crate::session::MonitorSession;
use crate::xmodem::CRC;

const NAME: &str = "the Small Computer Monitor";
/// Memory that is free for programs; the monitor's data is above.
const FREE: RangeInclusive<u16> = 0x8000..=0xFBFF;
/// The complete reply to a successful load.
const READY: &[u8] = b"Ready\r\n\r\n*";
/// How long the report of a load may take after its last character.
const REPORT_TIMEOUT: Duration = Duration::from_secs(3);
/// Rows of a page of the dump, after which the monitor waits for a key.
const PAGE_ROWS: usize = 8;
/// Ends the dump, and the other commands that prompt for one line after the other.
const ESCAPE: &[u8] = b"\x1B";
const FINDING: &str = "looking for the prompt of the Small Computer Monitor";

const RECOVERING: &str = "getting back to the prompt of the Small Computer Monitor";

#[derive(Default)]
pub(crate) struct Scm {
    processor: BoardProcessor,
}

/// Returns the monitor's name, with its version if its reply to HELP has one, and whether it has.
pub(crate) fn parse_version(help: &str) -> (String, bool) {
    let line = help.lines().find(|line| line.contains(CONFIGURATION));
    let version = line.and_then(|line| {
        line.split([' ', ',']).find(|word| {
            word.split('.').count() == 3 && word.split('.').all(|part| part.parse::<u8>().is_ok())
        })
    });
    match version {
        Some(version) => (format!("Small Computer Monitor {version}"), true),
        None => ("a monitor with the prompt of the Small Computer Monitor".to_owned(), false),
    }
}

/// Returns the reply to HELP.
pub(crate) fn help(session: &mut MonitorSession) -> Result<String> {
    let help = ask_help(session)?;
    whole_help(session, &help)
}

fn ask_help(session: &mut MonitorSession) -> Result<Vec<u8>> {
    exchange::command(session, "asking for the version", "HELP", at_prompt)
}

/// Returns a reply to HELP, which is asked for again if it names no configuration: HELP was then
/// the end of a line whose beginning was sent to identify the monitor.
fn whole_help(session: &mut MonitorSession, help: &[u8]) -> Result<String> {
    let help = String::from_utf8_lossy(help).into_owned();
    if help.contains(CONFIGURATION) {
        return Ok(help);
    }
    Ok(String::from_utf8_lossy(&ask_help(session)?).into_owned())
}

impl HexMonitor for Scm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(
        &mut self,
        session: &mut MonitorSession,
        observer: &mut dyn LoadObserver,
    ) -> Result<String> {
        let mut help = Vec::new();
        if at_prompt(session.received()) {
            help = ask_help(session)?;
        }
        if !at_prompt(&help) {
            reach::reach_peer(session, observer, FINDING, NAME, &[Peer::Scm])?;
            help = ask_help(session)?;
        }
        let help = whole_help(session, &help)?;
        self.processor = processor::scm_processor(&help);
        Ok(parse_version(&help).0)
    }

    fn processor(&mut self, _: &mut MonitorSession) -> Result<BoardProcessor> {
        Ok(self.processor)
    }

    fn check(&self, image: &Image) -> Result<()> {
        check_in_free_memory(image, FREE, |free| format!("the monitor leaves {free} to programs"))
    }

    fn load(
        &mut self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport> {
        session.take_received();
        if let Some(line) = session.send_records(lines, "\r", pace, on_sent)? {
            return report_rejected_line(session, line);
        }
        session.send_paced("sending the last line", END_RECORD.as_bytes(), pace)?;
        match session.receive_until("waiting for the report of the load", REPORT_TIMEOUT, at_prompt)
        {
            Ok(received) if received == READY => Ok(LoadReport::Success),
            Ok(received) => {
                back_to_prompt(session)?;
                Ok(LoadReport::Failure(report_text(&received)))
            }
            Err(LoaderError::NoReply { .. }) => {
                back_to_prompt(session)?;
                Ok(LoadReport::Failure("it waited for more characters than it received".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, session: &mut MonitorSession, first: u16, last: u16) -> Result<Memory> {
        const OPERATION: &str = "reading memory back";
        let mut memory = Memory::new();
        let mut page = first;
        let mut key = format!("M {first:04X}\r");
        loop {
            session.type_command(OPERATION, &key)?;
            let received = session.receive_while_coming(OPERATION, REPLY_TIMEOUT, |received| {
                is_page(received) || at_prompt(received)
            })?;
            let rows = dump::parse_rows(&received);
            if rows.first().map(|(at, _)| *at) != Some(page) {
                return Err(unexpected_reply_error(OPERATION, &received));
            }
            dump::store_rows(&mut memory, &rows);
            page = page.wrapping_add((PAGE_ROWS * ROW_BYTES) as u16);
            if page > last || page < first {
                break;
            }
            key = "\r".to_owned();
        }
        session.send(OPERATION, ESCAPE)?;
        session.receive_until(OPERATION, REPLY_TIMEOUT, at_prompt)?;
        Ok(memory)
    }

    fn confirms(
        &mut self,
        session: &mut MonitorSession,
        image: &Image,
        pace: Pace,
    ) -> Result<bool> {
        const OPERATION: &str = "adding up memory";
        let routine = Routine::checksum(image).filter(|routine| FREE.contains(&routine.last));
        let Some(Routine { entry, bytes, last }) = routine else { return Ok(false) };
        let code = Image::new([ImageRun { address: entry, bytes }]);
        let lines = hex_records(&code, pace.record_bytes);
        if self.load(session, &lines, pace, &mut |_| {})? != LoadReport::Success
            || !dump::mismatches(&code, &self.read(session, entry, last)?).is_empty()
        {
            return Ok(false);
        }
        let mut crc = CRC.digest();
        image.runs().iter().for_each(|run| crc.update(&run.bytes));
        exchange::type_checked(session, NAME, OPERATION, &start_command(entry))?;
        session.send(OPERATION, b"\r")?;
        let received = session.receive_until(OPERATION, REPLY_TIMEOUT, at_prompt)?;
        let sum = format!("{:04X}", crc.finalize());
        Ok(String::from_utf8_lossy(&received).split_whitespace().any(|word| word == sum))
    }

    fn start(&mut self, session: &mut MonitorSession, entry: u16) -> Result<()> {
        const OPERATION: &str = "starting the program";
        let command = start_command(entry);
        session.type_command(OPERATION, &format!("{command}\r"))?;
        let echo = format!("{command}\r\n").into_bytes();
        let received = session
            .receive_until(OPERATION, REPLY_TIMEOUT, |received| received.starts_with(&echo))?;
        session.unread(&received[echo.len()..]);
        Ok(())
    }

    fn abandon(&mut self, session: &mut MonitorSession) -> &'static str {
        let mut recover = || -> Result<bool> {
            session.discard_unsent()?;
            session.send("ending the load", END_RECORD.as_bytes())?;
            let received =
                session.receive_until_quiet("ending the load", MAX_CHAR_GAP, REPLY_TIMEOUT)?;
            Ok(at_prompt(&received)
                || at_prompt(&abort_hex_load(session, "ending the load", CORRUPTED_RECORD_FILL)?))
        };
        match recover() {
            Ok(true) => {
                "the monitor is at its prompt, part of the program is loaded: write it again"
            }
            _ => "the monitor may wait for the rest of a line: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        (hex_records(image, pace.record_bytes).iter().map(HexRecord::text))
            .chain([END_RECORD.to_owned()])
            .chain(entry.map(start_command))
            .collect()
    }
}

/// Handles a message in the middle of a load: a line was echoed as a command, not accepted.
fn report_rejected_line(session: &mut MonitorSession, line: &HexRecord) -> Result<LoadReport> {
    session.discard_unsent()?;
    let received = session.receive_until_quiet(
        "receiving its message during the load",
        MAX_CHAR_GAP,
        REPLY_TIMEOUT,
    )?;
    back_to_prompt(session)?;
    Ok(LoadReport::Failure(format!("in line {} {}", line.number, report_text(&received))))
}

fn report_text(received: &[u8]) -> String {
    format!("it replied {}", rcflash_link::escape_bytes(received))
}

/// Brings the monitor to its prompt after a failed load: from the prompt, from a command that waits
/// for input, or from a line that has lost characters.
fn back_to_prompt(session: &mut MonitorSession) -> Result<()> {
    let received = exchange::send_keys(session, RECOVERING, b"\r")?;
    if at_prompt(&received) {
        return Ok(());
    }
    if !received.is_empty() {
        // A command that prompts for one line after the other.
        exchange::send_keys(session, RECOVERING, ESCAPE)?;
        if at_prompt(&exchange::send_keys(session, RECOVERING, b"\r")?) {
            return Ok(());
        }
    }
    match abort_hex_load(session, RECOVERING, CORRUPTED_RECORD_FILL)? {
        received if at_prompt(&received) => Ok(()),
        _ => Err(exchange::no_peer_error(session, RECOVERING)),
    }
}

fn start_command(entry: u16) -> String {
    format!("G {entry:04X}")
}

/// Returns `true` if the prompt is at the end, after a line end or not.
fn at_prompt(received: &[u8]) -> bool {
    // The whole text is read only where it may end: a dump asks after each character.
    received.ends_with(b"*") && identify_prompt(received) == Some(Peer::Scm)
}

/// Returns `true` if a page of the dump is complete: eight rows, and the end of the last.
fn is_page(received: &[u8]) -> bool {
    received.ends_with(b"\n") && dump::parse_rows(received).len() >= PAGE_ROWS
}

fn unexpected_reply_error(operation: &'static str, received: &[u8]) -> LoaderError {
    LoaderError::UnexpectedReply {
        peer: NAME,
        operation,
        text: rcflash_link::escape_bytes(received),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_both_forms_of_help() {
        let old = "HELP\r\nSmall Computer Monitor\r\nVersion 1.0.0 configuration R1 for Z80 based \
        RC2014 systems\r\n";
        let new = "Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0\r\n";
        assert_eq!(parse_version(old), ("Small Computer Monitor 1.0.0".to_owned(), true));
        assert_eq!(parse_version(new), ("Small Computer Monitor 1.3.0".to_owned(), true));
        let (name, is_certain) = parse_version("*");
        assert!(name.starts_with("a monitor with the prompt") && !is_certain);
    }

    #[test]
    fn a_bare_prompt_counts_and_a_page_ends_with_its_line() {
        assert!(at_prompt(b"*") && at_prompt(b"HELLO\r\n*") && !at_prompt(b"* "));
        let row = "8000:  11 07 80 0E 06 F7 C9 48  45 4C 4C 4F 0D 0A 00 FF  .......HELLO....\r\n";
        let page = row.repeat(8);
        assert!(is_page(page.as_bytes()));
        assert!(!is_page(&page.as_bytes()[..page.len() - 1]) && !is_page(row.as_bytes()));
    }

    #[test]
    fn programs_that_overlap_rom_or_the_monitors_data_are_refused() {
        let fits = |address, count| {
            let image = Image::new([ImageRun { address, bytes: vec![0; count] }]);
            Scm::default().check(&image).is_ok()
        };
        assert!(fits(0x8000, 0x7C00));
        assert!(!fits(0x7FFF, 2));
        assert!(!fits(0x8000, 0x7C01));
    }
}
