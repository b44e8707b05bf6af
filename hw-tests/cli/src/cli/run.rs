//! `hw-tests run`.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, INCOMPLETE, USAGE};
use cli_support::text::{command_line, eprint_message};
use firmware::evaluator::built_in_beside;
use hil_harness::campaign::{ConnectedBoard, FinishedRun, Observer, RunConfig};
use hil_harness::report::{self, FollowUpOptions};
use indicatif::{ProgressBar, ProgressStyle};
use rcflash_link::rig::DEFAULT_BOARD;
use sargon_suite::{SargonBoard, SargonConfig, SargonSuite};

use super::execution::{EXECUTION, ExecutionArgs, print_report_failure, run_on};
use super::select::SelectArgs;
use cli_support::output::print;
use sargon_suite::args::SargonBoardArgs;

/// How many lines of a list are in memory.
const LINES_PRINTED_AT_ONCE: usize = 1000;

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    board: SargonBoardArgs,
    /// Print the names and tags of the selected cases, and run none
    #[arg(long, help_heading = super::CASES)]
    list: bool,
    /// Always compare every byte
    ///
    /// By default positions are compared by CRC first, and byte for byte after a mismatch;
    /// verdicts and messages are the same.
    #[arg(long, help_heading = EXECUTION, hide_short_help = true)]
    full: bool,
    #[command(flatten)]
    execution: ExecutionArgs,
}

pub(super) fn run(args: &RunArgs) -> CommandResult {
    if args.list {
        let cases = args.select.cases(args.board.board.transcript())?;
        let mut lines = cases.iter().map(|case| format!("{} {}\n", case.id, case.tags.join(" ")));
        while let Some(first) = lines.next() {
            print(
                &lines.by_ref().take(LINES_PRINTED_AT_ONCE).fold(first, |text, line| text + &line),
            )?;
        }
        return Ok(0);
    }
    args.execution.with_report(args.board.board.force, || run_cases(args))
}

fn run_cases(args: &RunArgs) -> CommandResult {
    if args.full && args.board.board.transcript().is_some() {
        let why = "a replay compares what the recorded run has compared: omit --full";
        return Err(CommandError::new(USAGE, why));
    }
    let cases = args.select.cases(args.board.board.transcript())?;
    let full = |mut plan: SargonConfig| {
        plan.board.full_responses |= args.full;
        plan
    };
    let single = || args.board.plan().map(full);
    let each = |board| args.board.with_evaluator(board).map(full);
    let mut observer = TerminalObserver(ProgressBar::hidden());
    let prepare = &SargonBoard::prepare;
    let config = args.settings()?;
    let board = &args.board.board;
    let done = run_on(board, &config, &cases, single, each, prepare, &mut observer)?;
    conclude(&done, &config.follow_up)
}

impl RunArgs {
    fn settings(&self) -> Result<RunConfig, CommandError> {
        let board = &self.board.board;
        let config =
            self.execution.config::<SargonSuite>(self.board.behaviour.to_string(), board)?;
        if !config.boards.is_empty() {
            self.board.refuse_single_board_options()?;
        }
        Ok(RunConfig {
            profile: board.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
            seed: self.select.shuffle,
            shard: self.select.shard.map(|shard| shard.to_string()),
            faults: self.board.faults,
            follow_up: self.board.follow_up_options(),
            ..config
        })
    }
}

struct TerminalObserver(ProgressBar);

impl Observer<SargonSuite> for TerminalObserver {
    fn on_ready(&mut self, board: &ConnectedBoard) {
        eprint_message(format!("{} on {}", board.program, board.name));
        let own = &board.own_routines;
        if !own.is_empty() {
            let built_in = built_in_beside(own);
            let own = own.join(", ");
            let left = &board.target.not_judged;
            let left = if left.is_empty() {
                String::new()
            } else {
                format!("; not judged: {}", left.join(", "))
            };
            eprint_message(format!("with routines of your own: {own}{left}"));
            eprint_message(format!("the others are built in: {built_in}"));
        }
    }

    fn on_board_message(&mut self, text: &str) {
        eprint_message(text);
    }

    fn on_iteration_start(&mut self, cases: usize) {
        self.0 = progress_bar(cases);
    }

    fn on_progress(&mut self, count: usize) {
        self.0.set_position(count as u64);
    }

    fn on_iteration_end(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints the summary of a run and returns its exit code.
fn conclude(done: &FinishedRun<SargonSuite>, options: &FollowUpOptions) -> CommandResult {
    print(&done.totals.results_text())?;
    print(&report::boards_table(&done.boards))?;
    print(&done.summary_text())?;
    print(&done.totals.comparison())?;
    let code = done.exit_code();
    if let Some(faults) = done.faults {
        print(&format!("faults: {faults}\n"))?;
        if !matches!(code, 0 | INCOMPLETE) {
            let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
            eprint_message(format!("to reproduce: {}", command_line(words)));
        }
    }
    if let Some(inspection) = done.totals.follow_up(options) {
        print(&report::follow_up_text(&inspection))?;
    }
    print_report_failure(done);
    print(&report::missing_boards_text(&done.boards))?;
    Ok(code)
}

/// Returns a progress bar, which draws on a terminal only.
fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
