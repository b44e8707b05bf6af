//! `hw-tests simulate monitor`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED};
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use cli_support::text::Escape;
use monitor_standins::{
    Basic, Cpm, CpmMonitor, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Romwbw2, Scm,
    ScmRelease,
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
}

pub(in crate::cli) fn serve(args: &MonitorArgs) -> CommandResult {
    let interrupted = install_handler()?;
    let server = MonitorServer::start(args.peer(), MonitorOptions::default()).map_err(|error| {
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
    Ok(INTERRUPTED)
}
