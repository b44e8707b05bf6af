//! `hw-tests differences`: Sargon's residue beside minimax and the swap value, and why they differ.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::Outcome;
use sargon_analysis::{Comparison, Counts, Tally, compare};
use serde::Serialize;

use cli_support::output::{counted, print, print_total};
use sargon_corpus::args::{Named, PositionArgs};

#[derive(Args)]
pub(super) struct DifferencesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// One line of JSON a position, and a last one with the counts
    #[arg(long)]
    json: bool,
    /// With more than one position: also print each square on which the evaluators differ
    #[arg(long, conflicts_with = "json")]
    list: bool,
}

pub(super) fn differences(args: &DifferencesArgs) -> Outcome {
    let positions = args.positions.read(args.json)?;
    let count = positions.count();
    let mut counts = Counts::default();
    positions.each(args.json, |named| {
        let compared = compare(&named.position);
        counts.add(&compared);
        if args.json {
            print(&named.json(&Found::of(&compared))?)
        } else if count == 1 {
            print(&table(&compared))
        } else if args.list {
            print(&listing(named, &compared))
        } else {
            Ok(())
        }
    })?;
    print_total(args.json, &counts, summary)?;
    positions.conclude(Ok(0))
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct Found {
    squares: Vec<Entry>,
}

/// An attacked piece.
#[derive(Serialize)]
struct Entry {
    square: String,
    piece: char,
    residue: i32,
    minimax: i32,
    swap: i32,
    reason: String,
}

impl Found {
    fn of(compared: &[Comparison]) -> Self {
        let entry = |found: &Comparison| {
            let Comparison { residue, minimax, swap, .. } = *found;
            let square = found.square.to_string();
            let piece = found.piece.letter();
            Entry { square, piece, residue, minimax, swap, reason: found.reason() }
        };
        Self { squares: compared.iter().map(entry).collect() }
    }
}

fn table(compared: &[Comparison]) -> String {
    let mut text =
        "square piece  residue  minimax     swap  why residue and swap differ\n".to_owned();
    for found in compared {
        text.push_str(&row(found));
    }
    text
}

fn row(found: &Comparison) -> String {
    let Comparison { square, residue, minimax, swap, .. } = found;
    let piece = found.piece.letter();
    let row =
        format!("{square:<6} {piece:<5} {residue:>8} {minimax:>8} {swap:>8}  {}", found.reason());
    row.trim_end().to_owned() + "\n"
}

/// The squares of a position on which not all three agree.
fn listing(named: &Named, compared: &[Comparison]) -> String {
    let differs = |c: &&Comparison| c.residue != c.minimax || c.residue != c.swap;
    let rows: Vec<_> = compared.iter().filter(differs).map(row).collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("{} {}\n{}", named.id, named.fen, rows.concat())
    }
}

fn summary(counts: &Counts) -> String {
    let Counts { positions, attacked, equal, minimax, swap, ref reasons } = *counts;
    let mut text = format!(
        "{}, {}, {equal} without a difference\n\n{:<34}{:>8}{:>8}{:>8}\n",
        counted(positions, "position"),
        counted(attacked, "attacked piece"),
        "residue against",
        "squares",
        "higher",
        "lower"
    );
    let mut line = |name: &str, tally: Tally| {
        let (sum, Tally { higher, lower }) = (tally.sum(), tally);
        let _ = writeln!(text, "{name:<34}{sum:>8}{higher:>8}{lower:>8}");
    };
    line("minimax (the stop rule)", minimax);
    line("swap value", swap);
    for (reason, tally) in reasons {
        line(&format!("  {reason}"), *tally);
    }
    text
}
