//! What a debugger looks into: a board, a position, and the call for a square.

use clap::Args;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hw_tests::corpus::{Subject, parse_positions};
use hw_tests::debug::{Debugger, SessionError, at_exchange};
use hw_tests::reference::{Position, Square};
use rcflash::exit::{Failure, NOTHING, RIG, USAGE};
use rcflash::rig::DEFAULT_BOARD;

use super::square_name;

#[derive(Args)]
pub(super) struct SessionArgs {
    /// The position, in FEN with 4 or 6 fields
    #[arg(value_name = "FEN")]
    fen: String,
    /// The square, such as e4; the board waits at XCHNG for it
    #[arg(value_name = "SQUARE", value_parser = square_name)]
    square: Square,
    /// The simulated board's profile
    #[arg(long, value_name = "PROFILE", default_value = DEFAULT_BOARD)]
    board: String,
    /// The evaluator's behaviour
    #[arg(long, value_name = "mended|1978", default_value_t)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR")]
    sargon_dir: Option<std::path::PathBuf>,
}

impl SessionArgs {
    /// A debugger at the call.
    pub(super) fn debugger(&self) -> Result<Debugger, Failure> {
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let profile = Profile::named(&self.board)?;
        at_exchange(&profile, &evaluator, &position(&self.fen)?, self.square).map_err(failure)
    }
}

/// What keeps a session from beginning, with its exit code.
pub(super) fn failure(error: SessionError) -> Failure {
    match error {
        SessionError::Build(error) => error.into(),
        SessionError::NotReached(_) => Failure::new(NOTHING, error),
        SessionError::NoLabel(_) => Failure::new(RIG, error),
    }
}

/// The one position of a FEN.
pub(super) fn position(fen: &str) -> Result<Position, Failure> {
    parse_position(fen).map_err(|problem| Failure::new(USAGE, problem))
}

/// The same, or what is wrong with it.
pub(super) fn parse_position(fen: &str) -> Result<Position, String> {
    let cases = parse_positions("FEN", fen).map_err(|error| error.to_string())?;
    let mut positions = cases.into_iter().filter_map(|case| match case.subject {
        Subject::Position { position, .. } => Some(position),
        Subject::Array { .. } => None,
    });
    positions.next().ok_or_else(|| "the FEN is empty".to_owned())
}
