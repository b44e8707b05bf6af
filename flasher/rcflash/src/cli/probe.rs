//! `rcflash probe`.

use clap::Args;
use cli_support::exit::{Failure, Outcome, RIG};
use cli_support::text::print;
use rcflash_link::Link;
use rcflash_link::loader;
use rcflash_monitors::{Found, Peer, Talk, Who};

use super::stop_on_interrupt;
use super::target::{BoardArgs, Target};

#[derive(Args)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn probe(args: &ProbeArgs) -> Outcome {
    let target = args.board.target()?;
    let own = target.baud();
    let port = &target.rig.port;
    let stop = stop_on_interrupt()?;
    let mut talk = Talk::new(target.open()?, own, stop);
    let others = other_bauds(&target);
    let found = rcflash_monitors::probe(&mut talk, &others)?;
    let baud = found.baud;
    let Who::Known(peer, version) = &found.who else {
        return Err(Failure::new(RIG, nobody_known(&found.who, port, own, &others)));
    };
    let name = match peer {
        Peer::Ours => name(talk, baud)?,
        _ => version.clone(),
    };
    // A reader that has had enough is no failure.
    print(&format!("{name} at {baud} baud\n"))
        .map_err(|error| Failure::new(RIG, format!("can't write to standard output: {error}")))?;
    advise(*peer, &found, own);
    Ok(0)
}

/// The speeds to try besides the one that was asked for.
fn other_bauds(target: &Target) -> Vec<u32> {
    let uart = &target.profile.uart;
    [&[uart.baud], &uart.other_bauds[..]].concat()
}

/// Returns the name that the program of ours gives itself. One whose answer makes no sense is not
/// taken for it: the probe has found nothing that can be relied on.
fn name(talk: Talk, baud: u32) -> Result<String, Failure> {
    let mut link = Link::new(talk.into_line(), baud);
    Ok(loader::identify(&mut link)?.to_string())
}

/// Shows what follows for the next command.
fn advise(peer: Peer, found: &Found, own: u32) {
    if found.baud != own {
        let baud = found.baud;
        cli_support::tell!(
            "not at {own} baud: use --baud {baud}, or baud = {baud} in the rig file"
        );
    }
    if found.unstuck {
        cli_support::tell!(
            "it waited for an answer or for the rest of a line; it is at its prompt now"
        );
    }
    if found.flow_off {
        cli_support::tell!(
            "it answers only while its RTS is not obeyed: put flow = \"none\" into the rig file"
        );
    }
    if peer != Peer::Ours {
        cli_support::tell!("for `rcflash write` {}", peer.advice());
    }
}

/// The message for a line with nobody known, with what to try.
fn nobody_known(who: &Who, port: &str, own: u32, others: &[u32]) -> String {
    let others: Vec<_> =
        others.iter().filter(|baud| **baud != own).map(ToString::to_string).collect();
    let tried = format!("at {own} baud, and nobody known at {}", others.join(", "));
    match who {
        Who::Noise => format!(
            "{port}: only noise {tried}; does the board run at another speed still (--baud)? is \
             ground connected?"
        ),
        Who::Stranger(text) => format!(
            "{port}: somebody unknown {tried}; it says: {text}; `rcflash monitor` talks to it"
        ),
        _ => format!(
            "{port}: silence {tried}; is the board's power on, do its TX and the adapter's RX \
             meet, does a program run that does not listen? press reset, or Ctrl-C in `rcflash \
             monitor`, and try again"
        ),
    }
}
