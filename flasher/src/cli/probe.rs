//! `rcflash probe`.

use clap::Args;
use rcflash::exit::{Failure, Outcome, RIG};
use rcflash::link::Link;
use rcflash::loader;
use rcflash::loaders::{Found, Peer, Talk, Who};

use super::stop_on_interrupt;
use super::target::{BoardArgs, Target};

#[derive(Args)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn probe(args: &ProbeArgs) -> Outcome {
    let target = args.board.target()?;
    let (own, port) = (target.baud(), &target.rig.port);
    let stop = stop_on_interrupt()?;
    let mut talk = Talk::new(Box::new(target.open()?), own, stop);
    let others = other_bauds(&target);
    let found = rcflash::loaders::probe(&mut talk, &others)?;
    let baud = found.baud;
    let peer = match &found.who {
        Who::Known(peer) => *peer,
        nobody => return Err(Failure::new(RIG, nobody_known(nobody, port, own, &others))),
    };
    let name = match peer {
        Peer::Ours => name(talk, baud),
        other => other.to_string(),
    };
    println!("{name} at {baud} baud");
    advise(peer, &found, own);
    Ok(0)
}

/// The speeds to try besides the one that was asked for.
fn other_bauds(target: &Target) -> Vec<u32> {
    let uart = &target.profile.uart;
    [&[uart.baud], &uart.other_bauds[..]].concat()
}

/// What the program of ours calls itself.
fn name(talk: Talk, baud: u32) -> String {
    let mut link = Link::new(talk.into_line(), baud);
    match loader::identify(&mut link) {
        Ok(identity) => identity.to_string(),
        Err(error) => {
            eprintln!("{error}");
            Peer::Ours.to_string()
        }
    }
}

/// What to do about it.
fn advise(peer: Peer, found: &Found, own: u32) {
    if found.baud != own {
        let baud = found.baud;
        eprintln!("not at {own} baud: use --baud {baud}, or baud = {baud} in the rig file");
    }
    if found.flow_off {
        eprintln!(
            "it answers only while its RTS is not obeyed: put flow = \"none\" into the rig file"
        );
    }
    if peer != Peer::Ours {
        eprintln!("for `rcflash write` {}", peer.advice());
    }
}

/// Why nobody is known there, and what to try.
fn nobody_known(who: &Who, port: &str, own: u32, others: &[u32]) -> String {
    let others: Vec<_> =
        others.iter().filter(|baud| **baud != own).map(ToString::to_string).collect();
    let tried = format!("at {own} baud, and nobody known at {}", others.join(", "));
    match who {
        Who::Noise => format!(
            "{port}: only noise {tried}; does the board run at another speed still (--baud)? is ground connected?"
        ),
        Who::Stranger(text) => format!(
            "{port}: somebody unknown {tried}; it says: {text}; `rcflash monitor` talks to it"
        ),
        _ => format!(
            "{port}: silence {tried}; is the board's power on, do its TX and the adapter's RX meet, does a program run \
             that does not listen? press reset and try again"
        ),
    }
}
