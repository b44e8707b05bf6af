//! The positions that a command works on: FENs, files, standard input, or the corpus that ships.

use std::io::Read;
use std::path::Path;

use clap::Args;
use hw_tests::corpus::{self, Case, Subject};
use hw_tests::reference::Position;
use rcflash::exit::{Failure, NOTHING, RIG};

use super::read;

#[derive(Args)]
pub(super) struct PositionArgs {
    /// FENs, files of positions (EPD or FEN, one a line), or - for standard input; the corpus that ships without
    #[arg(value_name = "FEN|FILE")]
    positions: Vec<String>,
}

/// A position and what it is called.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) fen: String,
    pub(super) position: Position,
}

impl PositionArgs {
    /// All positions in the order in which they were given; at least one.
    pub(super) fn positions(&self) -> Result<Vec<Named>, Failure> {
        let mut cases = Vec::new();
        for argument in &self.positions {
            let (name, text) = source(argument)?;
            let some = corpus::parse_positions(&name, &text);
            cases.extend(some.map_err(|error| Failure::new(RIG, error))?);
        }
        if self.positions.is_empty() {
            cases = corpus::shipped().map_err(|error| Failure::new(RIG, error))?;
        }
        let positions: Vec<_> = cases.into_iter().filter_map(named).collect();
        if positions.is_empty() {
            return Err(Failure::new(NOTHING, "no position was given; see --help"));
        }
        Ok(positions)
    }
}

fn named(case: Case) -> Option<Named> {
    match case.subject {
        Subject::Position { fen, position, .. } => Some(Named { id: case.id, fen, position }),
        Subject::Array { .. } => None,
    }
}

/// What an argument stands for. No file name that exists is taken for a FEN, and a FEN has blanks.
fn source(argument: &str) -> Result<(String, String), Failure> {
    if argument == "-" {
        return Ok(("standard input".to_owned(), standard_input()?));
    }
    if argument.contains(char::is_whitespace) && !Path::new(argument).exists() {
        return Ok(("FEN".to_owned(), argument.to_owned()));
    }
    let text = String::from_utf8_lossy(&read(Path::new(argument))?).into_owned();
    Ok((argument.to_owned(), text))
}

/// All of standard input.
pub(super) fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(RIG, format!("can't read standard input: {error}")))?;
    Ok(text)
}
