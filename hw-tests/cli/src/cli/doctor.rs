//! `hw-tests doctor`.

use clap::Args;
use cli_support::exit::{CommandResult, ENVIRONMENT};
use hil_harness::doctor::{CheckResult, CheckStatus, check_rig};

use cli_support::output::print;
use sargon_suite::args::SargonBoardArgs;

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
}

pub(super) fn doctor(args: &DoctorArgs) -> CommandResult {
    let plan = args.board.plan()?;
    let mut bad = false;
    let mut printed = Ok(());
    check_rig(&plan, &mut |finding| {
        bad |= finding.status == CheckStatus::Bad;
        if printed.is_ok() {
            printed = print(&line(&finding));
        }
    });
    printed?;
    Ok(if bad { ENVIRONMENT } else { 0 })
}

fn line(CheckResult { name, status, message }: &CheckResult) -> String {
    let word = match status {
        CheckStatus::Good => "ok",
        CheckStatus::Bad => "BAD",
        CheckStatus::Unknown => "-",
    };
    format!("{word:<4}{name:<13}{message}\n")
}
