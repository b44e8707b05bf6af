//! `rcflash monitor`.

use std::time::Duration;

use clap::Args;
use rcflash::exit::{Failure, Outcome, RIG};
use rcflash::port::Port;
use rcflash::terminal::talk;

use super::BoardArgs;

/// How long the board's last words are waited for when the input ends.
const LINGER: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(super) struct TerminalArgs {
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn monitor(args: &TerminalArgs) -> Outcome {
    let profile = args.board.profile()?;
    let mut port = Port::open(&args.board.port, profile.uart.baud)?;
    eprintln!("{} at {} baud; Ctrl-] leaves", args.board.port, profile.uart.baud);
    talk(&mut port, LINGER)
        .map_err(|error| Failure::new(RIG, format!("{}: {error}", args.board.port)))?;
    eprintln!();
    Ok(0)
}
