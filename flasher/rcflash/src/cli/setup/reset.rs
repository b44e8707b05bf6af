//! Finds out what resets a board.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cli_support::exit::CommandError;
use rcflash_link::Link;
use rcflash_link::rig::reset::{ResetError, works};
use rcflash_link::rig::{ActiveLevel, FlowControl, ResetConfig, ResetMethod};
use rcflash_monitors::{MonitorSession, Peer, ProbedPeer, probe_quick};
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant, sleep};

use super::super::probe::{Found, find};
use super::super::target::Target;
use super::ask;

/// How long a port may take to be free again, and how often it is tried.
const FREE_TIMEOUT: Duration = Duration::from_secs(3);
const FREE_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Identifies the program on a board, whose port is open. Opening it activates DTR and RTS: if one
/// of them keeps the board in reset, releases it, and notes it in `target`.
pub(super) fn find_released(
    target: &mut Target,
    line: Box<dyn Transport + Send>,
    stop: &Arc<AtomicBool>,
) -> Result<Found, CommandError> {
    let has_lines = line.capabilities().control_lines;
    let first = find(target, line, Arc::clone(stop));
    if first.is_ok() || !has_lines || target.rig.reset.method != ResetMethod::Ask {
        return first;
    }
    let before = target.rig.clone();
    for method in [ResetMethod::Dtr, ResetMethod::Rts] {
        target.rig.reset.method = method;
        if method == ResetMethod::Rts {
            target.rig.flow = FlowControl::None;
        }
        let mut session =
            MonitorSession::new(open_when_free(target)?, target.baud(), Arc::clone(stop));
        if matches!(probe_quick(&mut session)?, ProbedPeer::Known(..)) {
            return find(target, session.into_transport(), Arc::clone(stop));
        }
    }
    target.rig = before;
    first
}

/// Resets the board by the method of `target`, else by DTR, RTS and a break, if the port has control
/// lines. Returns the method that works, with which `target` remains, and adds advice if none does.
/// Returns `None` if there is nothing to try or a person, who is asked if `asks` is set, declines.
pub(super) fn find_method(
    target: &mut Target,
    found: &Found,
    has_lines: bool,
    asks: bool,
    stop: &Arc<AtomicBool>,
    advice: &mut Vec<String>,
) -> Result<Option<ResetMethod>, CommandError> {
    let noted = target.rig.reset.clone();
    if found.result.flow_control_off {
        target.rig.flow = FlowControl::None;
    }
    // RTS is the flow control, unless that is off.
    let lines = match target.rig.flow {
        _ if !has_lines => &[][..],
        FlowControl::None => &[ResetMethod::Dtr, ResetMethod::Rts, ResetMethod::Break],
        FlowControl::RtsCts => &[ResetMethod::Dtr, ResetMethod::Break],
    };
    let candidates: Vec<_> = match noted.method {
        ResetMethod::None => Vec::new(),
        ResetMethod::Ask => lines.iter().map(|method| candidate(&noted, *method)).collect(),
        _ => vec![noted.clone()],
    };
    if candidates.is_empty() || !may_reset(found.peer, asks, stop)? {
        return Ok(None);
    }
    for reset in candidates {
        target.rig.reset = reset;
        let mut link = Link::new(open_when_free(target)?, found.result.baud);
        link.set_stop(Arc::clone(stop));
        match works(&mut link, &target.rig.reset) {
            Ok(Some(true)) => return Ok(Some(target.rig.reset.method)),
            Err(ResetError::Link(error)) => return Err(error.into()),
            _ => {}
        }
    }
    advice.push(match noted.method {
        ResetMethod::Ask => "neither DTR nor a break resets the board: a person does".to_owned(),
        _ => "the reset method of the rig file does not reset the board".to_owned(),
    });
    target.rig.reset = noted;
    Ok(None)
}

/// Opens the port. A server may take a moment to notice that the last client has left.
fn open_when_free(target: &Target) -> Result<Box<dyn Transport + Send>, OpenError> {
    let deadline = Instant::now() + FREE_TIMEOUT;
    loop {
        match target.open() {
            Err(_) if Instant::now() < deadline => sleep(FREE_POLL_INTERVAL),
            opened => return opened,
        }
    }
}

/// Returns a reset by a line that is active while the port is open. A circuit that the other change
/// triggers works by it, too.
fn candidate(noted: &ResetConfig, method: ResetMethod) -> ResetConfig {
    let active_level = match method {
        ResetMethod::Break => ActiveLevel::On,
        _ => ActiveLevel::Off,
    };
    ResetConfig { method, active_level, ..noted.clone() }
}

/// Returns whether the board may be reset. Where nobody is asked, CP/M is kept, which may not boot
/// by itself; the cases have ended any other program.
fn may_reset(peer: Peer, asks: bool, stop: &AtomicBool) -> Result<bool, CommandError> {
    if !asks {
        return Ok(peer != Peer::Cpm);
    }
    let question = "reset the board, to find out whether DTR, RTS or a break does? its program \
                    ends [Y/n] ";
    let answer = ask(question, stop)?.to_ascii_lowercase();
    Ok(matches!(answer.as_str(), "" | "y" | "yes"))
}
