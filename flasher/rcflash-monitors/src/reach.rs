//! Reaches the requested monitor: the handshake, and its fallback to no flow control.

use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver};
use crate::exchange;
use crate::handshake::{self, HandshakeResult, handshake};
use crate::prompt::Peer;
use crate::session::MonitorSession;

/// Whether the host waits for the board's RTS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlowControlMode {
    /// With flow control, unless nothing can be sent that way.
    #[default]
    Auto,
    /// Always.
    RtsCts,
    /// Never.
    None,
}

/// Performs the handshake and returns its result if the peer is an accepted one.
pub(crate) fn reach_peer(
    session: &mut MonitorSession,
    observer: &mut dyn LoadObserver,
    operation: &'static str,
    expected: &'static str,
    accepted: &[Peer],
) -> Result<HandshakeResult> {
    let found = handshake(session, operation)?;
    if found.received.is_empty() && found.peer.is_none() {
        return Err(exchange::no_peer_error(session, operation));
    }
    if !found.peer.is_some_and(|peer| accepted.contains(&peer)) {
        return Err(handshake::wrong_peer_error(session, expected, &found));
    }
    if found.recovered {
        observer.on_event(LoadEvent::PromptRecovered);
    }
    Ok(found)
}

/// Calls `reach` with flow control, and in [`FlowControlMode::Auto`] then without it.
pub(crate) fn with_flow_fallback<T>(
    session: &mut MonitorSession,
    observer: &mut dyn LoadObserver,
    mode: FlowControlMode,
    mut reach: impl FnMut(&mut MonitorSession, &mut dyn LoadObserver) -> Result<T>,
) -> Result<T> {
    session.set_flow_control(mode != FlowControlMode::None)?;
    match reach(session, observer) {
        Err(LoaderError::NoReply { .. } | LoaderError::WriteTimeout { .. })
            if mode == FlowControlMode::Auto && session.has_flow_control() =>
        {
            session.discard_unsent()?;
            session.set_flow_control(false)?;
            let reached = reach(session, observer)?;
            observer.on_event(LoadEvent::FlowControlOff);
            Ok(reached)
        }
        other => other,
    }
}
