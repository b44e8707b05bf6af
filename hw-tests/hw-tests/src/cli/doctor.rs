//! `hw-tests doctor`.

use clap::Args;
use cli_support::exit::{Outcome, RIG};
use hil_harness::doctor::{Finding, State, examine};

use super::BoardArgs;
use cli_support::output::print;

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn doctor(args: &DoctorArgs) -> Outcome {
    let plan = args.board.plan()?;
    let mut bad = false;
    let mut printed = Ok(());
    examine(&plan, &mut |finding| {
        bad |= finding.state == State::Bad;
        if printed.is_ok() {
            printed = print(&line(&finding));
        }
    });
    printed?;
    Ok(if bad { RIG } else { 0 })
}

fn line(Finding { what, state, told }: &Finding) -> String {
    let word = match state {
        State::Good => "ok",
        State::Bad => "BAD",
        State::Unknown => "-",
    };
    format!("{word:<4}{what:<13}{told}\n")
}
