//! Identifies the program at the other end, its version, and its speed.
//!
//! At the configured speed the whole handshake is performed. At other speeds only its first steps
//! are, which are harmless although a monitor at another speed receives different characters.

use crate::error::{LoaderError, Result};
use crate::exchange::{self, escape_with_hex};
use crate::handshake::{self, HandshakeResult, handshake, handshake_passive};
use crate::identify::name_with_version;
use crate::prompt::{Peer, is_text};
use crate::session::MonitorSession;

const OPERATION: &str = "probing";
/// How often [`probe_quick`] probes a board that is not recognized.
const QUICK_PROBES: usize = 3;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResult {
    /// The program that replied.
    pub peer: ProbedPeer,
    /// Whether the program, or its memory, has reported what it is; otherwise its name is a guess
    /// by the form of its prompt.
    pub certain: bool,
    /// The board profile that the program names; programs on Z80 boards name none.
    pub board: Option<&'static str>,
    /// The speed at which it replied.
    pub baud: u32,
    /// Whether the board replies only with flow control off.
    pub flow_control_off: bool,
    /// Whether it was waiting for something and was brought back to its prompt.
    pub recovered: bool,
}

/// What was found at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbedPeer {
    /// A known program: its name and version, as far as can be determined without changes.
    Known(Peer, String),
    /// An unknown program that sent this, escaped and in hexadecimal.
    Unknown(String),
    /// A program that prints text without end; the last of it, escaped.
    Printing(String),
    /// The bytes that were sent.
    Loop,
    /// Bytes that are not text.
    Noise,
    /// No reply.
    NoReply,
}

impl ProbedPeer {
    /// Returns `true` if other speeds need not be tried: for a known program, an endless text, and a
    /// loop, which repeats at each speed.
    fn is_settled(&self) -> bool {
        matches!(self, Self::Known(..) | Self::Printing(_) | Self::Loop)
    }
}

/// Probes at the configured speed, then at `other_bauds` until a known program replies or one prints
/// text without end. If none does, returns the result of the first speed.
///
/// # Errors
/// Returns [`LoaderError`] if the transport fails or the user interrupts.
pub fn probe(
    session: &mut MonitorSession,
    other_bauds: &[u32],
) -> std::result::Result<ProbeResult, LoaderError> {
    probe_speeds(session, other_bauds).map_err(with_unchanged_note)
}

/// Probes at the current speed for a program that waits for a command or is at its start prompt,
/// up to three times, since a busy computer misses replies in time. Takes six seconds without a
/// reply. Unlike [`probe`], it does not recover a board in the middle of a load.
///
/// # Errors
/// Returns [`LoaderError`] if the transport fails or the user interrupts.
pub fn probe_quick(session: &mut MonitorSession) -> std::result::Result<ProbedPeer, LoaderError> {
    let mut peer = ProbedPeer::NoReply;
    for _ in 0..QUICK_PROBES {
        let result = probe_at_speed(session, handshake::handshake_gentle);
        peer = result.map_err(with_unchanged_note)?.peer;
        if matches!(peer, ProbedPeer::Known(..)) {
            break;
        }
    }
    Ok(peer)
}

/// Adds the state of the board to an interruption.
fn with_unchanged_note(error: LoaderError) -> LoaderError {
    match error {
        LoaderError::Interrupted { operation, .. } => LoaderError::Interrupted {
            operation,
            state: "the board was only probed, nothing was changed on it",
        },
        other => other,
    }
}

fn probe_speeds(session: &mut MonitorSession, other_bauds: &[u32]) -> Result<ProbeResult> {
    let own_baud = session.baud();
    // The few characters of a probe need no flow control, and an unconnected CTS would block them.
    let was_enabled = session.set_flow_control(false)?;
    let mut first = probe_at_speed(session, handshake)?;
    if first.peer.is_settled() {
        first.flow_control_off = was_enabled && needs_flow_control_off(session, &first.peer)?;
        return Ok(first);
    }
    for &baud in other_bauds.iter().filter(|baud| **baud != own_baud) {
        if session.set_baud(baud).is_err() {
            continue; // the device does not support this speed
        }
        let other = probe_at_speed(session, handshake_passive)?;
        if other.peer.is_settled() {
            return Ok(other);
        }
        if first.peer == ProbedPeer::NoReply && other.peer == ProbedPeer::Noise {
            first = ProbeResult { baud: own_baud, ..other };
        }
    }
    Ok(first)
}

/// Probes at the current speed.
fn probe_at_speed(
    session: &mut MonitorSession,
    first: fn(&mut MonitorSession, &'static str) -> Result<HandshakeResult>,
) -> Result<ProbeResult> {
    let baud = session.baud();
    let result = |peer, certain, recovered| {
        Ok(ProbeResult { peer, certain, board: None, baud, flow_control_off: false, recovered })
    };
    match first(session, OPERATION) {
        Ok(HandshakeResult { peer: Some(peer), received, recovered }) => {
            let (name, certain) = name_with_version(session, peer, &received)?;
            let found = result(ProbedPeer::Known(peer, name), certain, recovered)?;
            Ok(ProbeResult { board: session.board_profile(), ..found })
        }
        // A loop repeats the last carriage return, too.
        Ok(found) if handshake::is_blank(&found.received) && repeats_ident(session)? => {
            result(ProbedPeer::Loop, false, false)
        }
        Ok(found) => result(classify_unknown(&found), false, false),
        Err(LoaderError::EndlessText { .. }) => {
            let text = exchange::escape_tail(&session.take_received());
            result(ProbedPeer::Printing(text), false, false)
        }
        Err(LoaderError::Noise { .. }) => {
            session.take_received();
            result(ProbedPeer::Noise, false, false)
        }
        Err(LoaderError::WriteTimeout { .. }) => result(ProbedPeer::NoReply, false, false),
        Err(error) => Err(error),
    }
}

/// Returns `true` if the reply to IDENT is IDENT itself, which no program echoes as it is: it has
/// bytes that are no characters.
fn repeats_ident(session: &mut MonitorSession) -> Result<bool> {
    let ident = handshake::ident_request();
    Ok(exchange::send_keys(session, OPERATION, &ident)? == ident)
}

fn classify_unknown(found: &HandshakeResult) -> ProbedPeer {
    if found.received.is_empty() {
        ProbedPeer::NoReply
    } else if is_text(&found.received) {
        ProbedPeer::Unknown(escape_with_hex(&found.received))
    } else {
        ProbedPeer::Noise
    }
}

/// Restores flow control, or leaves it off and returns `true` if the board does not reply with it.
fn needs_flow_control_off(session: &mut MonitorSession, probed: &ProbedPeer) -> Result<bool> {
    let ProbedPeer::Known(peer, _) = probed else { return Ok(false) };
    session.set_flow_control(true)?;
    // The others do not reply to an empty line, or not at once.
    let replies_at_once =
        !matches!(peer, Peer::XmodemReceiver | Peer::OwnFirmware | Peer::CpmMonitor);
    if !session.has_flow_control() || !replies_at_once {
        return Ok(false);
    }
    let received = match exchange::send_keys(session, OPERATION, b"\r") {
        Ok(received) => received,
        Err(LoaderError::WriteTimeout { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    if received.is_empty() {
        session.discard_unsent()?;
        session.set_flow_control(false)?;
    }
    Ok(received.is_empty())
}
