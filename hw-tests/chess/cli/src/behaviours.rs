//! `sargon behaviours`: squares on which the original program differs, and the bug behind it.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::{pluralize, print_totals};
use sargon_corpus::analysis::behaviours::{
    BehaviourDiff, BehaviourStats, OriginalBug, SquareOutcome, compare,
};
use sargon_corpus::args::{Jobs, NamedPosition, OutputForm, PositionArgs, comment};
use serde::Serialize;

#[derive(Args)]
pub(super) struct BehavioursArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    form: OutputForm,
}

pub(super) fn behaviours(args: &BehavioursArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?.with_jobs(args.jobs);
    let mut counts = BehaviourStats::default();
    let evaluate = |named: &NamedPosition| compare(&named.position());
    positions.for_each(evaluate, |named, compared, output| {
        counts.add(&compared);
        let remarkable: Vec<_> = compared.iter().filter(|found| found.is_notable()).collect();
        if args.form.json {
            for found in remarkable {
                output.push_str(&named.json(&SquareLine::of(found))?);
            }
        } else if args.form.epd {
            let squares = remarkable.iter().map(|found| (found.square, found));
            let corrected = squares.clone().map(|(at, found)| (at, found.corrected.residue));
            let original = squares.map(|(at, found)| (at, found.original.residue));
            output.push_str(
                &named.epd(None, &[comment("corrected", corrected), comment("original", original)]),
            );
        } else if !remarkable.is_empty() {
            output.push_str(&format!("{} {}\n", named.id, named.fen));
            output.extend(remarkable.into_iter().map(row));
        }
        Ok(())
    })?;
    if !args.form.epd {
        print_totals(args.form.json, &counts, summary)?;
    }
    positions.finish(Ok(0))
}

#[derive(Serialize)]
struct SquareLine<'a> {
    square: String,
    piece: char,
    corrected: SquareOutcome,
    original: SquareOutcome,
    faults: &'a [OriginalBug],
}

impl<'a> SquareLine<'a> {
    fn of(found: &'a BehaviourDiff) -> Self {
        let BehaviourDiff { corrected, original, bugs: ref faults, .. } = *found;
        let square = found.square.to_string();
        Self { square, piece: found.piece.letter(), corrected, original, faults }
    }
}

fn row(found: &BehaviourDiff) -> String {
    let BehaviourDiff { square, piece, corrected, original, .. } = found;
    let faults: Vec<_> = found.bugs.iter().map(OriginalBug::to_string).collect();
    let mut text = format!(
        "    {square} {} corrected {} original {}  {}",
        piece.letter(),
        corrected.residue,
        original.residue,
        faults.join(" ")
    );
    for (is_set, what) in [(corrected.overflow, "overflow"), (corrected.short, "short")] {
        if is_set {
            let _ = write!(text, " (corrected: {what})");
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn summary(counts: &BehaviourStats) -> String {
    let BehaviourStats { positions, squares, arrays, higher, lower, faults, overflow, short } =
        *counts;
    let mut text = format!(
        "{}, {}\n",
        pluralize(positions, "position"),
        pluralize(squares, "occupied square")
    );
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<44}{value:>8}");
    };
    line("arrays differ", arrays.to_string());
    line("residues differ", (higher + lower).to_string());
    line("  higher in the original", higher.to_string());
    line("  lower in the original", lower.to_string());
    for (fault, count) in OriginalBug::ALL.iter().zip(faults) {
        line(&format!("  {}", meaning(*fault)), count.to_string());
    }
    line("a piece found no room: corrected", overflow[0].to_string());
    line("a piece found no room: original", overflow[1].to_string());
    line("a count promised too much: corrected", short[0].to_string());
    line("a count promised too much: original", short[1].to_string());
    text
}

fn meaning(fault: OriginalBug) -> &'static str {
    match fault {
        OriginalBug::Flag => "flag: filed by the direction of the scan",
        OriginalBug::Overflow => "overflow: pushed out of a full slot",
        OriginalBug::Walk => "walk: gone beyond the section",
        OriginalBug::Pins => "pins: list changed by an earlier square",
    }
}
