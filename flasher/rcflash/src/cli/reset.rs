//! `rcflash reset`.

use std::time::Duration;

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::time::time_within;
use rcflash_link::Link;
use rcflash_link::rig::reset::{ResetOutcome, reset as reset_board};

use super::stop_on_interrupt;
use super::target::{BoardArgs, with_state_if_interrupted};

#[derive(Args)]
pub(super) struct ResetArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// How long to wait for the monitor
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = time_within(Duration::from_secs(1)..=Duration::from_secs(3600))
    )]
    patience: Duration,
}

pub(super) fn reset(args: &ResetArgs) -> CommandResult {
    let target = args.board.target()?;
    let stop = stop_on_interrupt()?;
    let mut link = Link::new(target.open()?, target.baud());
    link.set_stop(stop);
    let patience = args.patience;
    let report = |pressed| match pressed {
        ResetOutcome::Done => cli_support::eprint_message!("reset; waiting for the monitor"),
        ResetOutcome::ManualResetNeeded => {
            cli_support::eprint_message!(
                "press the board's reset button; waiting up to {:?}",
                args.patience
            );
        }
    };
    let found = reset_board(&mut link, &target.rig.reset, patience, report);
    let monitor = with_state_if_interrupted(found, "the board may or may not have been reset")?;
    cli_support::eprint_message!("{monitor}");
    Ok(0)
}
