//! `hw-tests simulate monitor`.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use board_simulator::UsbPacketing;
use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED, USAGE};
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use cli_support::text::Escape;
use monitor_standins::{
    Basic, Cpm, CpmMonitor, FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Romwbw,
    Romwbw2, Scm, ScmRelease,
};

/// How often Ctrl-C is checked.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MonitorKind {
    /// The Small Computer Monitor 1.3.0
    Scm,
    /// The Small Computer Monitor 1.0.0
    Scm10,
    /// The Small Computer Monitor 1.3.0 on an SC126, with a Z180
    ScmZ180,
    /// Boot loader and debug monitor of RomWBW 3.5.1
    Romwbw,
    /// The same on an SC131, with a Z180
    RomwbwZ180,
    /// Boot loader and debug monitor of RomWBW 2.9.1
    Romwbw29,
    /// Searle's ROM BASIC 4.7b
    Basic,
    /// Searle's ROM BASIC 4.7b at its prompt for a cold or a warm start
    BasicQuestion,
    /// feilipu's ROM BASIC 4.7c
    FeilipuBasic,
    /// CP/M 2.2 of RomWBW 3.5.1 with XM 12.5
    Cpm,
    /// The factory's CP/M monitor 1.1
    CpmMonitor,
}

#[derive(Args)]
pub(in crate::cli) struct MonitorArgs {
    /// Monitor to emulate
    #[arg(value_enum)]
    part: MonitorKind,
    /// Ignore RTS, so that a slow monitor loses characters
    #[arg(long)]
    ignore_rts: bool,
    /// Deliver characters in packets as FTDI USB adapters do: 62 at a time, or after 16 ms
    #[arg(long)]
    usb: bool,
    /// Lose one in N characters of the host, at random
    #[arg(long, value_name = "N")]
    loses: Option<u32>,
    /// Corrupt one in N characters of the host, at random
    #[arg(long, value_name = "N")]
    changes: Option<u32>,
    /// Stop replying after N characters
    #[arg(long, value_name = "N")]
    dies_after: Option<u64>,
    /// Never reply
    #[arg(long)]
    silent: bool,
    /// Send noise without end
    #[arg(long)]
    noise: bool,
    /// Write-protected memory: first and last address in hexadecimal
    #[arg(long, value_name = "HEX-HEX", value_parser = parse_range)]
    read_only: Option<RangeInclusive<u16>>,
    /// Seed of lost and corrupted characters
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

fn parse_range(text: &str) -> Result<RangeInclusive<u16>, String> {
    let hex = |text: &str| u16::from_str_radix(text, 16).ok();
    let ends = text.split_once('-').and_then(|(first, last)| Some((hex(first)?, hex(last)?)));
    let (first, last) = ends.ok_or_else(|| {
        format!("invalid range '{text}': expected two addresses, as in 9000-90FF")
    })?;
    Ok(first..=last)
}

impl MonitorArgs {
    fn peer(&self) -> Box<dyn MonitorModel> {
        match self.part {
            MonitorKind::Scm => Box::<Scm>::default(),
            MonitorKind::Scm10 => Box::new(Scm::new(ScmRelease::R1)),
            MonitorKind::ScmZ180 => Box::new(Scm::new(ScmRelease::S6V13)),
            MonitorKind::Romwbw => Box::<Romwbw>::default(),
            MonitorKind::RomwbwZ180 => Box::new(Romwbw::default().on_z180()),
            MonitorKind::Romwbw29 => Box::<Romwbw2>::default(),
            MonitorKind::Basic => Box::<Basic>::default(),
            MonitorKind::BasicQuestion => Box::new(Basic::default().at_start_prompt()),
            MonitorKind::CpmMonitor => Box::<CpmMonitor>::default(),
            MonitorKind::FeilipuBasic => Box::new(Basic::feilipu()),
            MonitorKind::Cpm => Box::<Cpm>::default(),
        }
    }

    fn options(&self) -> MonitorOptions {
        let faults = FaultOptions {
            silent: self.silent,
            noise: self.noise,
            loss_odds: self.loses,
            corruption_odds: self.changes,
            silent_after: self.dies_after,
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

pub(in crate::cli) fn serve(args: &MonitorArgs) -> CommandResult {
    let mut peer = args.peer();
    if let Some(range) = &args.read_only {
        let memory = peer.memory().ok_or_else(|| {
            CommandError::new(USAGE, "this monitor has no memory to protect: omit --read-only")
        })?;
        memory.protect(range.clone());
    }
    let interrupted = install_handler()?;
    let server = MonitorServer::start(peer, args.options()).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't start the monitor emulator: {error}"))
    })?;
    print(&format!("{}\n", server.path().escaped()))?;
    cli_support::eprint_message!(
        "monitor emulator on {}; press Ctrl-C to stop",
        server.path().escaped()
    );
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(INTERRUPT_POLL_INTERVAL);
    }
    cli_support::eprint_message!("the receiver lost {} characters", server.lost());
    Ok(INTERRUPTED)
}
