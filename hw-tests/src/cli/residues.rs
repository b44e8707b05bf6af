//! `hw-tests residues`.

use std::path::PathBuf;

use clap::Args;
use hw_tests::compare::compare_position;
use hw_tests::corpus::{self, Subject};
use hw_tests::reference::Behaviour;
use hw_tests::rig::Rig;
use rcflash::exit::{Failure, NOTHING, Outcome, RIG, WRONG};

use super::positions::standard_input;
use super::{BoardArgs, counted, json_line, print, read};

#[derive(Args)]
pub(super) struct ResiduesArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The position, in FEN with 4 or 6 fields; may be given again
    #[arg(long, value_name = "FEN", conflicts_with = "file")]
    fen: Vec<String>,
    /// Positions, one a line (EPD or FEN); standard input without
    file: Option<PathBuf>,
}

pub(super) fn residues(args: &ResiduesArgs) -> Outcome {
    let (name, text) = input(args)?;
    let cases = corpus::parse_positions(&name, &text).map_err(|error| Failure::new(RIG, error))?;
    if cases.is_empty() {
        return Err(Failure::new(NOTHING, format!("{name} holds no position")));
    }
    let mut rig = Rig::prepare(&args.board.plan()?)?;
    let mut differ = 0;
    for case in &cases {
        let Subject::Position { fen, position, expected, printed } = &case.subject else {
            continue;
        };
        let stated = if rig.behaviour() == Behaviour::Mended { expected } else { printed };
        let seen = rig.position(position).map_err(|error| Failure::new(RIG, error))?;
        let line = hw_tests::residues::line(fen, position, rig.behaviour(), &seen);
        print(&json_line(&line)?)?;
        let differences = compare_position(position, rig.standard(), stated, &seen);
        differ += usize::from(!differences.is_empty());
        differences.iter().for_each(|difference| eprintln!("{fen}: {difference}"));
    }
    match differ {
        0 => Ok(0),
        _ => Err(Failure::new(
            WRONG,
            format!("board and reference differ on {}", counted(differ, "position")),
        )),
    }
}

fn input(args: &ResiduesArgs) -> Result<(String, String), Failure> {
    if !args.fen.is_empty() {
        return Ok(("--fen".to_owned(), args.fen.join("\n")));
    }
    if let Some(path) = &args.file {
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        return Ok((path.display().to_string(), text));
    }
    Ok(("standard input".to_owned(), standard_input()?))
}
