//! Reaching the monitor that was asked for: the first contact, and the flow control under which it
//! comes about.

use std::time::Duration;

use super::contact::{self, Contact, contact};
use super::error::{LoaderError, Result};
use super::prompt::Peer;
use super::talk::Talk;
use super::{FlowChoice, Note, Watch};

/// The time that an idle monitor may take for an answer.
pub(super) const ANSWER: Duration = Duration::from_secs(1);
/// After so long without a character an answer is complete; USB adapters hold characters back for
/// up to 16 ms.
pub(super) const QUIET: Duration = Duration::from_millis(60);

/// Finds the monitor that is wanted, or another one that `accepts` takes for it.
pub(super) fn find(
    talk: &mut Talk,
    watch: &mut dyn Watch,
    what: &'static str,
    wanted: &'static str,
    accepts: &[Peer],
) -> Result<Contact> {
    let found = contact(talk, what)?;
    if found.heard.is_empty() && found.peer.is_none() {
        return Err(contact::nobody(talk, what));
    }
    if !found.peer.is_some_and(|peer| accepts.contains(&peer)) {
        return Err(contact::not_wanted(talk, wanted, &found));
    }
    if found.unstuck {
        watch.note(Note::Unstuck);
    }
    Ok(found)
}

/// Sends keys to a monitor that is known to listen, and takes what it says; nothing if it stays
/// silent.
pub(super) fn knock(talk: &mut Talk, what: &'static str, keys: &[u8]) -> Result<Vec<u8>> {
    contact::ask(talk, what, keys, ANSWER)
}

/// Reaches somebody, without flow control if nothing gets through with it and `flow` does not
/// insist.
pub(super) fn by_flow<T>(
    talk: &mut Talk,
    watch: &mut dyn Watch,
    flow: FlowChoice,
    mut reach: impl FnMut(&mut Talk, &mut dyn Watch) -> Result<T>,
) -> Result<T> {
    talk.obey_rts(flow != FlowChoice::None)?;
    match reach(talk, watch) {
        Err(LoaderError::Silence { .. } | LoaderError::Stalled { .. })
            if flow == FlowChoice::Auto && talk.has_flow_control() =>
        {
            talk.discard_unsent()?;
            talk.obey_rts(false)?;
            let reached = reach(talk, watch)?;
            watch.note(Note::FlowOff);
            Ok(reached)
        }
        other => other,
    }
}
