//! The first contact: a carriage return, and who answers it. No banner is waited for, it has long passed.

use std::time::{Duration, Instant};

use super::error::{LoaderError, Result};
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use super::{Flow, Note, Watch};

/// How long an idle monitor may take to answer a carriage return.
pub(super) const ANSWER: Duration = Duration::from_secs(1);
/// After so long without a character an answer is complete; USB adapters hold characters back for up to 16 ms.
pub(super) const QUIET: Duration = Duration::from_millis(60);
/// How long something may talk before it is noise.
const TALKATIVE: Duration = Duration::from_secs(3);

/// Sends bytes, mostly a carriage return, and takes what is said to them; nothing when nobody answers.
pub(super) fn knock(talk: &mut Talk, what: &'static str, bytes: &[u8]) -> Result<Vec<u8>> {
    talk.hear_out(what, QUIET / 2, TALKATIVE)?;
    talk.put(what, bytes)?;
    let end = Instant::now() + ANSWER;
    while talk.inbox().is_empty() && Instant::now() < end {
        talk.check_stop(what)?;
        talk.listen(what, Duration::from_millis(50))?;
    }
    talk.hear_out(what, QUIET, TALKATIVE)
}

/// Knocks up to twice; `None` when nobody answers.
pub(super) fn who(talk: &mut Talk, what: &'static str) -> Result<Option<Vec<u8>>> {
    for _ in 0..2 {
        let heard = knock(talk, what, b"\r")?;
        if !heard.is_empty() {
            return Ok(Some(heard));
        }
    }
    Ok(None)
}

/// Finds whoever listens, and what it says to a carriage return. When nobody answers, it may wait for the rest of a load:
/// `unstick` ends that, and gives what is said then.
pub(super) fn find(
    talk: &mut Talk,
    watch: &mut dyn Watch,
    what: &'static str,
    unstick: impl FnOnce(&mut Talk) -> Result<Option<Vec<u8>>>,
) -> Result<Vec<u8>> {
    if let Some(heard) = who(talk, what)? {
        return Ok(heard);
    }
    let heard = unstick(talk)?.ok_or_else(|| nobody(talk, what))?;
    watch.note(Note::Unstuck);
    Ok(heard)
}

/// Reaches somebody, without flow control if nothing gets through with it and `flow` does not insist.
pub(super) fn by_flow<T>(
    talk: &mut Talk,
    watch: &mut dyn Watch,
    flow: Flow,
    mut reach: impl FnMut(&mut Talk, &mut dyn Watch) -> Result<T>,
) -> Result<T> {
    talk.obey_rts(flow != Flow::None)?;
    match reach(talk, watch) {
        Err(LoaderError::Silence { .. } | LoaderError::Stalled { .. })
            if flow == Flow::Auto && talk.has_flow_control() =>
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

/// Why what was heard is not who was wanted.
pub(super) fn not_wanted(talk: &Talk, wanted: &'static str, heard: &[u8]) -> LoaderError {
    let port = talk.name();
    if let Some(found) = recognise(heard) {
        return LoaderError::WrongPeer { port, wanted, found };
    }
    if !is_text(heard) {
        return talk.noise("looking for the prompt");
    }
    LoaderError::Stranger { port, wanted, overheard: talk.overheard() }
}

/// Why nobody could be reached.
pub(super) fn nobody(talk: &Talk, what: &'static str) -> LoaderError {
    LoaderError::Silence {
        port: talk.name(),
        what,
        waited: 2 * ANSWER,
        overheard: talk.overheard(),
        try_this: "press reset, check the cable and the board's speed, or try --flow none",
    }
}

/// Whether it reads like text: at most an eighth of it is neither printable nor a control character of terminals.
pub(super) fn is_text(heard: &[u8]) -> bool {
    let plain = |byte: &&u8| matches!(byte, 0x20..=0x7E | 0x07..=0x0D | 0x1B);
    let odd = heard.iter().filter(|byte| !plain(byte)).count();
    odd * 8 <= heard.len()
}

/// Whether what was heard comes from `peer`.
pub(super) fn is_from(peer: Peer, heard: &[u8]) -> bool {
    recognise(heard) == Some(peer)
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn garbage_of_a_wrong_speed_is_no_text() {
        assert!(is_text(b"\x07\r\nRC2014 - MS Basic Loader\r\nz88dk - feilipu\r\n"));
        assert!(!is_text(&[0x9C, 0x78, 0xF8, 0x0D, 0xFE]));
    }
}
