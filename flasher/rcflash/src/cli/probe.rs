//! `rcflash probe`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::output::{json_line, print};
use firmware_wire::Identity;
use rcflash_link::{Link, loader};
use rcflash_monitors::{MonitorSession, Peer, ProbeResult, ProbedPeer, ResidentMonitor};
use rcflash_transport::Transport;
use serde::Serialize;

use super::stop_on_interrupt;
use super::target::{BoardArgs, Target};

#[derive(Args)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Print the result as a line of JSON
    #[arg(long)]
    json: bool,
}

/// The result as JSON.
#[derive(Serialize)]
struct ProbeReport<'a> {
    port: &'a str,
    /// What replied, with its version.
    program: &'a str,
    /// `false` if the program was inferred from the form of its prompt only.
    certain: bool,
    baud: u32,
    /// The loader for `--via`; `None` for this project's monitor.
    via: Option<&'static str>,
}

pub(super) fn probe(args: &ProbeArgs) -> CommandResult {
    let target = args.board.target()?;
    let stop = stop_on_interrupt()?;
    let found = find(&target, target.open()?, stop)?;
    if args.json {
        let report = ProbeReport {
            port: &target.rig.port,
            program: &found.name,
            certain: found.result.certain,
            baud: found.result.baud,
            via: via_option(found.peer),
        };
        print(&json_line(&report)?)?;
    } else {
        print(&format!("{} at {} baud\n", found.label(), found.result.baud))?;
    }
    print_hints(found.peer, &found.result, target.baud());
    Ok(0)
}

/// The program on a board.
pub(super) struct Found {
    pub(super) peer: Peer,
    /// Its name and version.
    pub(super) name: String,
    /// The identity of a program of this project.
    pub(super) identity: Option<Identity>,
    pub(super) result: ProbeResult,
}

impl Found {
    /// Returns the name, with a mark if it is a guess.
    pub(super) fn label(&self) -> String {
        let mark = if self.result.certain { "" } else { " (guessed)" };
        format!("{}{mark}", self.name)
    }
}

/// Identifies the program on a board, whose port is open, until `stop` is set; one that is unknown
/// is an error with advice.
pub(super) fn find(
    target: &Target,
    line: Box<dyn Transport + Send>,
    stop: Arc<AtomicBool>,
) -> Result<Found, CommandError> {
    let own = target.baud();
    let mut session = MonitorSession::new(line, own, stop);
    let others = other_bauds(target);
    let result = rcflash_monitors::probe(&mut session, &others)?;
    let ProbedPeer::Known(peer, version) = &result.peer else {
        let problem = unknown_peer_message(&result, &target.rig.port, own, &others);
        return Err(CommandError::new(ENVIRONMENT, problem));
    };
    let (peer, version) = (*peer, version.clone());
    let identity = match peer {
        Peer::OwnFirmware => {
            Some(loader::identify(&mut Link::new(session.into_transport(), result.baud))?)
        }
        _ => None,
    };
    let name = identity.as_ref().map_or(version, ToString::to_string);
    Ok(Found { peer, name, identity, result })
}

/// Returns the loader for `--via`; `None` for this project's monitor.
pub(super) fn via_option(peer: Peer) -> Option<&'static str> {
    ResidentMonitor::for_peer(peer).map(|monitor| monitor.name())
}

/// Returns the speeds to try besides the configured one.
fn other_bauds(target: &Target) -> Vec<u32> {
    let uart = &target.profile.uart;
    [&[uart.baud], &uart.other_bauds[..]].concat()
}

/// Prints options that later commands need.
fn print_hints(peer: Peer, found: &ProbeResult, own: u32) {
    if found.baud != own {
        let baud = found.baud;
        cli_support::eprint_message!(
            "not at {own} baud: use --baud {baud}, or baud = {baud} in the rig file"
        );
    }
    if found.recovered {
        cli_support::eprint_message!(
            "it was waiting for the rest of a line; it is at its prompt now"
        );
    }
    if found.flow_control_off {
        cli_support::eprint_message!(
            "it replies only without flow control: put flow = \"none\" into the rig file"
        );
    }
    if peer != Peer::OwnFirmware {
        cli_support::eprint_message!("for `rcflash write` {}", peer.load_hint());
    }
}

/// Returns the message for a line without a known program, with what to try.
fn unknown_peer_message(found: &ProbeResult, port: &str, own: u32, others: &[u32]) -> String {
    let others: Vec<_> =
        others.iter().filter(|baud| **baud != own).map(ToString::to_string).collect();
    let tried = format!("at {own} baud, no known program at {}", others.join(", "));
    match &found.peer {
        ProbedPeer::Printing(text) => format!(
            "{port}: a program prints text at {} baud: {text}; stop it (in `rcflash monitor`, Ctrl-C \
             stops a BASIC program), or press reset",
            found.baud
        ),
        ProbedPeer::Loop => format!(
            "{port}: your own bytes came back: are TX and RX of the adapter connected with each \
             other? its TX belongs to the board's RX, and its RX to the board's TX"
        ),
        ProbedPeer::Noise => format!(
            "{port}: only noise {tried}; does the board run at yet another speed (--baud)? is \
             ground connected?"
        ),
        ProbedPeer::Unknown(text) => format!(
            "{port}: unknown program {tried}; it sent: {text}; `rcflash monitor` is a terminal for \
             it, and docs/LOADERS.md has how to describe it for `--via FILE.toml`"
        ),
        _ => format!(
            "{port}: no reply {tried}; is the board powered, is its TX connected to the adapter's \
             RX, is a program running that reads no input? press reset, or Ctrl-C in `rcflash \
             monitor`, and try again"
        ),
    }
}
