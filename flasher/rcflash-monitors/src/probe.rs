//! Finds out who is at the other end of a line, which version it is, and at which speed it talks.
//!
//! At the line's own speed the whole first contact is made ([`contact`](super::contact)). At others
//! only its harmless first steps are, since a monitor at its own speed takes them for other
//! characters.

use super::contact::{self, Contact, contact, greet, is_text, shown};
use super::error::{LoaderError, Result};
use super::identify::describe;
use super::prompt::Peer;
use super::talk::Talk;

const WHAT: &str = "probing";

/// The monitor that answers, and the facts of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The program that was heard.
    pub who: Who,
    /// At which speed.
    pub baud: u32,
    /// The board did not answer while its RTS was obeyed, but does now.
    pub flow_off: bool,
    /// It was brought back to its prompt from something that it waited for.
    pub unstuck: bool,
}

/// The programs that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Somebody known: its name with its version, as far as that can be found out without changing
    /// anything.
    Known(Peer, String),
    /// Somebody who says this text.
    Stranger(String),
    /// Something that is no text, or has no end.
    Noise,
    /// Nobody.
    Silence,
}

/// Looks at the line's own speed first, and then, while nobody known answers, at others. If none
/// answers at any, the first look counts.
///
/// # Errors
/// The line failed, or the user stopped it.
pub fn probe(talk: &mut Talk, others: &[u32]) -> std::result::Result<Found, LoaderError> {
    search(talk, others).map_err(unchanged)
}

/// Looks at the line's own speed for whoever waits for a command or asks how to start, within two
/// seconds where nobody does. Unlike [`probe`], it does not free a board that is in the middle of a
/// load.
///
/// # Errors
/// The line failed, or the user stopped it.
pub fn glance(talk: &mut Talk) -> std::result::Result<Who, LoaderError> {
    look(talk, contact::glance).map(|(who, _)| who).map_err(unchanged)
}

/// Adds to an interruption how the board is left.
fn unchanged(error: LoaderError) -> LoaderError {
    match error {
        LoaderError::Interrupted { what, .. } => LoaderError::Interrupted {
            what,
            state: "the board was asked who it is, nothing was changed on it",
        },
        other => other,
    }
}

fn search(talk: &mut Talk, others: &[u32]) -> Result<Found> {
    let own = talk.baud();
    // So few characters need no flow control, and a CTS that is not connected would keep them here.
    let obeyed = talk.obey_rts(false)?;
    let (mut who, unstuck) = look(talk, contact)?;
    if matches!(who, Who::Known(..)) {
        let flow_off = obeyed && needs_no_flow(talk, &who)?;
        return Ok(Found { who, baud: own, flow_off, unstuck });
    }
    for &baud in others.iter().filter(|baud| **baud != own) {
        if talk.set_baud(baud).is_err() {
            continue; // the device has not this speed
        }
        let (other, unstuck) = look(talk, greet)?;
        if matches!(other, Who::Known(..)) {
            return Ok(Found { who: other, baud, flow_off: false, unstuck });
        }
        if who == Who::Silence && other == Who::Noise {
            who = other;
        }
    }
    Ok(Found { who, baud: own, flow_off: false, unstuck: false })
}

/// A look at one speed, and whether somebody was brought back to a prompt.
fn look(
    talk: &mut Talk,
    first: fn(&mut Talk, &'static str) -> Result<Contact>,
) -> Result<(Who, bool)> {
    match first(talk, WHAT) {
        Ok(found) => {
            let unstuck = found.unstuck;
            Ok((known(talk, &found)?, unstuck))
        }
        Err(LoaderError::Noise { .. }) => {
            talk.take();
            Ok((Who::Noise, false))
        }
        Err(LoaderError::Stalled { .. }) => Ok((Who::Silence, false)),
        Err(error) => Err(error),
    }
}

fn known(talk: &mut Talk, found: &Contact) -> Result<Who> {
    Ok(match found.peer {
        Some(peer) => Who::Known(peer, describe(talk, peer, &found.heard)?),
        None if found.heard.is_empty() => Who::Silence,
        None if is_text(&found.heard) => Who::Stranger(shown(&found.heard)),
        None => Who::Noise,
    })
}

/// Has RTS obeyed again; whether the board no longer answers then, so that it is not.
fn needs_no_flow(talk: &mut Talk, who: &Who) -> Result<bool> {
    let Who::Known(peer, _) = who else { return Ok(false) };
    talk.obey_rts(true)?;
    // The others say nothing to an empty line, or not at once.
    let answers = !matches!(peer, Peer::XmodemReceiver | Peer::Ours | Peer::CpmMonitor);
    if !talk.has_flow_control() || !answers {
        return Ok(false);
    }
    let heard = match super::knock::knock(talk, WHAT, b"\r") {
        Ok(heard) => heard,
        Err(LoaderError::Stalled { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    if heard.is_empty() {
        talk.discard_unsent()?;
        talk.obey_rts(false)?;
    }
    Ok(heard.is_empty())
}
