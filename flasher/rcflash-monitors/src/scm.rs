//! The Small Computer Monitor, 1.0 and 1.3: a colon at its prompt starts a load, which ends with
//! `Ready` or `File error`.
//!
//! It keeps one checksum for the whole load, looks at no record type but 01, stores bytes before it
//! checks them, and waits without end for the rest of a record. So only types 00 and 01 are sent,
//! lines end with CR alone (the LF of a CR LF after the last line turns the next load into
//! commands), and `Ready` counts only if nothing else was heard.
//!
//! It polls its serial chip: what arrives while it prints is lost but for two characters. So
//! nothing is sent before an answer is complete, and a page of the dump is complete only with its
//! last line end.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::contact::{self, end_load};
use super::dump::{self, Memory, ROW};
use super::error::{LoaderError, Result};
use super::identify;
use super::knock::{self, ANSWER, QUIET};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::records::{END, Record, records};
use super::talk::Talk;
use super::{HexMonitor, Loaded, Watch};

const NAME: &str = "the Small Computer Monitor";
/// Memory that it leaves to the user; its own data lies above.
const FREE: RangeInclusive<u16> = 0x8000..=0xFBFF;
/// The whole answer to a load that went well.
const READY: &[u8] = b"Ready\r\n\r\n*";
/// The longest wait for the report of a load after its last character.
const REPORT: Duration = Duration::from_secs(3);
/// The longest answer to HELP takes half a second.
const HELP: Duration = Duration::from_secs(3);
/// Rows of a page of the dump, after which a key is waited for.
const PAGE: usize = 8;
/// A page was shown within 77 ms, on a board whose line is slower within so long.
const PAGE_SHOWN: Duration = Duration::from_secs(3);
/// Leaves the dump, and the other commands that ask for one line after the other.
const ESCAPE: &[u8] = b"\x1B";
/// Carriage returns that fill a record whose count was damaged.
const DAMAGED_RECORD: usize = 520;
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
        knock::find(talk, watch, FINDING, NAME, &[Peer::Scm])?;
        talk.put("asking for the version", b"HELP\r")?;
        let help = talk.hear_until("asking for the version", HELP, at_prompt)?;
        Ok(identify::scm(&String::from_utf8_lossy(&help)))
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
        if let Some(line) = talk.say_lines(lines, "\r", pace, sent)? {
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
            let heard =
                talk.hear_until(WHAT, PAGE_SHOWN, |heard| is_page(heard) || at_prompt(heard))?;
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
        let heard = talk.hear_until(WHAT, ANSWER, |heard| heard.starts_with(&echo))?;
        talk.give_back(&heard[echo.len()..]);
        Ok(())
    }

    fn abandon(&mut self, talk: &mut Talk) -> &'static str {
        let mut back = || -> Result<bool> {
            talk.discard_unsent()?;
            talk.put("ending the load", END.as_bytes())?;
            let heard = talk.receive_until_quiet("ending the load", QUIET, ANSWER)?;
            Ok(at_prompt(&heard) || at_prompt(&end_load(talk, "ending the load", DAMAGED_RECORD)?))
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

/// Reports what it said in mid-load: a line was not taken as one and is echoed as a command.
fn slipped(talk: &mut Talk, line: &Record) -> Result<Loaded> {
    talk.discard_unsent()?;
    let heard = talk.receive_until_quiet("listening to what it says in mid-load", QUIET, ANSWER)?;
    back_to_prompt(talk)?;
    Ok(Loaded::Failed(format!("in line {} {}", line.number, report(&heard))))
}

fn report(heard: &[u8]) -> String {
    format!("it said {}", rcflash_link::escape_bytes(heard))
}

/// Brings it to the prompt, wherever a load that failed has left it: at the prompt, in a command
/// that waits for something, or in a line of which it lost a part.
fn back_to_prompt(talk: &mut Talk) -> Result<()> {
    let heard = knock::knock(talk, BACK, b"\r")?;
    if at_prompt(&heard) {
        return Ok(());
    }
    if !heard.is_empty() {
        // A command that asks for one line after the other.
        knock::knock(talk, BACK, ESCAPE)?;
        if at_prompt(&knock::knock(talk, BACK, b"\r")?) {
            return Ok(());
        }
    }
    match end_load(talk, BACK, DAMAGED_RECORD)? {
        heard if at_prompt(&heard) => Ok(()),
        _ => Err(contact::nobody(talk, BACK)),
    }
}

/// The command that starts a program.
fn start_command(entry: u16) -> String {
    format!("G {entry:04X}")
}

/// Whether its prompt stands at the end. After a dump, a load or a program the prompt has no line
/// end before it.
fn at_prompt(heard: &[u8]) -> bool {
    recognise(heard) == Some(Peer::Scm)
}

/// Whether a page of the dump is complete: eight rows, and the end of the last.
fn is_page(heard: &[u8]) -> bool {
    heard.ends_with(b"\n") && dump::rows(heard).len() >= PAGE
}

fn nonsense(what: &'static str, heard: &[u8]) -> LoaderError {
    LoaderError::Nonsense { who: NAME, what, text: rcflash_link::escape_bytes(heard) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::Run;

    #[test]
    fn a_bare_prompt_counts_and_a_page_ends_with_its_line() {
        assert!(at_prompt(b"*") && at_prompt(b"HELLO\r\n*") && !at_prompt(b"* "));
        let row = "8000:  11 07 80 0E 06 F7 C9 48  45 4C 4C 4F 0D 0A 00 FF  .......HELLO....\r\n";
        let page = row.repeat(8);
        assert!(is_page(page.as_bytes()));
        assert!(!is_page(&page.as_bytes()[..page.len() - 1]) && !is_page(row.as_bytes()));
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
