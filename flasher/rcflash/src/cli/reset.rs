//! `rcflash reset`.

use std::time::Duration;

use clap::Args;
use cli_support::exit::Outcome;
use rcflash_link::Link;
use rcflash_rig::reset::{Pressed, reset as reset_board};

use super::stop_on_interrupt;
use super::target::{BoardArgs, or_interrupted};

#[derive(Args)]
pub(super) struct ResetArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The number of seconds to wait until that the monitor says something
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

pub(super) fn reset(args: &ResetArgs) -> Outcome {
    let target = args.board.target()?;
    let stop = stop_on_interrupt()?;
    let mut link = Link::new(target.open()?, target.baud());
    link.set_stop(stop);
    let patience = Duration::from_secs(args.patience);
    let say = |pressed| match pressed {
        Pressed::Done => cli_support::tell!("reset; waiting for the monitor"),
        Pressed::AskPerson => {
            cli_support::tell!(
                "press the board's reset button; waiting {} s for that",
                args.patience
            );
        }
    };
    let found = reset_board(&mut link, &target.rig.reset, patience, say);
    let monitor = or_interrupted(found, "the board runs whatever it ran, or its monitor")?;
    cli_support::tell!("{monitor}");
    Ok(0)
}
