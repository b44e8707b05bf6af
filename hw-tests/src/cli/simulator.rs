//! `hw-tests sim`.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clap::Args;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use hw_tests::rig::{RigError, board_spec};
use hw_tests::sim::{Pace, ServerOptions, SimServer};
use rcflash::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};

use super::{interruption, print, read};

/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(super) struct SimArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// What is in the ROM socket instead of the built-in monitor
    #[arg(long, value_name = "FILE")]
    rom: Option<PathBuf>,
    /// Run as fast as this computer can instead of at the board's clock
    #[arg(long)]
    free: bool,
    /// The host does not obey RTS, so that a slow board loses characters
    #[arg(long)]
    ignore_rts: bool,
}

pub(super) fn serve(args: &SimArgs) -> Outcome {
    let profile = Profile::named(&args.board).map_err(|error| Failure::new(USAGE, error))?;
    let rom = match &args.rom {
        Some(path) => read(path)?,
        None => build(&profile, ProgramKind::Monitor).map_err(RigError::from)?.bytes,
    };
    let interrupted = interruption()?;
    let mut spec = board_spec(&profile);
    spec.host_obeys_rts = !args.ignore_rts;
    let pace = if args.free { Pace::Free } else { Pace::RealTime };
    let server = SimServer::start(spec, &rom, ServerOptions { pace, probe: None })
        .map_err(|error| Failure::new(RIG, format!("can't start the simulated board: {error}")))?;
    print(&format!("{}\n", server.path().display()))?;
    let title = &profile.title;
    eprintln!("{title} on {}; Enter resets it, Ctrl-C ends it", server.path().display());
    let pressed = button();
    while !interrupted.load(Ordering::Relaxed) {
        match pressed.recv_timeout(TICK) {
            Ok(()) => {
                server.reset();
                eprintln!("reset");
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
        }
    }
    Ok(INTERRUPTED)
}

/// The reset button: a message for each line at standard input.
fn button() -> Receiver<()> {
    let (press, pressed) = channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines();
        lines.map_while(Result::ok).all(|_| press.send(()).is_ok())
    });
    pressed
}
