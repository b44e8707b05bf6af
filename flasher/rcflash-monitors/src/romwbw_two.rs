//! RomWBW 2.9's way to take Intel HEX, by the command `H`.
//!
//! A record's next character is taken for its line end whatever it is, and a colon must follow: a
//! second carriage return ends the load with `CHECKSUM ERROR.`, as does a wrong sum, and the prompt
//! comes only after one more character. What still comes then is a command line, in which an `F`
//! fills memory. So a record goes out character by character, and its line end only when nothing
//! was heard after it. There is no word of success.

use std::time::Duration;

use super::contact;
use super::error::{LoaderError, Result};
use super::pace::Pace;
use super::records::{END, Record};
use super::romwbw::{at_prompt, command, refused, unstick};
use super::talk::Talk;
use super::{Loaded, knock::ANSWER};

/// Without flow control a single record at full speed was too much for it; with 2 ms a character
/// none was.
pub(super) const PACE: Pace = Pace::LADDER[2];
/// Time for an error message to come through an adapter.
const ERROR: Duration = Duration::from_millis(30);
/// The same after the end record, which shows itself by a prompt only.
const DONE: Duration = Duration::from_millis(300);

pub(super) const WARNING: &str =
    "RomWBW 2.9 does not come back from a program: press reset when it has ended";

/// Sends records and the end.
pub(super) fn load(
    talk: &mut Talk,
    lines: &[Record],
    pace: Pace,
    sent: &mut dyn FnMut(usize),
) -> Result<Loaded> {
    const WHAT: &str = "sending lines";
    command(talk, "starting a load", "H", b"H\r\r\n")?;
    for line in lines {
        talk.check_stop(WHAT)?;
        if say(talk, WHAT, &line.text(), pace)? {
            return refused(talk, line.number);
        }
        talk.put(WHAT, b"\r")?;
        talk.pause(WHAT, pace.line)?;
        sent(line.data.len());
    }
    if !say(talk, "sending the last line", END, pace)? {
        talk.is_any_within(WHAT, DONE)?;
        if talk.inbox().is_empty() {
            talk.put(WHAT, b"\r")?;
        }
    }
    match talk.hear_until("waiting for the prompt after the load", 2 * ANSWER, at_prompt) {
        Ok(heard) if heard.starts_with(b"\r\n>") => Ok(Loaded::Clean),
        Ok(heard) => Ok(Loaded::Failed(format!("it said {}", contact::shown(&heard)))),
        Err(LoaderError::Silence { .. }) => unstick(talk),
        Err(error) => Err(error),
    }
}

/// Sends a record without its line end; whether anything was heard. Characters go out slowly even
/// at a fast pace.
fn say(talk: &mut Talk, what: &'static str, text: &str, pace: Pace) -> Result<bool> {
    for byte in text.as_bytes() {
        talk.put(what, std::slice::from_ref(byte))?;
        talk.pause(what, pace.character.max(PACE.character))?;
        if !talk.inbox().is_empty() {
            return Ok(true);
        }
    }
    talk.is_any_within(what, ERROR)
}
