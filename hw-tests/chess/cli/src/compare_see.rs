//! `sargon compare-see`: compares the exchange values of an external engine or script.

mod common_factor;
mod external_engine;
mod table;

use std::time::Duration;

use chess_rules::see::{PieceValues, SeeDefinition, ValuesByDefinition, move_values};
use chess_rules::{Move, Position};
use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED};
use cli_support::text;
use sargon_corpus::analysis::{SargonMoveValue, sargon_move_value};
use serde::Serialize;
use serde_json::json;

use crate::values::DEFAULT_VALUES;
use cli_support::output::{json_line, pluralize, print, print_totals};
use cli_support::time::time_within;
use external_engine::{ExternalEngine, ExternalEngineError, parse_boolean, parse_value};
use sargon_corpus::args::{NamedPosition, OutputForm, PositionArgs};
use table::{ComparisonCounts, row, summary};

#[derive(Args)]
pub(super) struct CompareArgs {
    /// Shell command that reads a line per move and replies with a line
    #[arg(value_name = "CMD")]
    command: String,
    #[command(flatten)]
    positions: PositionArgs,
    /// Piece values: wiki, tutorial, classic, units, sargon, or whole numbers P,N,B,R,Q,K
    #[arg(long, value_name = "VALUES", default_value_t = DEFAULT_VALUES)]
    values: PieceValues,
    /// Definition of the values with which those of the command are compared
    #[arg(long, value_name = "swap|swap_promo|swap_pins|legal", default_value_t)]
    by: SeeDefinition,
    /// Format of the input: `FEN; MOVE`, or an object with fen, move, san and values
    #[arg(long, value_name = "FORM", default_value = "text")]
    input: InputFormat,
    /// Ask whether a value is at least a threshold, which ends each line of input
    #[arg(long)]
    threshold: bool,
    /// Evaluate captures only
    #[arg(long)]
    captures: bool,
    /// How long to wait for each value
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = time_within(Duration::from_secs(1)..=Duration::from_secs(3600))
    )]
    timeout: Duration,
    /// Print every move whose value differs, not the first 20
    #[arg(long, conflicts_with_all = ["json", "epd"])]
    list: bool,
    #[command(flatten)]
    form: OutputForm,
}

/// Format of the lines sent to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    Text,
    Json,
}

/// All values of commands asked by thresholds are from minus this to one below this.
const THRESHOLD_LIMIT: i64 = 1 << 16;
/// Rows printed without --list.
const DEFAULT_ROWS: usize = 20;

/// A move with its value by the command and by the built-in evaluators.
#[derive(Serialize)]
struct MoveComparison<'a> {
    id: &'a str,
    fen: &'a str,
    uci: String,
    san: String,
    /// `None` if the command declined to give one.
    theirs: Option<i64>,
    #[serde(flatten)]
    ours: ValuesByDefinition,
    /// In Sargon's points, scaled to the values where they have the same proportions.
    minimax: Option<i32>,
    sargon: Option<i32>,
    /// Why no game reaches the position.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    impossible: &'a [String],
}

pub(super) fn compare(args: &CompareArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?;
    let parse = if args.threshold { parse_boolean } else { parse_value };
    let mut engine = ExternalEngine::start(&args.command, args.timeout, parse)
        .map_err(|error| CommandError::new(ENVIRONMENT, error))?;
    let mut counts = ComparisonCounts::default();
    let compared = positions
        .for_each(|_| (), |named, (), _| compare_moves(args, named, &mut engine, &mut counts));
    // The values received before a failure are printed, too.
    if !args.form.epd {
        print_totals(args.form.json, &counts, summary)?;
    }
    if let Some(hint) = counts.factor.hint(args.by, args.values) {
        text::eprint_message(hint);
    }
    for note in engine.notes() {
        text::eprint_message(note);
    }
    compared?;
    engine.finish().map_err(|error| CommandError::new(ENVIRONMENT, error))?;
    positions.finish(match counts.differing(args.by) {
        0 => Ok(0),
        differ => {
            let values = pluralize(differ, "value");
            let why = format!("{values} of the command differ from {}", args.by);
            Err(CommandError::new(FAILED, why))
        }
    })
}

fn compare_moves(
    args: &CompareArgs,
    named: &NamedPosition,
    engine: &mut ExternalEngine,
    counts: &mut ComparisonCounts,
) -> Result<(), CommandError> {
    let position = &named.entry.position;
    let moves = if args.captures { position.legal_captures() } else { position.legal_moves() };
    for m in moves {
        let ours = move_values(position, m, args.values);
        let theirs = evaluate(args, named, m, ours.by(args.by), engine).map_err(|error| {
            let played = position.uci(m);
            CommandError::new(ENVIRONMENT, format!("{error}, at {} {played}", named.fen))
        })?;
        let comparison = MoveComparison::of(args.values, named, m, theirs, ours);
        let differs = counts.add(&comparison, args.by);
        if args.form.json {
            print(&json_line(&comparison)?)?;
        } else if args.form.epd {
            let theirs = theirs.map_or_else(|| "none".to_owned(), |value| value.to_string());
            let comments = [format!("theirs={theirs}"), format!("see={}", ours.by(args.by))];
            print(&named.epd(Some(m), &comments))?;
        } else if differs && (args.list || counts.differing(args.by) <= DEFAULT_ROWS) {
            print(&row(&comparison))?;
        }
    }
    Ok(())
}

/// Returns the command's value of a move; with `--threshold` by bisection, after the two
/// thresholds that suffice if the value is `ours`.
fn evaluate(
    args: &CompareArgs,
    named: &NamedPosition,
    m: Move,
    ours: i32,
    engine: &mut ExternalEngine,
) -> Result<Option<i64>, ExternalEngineError> {
    let mut ask = |threshold| engine.evaluate(&request_line(args, named, m, threshold));
    if !args.threshold {
        return ask(None);
    }
    let ours = i64::from(ours);
    let (mut reached, mut missed) = (-THRESHOLD_LIMIT, THRESHOLD_LIMIT);
    let mut next = ours;
    while missed - reached > 1 {
        let Some(holds) = ask(Some(next))? else { return Ok(None) };
        *(if holds == 0 { &mut missed } else { &mut reached }) = next;
        next = if reached == ours { ours + 1 } else { i64::midpoint(reached, missed) };
    }
    Ok(Some(reached))
}

fn request_line(
    args: &CompareArgs,
    named: &NamedPosition,
    m: Move,
    threshold: Option<i64>,
) -> String {
    let position = &named.entry.position;
    let uci = position.uci(m);
    match args.input {
        InputFormat::Text => {
            let threshold = threshold.map_or_else(String::new, |number| format!("; {number}"));
            format!("{}; {uci}{threshold}\n", named.fen)
        }
        InputFormat::Json => {
            let values = &args.values.0;
            let san = position.san(m);
            let mut line = json!({ "fen": named.fen, "move": uci, "san": san, "values": values });
            if let Some(threshold) = threshold {
                line["threshold"] = threshold.into();
            }
            format!("{line}\n")
        }
    }
}

impl<'a> MoveComparison<'a> {
    fn of(
        values: PieceValues,
        named: &'a NamedPosition,
        m: Move,
        theirs: Option<i64>,
        ours: ValuesByDefinition,
    ) -> Self {
        let position: &Position = &named.entry.position;
        let points = scale(values).map(|scale| (scale, sargon_move_value(position, m)));
        let scaled = |value: fn(&SargonMoveValue) -> i32| {
            points.as_ref().map(|(scale, after)| scale * value(after))
        };
        Self {
            id: &named.id,
            fen: &named.fen,
            uci: position.uci(m),
            san: position.san(m),
            theirs,
            ours,
            minimax: scaled(|after| after.minimax),
            sargon: scaled(|after| after.sargon),
            impossible: &named.impossible,
        }
    }
}

/// Returns the value of one of Sargon's points; `None` if the values have other proportions.
fn scale(values: PieceValues) -> Option<i32> {
    let pawn = values.0[0];
    let same = values
        .0
        .iter()
        .zip(PieceValues::SARGON.0)
        .take(5)
        .all(|(own, points)| *own == pawn * points);
    same.then_some(pawn)
}
