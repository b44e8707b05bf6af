//! Loads Intel HEX in RomWBW 2.9, by the command `H`.
//!
//! The character after a record is taken for its line end whatever it is, and a colon must follow:
//! a second carriage return ends the load with `CHECKSUM ERROR.`, as does a wrong checksum, and the
//! prompt appears only after one more character. Further input is a command line, in which an `F`
//! fills memory. So a record is sent character by character, and its line end only if nothing was
//! received after it. Success is not reported.

use std::time::Duration;

use crate::error::{LoaderError, Result};
use crate::exchange::{self, REPLY_TIMEOUT};
use crate::monitor::LoadReport;
use crate::pace::Pace;
use crate::prompt::at_romwbw_prompt;
use crate::records::{END_RECORD, HexRecord};
use crate::romwbw::console::{abort_load, report_refusal, type_command};
use crate::session::MonitorSession;

/// Without flow control a single record at full speed overflowed its buffer; at 2 ms none did.
pub(crate) const PACE: Pace = Pace::ALL[3];
/// Any character ends a line; at the prompt, after an error whose message is late, this one does
/// nothing.
const LINE_END: &[u8] = b"\x08";
/// How long an error message through an adapter may take.
const ERROR_WINDOW: Duration = Duration::from_millis(30);
/// The same after the end record, whose only reply is a prompt.
const PROMPT_WINDOW: Duration = Duration::from_millis(300);

pub(crate) const WARNING: &str =
    "a program does not return to RomWBW 2.9: press reset when it has ended";

pub(crate) fn load(
    session: &mut MonitorSession,
    lines: &[HexRecord],
    pace: Pace,
    on_sent: &mut dyn FnMut(usize),
) -> Result<LoadReport> {
    const OPERATION: &str = "sending lines";
    type_command(session, "starting a load", "H", b"H\r\r\n")?;
    for line in lines {
        session.check_stop(OPERATION)?;
        if send_record_text(session, OPERATION, &line.text(), pace)? {
            return report_refusal(session, line.number);
        }
        session.send(OPERATION, LINE_END)?;
        session.pause(OPERATION, pace.line_delay)?;
        on_sent(line.data.len());
    }
    if !send_record_text(session, "sending the last line", END_RECORD, pace)? {
        session.receives_within(OPERATION, PROMPT_WINDOW)?;
        if session.received().is_empty() {
            session.send(OPERATION, b"\r")?;
        }
    }
    match session.receive_until(
        "waiting for the prompt after the load",
        2 * REPLY_TIMEOUT,
        at_romwbw_prompt,
    ) {
        Ok(received) if received.starts_with(b"\r\n>") => Ok(LoadReport::Success),
        Ok(received) => {
            Ok(LoadReport::Failure(format!("it replied {}", exchange::escape_tail(&received))))
        }
        Err(LoaderError::NoReply { .. }) => abort_load(session),
        Err(error) => Err(error),
    }
}

/// Sends a record slowly without its line end; returns `true` if anything was received.
fn send_record_text(
    session: &mut MonitorSession,
    operation: &'static str,
    text: &str,
    pace: Pace,
) -> Result<bool> {
    for byte in text.as_bytes() {
        session.send(operation, std::slice::from_ref(byte))?;
        session.pause(operation, pace.char_delay.max(PACE.char_delay))?;
        if !session.received().is_empty() {
            return Ok(true);
        }
    }
    session.receives_within(operation, ERROR_WINDOW)
}
