//! `sargon exhaust`: board and reference on every well-formed attackers array of a space.
//!
//! The board enumerates the arrays itself, and replies with the CRC-32 and the histogram of the
//! residues of a chunk of arrays; the reference computes the same. If the two differ, bisection of
//! the chunk finds the first array with a different residue.

mod check;
mod expect;
mod report;
mod space;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::Range;
use std::time::{Duration, Instant};

use board_simulator::Pace;
use clap::{Args, ValueEnum};
use cli_support::exit::{
    CommandError, CommandResult, ENVIRONMENT, FAILED, INTERRUPTED, NOTHING_SELECTED, USAGE,
};
use firmware_wire::capability;
use hil_harness::board::BoardKind;
use hil_harness::campaign::Executor;
use hil_harness::live::SetupError;
use hil_harness::report::line_statistics_text;
use indicatif::{ProgressBar, ProgressStyle};
use sargon_reference::Colour;
use sargon_suite::args::SargonBoardArgs;
use sargon_suite::{SargonBoard, SargonConfig};

use check::{CHUNK_ARRAYS, ExhaustEnd, ExhaustPlan, ExhaustTotals, check_arrays};
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use report::{mismatch_text, summary_text};
use space::{ArraySpace, Space};

#[derive(Args)]
pub(super) struct ExhaustArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
    /// Space of attackers arrays
    #[arg(long, value_enum, default_value = "core")]
    space: Space,
    /// Only the arrays numbered A to B, B excluded, counted from 0
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<Range<u32>>,
    /// CRC-32 of the arrays before the range, to continue an earlier check
    #[arg(long, value_name = "HEX", value_parser = parse_crc, default_value = "0")]
    crc: u32,
    /// Side whose pieces are attacked
    #[arg(long, value_enum, default_value = "black")]
    owner: Owner,
}

#[derive(Clone, Copy, ValueEnum)]
enum Owner {
    White,
    Black,
}

pub(super) fn exhaust(args: &ExhaustArgs) -> CommandResult {
    let goal = goal(args)?;
    // Files are read before a signal only sets a flag: the other end of a pipe may never write.
    let config = args.board.plan()?;
    let interrupted = install_handler()?;
    let mut boards = prepare(&config, &goal)?;
    let target = boards.first().map_or_else(String::new, |it| it.board().target.phrase());
    let began = Instant::now();
    let began_there = board_time(&boards);
    let bar = progress_bar(goal.range.len() as u64);
    let (totals, ended) =
        check_arrays(&mut boards, &goal, &interrupted, |done| bar.set_position(done.into()));
    bar.finish_and_clear();
    let there = board_time(&boards).zip(began_there).map(|(now, then)| now.saturating_sub(then));
    print(&summary_text(&goal, &totals, there, began.elapsed()))?;
    print(&line_statistics_text(boards.iter().map(|it| it.live.link.stats()).sum()))?;
    let code = conclude(&goal, &totals, ended, &target)?;
    if code == 0 {
        boards.iter_mut().try_for_each(|it| it.live.return_to_monitor())?;
    }
    Ok(code)
}

/// Prepares the board; an unpaced simulated one once per processor, up to the chunks.
fn prepare(config: &SargonConfig, goal: &ExhaustPlan) -> Result<Vec<SargonBoard>, CommandError> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let stretches = goal.range.len().div_ceil(CHUNK_ARRAYS.into());
    let boards = prepare_pool(config, processors.min(stretches))?;
    if let Some(rig) = boards.first() {
        if !rig.live.has_capability(capability::EXHAUST) {
            let message = format!("{} does not support EXHAUST", rig.live.identity);
            return Err(CommandError::new(ENVIRONMENT, message));
        }
        let times =
            if boards.len() > 1 { format!(" ({} times)", boards.len()) } else { String::new() };
        cli_support::eprint_message!("{} on {}{times}", rig.live.identity, rig.live.name());
    }
    Ok(boards)
}

/// Prepares `max` equal boards, or one unless several can run at once: simulated at full speed,
/// without transcript or faults.
fn prepare_pool(config: &SargonConfig, max: usize) -> Result<Vec<SargonBoard>, SetupError> {
    let board = &config.board;
    let is_free = matches!(board.board, BoardKind::InProcess | BoardKind::Simulated(Pace::Free));
    let may_run_several = is_free && board.recording.is_none() && board.fault_seed.is_none();
    let count = if may_run_several { max.max(1) } else { 1 };
    (0..count).map(|_| SargonBoard::prepare(config)).collect()
}

fn board_time(boards: &[SargonBoard]) -> Option<Duration> {
    boards.iter().map(|it| it.live.board_time()).sum()
}

fn conclude(
    goal: &ExhaustPlan,
    totals: &ExhaustTotals,
    ended: ExhaustEnd,
    target: &str,
) -> CommandResult {
    let next = goal.range.start + totals.arrays;
    let resume =
        format!("continue with --range {next}..{} --crc {:08X}", goal.range.end, totals.crc);
    match ended {
        ExhaustEnd::Complete => {
            let arrays = totals.arrays;
            print(&format!("PASS: board and reference agree on {arrays} arrays{target}\n"))?;
            Ok(0)
        }
        ExhaustEnd::Interrupted => {
            print(&format!("INCOMPLETE: interrupted; {resume}\n"))?;
            Ok(INTERRUPTED)
        }
        ExhaustEnd::Differs(found) => {
            print(&format!("FAIL: board and reference differ\n{}", mismatch_text(goal, &found)))?;
            Ok(FAILED)
        }
        ExhaustEnd::Damaged(Range { start, end }, damage) => {
            let arrays = format!("with an array of {start}..{end}");
            print(&format!("FAIL: the evaluator damages the board {arrays}: {damage}\n"))?;
            Ok(FAILED)
        }
        ExhaustEnd::BoardLost(error) => {
            print(&format!("INCOMPLETE: lost the connection to the board; {resume}\n"))?;
            Err(CommandError::new(ENVIRONMENT, error))
        }
    }
}

fn goal(args: &ExhaustArgs) -> Result<ExhaustPlan, CommandError> {
    let owner = match args.owner {
        Owner::White => Colour::White,
        Owner::Black => Colour::Black,
    };
    let arrays = ArraySpace::new(args.space, owner);
    let count = arrays.count();
    let range = args.range.clone().unwrap_or(0..count);
    if range.end > count {
        let why = format!("invalid range: the space {} ends at {count}", args.space);
        return Err(CommandError::new(USAGE, why));
    }
    if range.is_empty() {
        let why = "the range A..B is empty; B must be greater than A";
        return Err(CommandError::new(NOTHING_SELECTED, why));
    }
    Ok(ExhaustPlan { arrays, range, crc: args.crc })
}

fn parse_range(text: &str) -> Result<Range<u32>, String> {
    let numbers = text.split_once("..").map(|(first, end)| (first.parse(), end.parse()));
    match numbers {
        Some((Ok(first), Ok(end))) => Ok(first..end),
        _ => Err(format!("invalid range '{text}': expected two numbers, as in 1000..2000")),
    }
}

fn parse_crc(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 16)
        .map_err(|_| format!("invalid CRC-32 '{text}': expected up to 8 hexadecimal digits"))
}

/// Returns a progress bar, which draws on a terminal only.
fn progress_bar(arrays: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} arrays, {eta} left");
    ProgressBar::new(arrays).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
