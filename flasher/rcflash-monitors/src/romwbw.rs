//! RomWBW's debug monitor: a command takes Intel HEX until its end record, with a checksum for
//! every record.
//!
//! It reads characters through a buffer of 32 that an interrupt fills, and is slower than the line:
//! without working flow control it loses some. After an error it is at its prompt at once and takes
//! the lines that follow as commands, of which some are dangerous (`B` boots, `H` halts, `F` fills
//! memory, `X` leaves it). So only little may be under way, no burst goes out before the flow
//! control has been tried with characters that do nothing, and lines end with more carriage returns
//! than one: those complete a record that has lost as many characters, and are empty lines
//! otherwise.
//!
//! 2.9 takes its load by `H`, has no word of success and no patience with empty lines: see
//! `romwbw_two`.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::contact::{self, Contact, end_load};
use super::dump::{self, Memory};
use super::error::{LoaderError, Result};
use super::identify;
use super::knock::{self, ANSWER, QUIET};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::records::{END, Record, records};
use super::romwbw_two as two;
use super::talk::Talk;
use super::{HexMonitor, Loaded, Note, Watch};

pub(super) const NAME: &str = "RomWBW's debug monitor";
/// Below lie the processor's vectors, above the monitor and HBIOS; how far down they reach differs
/// by version, so this keeps well off.
const FREE: RangeInclusive<u16> = 0x0100..=0xDFFF;
/// The longest wait for the report of a load: it works off 3,400 characters a second, and a piece
/// has 2,900.
const REPORT: Duration = Duration::from_secs(4);
/// The boot loader throws away what comes within a second of its prompt.
const DEAF: Duration = Duration::from_millis(1100);
/// The number of times the boot loader is asked for the monitor.
const ASKED: usize = 4;
/// Carriage returns by which the flow control is tried: three times what the monitor's buffer
/// holds.
const TRIED: usize = 100;
/// The line end: with what 8 bytes take, it just fits the monitor's buffer.
const LINE_END: &str = "\r\r\r\r";
/// Carriage returns that fill a record whose count was damaged.
const DAMAGED_RECORD: usize = 520;
/// More backspaces than the longest line of either release has characters.
const LONGEST_LINE: usize = 80;
const FINDING: &str = "looking for the prompt of RomWBW's debug monitor";
const ENDING: &str = "ending a load that was cut short";

/// The releases whose monitors differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Release {
    /// 2.9: the prompt is `>`.
    Two,
    /// 3: the prompt has the bank's number before it.
    #[default]
    Three,
}

/// The monitor.
#[derive(Default)]
pub(super) struct Romwbw {
    release: Release,
}

impl HexMonitor for Romwbw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String> {
        let accepted = [Peer::RomwbwMonitor, Peer::RomwbwLoader];
        let mut found = knock::find(talk, watch, FINDING, NAME, &accepted)?;
        if found.peer == Some(Peer::RomwbwLoader) {
            found.heard = enter(talk, &found)?;
        }
        let text = String::from_utf8_lossy(&found.heard).into_owned();
        self.release = if text.ends_with("\n>") { Release::Two } else { Release::Three };
        let version = identify::romwbw(talk, &text)?;
        if self.release == Release::Two {
            watch.note(Note::Warning(two::WARNING));
        }
        Ok(format!("{version}'s debug monitor"))
    }

    fn first_pace(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<Pace> {
        if self.release == Release::Two {
            return Ok(two::PACE);
        }
        let kept = kept_of_burst(talk)?;
        // One that the line has damaged is no sign of a board that can't stop us.
        if kept * 10 >= TRIED * 9 {
            return Ok(Pace::FULL);
        }
        let pace = Pace::FULL.slower().unwrap_or(Pace::FULL);
        watch.note(Note::NoFlow { kept, of: TRIED, pace });
        Ok(pace)
    }

    fn check(&self, image: &Image) -> Result<()> {
        super::keep_within(image, FREE, |free| {
            format!("only {free} surely holds nothing of the monitor or HBIOS")
        })
    }

    fn load(
        &mut self,
        talk: &mut Talk,
        lines: &[Record],
        pace: Pace,
        sent: &mut dyn FnMut(usize),
    ) -> Result<Loaded> {
        if self.release == Release::Two {
            return two::load(talk, lines, pace, sent);
        }
        command(talk, "starting a load", "L", b"L\r\n")?;
        if let Some(line) = talk.say_lines(lines, LINE_END, pace, sent)? {
            return refused(talk, line.number);
        }
        talk.say("sending the last line", END.as_bytes(), pace)?;
        match talk.hear_until("waiting for the report of the load", REPORT, at_prompt) {
            Ok(heard) if is_success(&heard) => Ok(Loaded::Clean),
            Ok(heard) => {
                settle(talk)?;
                Ok(Loaded::Failed(format!("it said {}", contact::shown(&heard))))
            }
            Err(LoaderError::Silence { .. }) => unstick(talk),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, talk: &mut Talk, first: u16, last: u16) -> Result<Memory> {
        const WHAT: &str = "reading memory back";
        talk.take();
        talk.command(WHAT, &format!("D {first:04X} {last:04X}\r"))?;
        let characters = 6 * usize::from(last - first);
        let heard = talk.hear_until(WHAT, 2 * ANSWER + talk.line_time(characters), at_prompt)?;
        let mut memory = Memory::new();
        dump::note(&mut memory, &dump::rows(&heard));
        if memory.contains_key(&first) && memory.contains_key(&last) {
            return Ok(memory);
        }
        let text = contact::shown(&heard[..heard.len().min(200)]);
        Err(LoaderError::Nonsense { who: NAME, what: WHAT, text })
    }

    fn start(&mut self, talk: &mut Talk, entry: u16) -> Result<()> {
        const WHAT: &str = "starting the program";
        // The program's first character follows the command without a line end; a silent program
        // says nothing.
        let text = start_command(entry);
        command(talk, WHAT, &text, text.as_bytes())?;
        talk.is_any_within(WHAT, QUIET)?;
        let heard = String::from_utf8_lossy(talk.inbox()).into_owned();
        if ["Unknown Command", "Syntax Error", "UNKNOWN COMMAND"]
            .iter()
            .any(|no| heard.contains(no))
        {
            let text = contact::shown(talk.inbox());
            return Err(LoaderError::Refused { who: NAME, what: WHAT, text });
        }
        Ok(())
    }

    fn abandon(&mut self, talk: &mut Talk) -> &'static str {
        let mut back = || -> Result<bool> {
            talk.discard_unsent()?;
            let heard = end_load(talk, ENDING, DAMAGED_RECORD)?;
            Ok(at_prompt(&heard) || at_prompt(&knock::knock(talk, ENDING, b"\r")?))
        };
        match back() {
            Ok(true) => {
                "the monitor is at its prompt, the program is there in part: write it again"
            }
            _ => "the monitor may wait for the rest of a load: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        (["L".to_owned()].into_iter())
            .chain(records(image, pace.record).iter().map(Record::text))
            .chain([END.to_owned()])
            .chain(entry.map(start_command))
            .collect()
    }
}

/// The command that starts a program.
fn start_command(entry: u16) -> String {
    format!("R {entry:04X}")
}

pub(super) fn at_prompt(heard: &[u8]) -> bool {
    recognise(heard) == Some(Peer::RomwbwMonitor) && heard.len() > 1
}

/// `Loaded` and the prompt, and nothing else but prompts.
fn is_success(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard);
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("Loaded") && words.all(|word| word.ends_with('>'))
}

/// Types a command and waits for its echo; what follows is left to be heard.
pub(super) fn command(
    talk: &mut Talk,
    what: &'static str,
    command: &str,
    echo: &[u8],
) -> Result<()> {
    talk.take();
    talk.command(what, &format!("{command}\r"))?;
    let heard = talk.hear_until(what, ANSWER, |heard| heard.starts_with(echo))?;
    talk.give_back(&heard[echo.len()..]);
    Ok(())
}

/// Goes from the boot loader to the monitor. It hears nothing for a while after its prompt.
fn enter(talk: &mut Talk, found: &Contact) -> Result<Vec<u8>> {
    const WHAT: &str = "calling the monitor from the boot loader";
    // 2.9 takes single keys; a carriage return would be the monitor's first empty line.
    let keys: &[u8] = if found.heard.ends_with(b"===> ") { b"M" } else { b"M\r" };
    for _ in 0..ASKED {
        let heard = knock::knock(talk, WHAT, keys)?;
        if at_prompt(&heard) {
            return Ok(heard);
        }
        talk.pause(WHAT, DEAF)?;
        if at_prompt(talk.inbox()) {
            return Ok(talk.take());
        }
    }
    Err(contact::nobody(talk, WHAT))
}

/// Sends empty lines at once, and counts the prompts that answer: as many if the board can stop
/// this computer.
fn kept_of_burst(talk: &mut Talk) -> Result<usize> {
    const WHAT: &str = "trying the flow control";
    talk.take();
    talk.put(WHAT, &[b'\r'; TRIED])?;
    let heard = talk.receive_until_quiet(WHAT, QUIET * 3, ANSWER * 10)?;
    Ok(heard.iter().filter(|byte| **byte == b'>').count())
}

/// It said something in mid-load, and takes what still comes as commands.
pub(super) fn refused(talk: &mut Talk, line: usize) -> Result<Loaded> {
    talk.discard_unsent()?;
    let heard =
        talk.receive_until_quiet("listening to why it refuses a line", QUIET, 3 * ANSWER)?;
    settle(talk)?;
    Ok(Loaded::Failed(format!("about line {line} it said {}", contact::shown(&heard))))
}

/// Ends a load that waits for more characters than came.
pub(super) fn unstick(talk: &mut Talk) -> Result<Loaded> {
    let heard = end_load(talk, ENDING, DAMAGED_RECORD)?;
    if heard.is_empty() {
        return Err(contact::nobody(talk, ENDING));
    }
    settle(talk)?;
    Ok(Loaded::Failed("it waited for more characters than came".to_owned()))
}

/// Back to an empty prompt. What is half typed there is removed, not carried out: it may be a
/// dangerous command.
pub(super) fn settle(talk: &mut Talk) -> Result<()> {
    const WHAT: &str = "getting back to the prompt";
    for _ in 0..LONGEST_LINE {
        talk.put(WHAT, b"\x08")?;
        talk.pause(WHAT, Duration::from_millis(2))?;
    }
    talk.receive_until_quiet(WHAT, QUIET, ANSWER)?;
    knock::knock(talk, WHAT, b"\r").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_report_is_success() {
        assert!(is_success(b"\r\nLoaded\r\n8E>"));
        assert!(is_success(b"\r\nLoaded\r\n8E>\r\n8E>"));
        for heard in
            [&b"\r\nChecksum Error\r\n8E>"[..], b"8E>", b"x\r\nLoaded\r\n8E>", b"Loaded Q\r\n8E>"]
        {
            assert!(!is_success(heard), "{heard:?}");
        }
    }

    #[test]
    fn the_prompt_needs_its_line_end_or_bank() {
        assert!(at_prompt(b"\r\n8E>") && at_prompt(b"\r\n>"));
        assert!(!at_prompt(b">") && !at_prompt(b"\r\nA0>"));
    }
}
