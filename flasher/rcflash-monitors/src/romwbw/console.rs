//! Prompt, commands and recovery that all releases of RomWBW's debug monitor have in common.

use crate::error::Result;
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT, erase_line, type_checked};
use crate::handshake::{CORRUPTED_RECORD_FILL, abort_hex_load};
use crate::monitor::LoadReport;
use crate::session::MonitorSession;

pub(crate) const NAME: &str = "RomWBW's debug monitor";
pub(crate) const ABORTING: &str = "ending an interrupted load";

/// Types a command, sends its carriage return once the echo is correct, and waits for the rest of
/// `echo`; what follows remains unread.
pub(crate) fn type_command(
    session: &mut MonitorSession,
    operation: &'static str,
    command: &str,
    echo: &[u8],
) -> Result<()> {
    type_checked(session, NAME, operation, command)?;
    session.send(operation, b"\r")?;
    let rest = &echo[command.len()..];
    let received =
        session.receive_until(operation, REPLY_TIMEOUT, |received| received.starts_with(rest))?;
    session.unread(&received[rest.len()..]);
    Ok(())
}

/// Handles a message in the middle of a load, after which further lines would be commands.
pub(crate) fn report_refusal(session: &mut MonitorSession, line: usize) -> Result<LoadReport> {
    session.discard_unsent()?;
    let received = session.receive_until_quiet(
        "receiving its message about a line",
        MAX_CHAR_GAP,
        3 * REPLY_TIMEOUT,
    )?;
    clear_command_line(session)?;
    Ok(LoadReport::Failure(format!(
        "at line {line} it replied {}",
        exchange::escape_tail(&received)
    )))
}

/// Ends a load that waits for more characters than it received.
pub(crate) fn abort_load(session: &mut MonitorSession) -> Result<LoadReport> {
    let received = abort_hex_load(session, ABORTING, CORRUPTED_RECORD_FILL)?;
    if received.is_empty() {
        return Err(exchange::no_peer_error(session, ABORTING));
    }
    clear_command_line(session)?;
    Ok(LoadReport::Failure("it waited for more characters than it received".to_owned()))
}

/// Returns to an empty prompt. A partly typed line is erased: it may be a dangerous command.
pub(crate) fn clear_command_line(session: &mut MonitorSession) -> Result<()> {
    const OPERATION: &str = "getting back to the prompt";
    erase_line(session, OPERATION)?;
    exchange::send_keys(session, OPERATION, b"\r").map(drop)
}
