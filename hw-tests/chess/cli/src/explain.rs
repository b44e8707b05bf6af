//! `sargon explain`: the exchange that yields the residue of a square, on host and board.

mod explanation;
mod follow;
pub(crate) mod names;
mod show;

use std::fmt::Display;

use clap::Args;
use cli_support::exit::{
    CommandError, CommandResult, ENVIRONMENT, FAILED, NOTHING_SELECTED, USAGE,
};
use firmware_wire::StepRecord;
use sargon_corpus::analysis::{exchange_steps, with_values};
use sargon_corpus::encode;
use sargon_reference::{
    AttackersArray, Colour, Evaluation, Piece, Position, Square, SquareResult, evaluate_as,
};
use sargon_suite::SargonBoard;

use cli_support::output::print;
use explanation::{ExchangeSteps, Explanation, PointValues};
use follow::{ObservedCalls, ObservedExchange};
use sargon_corpus::args::{parse_square, position};
use sargon_suite::args::SargonBoardArgs;

#[derive(Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
    /// Position, in FEN with 4 or 6 fields
    #[arg(value_name = "FEN")]
    fen: String,
    /// Square, such as e4
    #[arg(value_name = "SQUARE", value_parser = parse_square)]
    square: Square,
    /// Piece values P,N,B,R,Q,K, each 1 to 15
    ///
    /// The array stores a third knight of a side as a bishop.
    #[arg(long, value_name = "VALUES", default_value = "1,3,3,5,9,10")]
    values: PointValues,
}

pub(super) fn explain(args: &ExplainArgs) -> CommandResult {
    let position = position(&args.fen)?;
    if position.on(args.square).is_none() {
        return Err(empty_square(args.square));
    }
    let mut plan = args.board.plan()?;
    plan.record_exchange_calls = true;
    let mut rig = SargonBoard::prepare(&plan)?;
    let battle = Explanation::run_exchange(&mut rig, position, args.square, args.values)?;
    print(&show::explanation(&battle))?;
    let board = &battle.board;
    if battle.host.array != board.array || battle.host.steps != board.steps {
        return Err(CommandError::new(FAILED, "host and board differ"));
    }
    if battle.xchng != battle.host.residue() {
        return Err(CommandError::new(FAILED, battle.wrong_residue()));
    }
    rig.live.return_to_monitor()?;
    Ok(0)
}

impl Explanation {
    fn run_exchange(
        rig: &mut SargonBoard,
        position: Position,
        square: Square,
        values: PointValues,
    ) -> Result<Self, CommandError> {
        let Evaluation { pins, squares, .. } = evaluate_as(&position, rig.criteria.behaviour);
        let result = squares.into_iter().find(|result| result.square == square);
        let Some(SquareResult { piece, array, .. }) = result else {
            return Err(empty_square(square));
        };
        if has_excess_count(&array) {
            let problem = "a count of the array exceeds its entries, as in the original, so the \
                           exchange reads other memory and can't be explained";
            return Err(CommandError::new(USAGE, format!("{square}: {problem}")));
        }
        // The exchange first: if it never ends, no other request hides that.
        let mut played = BoardExchange::request(rig, piece, &array, values)?;
        let seen = rig.request_position(&position).map_err(|error| board_error(rig, &error))?;
        let record = seen.squares.iter().find(|record| record.square == encode::square(square));
        let Some(record) = record else {
            let why = format!("the board reports no piece on {square}");
            return Err(CommandError::new(FAILED, why));
        };
        let there = AttackersArray::from_bytes(&record.array);
        if there != array {
            played = BoardExchange::request(rig, piece, &there, values)?;
        }
        let host = ExchangeSteps { array, steps: host_steps(piece, &array, values) };
        let board = ExchangeSteps { array: there, steps: played.steps };
        let BoardExchange { xchng, followed, .. } = played;
        Ok(Self { position, square, piece, values, pins, host, board, xchng, followed })
    }

    /// Describes the wrong residue of XCHNG, and its first wrong step.
    fn wrong_residue(&self) -> String {
        let wrong = self.xchng;
        let right = self.host.residue();
        let first = match self.followed.as_ref().and_then(ObservedCalls::first_difference) {
            Some(row) => format!(": it first differs in row {} of XCHNG's own steps", row + 1),
            None => String::new(),
        };
        format!("the board's XCHNG returns a residue of {wrong}, not {right}{first}")
    }
}

/// An exchange that the board has resolved.
struct BoardExchange {
    xchng: u8,
    steps: Vec<StepRecord>,
    followed: Option<ObservedCalls>,
}

impl BoardExchange {
    /// Requests an exchange from the board. If it does not end, prints the observed calls.
    fn request(
        rig: &mut SargonBoard,
        piece: Piece,
        array: &AttackersArray,
        values: PointValues,
    ) -> Result<Self, CommandError> {
        let worth = with_values(array, |kind| values.of(kind));
        let stake = values.of(piece.kind);
        let answer = rig.request_trace(piece, stake, &worth);
        let followed =
            ObservedExchange::take(rig).map(|seen| ObservedCalls::new(piece, stake, &worth, seen));
        match answer {
            Ok((xchng, _, steps)) => Ok(Self { xchng, steps, followed }),
            Err(error) => {
                print(&followed.as_ref().map_or(String::new(), follow::text))?;
                Err(board_error(rig, &error))
            }
        }
    }
}

fn empty_square(square: Square) -> CommandError {
    CommandError::new(NOTHING_SELECTED, format!("no piece on {square}"))
}

/// Returns the error for a board that did not reply, with its program counter.
fn board_error(rig: &mut SargonBoard, error: &dyn Display) -> CommandError {
    CommandError::new(ENVIRONMENT, format!("{error}; {}", rig.live.describe_program_counter()))
}

/// Returns `true` if a count is higher than the entries of its section.
fn has_excess_count(array: &AttackersArray) -> bool {
    let is_short = |colour| array.in_order(colour).len() < usize::from(array.count(colour));
    is_short(Colour::White) || is_short(Colour::Black)
}

fn host_steps(piece: Piece, array: &AttackersArray, values: PointValues) -> Vec<StepRecord> {
    let array = with_values(array, |kind| values.of(kind));
    let [attackers, defenders] =
        [piece.colour.other(), piece.colour].map(|colour| array.in_order(colour));
    exchange_steps(values.of(piece.kind), &attackers, &defenders).iter().map(encode::step).collect()
}
