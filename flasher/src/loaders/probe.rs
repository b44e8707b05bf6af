//! Finds out who is at the other end of a line, and at which speed it talks.
//!
//! Nothing but carriage returns is sent, but to two: who does not answer them may be a board of ours in the middle of a
//! frame and gets a request for its identity; who answers by an empty line may be a BASIC and is to calculate something.

use std::time::Duration;

use firmware::wire::{Decoder, Event, Frame, Request};

use super::basic::calculates;
use super::error::{LoaderError, Result};
use super::knock::{is_text, knock, who};
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use crate::link::show;

const WHAT: &str = "probing";
/// How long it is listened for what nobody asked for.
const UNASKED: Duration = Duration::from_millis(100);

/// Who is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Who.
    pub who: Who,
    /// At which speed.
    pub baud: u32,
    /// The board did not answer while its RTS was obeyed, but does now.
    pub flow_off: bool,
}

/// Who may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Somebody known.
    Known(Peer),
    /// Somebody who says this text.
    Stranger(String),
    /// Something that is no text, or has no end.
    Noise,
    /// Nobody.
    Silence,
}

/// Looks at the line's own speed first, and then, while nobody known answers, at others. If none answers at any, what
/// the first look has shown counts.
///
/// # Errors
/// The line failed, or the user stopped it.
pub fn probe(talk: &mut Talk, others: &[u32]) -> Result<Found> {
    search(talk, others).map_err(|error| match error {
        LoaderError::Interrupted { what, .. } => LoaderError::Interrupted {
            what,
            state: "the board was asked who it is, nothing was changed on it",
        },
        other => other,
    })
}

fn search(talk: &mut Talk, others: &[u32]) -> Result<Found> {
    let own = talk.baud();
    let mut first = look(talk)?;
    if first == Who::Silence && talk.has_flow_control() {
        talk.discard_unsent()?;
        talk.obey_rts(false)?;
        let second = look(talk)?;
        if second != Who::Silence {
            return Ok(Found { who: second, baud: own, flow_off: true });
        }
        first = second;
    }
    if !matches!(first, Who::Known(_)) {
        for &baud in others.iter().filter(|baud| **baud != own) {
            talk.set_baud(baud)?;
            let who = look(talk)?;
            if matches!(who, Who::Known(_)) {
                return Ok(Found { who, baud, flow_off: false });
            }
        }
    }
    Ok(Found { who: first, baud: own, flow_off: false })
}

/// A look at one speed.
fn look(talk: &mut Talk) -> Result<Who> {
    match listen(talk) {
        Err(LoaderError::Noise { .. }) => {
            talk.take();
            Ok(Who::Noise)
        }
        Err(LoaderError::Stalled { .. }) => Ok(Who::Silence),
        other => other,
    }
}

fn listen(talk: &mut Talk) -> Result<Who> {
    talk.pause(WHAT, UNASKED)?;
    let unasked = talk.take();
    let heard = match who(talk, WHAT)? {
        Some(heard) => heard,
        None => identify(talk)?,
    };
    Ok(match recognise(&heard) {
        Some(peer) => Who::Known(peer),
        None if has_frame(&heard) => Who::Known(Peer::Ours),
        None if is_line_end(&heard) && calculates(talk)? => Who::Known(Peer::Basic),
        None => unknown(if heard.is_empty() { &unasked } else { &heard }),
    })
}

/// What is known of somebody unknown.
fn unknown(heard: &[u8]) -> Who {
    match heard {
        [] => Who::Silence,
        text if is_text(text) => Who::Stranger(show(text)),
        _ => Who::Noise,
    }
}

/// A BASIC that is ready answers an empty line by nothing else.
fn is_line_end(heard: &[u8]) -> bool {
    !heard.is_empty() && heard.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

fn identify(talk: &mut Talk) -> Result<Vec<u8>> {
    let request = Request::Identify;
    let frame = Frame { seq: 1, kind: request.kind(), payload: request.payload() };
    knock(talk, WHAT, &frame.encode())
}

/// Whether a whole frame of this project's is in it.
fn has_frame(heard: &[u8]) -> bool {
    let mut decoder = Decoder::default();
    heard.iter().any(|byte| matches!(decoder.push(*byte), Some(Event::Frame(_))))
}
