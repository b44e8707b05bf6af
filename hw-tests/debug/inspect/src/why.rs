//! `hw-inspect why`: finds the first wrong instruction that leads to a wrong residue.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use board_debugger::commands::Pane;
use board_debugger::{Debugger, ShouldStop};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, NOTHING_SELECTED};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use rcflash_link::rig::DEFAULT_BOARD;
use sargon_corpus::{self as corpus, Case};
use sargon_debugging::{ATTACKERS_PANE, Diagnosis, diagnose};

use super::debug::{has_screen, open};
use super::session::{board_time, session_error};
use cli_support::files::read_input as read;
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use cli_support::text::eprint_message;

/// Rows of instructions and calls that are printed if standard output is not a terminal.
const PRINTED_ROWS: usize = 6;

#[derive(Args)]
pub(super) struct WhyArgs {
    /// A case, by its name in `hw-tests run`, or a position in FEN
    #[arg(value_name = "CASE|FEN")]
    case: String,
    /// Take the case from these positions (EPD) instead of the built-in corpus; may be given again
    #[arg(long, value_name = "FILE")]
    corpus: Vec<PathBuf>,
    /// The simulated board's profile
    #[arg(long, value_name = "PROFILE", default_value = DEFAULT_BOARD)]
    board: String,
    /// The evaluator's behaviour
    #[arg(long, value_name = "corrected|original", default_value_t)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR")]
    sargon_dir: Option<PathBuf>,
    /// Time limit of the board for each exchange
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = board_time())]
    within: Duration,
}

pub(super) fn run(args: &WhyArgs) -> CommandResult {
    let case = find_case(args)?;
    let stop = install_handler()?;
    let evaluator = Evaluator { behaviour: args.behaviour, own: args.sargon_dir.clone() };
    let profile = BoardProfile::named(&args.board)?;
    let should_stop: ShouldStop<'_> = &mut |_| stop.load(Ordering::Relaxed);
    let Diagnosis { debugger, fault } =
        diagnose(&profile, &evaluator, &case, args.within.as_secs_f64(), should_stop)
            .map_err(session_error)?;
    let Some(explained) = fault else {
        print(&format!("{}: the board's residues match the reference\n", case.id))?;
        return Ok(0);
    };
    if has_screen() {
        return open(debugger, explained, &stop);
    }
    print(&format!("{}: {explained}\n{}", case.id, location(&debugger)))?;
    Err(CommandError::new(FAILED, format!("{}: {explained}", case.id)))
}

/// Describes the location of the fault, for output without a terminal.
fn location(debugger: &Debugger) -> String {
    let at = debugger.registers().pc;
    let panes = [Pane::Calls, Pane::Code(at), Pane::Custom(ATTACKERS_PANE.to_owned())];
    let lines = panes.iter().flat_map(|pane| {
        let lines = pane.lines(debugger, PRINTED_ROWS);
        lines.into_iter().take(PRINTED_ROWS).map(|line| format!("  {line}\n"))
    });
    lines.collect()
}

/// Returns the case of a name or FEN.
fn find_case(args: &WhyArgs) -> Result<Case, CommandError> {
    if args.case.contains('/') {
        let cases = corpus::parse_positions("FEN", &args.case);
        let cases = cases.map_err(|error| CommandError::new(cli_support::exit::USAGE, error))?;
        let none = || CommandError::new(NOTHING_SELECTED, "the FEN is empty");
        let case = cases.into_iter().next().ok_or_else(none)?;
        case.impossible_warning("FEN", 1).into_iter().for_each(eprint_message);
        return Ok(case);
    }
    let mut cases = Vec::new();
    for path in &args.corpus {
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        let some = corpus::parse_positions(&path.display().to_string(), &text);
        cases.extend(some.map_err(|error| CommandError::new(ENVIRONMENT, error))?);
    }
    if args.corpus.is_empty() {
        cases = corpus::builtin_corpus().map_err(|error| CommandError::new(ENVIRONMENT, error))?;
    }
    cases.into_iter().find(|case| case.id == args.case).ok_or_else(|| {
        let problem =
            format!("unknown case '{}'; `hw-tests run --list` lists the cases", args.case);
        CommandError::new(NOTHING_SELECTED, problem)
    })
}
