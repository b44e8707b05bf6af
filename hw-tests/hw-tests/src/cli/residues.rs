//! `hw-tests residues`: the residues of positions, by board and reference.

use clap::Args;
use cli_support::exit::{Failure, Outcome, RIG, WRONG};
use cli_support::text;
use hil_harness::compare::compare_position;
use hil_harness::live::LiveBoard;
use hil_harness::residues::found;
use sargon_corpus::stated_residues;

use super::BoardArgs;
use cli_support::output::{counted, print};
use sargon_corpus::args::PositionArgs;

#[derive(Args)]
pub(super) struct ResiduesArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The position, in FEN; may be given again
    #[arg(long, value_name = "FEN", conflicts_with = "positions")]
    fen: Vec<String>,
    /// FENs, files of positions (EPD or FEN, one a line), or - for standard input, as without any
    #[arg(value_name = "FEN|FILE")]
    positions: Vec<String>,
    /// Stop at the first line that is not understood, instead of answering the others
    #[arg(long)]
    strict: bool,
}

pub(super) fn residues(args: &ResiduesArgs) -> Outcome {
    let positions = sources(args).read(true)?;
    let mut rig = LiveBoard::prepare(&args.board.plan()?)?;
    let mut differ = 0;
    positions.each(true, |named| {
        let position = &named.position;
        let seen = rig.position(position).map_err(|error| Failure::new(RIG, error))?;
        print(&named.json(&found(position, rig.behaviour(), &seen))?)?;
        let stated = stated_residues(&named.entry, rig.behaviour(), position);
        let stated =
            stated.map_err(|problem| Failure::new(RIG, format!("{}: {problem}", named.id)))?;
        let differences = compare_position(position, rig.standard(), &stated, &seen);
        differ += usize::from(!differences.is_empty());
        for difference in &differences {
            text::tell(format!("{}: {difference}", named.fen));
        }
        Ok(())
    })?;
    positions.conclude(match differ {
        0 => Ok(0),
        _ => {
            let problem = format!("board and reference differ on {}", counted(differ, "position"));
            Err(Failure::new(WRONG, problem))
        }
    })
}

fn sources(args: &ResiduesArgs) -> PositionArgs {
    if !args.fen.is_empty() {
        return PositionArgs::of_texts(args.fen.clone(), args.strict);
    }
    let standard_input = || vec!["-".to_owned()];
    let files = Some(args.positions.clone()).filter(|files| !files.is_empty());
    PositionArgs::new(files.unwrap_or_else(standard_input), args.strict)
}
