//! RomWBW's debug monitor: `L` takes Intel HEX until its end record, with a checksum for every line.
//!
//! It reads characters through a buffer of 32 that an interrupt fills, and is slower than the line: without working
//! flow control it loses some. After an error it is at its prompt at once and takes the lines that follow as commands,
//! so only little may be under way.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::dump::{self, Memory};
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER, QUIET};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::records::{END, Record, records};
use super::talk::Talk;
use super::{HexMonitor, Loaded, Watch};

const NAME: &str = "RomWBW's debug monitor";
/// Below lie the processor's vectors, above the monitor and HBIOS; how far down they reach differs by version, so
/// this keeps well off.
const FREE: RangeInclusive<u16> = 0x0100..=0xDFFF;
/// The longest wait for the report of a load: it works off 3,400 characters a second, and a piece has 2,900.
const REPORT: Duration = Duration::from_secs(4);
/// The boot loader throws away what comes within a second of its prompt.
const DEAF: Duration = Duration::from_millis(1100);
/// How often the boot loader is asked for the monitor.
const ASKED: usize = 4;
/// A damaged count makes it wait for up to 255 bytes; the end record has 11 characters.
const LONGEST_LINE: usize = 50;
/// What ends a load goes out slowly: it was cut short because characters were lost.
const CAREFUL: Pace = Pace { character: Duration::from_millis(2), ..Pace::FULL };
const FINDING: &str = "looking for the prompt of RomWBW's debug monitor";
const ENDING: &str = "ending a load that was cut short";

/// The monitor, and its prompt once it is known.
#[derive(Default)]
pub(super) struct Romwbw;

impl HexMonitor for Romwbw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String> {
        let mut heard = knock::find(talk, watch, FINDING, end_load)?;
        if knock::is_from(Peer::RomwbwLoader, &heard) {
            heard = enter(talk)?;
        }
        if !at_prompt(&heard) {
            return Err(knock::not_wanted(talk, NAME, &heard));
        }
        let text = String::from_utf8_lossy(&heard);
        let bank = text.trim_end_matches('>').rsplit(['\r', '\n']).next().unwrap_or_default();
        Ok(match bank {
            "" => "RomWBW's debug monitor".to_owned(),
            bank => format!("RomWBW's debug monitor, bank {bank}h"),
        })
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
        command(talk, "starting a load", "L")?;
        if let Some(line) = talk.say_lines(lines, pace, sent)? {
            return refused(talk, line.number);
        }
        talk.say("sending the last line", END.as_bytes(), pace)?;
        match talk.hear_until("waiting for the report of the load", REPORT, at_prompt) {
            Ok(heard) if is_success(&heard) => Ok(Loaded::Clean),
            Ok(heard) => {
                settle(talk)?;
                Ok(Loaded::Failed(format!("it said {}", crate::link::show(&heard))))
            }
            Err(LoaderError::Silence { .. }) => {
                end_load(talk)?.ok_or_else(|| knock::nobody(talk, ENDING))?;
                Ok(Loaded::Failed("it waited for more characters than came".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, talk: &mut Talk, first: u16, last: u16) -> Result<Memory> {
        const WHAT: &str = "reading memory back";
        talk.take();
        talk.command(WHAT, &format!("D {first:04X} {last:04X}\r"))?;
        let characters = 6 * usize::from(last - first);
        let heard = talk.hear_until(WHAT, ANSWER + talk.line_time(characters), at_prompt)?;
        let mut memory = Memory::new();
        dump::note(&mut memory, &dump::rows(&heard));
        if memory.contains_key(&first) && memory.contains_key(&last) {
            return Ok(memory);
        }
        let text = crate::link::show(&heard[..heard.len().min(200)]);
        Err(LoaderError::Nonsense { who: NAME, what: WHAT, text })
    }

    fn start(&mut self, talk: &mut Talk, entry: u16) -> Result<()> {
        command(talk, "starting the program", &start_command(entry))
    }

    fn abandon(&mut self, talk: &mut Talk) -> &'static str {
        let mut back = || -> Result<bool> {
            talk.discard_unsent()?;
            Ok(end_load(talk)?.is_some_and(|heard| at_prompt(&heard)))
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

/// What is typed to start a program.
fn start_command(entry: u16) -> String {
    format!("R {entry:04X}")
}

fn at_prompt(heard: &[u8]) -> bool {
    knock::is_from(Peer::RomwbwMonitor, heard) && heard.len() > 1
}

/// `Loaded` and the prompt, and nothing else.
fn is_success(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard);
    let mut words = text.split_ascii_whitespace();
    (words.next(), words.next().is_some(), words.next()) == (Some("Loaded"), true, None)
}

/// Types a command and waits for its echo; what follows is left to be heard.
fn command(talk: &mut Talk, what: &'static str, command: &str) -> Result<()> {
    talk.take();
    talk.command(what, &format!("{command}\r"))?;
    let echo = format!("{command}\r\n").into_bytes();
    talk.hear_until(what, ANSWER, |heard| heard.starts_with(&echo)).map(drop)
}

/// From the boot loader to the monitor. It hears nothing for a while after its prompt.
fn enter(talk: &mut Talk) -> Result<Vec<u8>> {
    const WHAT: &str = "calling the monitor from the boot loader";
    for _ in 0..ASKED {
        let heard = knock::knock(talk, WHAT, b"M\r")?;
        if at_prompt(&heard) {
            return Ok(heard);
        }
        talk.pause(WHAT, DEAF)?;
        if recognise(talk.inbox()) == Some(Peer::RomwbwMonitor) {
            return Ok(talk.take());
        }
    }
    Err(knock::nobody(talk, WHAT))
}

/// It said something in mid-load, and takes what still comes as commands.
fn refused(talk: &mut Talk, line: usize) -> Result<Loaded> {
    talk.discard_unsent()?;
    let heard = talk.hear_out("listening to why it refuses a line", QUIET, ANSWER)?;
    settle(talk)?;
    Ok(Loaded::Failed(format!("about line {line} it said {}", crate::link::show(&heard))))
}

/// Back to an empty prompt, whatever is half typed there.
fn settle(talk: &mut Talk) -> Result<()> {
    knock::knock(talk, "getting back to the prompt", b"\r").map(drop)
}

/// Ends a load by end records; what it then says, or `None` when it stays silent.
fn end_load(talk: &mut Talk) -> Result<Option<Vec<u8>>> {
    for _ in 0..LONGEST_LINE {
        talk.say(ENDING, format!("{END}\r").as_bytes(), CAREFUL)?;
        talk.pause(ENDING, QUIET / 4)?;
        if !talk.inbox().is_empty() {
            talk.hear_out(ENDING, QUIET, ANSWER)?;
            return knock::knock(talk, ENDING, b"\r").map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_report_is_success() {
        assert!(is_success(b"\r\nLoaded\r\n8E>"));
        assert!(is_success(b"\r\nLoaded\r\n>"));
        for heard in
            [&b"\r\nChecksum Error\r\n8E>"[..], b"\r\nLoaded", b"8E>", b"x\r\nLoaded\r\n8E>"]
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
