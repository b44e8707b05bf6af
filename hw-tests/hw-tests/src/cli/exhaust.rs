//! `hw-tests exhaust`.

use std::num::NonZero;
use std::ops::Range;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cli_support::exit::{Failure, INTERRUPTED, NOTHING, Outcome, RIG, USAGE, WRONG};
use firmware_wire::capability;
use hil_harness::exhaust::{
    Arrays, CheckEnd, Goal, STRETCH, Space, Totals, check, finding, summary,
};
use hil_harness::live::LiveBoard;
use hil_harness::report::line_quality;
use indicatif::{ProgressBar, ProgressStyle};
use sargon_reference::Colour;

use super::BoardArgs;
use cli_support::interrupt::interruption;
use cli_support::output::print;

#[derive(Args)]
pub(super) struct ExhaustArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Which attackers arrays
    #[arg(long, value_enum, default_value = "core")]
    space: SpaceName,
    /// Only these arrays, by their numbers from 0 on: from A up to, but not including, B
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<Range<u32>>,
    /// CRC-32 of the arrays before the range, to go on where an earlier check ended
    #[arg(long, value_name = "HEX", value_parser = parse_crc, default_value = "0")]
    crc: u32,
    /// Whose pieces are attacked
    #[arg(long, value_enum, default_value = "black")]
    owner: Owner,
}

#[derive(Clone, Copy, ValueEnum)]
enum SpaceName {
    /// Up to one bishop and one queen a side: 857,304 arrays
    Core,
    /// Up to two bishops and one queen: 2,117,016
    TwoBishops,
    /// Up to two bishops and two queens: 3,429,216
    TwoQueens,
}

#[derive(Clone, Copy, ValueEnum)]
enum Owner {
    White,
    Black,
}

pub(super) fn exhaust(args: &ExhaustArgs) -> Outcome {
    let goal = goal(args)?;
    let interrupted = interruption()?;
    let mut boards = prepare(args, &goal)?;
    let began = Instant::now();
    let began_there = board_time(&boards);
    let bar = progress_bar(goal.range.len() as u64);
    let (totals, ended) =
        check(&mut boards, &goal, &interrupted, |done| bar.set_position(done.into()));
    bar.finish_and_clear();
    let there = board_time(&boards).zip(began_there).map(|(now, then)| now.saturating_sub(then));
    print(&summary(&goal, &totals, there, began.elapsed()))?;
    print(&line_quality(boards.iter().map(LiveBoard::stats).sum()))?;
    conclude(&goal, &totals, ended)
}

/// Makes the board ready; of those that are simulated at no speed of their own as many as this
/// computer has processors, if there is work for them.
fn prepare(args: &ExhaustArgs, goal: &Goal) -> Result<Vec<LiveBoard>, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let stretches = goal.range.len().div_ceil(STRETCH.into());
    let boards = LiveBoard::prepare_several(&args.board.plan()?, processors.min(stretches))?;
    if let Some(rig) = boards.first() {
        if rig.application.capabilities & capability::EXHAUST == 0 {
            let message = format!("{} does not count through arrays", rig.application);
            return Err(Failure::new(RIG, message));
        }
        let times =
            if boards.len() > 1 { format!(" ({} times)", boards.len()) } else { String::new() };
        cli_support::tell!("{} on {}{times}", rig.application, rig.board());
    }
    Ok(boards)
}

/// The time of all boards by their own clocks, where these can be read.
fn board_time(boards: &[LiveBoard]) -> Option<Duration> {
    boards.iter().map(LiveBoard::board_time).sum()
}

/// Reports the end of the check; the exit code follows.
fn conclude(goal: &Goal, totals: &Totals, ended: CheckEnd) -> Outcome {
    let next = goal.range.start + totals.arrays;
    let resume = format!("go on with --range {next}..{} --crc {:08X}", goal.range.end, totals.crc);
    match ended {
        CheckEnd::Complete => {
            print("PASS: board and reference agree\n")?;
            Ok(0)
        }
        CheckEnd::Interrupted => {
            print(&format!("INCOMPLETE: interrupted; {resume}\n"))?;
            Ok(INTERRUPTED)
        }
        CheckEnd::Differs(found) => {
            print(&format!("FAIL: board and reference differ\n{}", finding(goal, &found)))?;
            Ok(WRONG)
        }
        CheckEnd::BoardLost(error) => {
            print(&format!("INCOMPLETE: the board is lost; {resume}\n"))?;
            Err(Failure::new(RIG, error))
        }
    }
}

fn goal(args: &ExhaustArgs) -> Result<Goal, Failure> {
    let space = match args.space {
        SpaceName::Core => Space::Core,
        SpaceName::TwoBishops => Space::TwoBishops,
        SpaceName::TwoQueens => Space::TwoQueens,
    };
    let owner = match args.owner {
        Owner::White => Colour::White,
        Owner::Black => Colour::Black,
    };
    let arrays = Arrays::new(space, owner);
    let count = arrays.count();
    let range = args.range.clone().unwrap_or(0..count);
    if range.end > count {
        return Err(Failure::new(USAGE, format!("the space {space} ends at {count}")));
    }
    if range.is_empty() {
        return Err(Failure::new(NOTHING, "the range is empty; it goes from A up to B"));
    }
    Ok(Goal { arrays, range, crc: args.crc })
}

fn parse_range(text: &str) -> Result<Range<u32>, String> {
    let numbers = text.split_once("..").map(|(first, end)| (first.parse(), end.parse()));
    match numbers {
        Some((Ok(first), Ok(end))) => Ok(first..end),
        _ => Err("a range is two numbers such as 1000..2000".to_owned()),
    }
}

fn parse_crc(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 16).map_err(|_| "a CRC-32 has up to 8 hexadecimal digits".to_owned())
}

/// Draws on a terminal only.
fn progress_bar(arrays: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} arrays, {eta} left");
    ProgressBar::new(arrays).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
