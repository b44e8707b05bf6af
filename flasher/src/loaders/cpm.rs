//! Files for CP/M by XMODEM: starts the receiver there, sends the file, has it sent back, and types its name.

use std::time::Duration;

use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use super::xmodem::{self, BLOCK, FILLER, Sender, Sent};
use super::{Flow, Note, Stage, Watch};

const NAME: &str = "CP/M";
const FINDING: &str = "looking for CP/M's prompt";
/// Closing a file may move a floppy's head.
const CLOSING: Duration = Duration::from_secs(10);
/// Characters that CP/M's own programs refuse in names.
const FORBIDDEN: &str = "<>.,;:=?*[]_%|()/\\";

/// A file for CP/M, and how it gets there.
#[derive(Debug, Clone)]
pub struct FileOrder<'a> {
    /// What it holds.
    pub bytes: &'a [u8],
    /// What it is to be called.
    pub name: CpmName,
    /// The program there that receives and sends files; `None` when a receiver is waiting already.
    pub program: Option<&'a str>,
    /// Whether it is started, if it is a program.
    pub run: bool,
    /// Whether it is sent back and compared.
    pub verify: bool,
    /// How fast blocks go out at first.
    pub pace: Pace,
    /// Whether RTS is obeyed.
    pub flow: Flow,
    /// The longest wait for the receiver's call, and for each answer.
    pub patience: Duration,
}

impl FileOrder<'_> {
    /// What is typed at CP/M's prompt, and the transfers between, in their order.
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

    /// What starts it, if it is to be started and can be.
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
    /// use rcflash::loaders::CpmName;
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

    /// What is typed to start it, if it is a program.
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
/// What kept it from being there, or the user: then the receiver is told to give up.
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
    match order.program {
        Some(_) => knock::by_flow(talk, watch, order.flow, reach)?,
        None => drop(talk.obey_rts(order.flow != Flow::None)?),
    }
    if let Some(program) = order.program {
        command(talk, "starting the receiver", &format!("{program} R {}", order.name))?;
    }
    let pace = order.pace;
    let sent = Sender { talk, watch, patience: order.patience, pace }.send(order.bytes)?;
    let Some(program) = order.program else { return Ok(sent) };
    wait_for_prompt(talk, "waiting for the receiver to close the file")?;
    if order.verify {
        command(talk, "asking for the file back", &format!("{program} S {}", order.name))?;
        compare(talk, order, watch)?;
        wait_for_prompt(talk, "waiting for the sender to end")?;
    }
    if let Some(name) = order.command() {
        command(talk, "starting the program", &name)?;
    }
    Ok(sent)
}

/// CP/M at its prompt. A receiver left over from before is told to give up.
fn reach(talk: &mut Talk, watch: &mut dyn Watch) -> Result<()> {
    let mut heard = knock::find(talk, watch, FINDING, |talk| {
        let heard = knock::knock(talk, FINDING, &[0x18; 5])?;
        Ok(Some(heard).filter(|heard| !heard.is_empty()))
    })?;
    if knock::is_from(Peer::XmodemReceiver, &heard) {
        xmodem::cancel(talk, FINDING)?;
        talk.pause(FINDING, ANSWER)?;
        heard = knock::knock(talk, FINDING, b"\r")?;
        watch.note(Note::Unstuck);
    }
    match recognise(&heard) {
        Some(Peer::Cpm) => {
            watch.note(Note::Found("CP/M at its prompt".to_owned()));
            Ok(())
        }
        _ => Err(knock::not_wanted(talk, NAME, &heard)),
    }
}

/// Types a command and waits for its echo.
fn command(talk: &mut Talk, what: &'static str, command: &str) -> Result<()> {
    talk.take();
    talk.put(what, format!("{command}\r").as_bytes())?;
    let last = command.as_bytes();
    let after = |heard: &[u8]| heard.windows(last.len()).any(|typed| typed == last);
    let heard = talk.hear_until(what, ANSWER, |heard| after(heard))?;
    // What came behind the echo belongs to the program.
    let at = heard.windows(last.len()).position(|typed| typed == last).unwrap_or_default();
    talk.give_back(&heard[at + last.len()..]);
    Ok(())
}

fn wait_for_prompt(talk: &mut Talk, what: &'static str) -> Result<()> {
    talk.hear_until(what, CLOSING, |heard| recognise(heard) == Some(Peer::Cpm)).map(drop)
}

/// Has the file sent back and compares, the filler of the last block too.
fn compare(talk: &mut Talk, order: &FileOrder, watch: &mut dyn Watch) -> Result<()> {
    let of = order.bytes.len().next_multiple_of(BLOCK);
    let back = xmodem::receive(talk, order.patience, |done| {
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
            xmodem::cancel(talk, WHAT)?;
            talk.pause(WHAT, ANSWER)?;
            let heard = knock::knock(talk, WHAT, b"\r")?;
            if recognise(&heard) == Some(Peer::Cpm) {
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
