//! `hw-tests swap`: one capture by every modern form, with the list of gains.

use std::fmt::Write;

use clap::Args;
use cozy_chess::Square;
use hw_tests::modern::{self, Pieces, SwapList, Values, at_least, capture, swap, swap_off};
use hw_tests::reference::parse_fen;
use rcflash::exit::{Failure, NOTHING, Outcome, USAGE};
use serde::Serialize;

use super::{json_line, print, square_name};

#[derive(Args)]
pub(super) struct SwapArgs {
    /// The position, in FEN with 4 or 6 fields
    #[arg(value_name = "FEN")]
    fen: String,
    /// The capture: from and to, such as d3e5
    #[arg(value_name = "CAPTURE", value_parser = capture_squares)]
    capture: (Square, Square),
    /// What pieces are worth: wiki, tutorial, sargon, or P,N,B,R,Q,K
    #[arg(long, value_name = "VALUES", default_value = "wiki")]
    values: Values,
    /// Also ask whether the capture gains at least so much
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    at_least: Option<i32>,
    /// As one line of JSON
    #[arg(long)]
    json: bool,
}

fn capture_squares(text: &str) -> Result<(Square, Square), String> {
    let halves = text.split_at_checked(2).ok_or("a capture is two squares, such as d3e5")?;
    let square = |name| square_name(name).map(modern::square);
    Ok((square(halves.0)?, square(halves.1)?))
}

/// A capture by every form.
#[derive(Serialize)]
struct Found {
    gains: Vec<i32>,
    folded: Vec<i32>,
    value: i32,
    pruned_gains: Vec<i32>,
    pruned_value: i32,
    recursive: i32,
    declinable: i32,
    at_least: Option<bool>,
}

pub(super) fn swap_of(args: &SwapArgs) -> Outcome {
    let position = parse_fen(&args.fen).map_err(|error| Failure::new(USAGE, error))?;
    let pieces = Pieces::from(&position);
    let (from, to) = args.capture;
    let both = pieces.on(from).zip(pieces.on(to));
    if !both.is_some_and(|((by, _), (on, _))| by != on) {
        let nothing = format!("{from}{to} captures nothing: it takes pieces of both sides");
        return Err(Failure::new(NOTHING, nothing));
    }
    let attacks = pieces.attackers(to, pieces.occupied()).has(from);
    let found = Found::of(&pieces, args).filter(|_| attacks).ok_or_else(|| {
        let nothing =
            format!("{from}{to} is no capture: what stands on {from} does not attack {to}");
        Failure::new(NOTHING, nothing)
    })?;
    print(&if args.json { json_line(&found)? } else { found.text(args.at_least) })?;
    Ok(0)
}

impl Found {
    /// `None` when one of the squares is empty.
    fn of(pieces: &Pieces, args: &SwapArgs) -> Option<Self> {
        let ((from, to), values) = (args.capture, args.values);
        let (side, _) = pieces.on(from)?;
        let list = swap(pieces, from, to, values, false)?;
        let pruned = swap(pieces, from, to, values, true)?;
        let reached = args.at_least.map(|gain| at_least(pieces, from, to, values, gain));
        Some(Self {
            value: list.value(),
            pruned_value: pruned.value(),
            recursive: capture(pieces, from, to, values)?,
            declinable: swap_off(pieces, to, side, values),
            at_least: reached.flatten(),
            folded: folded(&list),
            gains: list.gains,
            pruned_gains: pruned.gains,
        })
    }

    fn text(&self, threshold: Option<i32>) -> String {
        let mut text = String::new();
        for (depth, gain) in self.gains.iter().enumerate() {
            let _ = match self.folded.get(depth) {
                Some(folded) => writeln!(text, "gain[{depth}] = {gain:>6}   folded {folded:>6}"),
                None => writeln!(text, "gain[{depth}] = {gain:>6}   nobody takes again"),
            };
        }
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<44}{value:>8}");
        };
        line("the capture, by the swap list", self.value.to_string());
        line("the same, recursively", self.recursive.to_string());
        let pruned = format!("with pruning, {} gains looked at", self.pruned_gains.len());
        line(&pruned, self.pruned_value.to_string());
        line("the square, if its attackers may decline", self.declinable.to_string());
        if let (Some(threshold), Some(reached)) = (threshold, self.at_least) {
            let answer = if reached { "yes" } else { "no" };
            line(&format!("at least {threshold}"), answer.to_owned());
        }
        text
    }
}

/// The gains that count: the last was stored in case of one more capture.
fn folded(list: &SwapList) -> Vec<i32> {
    list.folded[..list.folded.len() - 1].to_vec()
}
