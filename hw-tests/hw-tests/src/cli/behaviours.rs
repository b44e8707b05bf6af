//! `hw-tests behaviours`: where the program of 1978 differs from the mended one, and which fault is
//! behind it.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::Outcome;
use sargon_analysis::behaviours::{Answer, Comparison, Counts, Fault, compare};
use serde::Serialize;

use cli_support::output::{counted, print, print_total};
use sargon_corpus::args::PositionArgs;

#[derive(Args)]
pub(super) struct BehavioursArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// One line of JSON a square, and a last one with the counts
    #[arg(long)]
    json: bool,
}

pub(super) fn behaviours(args: &BehavioursArgs) -> Outcome {
    let positions = args.positions.read(args.json)?;
    let mut counts = Counts::default();
    positions.each(args.json, |named| {
        let compared = compare(&named.position);
        counts.add(&compared);
        let remarkable: Vec<_> = compared.iter().filter(|found| found.is_remarkable()).collect();
        if args.json {
            for found in remarkable {
                print(&named.json(&Entry::of(found))?)?;
            }
        } else if !remarkable.is_empty() {
            print(&format!("{} {}\n", named.id, named.fen))?;
            print(&remarkable.into_iter().map(row).collect::<String>())?;
        }
        Ok(())
    })?;
    print_total(args.json, &counts, summary)?;
    positions.conclude(Ok(0))
}

/// A square in `--json`.
#[derive(Serialize)]
struct Entry<'a> {
    square: String,
    piece: char,
    mended: Answer,
    printed: Answer,
    faults: &'a [Fault],
}

impl<'a> Entry<'a> {
    fn of(found: &'a Comparison) -> Self {
        let Comparison { mended, printed, ref faults, .. } = *found;
        let square = found.square.to_string();
        Self { square, piece: found.piece.letter(), mended, printed, faults }
    }
}

fn row(found: &Comparison) -> String {
    let Comparison { square, piece, mended, printed, .. } = found;
    let faults: Vec<_> = found.faults.iter().map(Fault::to_string).collect();
    let mut text = format!(
        "    {square} {} mended {} 1978 {}  {}",
        piece.letter(),
        mended.residue,
        printed.residue,
        faults.join(" ")
    );
    for (told, what) in [(mended.overflow, "overflow"), (mended.short, "short")] {
        if told {
            let _ = write!(text, " (mended: {what})");
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn summary(counts: &Counts) -> String {
    let Counts { positions, squares, arrays, higher, lower, faults, overflow, short } = *counts;
    let mut text =
        format!("{}, {}\n", counted(positions, "position"), counted(squares, "occupied square"));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<44}{value:>8}");
    };
    line("arrays differ", arrays.to_string());
    line("residues differ", (higher + lower).to_string());
    line("  higher in 1978", higher.to_string());
    line("  lower in 1978", lower.to_string());
    for (fault, count) in Fault::ALL.iter().zip(faults) {
        line(&format!("  {}", meaning(*fault)), count.to_string());
    }
    line("a piece found no room: mended", overflow[0].to_string());
    line("a piece found no room: 1978", overflow[1].to_string());
    line("a count promised too much: mended", short[0].to_string());
    line("a count promised too much: 1978", short[1].to_string());
    text
}

fn meaning(fault: Fault) -> &'static str {
    match fault {
        Fault::Flag => "flag: filed by the direction of the scan",
        Fault::Overflow => "overflow: pushed out of a full slot",
        Fault::Walk => "walk: gone beyond the section",
        Fault::Pins => "pins: list changed by an earlier square",
    }
}
