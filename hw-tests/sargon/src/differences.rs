//! `sargon differences`: compares Sargon's residue with minimax and the swap value.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::{pluralize, print, print_totals};
use sargon_analysis::{EvaluatorDiff, EvaluatorStats, HigherLower, compare_evaluators};
use sargon_corpus::args::{NamedPosition, PositionArgs};
use serde::Serialize;

#[derive(Args)]
pub(super) struct DifferencesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// Print JSON, one line per position, and a last one with the counts
    #[arg(long)]
    json: bool,
    /// With more than one position: also print each square on which the evaluators differ
    #[arg(long, conflicts_with = "json")]
    list: bool,
}

pub(super) fn differences(args: &DifferencesArgs) -> CommandResult {
    let positions = args.positions.read(args.json)?;
    let count = positions.count();
    let mut counts = EvaluatorStats::default();
    positions.for_each(args.json, |named| {
        let compared = compare_evaluators(&named.position);
        counts.add(&compared);
        if args.json {
            print(&named.json(&DifferencesLine::of(&compared))?)
        } else if count == 1 {
            print(&table(&compared))
        } else if args.list {
            print(&listing(named, &compared))
        } else {
            Ok(())
        }
    })?;
    print_totals(args.json, &counts, summary)?;
    positions.finish(Ok(0))
}

#[derive(Serialize)]
struct DifferencesLine {
    squares: Vec<DifferenceEntry>,
}

/// An attacked piece.
#[derive(Serialize)]
struct DifferenceEntry {
    square: String,
    piece: char,
    residue: i32,
    minimax: i32,
    swap: i32,
    reason: String,
}

impl DifferencesLine {
    fn of(compared: &[EvaluatorDiff]) -> Self {
        let entry = |found: &EvaluatorDiff| {
            let EvaluatorDiff { residue, minimax, swap, .. } = *found;
            let square = found.square.to_string();
            let piece = found.piece.letter();
            DifferenceEntry { square, piece, residue, minimax, swap, reason: found.reason() }
        };
        Self { squares: compared.iter().map(entry).collect() }
    }
}

fn table(compared: &[EvaluatorDiff]) -> String {
    let mut text =
        "square piece  residue  minimax     swap  why residue and swap differ\n".to_owned();
    for found in compared {
        text.push_str(&row(found));
    }
    text
}

fn row(found: &EvaluatorDiff) -> String {
    let EvaluatorDiff { square, residue, minimax, swap, .. } = found;
    let piece = found.piece.letter();
    let row =
        format!("{square:<6} {piece:<5} {residue:>8} {minimax:>8} {swap:>8}  {}", found.reason());
    row.trim_end().to_owned() + "\n"
}

fn listing(named: &NamedPosition, compared: &[EvaluatorDiff]) -> String {
    let differs = |c: &&EvaluatorDiff| c.residue != c.minimax || c.residue != c.swap;
    let rows: Vec<_> = compared.iter().filter(differs).map(row).collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("{} {}\n{}", named.id, named.fen, rows.concat())
    }
}

fn summary(counts: &EvaluatorStats) -> String {
    let EvaluatorStats { positions, attacked, equal, minimax, swap, ref reasons } = *counts;
    let mut text = format!(
        "{}, {}, {equal} without a difference\n\n{:<34}{:>8}{:>8}{:>8}\n",
        pluralize(positions, "position"),
        pluralize(attacked, "attacked piece"),
        "residue against",
        "squares",
        "higher",
        "lower"
    );
    let mut line = |name: &str, tally: HigherLower| {
        let (sum, HigherLower { higher, lower }) = (tally.sum(), tally);
        let _ = writeln!(text, "{name:<34}{sum:>8}{higher:>8}{lower:>8}");
    };
    line("minimax (the stop rule)", minimax);
    line("swap value", swap);
    for (reason, tally) in reasons {
        line(&format!("  {reason}"), *tally);
    }
    text
}
