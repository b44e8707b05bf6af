//! `sargon residues`: the residues of positions, on board and reference.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED};
use cli_support::text;
use sargon_corpus::documented_residues;
use sargon_suite::SargonBoard;
use sargon_suite::compare::compare_position;
use sargon_suite::residues::position_entry;

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
            print(&named.json(&position_entry(position, rig.behaviour(), &seen))?)?;
            let stated = documented_residues(&named.entry, rig.behaviour(), position);
            let stated = stated.map_err(|problem| {
                CommandError::new(ENVIRONMENT, format!("{}: {problem}", named.id))
            })?;
            let differences = compare_position(position, rig.criteria(), &stated, &seen);
            differ += usize::from(!differences.is_empty());
            for difference in &differences {
                text::eprint_message(format!("{}: {difference}", named.fen));
            }
            Ok(())
        },
    )?;
    positions.finish(match differ {
        0 => Ok(0),
        _ => {
            let problem =
                format!("board and reference differ on {}", pluralize(differ, "position"));
            Err(CommandError::new(FAILED, problem))
        }
    })
}

fn sources(args: &ResiduesArgs) -> PositionArgs {
    if !args.fen.is_empty() {
        return PositionArgs::from_texts(args.fen.clone(), args.strict);
    }
    let standard_input = || vec!["-".to_owned()];
    let files = Some(args.positions.clone()).filter(|files| !files.is_empty());
    PositionArgs::new(files.unwrap_or_else(standard_input), args.strict)
}
