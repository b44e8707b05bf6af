//! `hw-tests standin`.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hw_tests::standin::{Basic, Cpm, Faults, Options, Peer, Romwbw, Scm, StandIn};
use rcflash::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};

use super::{interruption, print};

/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);

/// Whose part is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The Small Computer Monitor
    Scm,
    /// RomWBW's boot loader and debug monitor
    Romwbw,
    /// Searle's ROM BASIC
    Basic,
    /// feilipu's ROM BASIC
    FeilipuBasic,
    /// CP/M with a program XM
    Cpm,
}

#[derive(Args)]
pub(super) struct StandInArgs {
    /// Whose part it plays
    #[arg(value_enum)]
    part: Part,
    /// The host does not obey RTS, so that a slow monitor loses characters
    #[arg(long)]
    ignore_rts: bool,
    /// Lose one of N characters on the way to it, at random
    #[arg(long, value_name = "N")]
    loses: Option<u32>,
    /// Change one of N characters on the way to it, at random
    #[arg(long, value_name = "N")]
    changes: Option<u32>,
    /// Say nothing more after N characters
    #[arg(long, value_name = "N")]
    dies_after: Option<u64>,
    /// Say nothing at all
    #[arg(long)]
    silent: bool,
    /// Say nothing sensible, without end
    #[arg(long)]
    noise: bool,
    /// Memory that keeps what it holds, two addresses in hexadecimal
    #[arg(long, value_name = "HEX-HEX", value_parser = range)]
    read_only: Option<RangeInclusive<u16>>,
    /// Chooses when characters are lost or changed
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

fn range(text: &str) -> Result<RangeInclusive<u16>, String> {
    let hex = |text: &str| u16::from_str_radix(text, 16).ok();
    let ends = text.split_once('-').and_then(|(first, last)| Some((hex(first)?, hex(last)?)));
    let (first, last) = ends.ok_or("two addresses, such as 9000-90FF")?;
    Ok(first..=last)
}

impl StandInArgs {
    fn peer(&self) -> Box<dyn Peer> {
        match self.part {
            Part::Scm => Box::<Scm>::default(),
            Part::Romwbw => Box::<Romwbw>::default(),
            Part::Basic => Box::<Basic>::default(),
            Part::FeilipuBasic => Box::new(Basic::feilipu()),
            Part::Cpm => Box::<Cpm>::default(),
        }
    }

    fn options(&self) -> Options {
        let faults = Faults {
            silent: self.silent,
            noise: self.noise,
            loses: self.loses,
            changes: self.changes,
            dies_after: self.dies_after,
            ..Faults::default()
        };
        Options { host_obeys_rts: !self.ignore_rts, faults, seed: self.seed, ..Options::default() }
    }
}

pub(super) fn serve(args: &StandInArgs) -> Outcome {
    let mut peer = args.peer();
    if let Some(range) = &args.read_only {
        let memory = peer.memory().ok_or_else(|| {
            Failure::new(USAGE, "there is no memory to protect: leave out --read-only")
        })?;
        memory.protect(range.clone());
    }
    let interrupted = interruption()?;
    let server = StandIn::start(peer, args.options())
        .map_err(|error| Failure::new(RIG, format!("can't start the stand-in: {error}")))?;
    print(&format!("{}\n", server.path().display()))?;
    eprintln!("a stand-in on {}; Ctrl-C ends it", server.path().display());
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
    }
    eprintln!("its receiver lost {} characters", server.lost());
    Ok(INTERRUPTED)
}
