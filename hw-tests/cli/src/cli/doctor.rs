//! `hw-tests doctor`.

use clap::Args;
use cli_support::exit::{CommandResult, ENVIRONMENT};
use hil_harness::doctor::{CheckResult, CheckStatus, check_rig};
use hil_harness::live::BoardConfig;

use cli_support::output::print;
use sargon_suite::args::SargonBoardArgs;
use sargon_suite::{SargonBoard, SargonConfig};

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
}

pub(super) fn doctor(args: &DoctorArgs) -> CommandResult {
    let plan = args.board.plan()?;
    let mut bad = false;
    let mut printed = Ok(());
    let prepare = |board: &BoardConfig| {
        let config = SargonConfig { board: board.clone(), suite: plan.suite.clone() };
        let board = SargonBoard::prepare(&config)?;
        let clock_test = board.clock_test();
        Ok((board.live, clock_test))
    };
    check_rig(&plan.board, &prepare, &mut |finding| {
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
