//! `sargon swap`: Static Exchange Evaluation of moves, in every form, and suites of values.

mod move_value;
mod scaled;
mod show;
mod suite;

use chess_rules::see::{PieceValues, SeeDefinition};
use chess_rules::{Move, Position};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, NOTHING_SELECTED, USAGE};
use serde::Serialize;

use crate::values::DEFAULT_VALUES;
use cli_support::text::escape_controls;
use move_value::{MoveDetail, MoveValue};
use sargon_corpus::args::{
    Jobs, NamedPosition, OutputForm, PositionArgs, PositionStream, SourceLocation, comment,
};
use scaled::ScaledValues;
use suite::{Judge, SuiteReading};

#[derive(Clone, Args)]
pub(super) struct SwapArgs {
    /// FEN, file of positions or suite lines, or - for standard input
    #[arg(value_name = "FEN|FILE", required_unless_present = "fen")]
    positions: Option<String>,
    /// Moves in SAN or UCI, such as Nxe5 or d3e5
    ///
    /// By default the move of a suite line, else every legal move.
    #[arg(value_name = "MOVE")]
    moves: Vec<String>,
    /// Position, in FEN, instead of the first argument
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Piece values: wiki, tutorial, classic, units, sargon, or P,N,B,R,Q,K; a suite's may have
    /// three decimals [default: classic; of a suite, the named ones with which most lines agree]
    #[arg(long, value_name = "VALUES")]
    values: Option<ScaledValues>,
    /// Definition by which a suite is judged [default: any], and of values in EPD [default: swap]
    #[arg(long, value_name = "swap|swap_promo|swap_pins|legal")]
    by: Option<SeeDefinition>,
    /// Meaning of a number in a suite that has no booleans [default: value]
    #[arg(long, value_enum, value_name = "READING")]
    suite: Option<SuiteReading>,
    /// Also evaluate whether a move gains at least this much
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true, conflicts_with = "epd")]
    at_least: Option<i32>,
    #[command(flatten)]
    form: OutputForm,
    /// Stop at the first line that cannot be parsed
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    jobs: Jobs,
}

/// Bytes among which the lines of a suite begin.
const SUITE_LOOKAHEAD_BYTES: usize = 4 << 20;

impl SwapArgs {
    /// Returns the arguments in order: with --fen, the first positional argument is a move.
    fn with_fen_as_position(&self) -> Self {
        let mut args = self.clone();
        if args.fen.is_some() {
            args.moves.splice(..0, args.positions.take());
        }
        args
    }

    /// Returns the piece values for moves that are not a suite's.
    fn values(&self) -> Result<PieceValues, CommandError> {
        let values = self.values.unwrap_or_else(|| DEFAULT_VALUES.into());
        match values.scale {
            1 => Ok(values.pieces),
            _ => {
                let problem = "--values takes decimals for a suite only: give whole numbers, such \
                               as 325 for 3.25";
                Err(CommandError::new(USAGE, problem))
            }
        }
    }
}

pub(super) fn swap_of(args: &SwapArgs) -> CommandResult {
    let args = &args.with_fen_as_position();
    let sources = match &args.fen {
        Some(fen) => PositionArgs::from_texts(vec![fen.clone()], args.strict),
        None => PositionArgs::new(args.positions.iter().cloned().collect(), args.strict),
    };
    let mut positions = sources.open_as(args.form)?.with_jobs(args.jobs);
    let is_suite = args.moves.is_empty()
        && positions.starts_with_any(SUITE_LOOKAHEAD_BYTES, |entry| entry.suite.is_some());
    let outcome = if is_suite {
        if args.at_least.is_some() {
            let problem =
                "--at-least is for moves; a suite states its thresholds (--suite threshold)";
            return Err(CommandError::new(USAGE, problem));
        }
        Judge { values: args.values, by: args.by, reading: args.suite, form: args.form }
            .run(&mut positions)
    } else {
        evaluate(args, &mut positions)
    };
    positions.finish(outcome)
}

/// Evaluates the given moves, or all legal ones.
fn evaluate(args: &SwapArgs, positions: &mut PositionStream) -> CommandResult {
    let values = args.values()?;
    let evaluate = |named: &NamedPosition| {
        let position = &named.entry.position;
        if args.moves.is_empty() {
            return every_move(args, values, named);
        }
        let one = |text: &String| {
            let m = find_move(position, text)?;
            let detail = MoveDetail::of(position, m, values, args.at_least);
            match args.form {
                OutputForm { json: true, .. } => named.json(&detail),
                OutputForm { epd: true, .. } => {
                    let value = detail.short.value.by(args.by.unwrap_or_default());
                    Ok(named.epd(Some(m), &[format!("see={value}")]))
                }
                _ => Ok(detail.text(args.at_least)),
            }
        };
        args.moves.iter().map(one).collect()
    };
    positions.for_each(evaluate, |named, text, output| {
        if args.moves.is_empty() && named.entry.suite.is_some() {
            let SourceLocation { file, line } = &named.place;
            let problem =
                "stated values begin after the first 4 MiB; put the suite in its own file";
            let message = format!("{}:{line}: {problem}", escape_controls(file));
            return Err(CommandError::new(ENVIRONMENT, message));
        }
        output.push_str(&text?);
        Ok(())
    })?;
    Ok(0)
}

fn find_move(position: &Position, text: &str) -> Result<Move, CommandError> {
    position.find_move(text).ok_or_else(|| {
        let problem =
            format!("invalid move '{text}': expected a legal move of {position}, in SAN or UCI");
        CommandError::new(NOTHING_SELECTED, problem)
    })
}

/// Returns the values of all legal moves of a position.
fn every_move(
    args: &SwapArgs,
    pieces: PieceValues,
    named: &NamedPosition,
) -> Result<String, CommandError> {
    #[derive(Serialize)]
    struct All {
        values: Vec<MoveValue>,
    }
    let position = &named.entry.position;
    let moves = position.legal_moves().into_iter();
    let values: Vec<_> = moves.map(|m| MoveValue::of(position, m, pieces, args.at_least)).collect();
    match args.form {
        OutputForm { json: true, .. } => named.json(&All { values }),
        OutputForm { epd: true, .. } => {
            let by = args.by.unwrap_or_default();
            let values = values.iter().map(|found| (&found.san, found.value.by(by)));
            Ok(named.epd(None, &[comment("see", values)]))
        }
        _ => Ok(show::table(&named.id, &values)),
    }
}
