//! `hw-tests swap`: Static Exchange Evaluation of moves, in every form, and suites of values.

mod show;
mod suite;

use chess_rules::see::{
    ExchangeStart, PieceValues, SeeDefinition, ValuesByDefinition, move_values, pseudo_legal_gain,
};
use chess_rules::{Move, Position};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, NOTHING_SELECTED};
use serde::Serialize;

use cli_support::output::print;
use sargon_corpus::args::{NamedPosition, PositionArgs, PositionList};

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
    /// Piece values: wiki, tutorial, classic, units, sargon, or P,N,B,R,Q,K
    ///
    /// By default wiki; for a suite, the values with which most of its lines agree.
    #[arg(long, value_name = "VALUES")]
    values: Option<PieceValues>,
    /// Definition by which a suite is judged [default: any of the three]
    #[arg(long, value_name = "swap|swap_promo|legal")]
    by: Option<SeeDefinition>,
    /// Also evaluate whether a move gains at least this much
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    at_least: Option<i32>,
    /// Print JSON, one line per position
    #[arg(long)]
    json: bool,
    /// Stop at the first line that cannot be parsed
    #[arg(long)]
    strict: bool,
}

impl SwapArgs {
    /// Returns the arguments in order: with --fen, the first positional argument is a move.
    fn with_fen_as_position(&self) -> Self {
        let mut args = self.clone();
        if args.fen.is_some() {
            args.moves.splice(..0, args.positions.take());
        }
        args
    }
}

/// Piece values without --values and without a suite.
const DEFAULT_VALUES: PieceValues = PieceValues::WIKI;

pub(super) fn swap_of(args: &SwapArgs) -> CommandResult {
    let args = &args.with_fen_as_position();
    let sources = match &args.fen {
        Some(fen) => PositionArgs::from_texts(vec![fen.clone()], args.strict),
        None => PositionArgs::new(args.positions.iter().cloned().collect(), args.strict),
    };
    let positions = sources.read(args.json)?;
    let outcome = if args.moves.is_empty() && suite::is_suite(&positions) {
        suite::judge(args, &positions)
    } else {
        evaluate(args, &positions)
    };
    positions.finish(outcome)
}

/// Evaluates the given moves, or all legal ones.
fn evaluate(args: &SwapArgs, positions: &PositionList) -> CommandResult {
    positions.for_each(args.json, |named| {
        let position = &named.entry.position;
        if args.moves.is_empty() {
            return print(&every_move(args, named)?);
        }
        for text in &args.moves {
            let m = find_move(position, text)?;
            let detail = MoveDetail::of(position, m, args);
            let shown = if args.json { named.json(&detail)? } else { detail.text(args.at_least) };
            print(&shown)?;
        }
        Ok(())
    })?;
    Ok(0)
}

/// Finds a legal move.
fn find_move(position: &Position, text: &str) -> Result<Move, CommandError> {
    position.find_move(text).ok_or_else(|| {
        let problem =
            format!("invalid move '{text}': expected a legal move of {position}, in SAN or UCI");
        CommandError::new(NOTHING_SELECTED, problem)
    })
}

/// The value of a move by each definition.
#[derive(Serialize)]
struct MoveValue {
    uci: String,
    san: String,
    #[serde(flatten)]
    value: ValuesByDefinition,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<ThresholdResult>,
}

/// Whether a move reaches a threshold, by the two definitions that have a threshold form.
#[derive(Clone, Copy, Serialize)]
struct ThresholdResult {
    swap: bool,
    swap_promo: bool,
}

impl ThresholdResult {
    fn of(opening: &ExchangeStart, threshold: i32) -> Self {
        let [swap, swap_promo] = [false, true].map(|promotes| opening.see_ge(threshold, promotes));
        Self { swap, swap_promo }
    }
}

impl MoveValue {
    fn of(position: &Position, m: Move, args: &SwapArgs) -> Self {
        let values = args.values.unwrap_or(DEFAULT_VALUES);
        let opening = ExchangeStart::after_move(position, m, values);
        Self {
            uci: position.uci(m),
            san: position.san(m),
            value: move_values(position, m, values),
            at_least: args.at_least.map(|threshold| ThresholdResult::of(&opening, threshold)),
        }
    }
}

/// Returns the values of all legal moves of a position.
fn every_move(args: &SwapArgs, named: &NamedPosition) -> Result<String, CommandError> {
    #[derive(Serialize)]
    struct All {
        values: Vec<MoveValue>,
    }
    let position = &named.entry.position;
    let moves = position.legal_moves().into_iter();
    let values: Vec<_> = moves.map(|m| MoveValue::of(position, m, args)).collect();
    if args.json { named.json(&All { values }) } else { Ok(show::table(&named.id, &values)) }
}

/// The value of a move in every form.
#[derive(Serialize)]
struct MoveDetail {
    #[serde(flatten)]
    short: MoveValue,
    /// The iterative form, pawns staying pawns.
    gains: Vec<i32>,
    folded: Vec<i32>,
    /// The list with the wiki's pruning.
    pruned_gains: Vec<i32>,
    pruned_value: i32,
    /// The recursive form, and the iterative one without a list.
    recursive: i32,
    by_bounds: i32,
    /// The gain of the moving side on the square if its attackers may also decline, pins and checks
    /// aside.
    pseudo_legal_gain: i32,
}

impl MoveDetail {
    fn of(position: &Position, m: Move, args: &SwapArgs) -> Self {
        let values = args.values.unwrap_or(DEFAULT_VALUES);
        let opening = ExchangeStart::after_move(position, m, values);
        let list = opening.list(false, false);
        let pruned = opening.list(false, true);
        let side = position.to_move();
        Self {
            short: MoveValue::of(position, m, args),
            gains: list.gains,
            folded: list.folded,
            pruned_value: pruned.value(),
            pruned_gains: pruned.gains,
            recursive: opening.swap_value_by_recursion(false),
            by_bounds: opening.swap_value_by_bounds(false),
            pseudo_legal_gain: pseudo_legal_gain(position.pieces(), m.to, side, values),
        }
    }
}
