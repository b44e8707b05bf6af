//! `hw-tests standin`.

use cli_support::text::Show;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use board_simulator::UsbPacketing;
use board_simulator::monitors::{
    Basic, Cpm, CpmMonitor, FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Romwbw,
    Romwbw2, Scm, ScmRelease,
};
use clap::{Args, ValueEnum};
use cli_support::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};

use cli_support::interrupt::interruption;
use cli_support::output::print;

/// The time between two looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Whose part is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The Small Computer Monitor 1.3.0
    Scm,
    /// The Small Computer Monitor 1.0.0
    Scm10,
    /// Boot loader and debug monitor of RomWBW 3.5.1
    Romwbw,
    /// Boot loader and debug monitor of RomWBW 2.9.1
    Romwbw29,
    /// Searle's ROM BASIC 4.7b
    Basic,
    /// Searle's ROM BASIC 4.7b at its question for a cold or a warm start
    BasicQuestion,
    /// feilipu's ROM BASIC 4.7c
    FeilipuBasic,
    /// CP/M 2.2 of RomWBW 3.5.1 with XM 12.5
    Cpm,
    /// The factory's CP/M monitor 1.1
    CpmMonitor,
}

#[derive(Args)]
pub(super) struct StandInArgs {
    /// Whose part it plays
    #[arg(value_enum)]
    part: Part,
    /// The host does not obey RTS, so that a slow monitor loses characters
    #[arg(long)]
    ignore_rts: bool,
    /// Hand characters over as FTDI's USB adapters do: 62 at a time, or what there is after 16 ms
    #[arg(long)]
    usb: bool,
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
    fn peer(&self) -> Box<dyn MonitorModel> {
        match self.part {
            Part::Scm => Box::<Scm>::default(),
            Part::Scm10 => Box::new(Scm::new(ScmRelease::R1)),
            Part::Romwbw => Box::<Romwbw>::default(),
            Part::Romwbw29 => Box::<Romwbw2>::default(),
            Part::Basic => Box::<Basic>::default(),
            Part::BasicQuestion => Box::new(Basic::default().asking_how_to_start()),
            Part::CpmMonitor => Box::<CpmMonitor>::default(),
            Part::FeilipuBasic => Box::new(Basic::feilipu()),
            Part::Cpm => Box::<Cpm>::default(),
        }
    }

    fn options(&self) -> MonitorOptions {
        let faults = FaultOptions {
            silent: self.silent,
            noise: self.noise,
            loses: self.loses,
            changes: self.changes,
            dies_after: self.dies_after,
            ..FaultOptions::default()
        };
        let packets = if self.usb { UsbPacketing::Usb } else { UsbPacketing::None };
        MonitorOptions {
            host_obeys_rts: !self.ignore_rts,
            faults,
            seed: self.seed,
            packets,
            ..MonitorOptions::default()
        }
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
    let server = MonitorServer::start(peer, args.options())
        .map_err(|error| Failure::new(RIG, format!("can't start the stand-in: {error}")))?;
    print(&format!("{}\n", server.path().shown()))?;
    cli_support::tell!("a stand-in on {}; Ctrl-C ends it", server.path().shown());
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
    }
    cli_support::tell!("its receiver lost {} characters", server.lost());
    Ok(INTERRUPTED)
}
