//! `sargon differences`: compares Sargon's residue with minimax and the swap value.

mod page;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::files::write_output;
use cli_support::output::{pluralize, print, print_totals};
use sargon_corpus::analysis::{EvaluatorDiff, EvaluatorStats, HigherLower, compare_evaluators};
use sargon_corpus::args::{Jobs, NamedPosition, OutputForm, PositionArgs, SinglePosition, comment};
use serde::Serialize;

use page::DifferencesPage;

#[derive(Args)]
pub(super) struct DifferencesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    jobs: Jobs,
    /// Also write an HTML page: boards with both exchanges, where residue and swap value differ
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    #[command(flatten)]
    form: OutputForm,
    /// With more than one position: also print each square on which the evaluators differ
    #[arg(long, conflicts_with_all = ["json", "epd"])]
    list: bool,
}

pub(super) fn differences(args: &DifferencesArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?.with_jobs(args.jobs);
    let mut counts = EvaluatorStats::default();
    let mut single = SinglePosition::default();
    let mut page = args.html.as_ref().map(|_| DifferencesPage::default());
    let compare = |named: &NamedPosition| compare_evaluators(&named.position());
    positions.for_each(compare, |named, compared, output| {
        counts.add(&compared);
        if let Some(page) = &mut page {
            page.add(named, &compared);
        }
        if args.form.json {
            output.push_str(&named.json(&DifferencesLine::of(&compared))?);
        } else if args.form.epd {
            output.push_str(&epd(named, &compared));
        } else {
            single.add(|| table(&compared));
            if args.list {
                output.push_str(&listing(named, &compared));
            }
        }
        Ok(())
    })?;
    if let (Some(file), Some(page)) = (&args.html, page) {
        write_output(file, page.html(&counts)?.as_bytes())?;
    }
    print(&single.text())?;
    if !args.form.epd {
        print_totals(args.form.json, &counts, summary)?;
    }
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

fn epd(named: &NamedPosition, compared: &[EvaluatorDiff]) -> String {
    let values = |name, value: fn(&EvaluatorDiff) -> i32| {
        comment(name, compared.iter().map(|found| (found.square, value(found))))
    };
    let residues = values("residue", |found| found.residue);
    let minimax = values("minimax", |found| found.minimax);
    named.epd(None, &[residues, minimax, values("swap", |found| found.swap)])
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
