//! `hw-tests swap`: Static Exchange Evaluation after any move, in every form; suites of values.

mod show;
mod suite;

use chess_rules::see::{ByDefinition, Definition, Opening, Values, pseudo_legal_gain, values_of};
use chess_rules::{Move, Position};
use clap::Args;
use cli_support::exit::{Failure, NOTHING, Outcome};
use serde::Serialize;

use cli_support::output::print;
use sargon_corpus::args::{Named, PositionArgs, Positions};

#[derive(Clone, Args)]
pub(super) struct SwapArgs {
    /// The position as FEN, a file of positions or suite lines, or - for standard input
    #[arg(value_name = "FEN|FILE", required_unless_present = "fen")]
    positions: Option<String>,
    /// Moves in SAN or UCI, such as Nxe5 or d3e5; without, that of a suite line, else every legal
    /// move
    #[arg(value_name = "MOVE")]
    moves: Vec<String>,
    /// The position, in FEN, in place of the first argument
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// The worth of pieces: wiki, tutorial, classic, units, sargon, or P,N,B,R,Q,K; a suite chooses
    /// by itself
    #[arg(long, value_name = "VALUES")]
    values: Option<Values>,
    /// The definition by which a suite is judged; without, any of the three will do
    #[arg(long, value_name = "swap|swap_promo|legal")]
    by: Option<Definition>,
    /// Also ask whether a move gains at least so much
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    at_least: Option<i32>,
    /// One line of JSON a position
    #[arg(long)]
    json: bool,
    /// Stop at the first line that is not understood, instead of answering the others
    #[arg(long)]
    strict: bool,
}

impl SwapArgs {
    /// The same, where the first argument is a move because the position has an option of its own.
    fn in_order(&self) -> Self {
        let mut args = self.clone();
        if args.fen.is_some() {
            args.moves.splice(..0, args.positions.take());
        }
        args
    }
}

/// The values for questions without a suite.
const USUAL: Values = Values::WIKI;

pub(super) fn swap_of(args: &SwapArgs) -> Outcome {
    let args = &args.in_order();
    let sources = match &args.fen {
        Some(fen) => PositionArgs::of_texts(vec![fen.clone()], args.strict),
        None => PositionArgs::new(args.positions.iter().cloned().collect(), args.strict),
    };
    let positions = sources.read(args.json)?;
    let outcome = if args.moves.is_empty() && suite::is_suite(&positions) {
        suite::judge(args, &positions)
    } else {
        evaluate(args, &positions)
    };
    positions.conclude(outcome)
}

/// Evaluates the moves that are asked for, or all.
fn evaluate(args: &SwapArgs, positions: &Positions) -> Outcome {
    positions.each(args.json, |named| {
        let position = &named.entry.position;
        if args.moves.is_empty() {
            return print(&every_move(args, named)?);
        }
        for text in &args.moves {
            let m = find(position, text)?;
            let detail = Detail::of(position, m, args);
            let shown = if args.json { named.json(&detail)? } else { detail.text(args.at_least) };
            print(&shown)?;
        }
        Ok(())
    })?;
    Ok(0)
}

/// Finds a move, or says why there is none.
fn find(position: &Position, text: &str) -> Result<Move, Failure> {
    position.find_move(text).ok_or_else(|| {
        let problem = format!("{text} is no legal move of {position}; write it in SAN or UCI");
        Failure::new(NOTHING, problem)
    })
}

/// The value of a move in short.
#[derive(Serialize)]
struct Short {
    uci: String,
    san: String,
    #[serde(flatten)]
    value: ByDefinition,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<Reached>,
}

/// Whether a threshold is reached, by the two definitions that have a threshold form.
#[derive(Clone, Copy, Serialize)]
struct Reached {
    swap: bool,
    swap_promo: bool,
}

impl Reached {
    fn of(opening: &Opening, threshold: i32) -> Self {
        let [swap, swap_promo] =
            [false, true].map(|promotes| opening.is_at_least(threshold, promotes));
        Self { swap, swap_promo }
    }
}

impl Short {
    fn of(position: &Position, m: Move, args: &SwapArgs) -> Self {
        let values = args.values.unwrap_or(USUAL);
        let opening = Opening::of(position, m, values);
        Self {
            uci: position.uci(m),
            san: position.san(m),
            value: values_of(position, m, values),
            at_least: args.at_least.map(|threshold| Reached::of(&opening, threshold)),
        }
    }
}

/// The values of all legal moves of a position.
fn every_move(args: &SwapArgs, named: &Named) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct All {
        values: Vec<Short>,
    }
    let position = &named.entry.position;
    let moves = position.legal_moves().into_iter();
    let values: Vec<_> = moves.map(|m| Short::of(position, m, args)).collect();
    if args.json { named.json(&All { values }) } else { Ok(show::table(&named.id, &values)) }
}

/// The value of a move in every form.
#[derive(Serialize)]
struct Detail {
    #[serde(flatten)]
    short: Short,
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

impl Detail {
    fn of(position: &Position, m: Move, args: &SwapArgs) -> Self {
        let values = args.values.unwrap_or(USUAL);
        let opening = Opening::of(position, m, values);
        let list = opening.list(false, false);
        let pruned = opening.list(false, true);
        let side = position.to_move();
        Self {
            short: Short::of(position, m, args),
            gains: list.gains,
            folded: list.folded,
            pruned_value: pruned.value(),
            pruned_gains: pruned.gains,
            recursive: opening.by_recursion(false),
            by_bounds: opening.by_bounds(false),
            pseudo_legal_gain: pseudo_legal_gain(position.pieces(), m.to, side, values),
        }
    }
}
