//! ROM BASIC 4.7 of Searle's and feilipu's boards: a hex loader is typed in, byte by byte, and
//! called.
//!
//! BASIC buffers 63 characters (Searle) or 255 (feilipu) while it is busy, and loses the rest
//! without flow control. So every line is shorter than that, and nothing is sent before BASIC is
//! ready again. The carriage return of a line is sent only after a correct echo: a corrupted digit
//! in a POKE would store a byte elsewhere. The hex loader replies to every line of Intel HEX, so
//! that no line is lost and a corrupted one is resent at once.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use crate::basic_output::{integers, is_ready};
use crate::dump::Memory;
use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver};
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT};
use crate::handshake::{self, HandshakeResult};
use crate::monitor::{HexMonitor, LoadReport, check_in_free_memory};
use crate::pace::Pace;
use crate::prompt::{MEMORY_TOP_PROMPT, Peer, START_PROMPTS};
use crate::reach;
use crate::records::{END_RECORD, HexRecord, hex_line, hex_records};
use crate::routine::Routine;
use crate::session::MonitorSession;

const NAME: &str = "the ROM BASIC";
const FINDING: &str = "looking for BASIC's prompt";
/// How long BASIC may take to execute a line; the longest adds up 250 bytes.
const EXECUTION_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum length of a line: fewer characters than the 63 that BASIC buffers.
const MAX_LINE_CHARS: usize = 60;
/// Memory that is free with the largest variant of BASIC and its variables.
const FREE: RangeInclusive<u16> = 0x8400..=0xFEFF;
/// The space that BASIC's stack and strings may need below and above the stack pointer.
const STACK_MARGINS: (u16, u16) = (0x80, 0x180);
/// The number of bytes read back per request to the loader.
const READ_CHUNK_BYTES: u16 = 0x80;
/// The maximum number of transmissions of a line.
const MAX_ATTEMPTS: usize = 5;
/// The maximum number of times the hex loader is typed in until its checksum is correct.
const MAX_ROUNDS: usize = 2;
/// How long BASIC may take to echo a line whose echo has begun: it echoes each character at once.
const ECHO_TIMEOUT: Duration = Duration::from_millis(400);
/// The byte before USR's address, a JP instruction.
const JUMP: u8 = 0xC3;
/// USR's address in Searle's BASIC for 32 KiB of RAM, in feilipu's, and in Searle's for 56 KiB.
const SEARLE: u16 = 0x8049;
const FEILIPU: u16 = 0x8204;
const SEARLE_56K: u16 = 0x2049;
/// Erases the line that is being typed.
const KILL_LINE: &[u8] = b"\x15";
/// Stops a BASIC program.
const CTRL_C: &[u8] = b"\x03";
/// How long BASIC may take from `Memory top?` to its banner: it tests each byte of RAM.
const MEMORY_TEST_TIMEOUT: Duration = Duration::from_secs(4);
const RESTART_TIMEOUT: Duration = Duration::from_secs(2);

/// The variants of BASIC, which differ in USR's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Searle's; USR's address.
    Searle(u16),
    /// feilipu's 4.7c.
    Feilipu,
    /// The one in RomWBW's ROM.
    Romwbw,
    Unknown,
}

impl Dialect {
    /// Detects the variant by the jump before USR's address and by the text of an error.
    pub(crate) fn detect(session: &mut MonitorSession) -> Result<Self> {
        const OPERATION: &str = "looking for USR's address";
        for (usr_address, dialect) in [
            (SEARLE, Self::Searle(SEARLE)),
            (FEILIPU, Self::Feilipu),
            (SEARLE_56K, Self::Searle(SEARLE_56K)),
        ] {
            let before = (usr_address - 1).cast_signed();
            let output = execute(session, OPERATION, &format!("PRINT PEEK({before})"))?;
            if integers(&output).next_back() == Some(JUMP.into()) {
                return Ok(dialect);
            }
        }
        let received = exchange::exchange(session, OPERATION, b"PRINT)\r", REPLY_TIMEOUT)?;
        let is_romwbw = String::from_utf8_lossy(&received).contains("?Syntax Error");
        Ok(if is_romwbw { Self::Romwbw } else { Self::Unknown })
    }

    fn usr_address(self) -> Option<u16> {
        match self {
            Self::Searle(usr_address) => Some(usr_address),
            Self::Feilipu => Some(FEILIPU),
            Self::Romwbw | Self::Unknown => None,
        }
    }
}

/// ROM BASIC with the hex loader.
#[derive(Default)]
pub(crate) struct Basic {
    /// The location of USR's address.
    usr_address: u16,
}

impl HexMonitor for Basic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(
        &mut self,
        session: &mut MonitorSession,
        observer: &mut dyn LoadObserver,
    ) -> Result<String> {
        let found = match reach::reach_peer(session, observer, FINDING, NAME, &[Peer::Basic]) {
            // A running BASIC program reads nothing else, and may print. Loading another program by
            // BASIC implies stopping it.
            Err(
                error @ (LoaderError::NoReply { .. }
                | LoaderError::EndlessText { .. }
                | LoaderError::UnknownPeer { .. }),
            ) => stop_program(session, error)?,
            other => other?,
        };
        answer_start_prompts(session, found.received)?;
        let dialect = Dialect::detect(session)?;
        let Some(usr_address) = dialect.usr_address() else {
            let text = match dialect {
                Dialect::Romwbw => {
                    "this is RomWBW's BASIC: type BYE there, and load with --via romwbw"
                }
                _ => "none of the known addresses has a jump: this is another BASIC",
            };
            let operation = "looking for USR's address";
            return Err(LoaderError::Refused { peer: NAME, operation, text: text.to_owned() });
        };
        self.usr_address = usr_address;
        Ok(format!("ROM BASIC, USR's address at {usr_address:04X}h"))
    }

    fn check(&self, image: &Image) -> Result<()> {
        check_in_free_memory(image, FREE, |free| {
            format!("only {free} is free while BASIC runs: assemble it for there")
        })?;
        match image.bounds() {
            Some(needs) if Routine::hex_loader(image).is_none() => {
                let reason = "it leaves no space for the hex loader".to_owned();
                Err(LoaderError::DoesNotFit { needs, reason })
            }
            _ => Ok(()),
        }
    }

    fn prepare(
        &mut self,
        session: &mut MonitorSession,
        image: &Image,
        observer: &mut dyn LoadObserver,
    ) -> Result<()> {
        const OPERATION: &str = "adding up the hex loader";
        self.check(image)?;
        let Some(hex_loader) = Routine::hex_loader(image) else { return Err(LoaderError::Empty) };
        let sum: u32 = hex_loader.bytes.iter().copied().map(u32::from).sum();
        let mut output = String::new();
        for _ in 0..MAX_ROUNDS {
            for (index, line) in poke_lines(&hex_loader, self.usr_address).iter().enumerate() {
                if type_line(session, "typing in the hex loader", line)? > 1 {
                    observer.on_event(LoadEvent::LoaderLineRetyped(index + 1));
                }
            }
            output = execute(session, OPERATION, &checksum_line(&hex_loader))?;
            if integers(&output).next_back() == Some(sum) {
                return check_stack(image, &hex_loader, call_hex_loader(session)?);
            }
        }
        let text =
            format!("the loader's bytes add up to {sum}, but BASIC printed {}", output.trim());
        Err(LoaderError::UnexpectedReply { peer: NAME, operation: OPERATION, text })
    }

    fn load(
        &mut self,
        session: &mut MonitorSession,
        lines: &[HexRecord],
        pace: Pace,
        on_sent: &mut dyn FnMut(usize),
    ) -> Result<LoadReport> {
        for record in lines {
            if let Some(report) = send_record(session, &record.text(), pace)? {
                return Ok(LoadReport::Failure(format!("line {}: {report}", record.number)));
            }
            on_sent(record.data.len());
        }
        Ok(LoadReport::Success)
    }

    fn read(&mut self, session: &mut MonitorSession, first: u16, last: u16) -> Result<Memory> {
        let mut memory = Memory::new();
        for from in (first..=last).step_by(READ_CHUNK_BYTES.into()) {
            let count = (last - from).min(READ_CHUNK_BYTES - 1) + 1;
            let bytes = read_memory(session, from, count as u8)?;
            memory.extend((from..=last).zip(bytes));
        }
        Ok(memory)
    }

    fn start(&mut self, session: &mut MonitorSession, entry: u16) -> Result<()> {
        match send_record(session, &hex_line(1, entry, &[]), Pace::FULL)? {
            None => Ok(()),
            Some(text) => {
                Err(LoaderError::Refused { peer: NAME, operation: "starting the program", text })
            }
        }
    }

    fn leave(&mut self, session: &mut MonitorSession) -> Result<()> {
        const OPERATION: &str = "going back to BASIC";
        session.send(OPERATION, format!("{END_RECORD}\r").as_bytes())?;
        session.receive_until(OPERATION, REPLY_TIMEOUT, is_ready).map(drop)
    }

    fn abandon(&mut self, session: &mut MonitorSession) -> &'static str {
        match session.discard_unsent().and_then(|()| self.leave(session)) {
            Ok(()) => "BASIC is ready again, part of the program is loaded: write it again",
            Err(_) => "the hex loader may wait for a line: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        let Some(hex_loader) = Routine::hex_loader(image) else { return Vec::new() };
        poke_lines(&hex_loader, SEARLE)
            .into_iter()
            .chain([checksum_line(&hex_loader), "PRINT USR(0)".to_owned()])
            .chain(hex_records(image, pace.record_bytes).iter().map(HexRecord::text))
            .chain([hex_line(1, entry.unwrap_or(0), &[])])
            .collect()
    }
}

/// Returns the lines that store the loader, and its address for USR, in memory.
fn poke_lines(hex_loader: &Routine, usr_address: u16) -> Vec<String> {
    let cells = (hex_loader.entry..).zip(hex_loader.bytes.iter().copied());
    let entry = (usr_address..).zip(hex_loader.entry.to_le_bytes());
    let mut lines = vec![String::new()];
    for (address, byte) in cells.chain(entry) {
        // BASIC takes addresses from 8000h as negative numbers.
        let poke = format!("POKE{},{byte}", address.cast_signed());
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = poke,
            Some(line) if line.len() + 1 + poke.len() <= MAX_LINE_CHARS => {
                line.push(':');
                line.push_str(&poke);
            }
            _ => lines.push(poke),
        }
    }
    lines
}

/// Returns the line that prints the sum of the loader's bytes.
fn checksum_line(hex_loader: &Routine) -> String {
    let first = hex_loader.entry.cast_signed();
    let count = hex_loader.bytes.len() as i16;
    let last = first.wrapping_add(count - 1);
    format!("S=0:FOR I={first} TO {last}:S=S+PEEK(I):NEXT:PRINT S")
}

/// Stops a running program, or returns the error by which it was noticed. ESC would do the same, but
/// has other effects in other monitors.
fn stop_program(session: &mut MonitorSession, unreached: LoaderError) -> Result<HandshakeResult> {
    let received = exchange::send_keys(session, FINDING, CTRL_C)?;
    if !is_ready(&received) && !handshake::is_blank(&received) {
        return Err(unreached);
    }
    Ok(HandshakeResult { peer: Some(Peer::Basic), received, recovered: true })
}

/// Answers the start prompts: warm start, or else a cold one, which clears the program.
fn answer_start_prompts(session: &mut MonitorSession, mut received: Vec<u8>) -> Result<()> {
    const OPERATION: &str = "answering BASIC's start prompts";
    for keys in [b"W", b"C"] {
        let text = String::from_utf8_lossy(&received).into_owned();
        if !START_PROMPTS.iter().any(|prompt| text.ends_with(prompt)) {
            break;
        }
        let reply = exchange::exchange(session, OPERATION, keys, RESTART_TIMEOUT)?;
        if !reply.is_empty() {
            received = reply;
        }
    }
    if received.ends_with(MEMORY_TOP_PROMPT.as_bytes()) {
        session.send(OPERATION, b"\r")?;
        session.receive_until(OPERATION, MEMORY_TEST_TIMEOUT, is_ready)?;
    }
    Ok(())
}

fn execute(session: &mut MonitorSession, operation: &'static str, command: &str) -> Result<String> {
    execute_within(session, operation, command, EXECUTION_TIMEOUT, &mut 0)
}

/// Executes a command within `timeout`. `attempts` counts how often it was typed.
fn execute_within(
    session: &mut MonitorSession,
    operation: &'static str,
    command: &str,
    timeout: Duration,
    attempts: &mut usize,
) -> Result<String> {
    type_until_echoed(session, operation, command, attempts)?;
    session.send(operation, b"\r")?;
    let received = session.receive_until(operation, timeout, is_ready)?;
    let text = String::from_utf8_lossy(&received).replace(['\r', '\n'], "");
    if text.contains("Error") {
        let text = exchange::escape_tail(&received);
        return Err(LoaderError::UnexpectedReply { peer: NAME, operation, text });
    }
    Ok(text.trim_end_matches("Ok").to_owned())
}

/// Types a line that may be repeated until it was executed, and returns the number of attempts.
fn type_line(session: &mut MonitorSession, operation: &'static str, line: &str) -> Result<usize> {
    let mut attempts = 0;
    for _ in 1..MAX_ATTEMPTS {
        match execute_within(session, operation, line, EXECUTION_TIMEOUT, &mut attempts) {
            Ok(_) => return Ok(attempts),
            // The carriage return or the reply was corrupted: repeats the whole line.
            Err(LoaderError::NoReply { .. } | LoaderError::UnexpectedReply { .. }) => {
                exchange::exchange(session, operation, KILL_LINE, MAX_CHAR_GAP * 2)?;
            }
            Err(error) => return Err(error),
        }
    }
    execute_within(session, operation, line, EXECUTION_TIMEOUT, &mut attempts).map(|_| attempts)
}

/// Types a command without its carriage return until the echo is correct.
fn type_until_echoed(
    session: &mut MonitorSession,
    operation: &'static str,
    command: &str,
    attempts: &mut usize,
) -> Result<()> {
    let mut received = Vec::new();
    for _ in 0..MAX_ATTEMPTS {
        session.take_received();
        *attempts += 1;
        session.send(operation, command.as_bytes())?;
        received = match receive_echo(session, operation, command) {
            Ok(_) => return Ok(()),
            Err(LoaderError::NoReply { .. }) => session.take_received(),
            Err(error) => return Err(error),
        };
        exchange::exchange(session, operation, KILL_LINE, MAX_CHAR_GAP * 2)?;
    }
    if received.is_empty() {
        return Err(session.timeout_error(operation, REPLY_TIMEOUT * MAX_ATTEMPTS as u32));
    }
    let text = exchange::escape_tail(&received);
    Err(LoaderError::UnexpectedReply { peer: NAME, operation, text })
}

/// Receives the echo of a command, of which characters may be lost once it has begun.
fn receive_echo(
    session: &mut MonitorSession,
    operation: &'static str,
    command: &str,
) -> Result<Vec<u8>> {
    let began = session.receive_until(operation, REPLY_TIMEOUT, |received| !received.is_empty())?;
    session.unread(&began);
    session
        .receive_until(operation, ECHO_TIMEOUT, |received| received.ends_with(command.as_bytes()))
}

/// Calls the loader and returns the stack pointer that it reports.
fn call_hex_loader(session: &mut MonitorSession) -> Result<u16> {
    const OPERATION: &str = "starting the hex loader";
    type_until_echoed(session, OPERATION, "PRINT USR(0)", &mut 0)?;
    session.send(OPERATION, b"\r")?;
    let stack = |received: &[u8]| {
        let at = received.iter().rposition(|byte| *byte == b'=')?;
        let digits = received.get(at + 1..at + 5)?;
        (received.get(at + 5) == Some(&b':')).then_some(())?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let received =
        session.receive_until(OPERATION, REPLY_TIMEOUT, |received| stack(received).is_some())?;
    Ok(stack(&received).unwrap_or_default())
}

/// Returns an error if the image or the loader overlaps BASIC's stack and strings.
fn check_stack(image: &Image, hex_loader: &Routine, stack: u16) -> Result<()> {
    let from = stack.saturating_sub(STACK_MARGINS.0);
    let to = stack.saturating_add(STACK_MARGINS.1);
    let runs = image
        .runs()
        .iter()
        .map(|run| (run.address, (usize::from(run.address) + run.bytes.len() - 1) as u16));
    match runs
        .chain([(hex_loader.entry, hex_loader.last)])
        .find(|(first, last)| *first <= to && *last >= from)
    {
        None => Ok(()),
        Some(needs) => {
            let reason = format!(
                "BASIC's stack is at {stack:04X}h: reset the board, and at `Memory top?` give an \
                 address below the program's"
            );
            Err(LoaderError::DoesNotFit { needs, reason })
        }
    }
}

/// Sends a record until the loader accepts it; returns the last report if it never does.
fn send_record(session: &mut MonitorSession, line: &str, pace: Pace) -> Result<Option<String>> {
    const OPERATION: &str = "sending lines";
    let mut report = String::new();
    for _ in 0..MAX_ATTEMPTS {
        session.take_received();
        session.send_paced(OPERATION, format!("{line}\r").as_bytes(), pace)?;
        match session.receive_until(OPERATION, REPLY_TIMEOUT, |received| !received.is_empty()) {
            Ok(received) if received.starts_with(b"+") => {
                // The record that starts a program is followed by its output.
                session.unread(&received[1..]);
                return Ok(None);
            }
            Ok(received) => report = format!("it replied {}", exchange::escape_tail(&received)),
            Err(LoaderError::NoReply { .. }) => "no reply".clone_into(&mut report),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(report))
}

fn read_memory(session: &mut MonitorSession, from: u16, count: u8) -> Result<Vec<u8>> {
    const OPERATION: &str = "reading memory back";
    let request = hex_line(2, from, &[count]);
    let mut received = Vec::new();
    for _ in 0..MAX_ATTEMPTS {
        session.take_received();
        session.send_paced(OPERATION, format!("{request}\r").as_bytes(), Pace::FULL)?;
        received = match session.receive_while_coming(OPERATION, REPLY_TIMEOUT, |received| {
            received.ends_with(b"+") || received.ends_with(b"-")
        }) {
            Ok(received) => received,
            Err(LoaderError::NoReply { .. }) => session.take_received(),
            Err(error) => return Err(error),
        };
        if let Some(bytes) = parse_memory_line(&received, count) {
            return Ok(bytes);
        }
    }
    let text = exchange::escape_tail(&received);
    Err(LoaderError::UnexpectedReply { peer: NAME, operation: OPERATION, text })
}

/// Parses a complete line of memory from the loader: `>`, digits, their checksum, `+`.
fn parse_memory_line(received: &[u8], count: u8) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(received).ok()?;
    let digits = text.split_once('>')?.1.strip_suffix('+')?.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let mut bytes = digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>()?;
    let sum = bytes.pop()?;
    let added = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    (bytes.len() == usize::from(count) && sum == added).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::ImageRun;

    fn hex_loader() -> Routine {
        Routine { entry: 0x8900, bytes: vec![1, 20, 255], last: 0x8930 }
    }

    #[test]
    fn typed_lines_fit_and_have_signed_addresses() {
        let lines = poke_lines(&hex_loader(), 0x8049);
        let pokes = "POKE-30464,1:POKE-30463,20:POKE-30462,255:POKE-32695,0";
        assert_eq!(lines, [pokes.to_owned(), "POKE-32694,137".to_owned()]);
        assert!(
            checksum_line(&hex_loader())
                .ends_with("FOR I=-30464 TO -30462:S=S+PEEK(I):NEXT:PRINT S")
        );
        let image = Image::new([ImageRun { address: 0x9000, bytes: vec![0] }]);
        let script = Basic::default().script(&image, Some(0x9000), Pace::FULL);
        assert!(script.iter().all(|line| line.len() <= MAX_LINE_CHARS), "{script:?}");
        assert_eq!(
            script[script.len() - 2..],
            [":019000000".to_owned() + "06F", ":009000016F".to_owned()]
        );
    }

    #[test]
    fn a_memory_line_is_parsed_only_if_it_is_complete() {
        assert_eq!(parse_memory_line(b">01FF00+", 2), Some(vec![1, 0xFF]));
        for received in [&b">01FF01+"[..], b">01FF00-", b"01FF00+", b">01F00+", b">0100+", b""] {
            assert_eq!(parse_memory_line(received, 2), None, "{received:?}");
        }
    }

    #[test]
    fn programs_that_overlap_basics_stack_are_refused() {
        let image = |address| Image::new([ImageRun { address, bytes: vec![0; 16] }]);
        assert!(check_stack(&image(0x9000), &hex_loader(), 0xFF54).is_ok());
        assert!(check_stack(&image(0xFEE0), &hex_loader(), 0xFF54).is_err());
        assert!(check_stack(&image(0x9000), &hex_loader(), 0x8900).is_err());
    }
}
