//! The Small Computer Monitor, 1.0 and 1.3: a colon at its prompt starts a load, which ends with `Ready` or `File error`.
//!
//! It keeps one checksum for the whole load, looks at no record type but 01, stores bytes before it checks them, and
//! waits for ever for the rest of a line. So only types 00 and 01 are sent, lines end with CR alone (the LF of a CR LF
//! behind the last line turns the next load into commands), and `Ready` counts only if nothing else was heard.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::dump::{self, Memory, ROW};
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER, QUIET};
use super::pace::Pace;
use super::prompt::{self, Peer, recognise};
use super::records::{END, Record, records};
use super::talk::Talk;
use super::{HexMonitor, Loaded, Watch};

const NAME: &str = "the Small Computer Monitor";
/// Memory that it leaves to the user; its own data lies above.
const FREE: RangeInclusive<u16> = 0x8000..=0xFBFF;
/// What a load that went well says, and all of it.
const READY: &[u8] = b"Ready\r\n\r\n*";
/// The longest wait for the report of a load after its last character.
const REPORT: Duration = Duration::from_secs(3);
/// The longest answer to HELP takes half a second.
const HELP: Duration = Duration::from_secs(3);
/// Rows of a page of the dump, after which a key is waited for.
const PAGE: usize = 8;
/// Leaves the dump, and the other commands that ask for one line after the other.
const ESCAPE: &[u8] = b"\x1B";
/// A damaged count makes it wait for up to 255 bytes, 520 characters.
const LONGEST_LINE: usize = 600;
/// Returns sent between two looks whether they ended it.
const RETURNS: usize = 40;
/// They go out slowly: a line was cut short because characters were lost.
const CAREFUL: Pace = Pace { character: Duration::from_millis(2), ..Pace::FULL };
const FINDING: &str = "looking for the prompt of the Small Computer Monitor";

const BACK: &str = "getting back to the prompt of the Small Computer Monitor";

/// The monitor.
#[derive(Default)]
pub(super) struct Scm;

impl HexMonitor for Scm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String> {
        let mut heard = knock::find(talk, watch, FINDING, end_line)?;
        if recognise(&heard).is_none() {
            heard = escape(talk)?;
        }
        if !knock::is_from(Peer::Scm, &heard) {
            return Err(knock::not_wanted(talk, NAME, &heard));
        }
        talk.put("asking for the version", b"HELP\r")?;
        let help = talk.hear_until("asking for the version", HELP, at_prompt)?;
        Ok(describe(&String::from_utf8_lossy(&help)))
    }

    fn check(&self, image: &Image) -> Result<()> {
        super::keep_within(image, FREE, |free| format!("the monitor leaves {free} to programs"))
    }

    fn load(
        &mut self,
        talk: &mut Talk,
        lines: &[Record],
        pace: Pace,
        sent: &mut dyn FnMut(usize),
    ) -> Result<Loaded> {
        talk.take();
        if let Some(line) = talk.say_lines(lines, pace, sent)? {
            return slipped(talk, line);
        }
        talk.say("sending the last line", END.as_bytes(), pace)?;
        match talk.hear_until("waiting for the report of the load", REPORT, at_prompt) {
            Ok(heard) if heard == READY => Ok(Loaded::Clean),
            Ok(heard) => {
                back_to_prompt(talk)?;
                Ok(Loaded::Failed(report(&heard)))
            }
            Err(LoaderError::Silence { .. }) => {
                back_to_prompt(talk)?;
                Ok(Loaded::Failed("it waited for more characters than came".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, talk: &mut Talk, first: u16, last: u16) -> Result<Memory> {
        const WHAT: &str = "reading memory back";
        let mut memory = Memory::new();
        let mut page = first;
        let mut key = format!("M {first:04X}\r");
        loop {
            talk.command(WHAT, &key)?;
            let heard = talk.hear_until(WHAT, ANSWER, |heard| {
                dump::rows(heard).len() >= PAGE || at_prompt(heard)
            })?;
            let rows = dump::rows(&heard);
            if rows.first().map(|(at, _)| *at) != Some(page) {
                return Err(nonsense(WHAT, &heard));
            }
            dump::note(&mut memory, &rows);
            page = page.wrapping_add((PAGE * ROW) as u16);
            if page > last || page < first {
                break;
            }
            key = "\r".to_owned();
        }
        talk.put(WHAT, ESCAPE)?;
        talk.hear_until(WHAT, ANSWER, at_prompt)?;
        Ok(memory)
    }

    fn start(&mut self, talk: &mut Talk, entry: u16) -> Result<()> {
        const WHAT: &str = "starting the program";
        let command = start_command(entry);
        talk.command(WHAT, &format!("{command}\r"))?;
        let echo = format!("{command}\r\n").into_bytes();
        talk.hear_until(WHAT, ANSWER, |heard| heard.starts_with(&echo)).map(drop)
    }

    fn abandon(&mut self, talk: &mut Talk) -> &'static str {
        let mut back = || -> Result<bool> {
            talk.discard_unsent()?;
            talk.put("ending the load", END.as_bytes())?;
            let heard = talk.hear_out("ending the load", QUIET, ANSWER)?;
            Ok(at_prompt(&heard) || end_line(talk)?.is_some())
        };
        match back() {
            Ok(true) => {
                "the monitor is at its prompt, the program is there in part: write it again"
            }
            _ => "the monitor may wait for the rest of a line: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        (records(image, pace.record).iter().map(Record::text))
            .chain([END.to_owned()])
            .chain(entry.map(start_command))
            .collect()
    }
}

/// It has said something in mid-load: a line was not taken as one and is echoed as a command.
fn slipped(talk: &mut Talk, line: &Record) -> Result<Loaded> {
    talk.discard_unsent()?;
    let heard = talk.hear_out("listening to what it says in mid-load", QUIET, ANSWER)?;
    back_to_prompt(talk)?;
    Ok(Loaded::Failed(format!("in line {} {}", line.number, report(&heard))))
}

fn report(heard: &[u8]) -> String {
    format!("it said {}", crate::link::show(heard))
}

/// To the prompt, wherever a load that failed has left it: at the prompt, in a command that waits for something, or
/// in a line of which it lost a part.
fn back_to_prompt(talk: &mut Talk) -> Result<()> {
    if at_prompt(&knock::knock(talk, BACK, b"\r")?) || at_prompt(&escape(talk)?) {
        return Ok(());
    }
    match end_line(talk)? {
        Some(heard) if at_prompt(&heard) => Ok(()),
        _ => Err(knock::nobody(talk, BACK)),
    }
}

/// What is typed to start a program.
fn start_command(entry: u16) -> String {
    format!("G {entry:04X}")
}

fn at_prompt(heard: &[u8]) -> bool {
    heard.ends_with(prompt::SCM)
}

fn nonsense(what: &'static str, heard: &[u8]) -> LoaderError {
    LoaderError::Nonsense { who: NAME, what, text: crate::link::show(heard) }
}

/// Leaves a command that waits for a key or a line.
fn escape(talk: &mut Talk) -> Result<Vec<u8>> {
    knock::knock(talk, BACK, ESCAPE)?;
    knock::knock(talk, BACK, b"\r")
}

/// Ends a line of which it got only a part: returns count as digits there. Between two lines only an end record is
/// answered. What it says at its prompt then, or `None` when it stays silent.
fn end_line(talk: &mut Talk) -> Result<Option<Vec<u8>>> {
    const WHAT: &str = "ending a line that was cut short";
    for _ in 0..LONGEST_LINE / RETURNS {
        for ending in [&[b'\r'; RETURNS][..], END.as_bytes()] {
            talk.say(WHAT, ending, CAREFUL)?;
            talk.pause(WHAT, QUIET / 4)?;
            if !talk.inbox().is_empty() {
                return knock::knock(talk, WHAT, b"\r").map(Some);
            }
        }
    }
    Ok(None)
}

/// The monitor's name and version, from its answer to HELP.
fn describe(help: &str) -> String {
    let line = help.lines().find(|line| line.contains("onfiguration"));
    let version = line.and_then(|line| {
        line.split([' ', ',']).find(|word| {
            word.split('.').count() == 3 && word.split('.').all(|part| part.parse::<u8>().is_ok())
        })
    });
    match version {
        Some(version) => format!("Small Computer Monitor {version}"),
        None => "a monitor with the prompt of the Small Computer Monitor".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::Run;

    #[test]
    fn the_version_is_found_in_both_forms_of_help() {
        let old = "HELP\r\nSmall Computer Monitor\r\nVersion 1.0.0 configuration R1 for Z80 based RC2014 systems\r\n";
        let new = "Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0\r\n";
        assert_eq!(describe(old), "Small Computer Monitor 1.0.0");
        assert_eq!(describe(new), "Small Computer Monitor 1.3.0");
        assert!(describe("*").starts_with("a monitor with the prompt"));
    }

    #[test]
    fn programs_keep_off_rom_and_the_monitors_data() {
        let fits = |address, count| {
            let image = Image::new([Run { address, bytes: vec![0; count] }]);
            Scm.check(&image).is_ok()
        };
        assert!(fits(0x8000, 0x7C00));
        assert!(!fits(0x7FFF, 2));
        assert!(!fits(0x8000, 0x7C01));
    }
}
