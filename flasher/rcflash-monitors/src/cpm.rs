//! Files for CP/M by XMODEM: starts the receiver there, sends the file, has it sent back, and types
//! its name.

use std::time::Duration;

use super::contact;
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use super::xmodem::{self, BLOCK, FILLER, Form, Sender, Sent};
use super::{FlowChoice, Note, Stage, Watch};

const NAME: &str = "CP/M";
const FINDING: &str = "looking for CP/M's prompt";
/// Closing a file may move a floppy's head.
const CLOSING: Duration = Duration::from_secs(10);
/// The number of times a command is typed whose echo is wrong, and the key that removes it.
const ATTEMPTS: usize = 4;
const KILL_LINE: &[u8] = b"\x15";
/// Characters that CP/M's own programs refuse in names.
const FORBIDDEN: &str = "<>.,;:=?*[]_%|()/\\";

/// A file for CP/M, and how it gets there.
#[derive(Debug, Clone)]
pub struct FileOrder<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// The name that it gets.
    pub name: CpmName,
    /// The program there that receives and sends files; `None` when a receiver is waiting already.
    pub program: Option<&'a str>,
    /// Whether it is started, if it is a program.
    pub run: bool,
    /// Whether it is sent back and compared.
    pub verify: bool,
    /// Whether a file of this name that is there is erased.
    pub replace: bool,
    /// The speed at which blocks go out at first.
    pub pace: Pace,
    /// Whether RTS is obeyed.
    pub flow: FlowChoice,
    /// The longest wait for the receiver's call, and for each answer.
    pub patience: Duration,
}

impl FileOrder<'_> {
    /// Returns the commands for CP/M's prompt and the transfers between, in order.
    #[must_use]
    pub fn script(&self) -> Vec<String> {
        let blocks = self.bytes.len().div_ceil(BLOCK);
        let mut script = Vec::new();
        script.extend(self.program.map(|program| format!("{program} R {}", self.name)));
        script.push(format!("XMODEM, {blocks} blocks of {BLOCK} bytes"));
        if let Some(program) = self.program.filter(|_| self.verify) {
            script.push(format!("{program} S {}", self.name));
            script.push(format!("XMODEM back, {blocks} blocks of {BLOCK} bytes"));
        }
        script.extend(self.command());
        script
    }

    /// Returns the command that starts it, if it is to be started and can be.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        self.name.command().filter(|_| self.run && self.program.is_some())
    }
}

/// A name as CP/M has it: perhaps a drive, up to eight characters, and perhaps up to three more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpmName(String);

impl CpmName {
    /// The name in capitals; `None` when CP/M would not take it.
    ///
    /// ```
    /// use rcflash_monitors::CpmName;
    /// assert_eq!(CpmName::new("b:prog.com").unwrap().to_string(), "B:PROG.COM");
    /// assert_eq!(CpmName::new("long-program.com"), None);
    /// ```
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let (drive, file) =
            name.split_once(':').map_or((None, name.as_str()), |(drive, file)| (Some(drive), file));
        let (stem, end) = file.split_once('.').unwrap_or((file, ""));
        let good = |part: &str, most: usize| {
            part.len() <= most
                && part.chars().all(|c| c.is_ascii_graphic() && !FORBIDDEN.contains(c))
        };
        let drive_is_good = drive.is_none_or(|drive| matches!(drive.as_bytes(), [b'A'..=b'P']));
        (drive_is_good && !stem.is_empty() && good(stem, 8) && good(end, 3)).then_some(Self(name))
    }

    /// Returns the command that starts it, if it is a program.
    fn command(&self) -> Option<String> {
        self.0.strip_suffix(".COM").map(str::to_owned)
    }
}

impl std::fmt::Display for CpmName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Brings a file to CP/M.
///
/// # Errors
/// Returns the transfer's error, or the user's interruption: the receiver is then cancelled.
pub fn transfer(
    talk: &mut Talk,
    order: &FileOrder,
    watch: &mut dyn Watch,
) -> std::result::Result<Sent, LoaderError> {
    if order.bytes.is_empty() {
        return Err(LoaderError::Empty);
    }
    let outcome = steps(talk, order, watch);
    if let Err(LoaderError::Interrupted { what, .. }) = outcome {
        talk.close();
        return Err(LoaderError::Interrupted { what, state: abandon(talk) });
    }
    outcome
}

fn steps(talk: &mut Talk, order: &FileOrder, watch: &mut dyn Watch) -> Result<Sent> {
    let Some(program) = order.program else {
        talk.obey_rts(order.flow != FlowChoice::None)?;
        return sender(talk, order, watch).send(order.bytes);
    };
    let drive = knock::by_flow(talk, watch, order.flow, reach)?;
    let (program, form) = start_receiver(talk, order, watch, program, drive)?;
    let sent = sender(talk, order, watch).send_as(form, order.bytes)?;
    wait_for_prompt(talk, "waiting for the receiver to close the file")?;
    if order.verify {
        verify(talk, order, watch, &program)?;
    }
    if let Some(name) = order.command() {
        command(talk, "starting the program", &name)?;
    }
    Ok(sent)
}

fn sender<'a>(talk: &'a mut Talk, order: &FileOrder, watch: &'a mut dyn Watch) -> Sender<'a> {
    Sender { talk, watch, patience: order.patience, pace: order.pace }
}

/// Starts the program that receives, and waits for its call; the program's name as it was found,
/// and the form of blocks.
///
/// RomWBW starts on its ROM drive, where the program is but no file can be written: then the file
/// goes to drive A, and the program is called from where it is. On drive A the program may be on
/// drive B.
fn start_receiver(
    talk: &mut Talk,
    order: &FileOrder,
    watch: &mut dyn Watch,
    program: &str,
    drive: char,
) -> Result<(String, Form)> {
    let mut last = None;
    let has_drive = program.contains(':');
    let elsewhere = match drive {
        'A' => format!("B:{program}"),
        drive => format!("{drive}:{program}"),
    };
    for program in [program.to_owned(), elsewhere] {
        if last.is_some() && drive != 'A' {
            command(talk, "going to drive A", "A:")?;
            wait_for_prompt(talk, "going to drive A")?;
        }
        match call_receiver(talk, order, watch, &program) {
            Ok(form) => return Ok((program, form)),
            Err(LoaderError::Refused { who, what, text }) => {
                // CP/M answers a program that it does not find by its name and a question mark.
                let is_missing = text.trim_end_matches(|c: char| c != '?').ends_with('?');
                let is_rom = xmodem::is_disk_error(text.as_bytes()) || text.contains("Bdos Err");
                if is_rom {
                    // Ctrl-C leaves the program; any other key would go on with the damaged file.
                    talk.put(what, b"\x03")?;
                    wait_for_prompt(talk, what)?;
                }
                let text = explained(&text, order);
                let error = LoaderError::Refused { who, what, text };
                if has_drive || !(is_missing && drive == 'A' || is_rom && drive != 'A') {
                    return Err(error);
                }
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| talk.silence("starting the receiver", order.patience)))
}

/// Starts the receiver, once more if a file that may be replaced is in its way.
fn call_receiver(
    talk: &mut Talk,
    order: &FileOrder,
    watch: &mut dyn Watch,
    program: &str,
) -> Result<Form> {
    const WHAT: &str = "starting the receiver";
    let line = format!("{program} R {}", order.name);
    command(talk, WHAT, &line)?;
    match sender(talk, order, watch).wait_for_call() {
        Err(LoaderError::Refused { text, .. }) if order.replace && is_in_the_way(&text) => {
            erase(talk, &order.name.0)?;
            command(talk, WHAT, &line)?;
            sender(talk, order, watch).wait_for_call()
        }
        other => other,
    }
}

/// Erases a file, from the prompt to the next one.
pub(super) fn erase(talk: &mut Talk, name: &str) -> Result<()> {
    const WHAT: &str = "erasing a file";
    command(talk, WHAT, &format!("ERA {name}"))?;
    wait_for_prompt(talk, WHAT)
}

/// Whether XM refuses a name since there is such a file.
fn is_in_the_way(text: &str) -> bool {
    text.contains("File exists")
}

/// A refusal with what to do about it.
fn explained(text: &str, order: &FileOrder) -> String {
    if is_in_the_way(text) {
        let name = &order.name;
        return format!("{text}; give another --name, or erase it there with ERA {name}");
    }
    text.to_owned()
}

/// CP/M at its prompt; its current drive. A receiver left over from before is made to give up.
fn reach(talk: &mut Talk, watch: &mut dyn Watch) -> Result<char> {
    let accepted = [Peer::Cpm, Peer::XmodemReceiver];
    let found = match knock::find(talk, watch, FINDING, NAME, &accepted) {
        // A receiver between two of its calls.
        Err(LoaderError::Silence { .. }) => None,
        other => Some(other?),
    };
    let heard = match found {
        Some(found) if found.peer == Some(Peer::Cpm) => found.heard,
        _ => {
            let heard = give_up(talk, FINDING)?;
            if recognise(&heard) != Some(Peer::Cpm) {
                return Err(contact::nobody(talk, FINDING));
            }
            watch.note(Note::Unstuck);
            heard
        }
    };
    watch.note(Note::Found("CP/M at its prompt".to_owned()));
    Ok(drive(&heard))
}

/// The letter of the prompt.
fn drive(heard: &[u8]) -> char {
    let text = String::from_utf8_lossy(heard);
    let last = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    last.chars().next().unwrap_or('A')
}

/// Makes a receiver give up, and gives what is said after that.
fn give_up(talk: &mut Talk, what: &'static str) -> Result<Vec<u8>> {
    talk.take();
    xmodem::cancel(talk, what)?;
    match talk.hear_until(what, 3 * ANSWER, |heard| recognise(heard) == Some(Peer::Cpm)) {
        Ok(heard) => Ok(heard),
        // CP/M itself has taken the characters for a line.
        Err(LoaderError::Silence { .. }) => knock::knock(talk, what, b"\r"),
        Err(error) => Err(error),
    }
}

/// Has the file sent back and compares it, a second time if it differs: sums miss one damaged block
/// in 256.
fn verify(talk: &mut Talk, order: &FileOrder, watch: &mut dyn Watch, program: &str) -> Result<()> {
    let mut once_more = true;
    loop {
        command(talk, "asking for the file back", &format!("{program} S {}", order.name))?;
        let compared = compare(talk, order, watch);
        wait_for_prompt(talk, "waiting for the sender to end")?;
        match compared {
            Err(LoaderError::FileDiffers { .. }) if once_more => once_more = false,
            other => return other,
        }
    }
}

/// Types a command, and ends its line when the echo shows that it arrived as it was typed.
fn command(talk: &mut Talk, what: &'static str, command: &str) -> Result<()> {
    for attempt in 1..=ATTEMPTS {
        talk.take();
        talk.put(what, command.as_bytes())?;
        match talk.hear_until(what, ANSWER, |heard| heard.ends_with(command.as_bytes())) {
            Ok(_) => return talk.put(what, b"\r"),
            Err(LoaderError::Silence { .. }) if attempt < ATTEMPTS => {
                knock::knock(talk, what, KILL_LINE)?;
            }
            Err(error) => return Err(error),
        }
    }
    Err(talk.silence(what, ANSWER))
}

fn wait_for_prompt(talk: &mut Talk, what: &'static str) -> Result<()> {
    talk.hear_until(what, CLOSING, |heard| recognise(heard) == Some(Peer::Cpm)).map(drop)
}

/// Takes the file back and compares it, the filler of the last block too.
fn compare(talk: &mut Talk, order: &FileOrder, watch: &mut dyn Watch) -> Result<()> {
    let of = order.bytes.len().next_multiple_of(BLOCK);
    let back = xmodem::receive(talk, Form::Checksum, order.patience, |done| {
        watch.progress(Stage::ReadingBack, done.min(of), of);
    })?;
    let sent = order.bytes.iter().copied().chain(std::iter::repeat(FILLER)).take(of);
    let there = back.iter().copied().map(Some).chain(std::iter::repeat(None));
    match sent.zip(there).position(|(sent, there)| there != Some(sent)) {
        None if back.len() == of => Ok(()),
        at => Err(LoaderError::FileDiffers { at: at.unwrap_or(of), of }),
    }
}

fn abandon(talk: &mut Talk) -> &'static str {
    const WHAT: &str = "telling the receiver to give up";
    let mut back = || -> Result<bool> {
        talk.discard_unsent()?;
        for _ in 0..3 {
            if recognise(&give_up(talk, WHAT)?) == Some(Peer::Cpm) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    match back() {
        Ok(true) => "CP/M is at its prompt again, the file is not complete: write it again",
        _ => "the receiver was told to give up, but may still wait: press Ctrl-X there",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_cpm() {
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
