//! `sargon residues`: the residues of positions, on board and reference.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED};
use cli_support::text;
use sargon_corpus::documented_residues;
use sargon_reference::{Behaviour, Position, evaluate_as};
use sargon_suite::SargonBoard;
use sargon_suite::compare::compare_position;
use sargon_suite::residues::{SquareEntry, square_entries, square_name};
use sargon_suite::responses::PositionResponse;
use serde::Serialize;

use cli_support::output::{pluralize, print};
use sargon_corpus::args::PositionArgs;
use sargon_suite::args::SargonBoardArgs;

#[derive(Args)]
pub(super) struct ResiduesArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
    /// Position, in FEN; repeatable
    #[arg(long, value_name = "FEN", conflicts_with = "positions")]
    fen: Vec<String>,
    /// FENs, position files (EPD or FEN, one per line), or - for standard input, the default
    #[arg(value_name = "FEN|FILE")]
    positions: Vec<String>,
    /// Stop at the first line that cannot be parsed
    #[arg(long)]
    strict: bool,
}

/// The results of board and reference for a position.
#[derive(Serialize)]
struct PositionEntry {
    /// The pinned pieces that the board found.
    pins: Vec<PinEntry>,
    /// The occupied squares, from a1 to h1, then the next rank.
    squares: Vec<SquareEntry>,
}

/// A pinned piece.
#[derive(Serialize)]
struct PinEntry {
    /// Name of its square.
    square: String,
    /// The step of the pin on a board with rows of ten squares, outwards from the royal piece.
    step: i8,
}

/// Returns the results of board and reference for a position.
fn position_entry(
    position: &Position,
    behaviour: Behaviour,
    seen: &PositionResponse,
) -> PositionEntry {
    let pins = seen.end.pins.iter();
    let pins = pins.map(|pin| PinEntry { square: square_name(pin.square), step: pin.step });
    let squares = square_entries(&evaluate_as(position, behaviour).squares, seen);
    PositionEntry { pins: pins.collect(), squares }
}

pub(super) fn residues(args: &ResiduesArgs) -> CommandResult {
    let mut positions = sources(args).open(true)?;
    let mut rig = SargonBoard::prepare(&args.board.plan()?)?;
    let mut differ = 0;
    positions.for_each(
        |named| named.position(),
        |named, position, _| {
            let position = &position;
            let seen = rig
                .request_position(position)
                .map_err(|error| CommandError::new(ENVIRONMENT, error))?;
            print(&named.json(&position_entry(position, rig.criteria.behaviour, &seen))?)?;
            let stated = documented_residues(&named.entry, rig.criteria.behaviour, position);
            let stated = stated.map_err(|problem| {
                CommandError::new(ENVIRONMENT, format!("{}: {problem}", named.id))
            })?;
            let differences = compare_position(position, rig.criteria, &stated, &seen);
            differ += usize::from(!differences.is_empty());
            for difference in &differences {
                text::eprint_message(format!("{}: {difference}", named.fen));
            }
            Ok(())
        },
    )?;
    let code = positions.finish(match differ {
        0 => Ok(0),
        _ => {
            let problem =
                format!("board and reference differ on {}", pluralize(differ, "position"));
            Err(CommandError::new(FAILED, problem))
        }
    })?;
    rig.live.return_to_monitor()?;
    Ok(code)
}

fn sources(args: &ResiduesArgs) -> PositionArgs {
    if !args.fen.is_empty() {
        return PositionArgs::from_texts(args.fen.clone(), args.strict);
    }
    let standard_input = || vec!["-".to_owned()];
    let files = Some(args.positions.clone()).filter(|files| !files.is_empty());
    PositionArgs::new(files.unwrap_or_else(standard_input), args.strict)
}
