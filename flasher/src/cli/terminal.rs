//! `rcflash monitor`.

use std::time::Duration;

use clap::Args;
use rcflash::exit::{Failure, Outcome, RIG};
use rcflash::terminal::talk;

use super::target::BoardArgs;

/// How long the board's last words are waited for when the input ends.
const LINGER: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(super) struct TerminalArgs {
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn monitor(args: &TerminalArgs) -> Outcome {
    let target = args.board.target()?;
    let mut port = target.open()?;
    eprintln!("{} at {} baud; Ctrl-] leaves", target.rig.port, target.baud());
    talk(&mut port, LINGER)
        .map_err(|error| Failure::new(RIG, format!("{}: {error}", target.rig.port)))?;
    eprintln!();
    Ok(0)
}
