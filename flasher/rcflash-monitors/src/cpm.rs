//! Sends files to CP/M by XMODEM: starts the receiver, sends, reads back, starts the file.

use std::time::Duration;

use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver, LoadStage};
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT};
use crate::pace::Pace;
use crate::prompt::{Peer, identify_prompt};
use crate::reach::{self, FlowControlMode};
use crate::session::MonitorSession;
use crate::xmodem::{
    self, BLOCK_BYTES, CheckMode, PAD, StartRequest, TransferSummary, XmodemSender,
};

const NAME: &str = "CP/M";
const FINDING: &str = "looking for CP/M's prompt";
/// How long XM 12.5 waits between two start requests, and some more.
const CALL_INTERVAL: Duration = Duration::from_millis(5500);
/// How long closing a file may take, which may move a floppy's head, and more than XM waits before
/// it repeats an EOT.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a sending program prints nothing once it waits for the request. While it prints, and
/// while it is loaded, BDOS takes a character that arrives for CP/M's next prompt.
const SENDER_QUIET: Duration = Duration::from_secs(1);
/// The maximum number of times a command is typed whose echo is wrong, and the key that erases it.
const MAX_ATTEMPTS: usize = 4;
const KILL_LINE: &[u8] = b"\x15";
/// Characters that CP/M's own programs refuse in file names.
const FORBIDDEN_CHARS: &str = "<>.,;:=?*[]_%|()/\\";

/// A file for CP/M, and how to send it.
#[derive(Debug, Clone)]
pub struct FileTransfer<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// The file name in CP/M.
    pub name: CpmName,
    /// The XMODEM program in CP/M, see [`transfer_command`]; `None` if a receiver already waits.
    pub xmodem_program: Option<&'a str>,
    /// Whether to start it, if it is a program.
    pub run: bool,
    /// Whether to read it back and compare.
    pub verify: bool,
    /// Whether to erase an existing file of this name.
    pub replace: bool,
    /// The pace of the first blocks.
    pub pace: Pace,
    /// The flow control.
    pub flow_control: FlowControlMode,
    /// How long to wait for the receiver's start request, and for each reply.
    pub reply_timeout: Duration,
}

impl FileTransfer<'_> {
    /// Returns the commands for CP/M's prompt and the transfers between them, in order.
    pub fn script(&self) -> Vec<String> {
        let blocks = self.bytes.len().div_ceil(BLOCK_BYTES);
        let mut script = Vec::new();
        script
            .extend(self.xmodem_program.map(|program| transfer_command(program, 'R', &self.name)));
        script.push(format!("XMODEM, {blocks} blocks of {BLOCK_BYTES} bytes"));
        if let Some(program) = self.xmodem_program.filter(|_| self.verify) {
            script.push(transfer_command(program, 'S', &self.name));
            script.push(format!("XMODEM back, {blocks} blocks of {BLOCK_BYTES} bytes"));
        }
        script.extend(self.command());
        script
    }

    /// Returns the command that starts the file, if it is a program that is to be started.
    pub fn command(&self) -> Option<String> {
        self.name.command().filter(|_| self.run && self.xmodem_program.is_some())
    }
}

/// Returns the command that receives (`R`) or sends (`S`) a file: `PROGRAM R NAME`, or of a pair
/// `RECEIVER,SENDER` the program with the name as its last argument or in place of `{}`.
///
/// ```
/// use rcflash_monitors::{CpmName, transfer_command};
/// let name = CpmName::new("X.COM").unwrap();
/// assert_eq!(transfer_command("XM", 'S', &name), "XM S X.COM");
/// assert_eq!(transfer_command("PCGET,PCPUT", 'S', &name), "PCPUT X.COM");
/// assert_eq!(transfer_command("XMODEM {} /R,XMODEM {} /S", 'R', &name), "XMODEM X.COM /R");
/// ```
#[must_use]
pub fn transfer_command(program: &str, letter: char, name: &CpmName) -> String {
    let Some((receiver, sender)) = program.split_once(',') else {
        return format!("{program} {letter} {name}");
    };
    let command = if letter == 'R' { receiver } else { sender };
    match command.contains("{}") {
        true => command.replace("{}", &name.0),
        false => format!("{command} {name}"),
    }
}

/// A CP/M file name: optional drive, up to eight characters, optional extension of up to three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpmName(String);

impl CpmName {
    /// Returns the name in capitals; `None` if it is not valid in CP/M.
    ///
    /// ```
    /// use rcflash_monitors::CpmName;
    /// assert_eq!(CpmName::new("b:prog.com").unwrap().to_string(), "B:PROG.COM");
    /// assert_eq!(CpmName::new("long-program.com"), None);
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let (drive, file) =
            name.split_once(':').map_or((None, name.as_str()), |(drive, file)| (Some(drive), file));
        let (stem, end) = file.split_once('.').unwrap_or((file, ""));
        let is_valid = |part: &str, max: usize| {
            part.len() <= max
                && part.chars().all(|c| c.is_ascii_graphic() && !FORBIDDEN_CHARS.contains(c))
        };
        let drive_is_good = drive.is_none_or(|drive| matches!(drive.as_bytes(), [b'A'..=b'P']));
        (drive_is_good && !stem.is_empty() && is_valid(stem, 8) && is_valid(end, 3))
            .then_some(Self(name))
    }

    fn command(&self) -> Option<String> {
        self.0.strip_suffix(".COM").map(str::to_owned)
    }
}

impl std::fmt::Display for CpmName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Sends a file to CP/M.
///
/// # Errors
/// Returns the transfer's error, or [`LoaderError::Interrupted`] after the receiver was cancelled.
pub fn transfer_file(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
) -> std::result::Result<TransferSummary, LoaderError> {
    if file.bytes.is_empty() {
        return Err(LoaderError::Empty);
    }
    let outcome = run_steps(session, file, observer);
    if let Err(LoaderError::Interrupted { operation, .. }) = outcome
        && operation != FINDING
    {
        session.ignore_stop();
        return Err(LoaderError::Interrupted { operation, state: abandon(session) });
    }
    outcome
}

fn run_steps(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
) -> Result<TransferSummary> {
    let Some(program) = file.xmodem_program else {
        session.set_flow_control(file.flow_control != FlowControlMode::None)?;
        return sender(session, file, observer).send(file.bytes);
    };
    let drive = reach::with_flow_fallback(session, observer, file.flow_control, reach)?;
    let (program, start) = start_receiver(session, file, observer, program, drive)?;
    let summary = sender(session, file, observer).send_with(start, file.bytes)?;
    wait_for_prompt(session, "waiting for the receiver to close the file")?;
    if file.verify {
        verify(session, file, observer, &program)?;
    }
    if let Some(name) = file.command() {
        command(session, "starting the program", &name)?;
    }
    Ok(summary)
}

fn sender<'a>(
    session: &'a mut MonitorSession,
    file: &FileTransfer,
    observer: &'a mut dyn LoadObserver,
) -> XmodemSender<'a> {
    XmodemSender { session, observer, reply_timeout: file.reply_timeout, pace: file.pace }
}

/// Starts the receiver and waits for its start request. Returns the name by which the program was
/// found, and the start request.
///
/// RomWBW starts on its ROM drive, which has the program but is not writable: then the file goes to
/// drive A, and the program is called with its drive. If the current drive is A, the program may be
/// on drive B.
fn start_receiver(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
    program: &str,
    drive: char,
) -> Result<(String, StartRequest)> {
    let mut last = None;
    let has_drive = program.contains(':');
    let other_drive = if drive == 'A' { 'B' } else { drive };
    let on_other_drive = program.split(',').map(|program| format!("{other_drive}:{program}"));
    let on_other_drive = on_other_drive.collect::<Vec<_>>().join(",");
    for program in [program.to_owned(), on_other_drive] {
        if last.is_some() && drive != 'A' {
            command(session, "changing to drive A", "A:")?;
            wait_for_prompt(session, "changing to drive A")?;
        }
        match call_receiver(session, file, observer, &program) {
            Ok(start) => return Ok((program, start)),
            Err(LoaderError::Refused { peer, operation, text }) => {
                // CP/M replies to an unknown program with its name and a question mark.
                let is_missing = text.trim_end_matches(|c: char| c != '?').ends_with('?');
                let is_rom = xmodem::is_disk_error(text.as_bytes()) || text.contains("Bdos Err");
                if is_rom {
                    // Ctrl-C ends the program; any other key would continue with the damaged file.
                    session.send(operation, b"\x03")?;
                    wait_for_prompt(session, operation)?;
                }
                let text = with_hint(&text, file);
                let error = LoaderError::Refused { peer, operation, text };
                if has_drive || !(is_missing && drive == 'A' || is_rom && drive != 'A') {
                    return Err(error);
                }
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| session.timeout_error("starting the receiver", file.reply_timeout)))
}

/// Starts the receiver, again after erasing an existing file that may be replaced.
fn call_receiver(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
    program: &str,
) -> Result<StartRequest> {
    const OPERATION: &str = "starting the receiver";
    let line = transfer_command(program, 'R', &file.name);
    command(session, OPERATION, &line)?;
    match sender(session, file, observer).wait_for_start() {
        Err(LoaderError::Refused { text, .. }) if file.replace && is_existing_file(&text) => {
            erase(session, &file.name.0)?;
            command(session, OPERATION, &line)?;
            sender(session, file, observer).wait_for_start()
        }
        other => other,
    }
}

/// Erases a file, from one prompt to the next.
pub(crate) fn erase(session: &mut MonitorSession, name: &str) -> Result<()> {
    const OPERATION: &str = "erasing a file";
    command(session, OPERATION, &format!("ERA {name}"))?;
    wait_for_prompt(session, OPERATION)
}

/// Returns `true` if XM refuses because the file exists.
fn is_existing_file(text: &str) -> bool {
    text.contains("File exists")
}

fn with_hint(text: &str, file: &FileTransfer) -> String {
    if is_existing_file(text) {
        let name = &file.name;
        return format!("{text}; give another --name, or erase it there with ERA {name}");
    }
    text.to_owned()
}

/// Brings CP/M to its prompt, cancels a receiver left from before; returns the drive.
fn reach(session: &mut MonitorSession, observer: &mut dyn LoadObserver) -> Result<char> {
    let accepted = [Peer::Cpm, Peer::XmodemReceiver];
    let found = match reach::reach_peer(session, observer, FINDING, NAME, &accepted) {
        // A receiver between two start requests.
        Err(LoaderError::NoReply { .. }) => None,
        other => Some(other?),
    };
    let received = match found {
        Some(found) if found.peer == Some(Peer::Cpm) => found.received,
        waiting => {
            let in_transfer = waiting.is_some();
            let Some(received) = end_transfer(session, FINDING, in_transfer, CALL_INTERVAL)? else {
                return Err(exchange::no_peer_error(session, FINDING));
            };
            observer.on_event(LoadEvent::PromptRecovered);
            received
        }
    };
    observer.on_event(LoadEvent::Found("CP/M at its prompt".to_owned()));
    Ok(drive(&received))
}

/// Returns the drive letter of the prompt.
fn drive(received: &[u8]) -> char {
    let text = String::from_utf8_lossy(received);
    let last = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    last.chars().next().unwrap_or('A')
}

/// Ends the transfer of a program in CP/M, and returns the text with CP/M's prompt; `None` if there
/// is none. Nothing is sent unless the program is known to be in a transfer: `in_transfer`, or it
/// requests or sends something within `timeout`. CP/M's prompt would take CAN for a key.
fn end_transfer(
    session: &mut MonitorSession,
    operation: &'static str,
    mut in_transfer: bool,
    timeout: Duration,
) -> Result<Option<Vec<u8>>> {
    let at_prompt = |received: &[u8]| identify_prompt(received) == Some(Peer::Cpm);
    for _ in 0..MAX_ATTEMPTS {
        if !in_transfer {
            session.receives_within(operation, timeout)?;
            let received =
                session.receive_until_quiet(operation, exchange::REPLY_QUIET, CLOSE_TIMEOUT)?;
            match received.is_empty() {
                _ if at_prompt(&received) => return Ok(Some(received)),
                true => return Ok(None),
                false => in_transfer = xmodem::is_in_transfer(&received),
            }
        }
        if std::mem::take(&mut in_transfer) {
            session.take_received();
            xmodem::cancel(session, operation)?;
            match session.receive_until(operation, 3 * REPLY_TIMEOUT, at_prompt) {
                Ok(received) => return Ok(Some(received)),
                Err(LoaderError::NoReply { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

/// Reads the file back and compares it, a second time if it differs, since a checksum misses one
/// error in 256, or if the transfer failed.
fn verify(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
    program: &str,
) -> Result<()> {
    let mut retry = true;
    loop {
        let line = transfer_command(program, 'S', &file.name);
        command(session, "requesting the file", &line)?;
        wait_for_sender(session, file.reply_timeout)?;
        let compared = compare(session, file, observer);
        let is_back = match &compared {
            Err(LoaderError::Interrupted { .. }) => return compared,
            // Its text ends with the prompt, or it cancelled.
            Err(LoaderError::Refused { .. }) => return compared,
            _ => wait_for_prompt(session, "waiting for the sender to end"),
        };
        match (compared, is_back) {
            (Err(_), Ok(())) if retry => retry = false,
            (Ok(()), is_back) => return is_back,
            (compared, _) => return compared,
        }
    }
}

/// Waits until the sending program has printed what it prints at its start. One that prints nothing
/// is sent nothing: it may not have been started, and CP/M would take the request for a key.
fn wait_for_sender(session: &mut MonitorSession, timeout: Duration) -> Result<()> {
    const OPERATION: &str = "waiting for the sender to start";
    let is_text = |received: &[u8]| received.iter().any(u8::is_ascii_graphic);
    let started = session.receive_until(OPERATION, timeout, is_text)?;
    session.unread(&started);
    let text = session.receive_until_quiet(OPERATION, SENDER_QUIET, timeout)?;
    if contains_prompt(&text) {
        let text = exchange::escape_tail(&text);
        return Err(LoaderError::Refused { peer: NAME, operation: OPERATION, text });
    }
    Ok(())
}

/// Types a command, and sends its carriage return once the echo is correct.
fn command(session: &mut MonitorSession, operation: &'static str, command: &str) -> Result<()> {
    for attempt in 1..=MAX_ATTEMPTS {
        session.take_received();
        session.send(operation, command.as_bytes())?;
        let echo = session.receive_until(operation, REPLY_TIMEOUT, |received| {
            received.ends_with(command.as_bytes())
        });
        match echo {
            Ok(echo) if echo == command.as_bytes() => return session.send(operation, b"\r"),
            Ok(_) | Err(LoaderError::NoReply { .. }) if attempt < MAX_ATTEMPTS => {
                exchange::send_keys(session, operation, KILL_LINE)?;
            }
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
    Err(session.timeout_error(operation, REPLY_TIMEOUT))
}

/// Waits for the prompt after a command or a transfer, and erases what CP/M types there by itself:
/// characters that arrived while no program read them.
fn wait_for_prompt(session: &mut MonitorSession, operation: &'static str) -> Result<()> {
    let mut received = Vec::new();
    for _ in 0..=MAX_ATTEMPTS {
        received = session.receive_until(operation, CLOSE_TIMEOUT, |received| {
            contains_prompt(received) || received.ends_with(&[xmodem::EOT])
        })?;
        if contains_prompt(&received) {
            break;
        }
        xmodem::acknowledge_end(session, operation)?;
    }
    received.extend(session.receive_until_quiet(operation, MAX_CHAR_GAP, CLOSE_TIMEOUT)?);
    if identify_prompt(&received) != Some(Peer::Cpm) {
        exchange::send_keys(session, operation, KILL_LINE)?;
    }
    Ok(())
}

/// Returns `true` if a line begins with CP/M's prompt.
fn contains_prompt(received: &[u8]) -> bool {
    received.split(|byte| matches!(byte, b'\r' | b'\n')).any(|line| {
        let end = line.iter().position(|byte| *byte == b'>').map_or(0, |at| at + 1);
        identify_prompt(&line[..end]) == Some(Peer::Cpm)
    })
}

/// Receives the file and compares it, including the padding of the last block.
fn compare(
    session: &mut MonitorSession,
    file: &FileTransfer,
    observer: &mut dyn LoadObserver,
) -> Result<()> {
    let total = file.bytes.len().next_multiple_of(BLOCK_BYTES);
    let file_back =
        xmodem::receive_file(session, CheckMode::Checksum, file.reply_timeout, |done| {
            observer.on_progress(LoadStage::ReadingBack, done.min(total), total);
        })?;
    let expected = file.bytes.iter().copied().chain(std::iter::repeat(PAD)).take(total);
    let actual = file_back.iter().copied().map(Some).chain(std::iter::repeat(None));
    match expected.zip(actual).position(|(expected, actual)| actual != Some(expected)) {
        None if file_back.len() == total => Ok(()),
        at => Err(LoaderError::FileMismatch { offset: at.unwrap_or(total), total }),
    }
}

/// Cancels the program that receives or sends, once it is known to be in a transfer.
fn abandon(session: &mut MonitorSession) -> &'static str {
    const OPERATION: &str = "cancelling the receiver";
    let mut recover = || {
        session.discard_unsent()?;
        end_transfer(session, OPERATION, false, CALL_INTERVAL)
    };
    match recover() {
        Ok(Some(_)) => "CP/M is at its prompt again, the file is not complete: write it again",
        _ => {
            "press Ctrl-X there: it ends a receiver that still waits, and deletes a half-typed command"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_valid_in_cpm_are_accepted() {
        for name in ["A", "PROG.COM", "p:x.y", "FOO-BAR1.$$$"] {
            assert!(CpmName::new(name).is_some(), "{name}");
        }
        for name in
            ["", ".COM", "NINELETTR", "A.FOUR", "Q:A", "AB:C", "A B", "A*.COM", "A.B.C", "Ä"]
        {
            assert_eq!(CpmName::new(name), None, "{name}");
        }
    }

    #[test]
    fn only_programs_are_started() {
        let command = |name| CpmName::new(name).and_then(|name| name.command());
        assert_eq!(command("b:prog.com"), Some("B:PROG".to_owned()));
        assert_eq!(command("text.txt"), None);
    }
}
