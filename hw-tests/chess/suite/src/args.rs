//! Options of a command line that choose a board and the evaluator to load.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::ArgPredicate;
use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::file_roles::{ArgumentRole, FileRole};
use cli_support::files::read_input as read;
use cli_support::text::Escape;
use firmware::evaluator::{Behaviour, Evaluator};
use hil_harness::args::{BoardArgs, FILE_ROLES as BOARD_FILE_ROLES, LINE, options};
use hil_harness::live::BoardConfig;
use hil_harness::report::FollowUpOptions;

use crate::SargonConfig;

/// Heading of the help.
const EVALUATOR: &str = "Evaluator";

/// Load address of applications in RAM.
const APPLICATION_ADDRESS: u16 = 0x8000;

/// Options that choose a board and the evaluator to load.
#[derive(Debug, Args)]
pub struct SargonBoardArgs {
    /// Options of the board.
    #[command(flatten)]
    pub board: BoardArgs,
    /// Treatment of the bugs of the original program, on the board and in the reference
    #[arg(
        long,
        value_name = "corrected|original|fast",
        default_value_t,
        default_value_if("listing", ArgPredicate::IsPresent, "original"),
        help_heading = EVALUATOR
    )]
    pub behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder instead of the built-in ones
    ///
    /// The routines that can be replaced are described in sargon-src/README.md.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "app",
        help_heading = EVALUATOR,
        hide_short_help = true
    )]
    sargon_dir: Option<PathBuf>,
    /// Build the evaluator with the routines in this one file, as typed in from print
    ///
    /// The behaviour is original unless --behaviour is given. Equates, data and origins that the
    /// built-in evaluator has, too, are ignored (sargon-src/README.md).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["app", "sargon_dir"],
        help_heading = EVALUATOR,
        hide_short_help = true
    )]
    listing: Option<PathBuf>,
    /// Load this application (.hex or .bin) instead of the built-in one
    ///
    /// A .bin file is loaded at the address of the built-in application.
    #[arg(long, value_name = "FILE", conflicts_with = "flash", help_heading = EVALUATOR)]
    app: Option<PathBuf>,
    /// Inject line and board faults from this seed (docs/TESTING.md)
    #[arg(
        long,
        value_name = "SEED",
        conflicts_with = "via",
        help_heading = LINE,
        hide_short_help = true
    )]
    pub faults: Option<u64>,
}

/// Returns what commands do with the files that [`SargonBoardArgs`] name.
pub fn file_roles() -> Vec<ArgumentRole> {
    let evaluator = [
        ("", "sargon_dir", FileRole::ReadFolder(".asm")),
        ("", "listing", FileRole::Read),
        ("", "app", FileRole::Read),
    ];
    [&BOARD_FILE_ROLES[..], &evaluator].concat()
}

impl SargonBoardArgs {
    /// Returns the folder or listing of the user's own routines.
    fn own(&self) -> Option<&PathBuf> {
        self.sargon_dir.as_ref().or(self.listing.as_ref())
    }

    /// Returns the options with which another command loads the same program on the same board.
    pub fn follow_up_options(&self) -> FollowUpOptions {
        let behaviour =
            (self.behaviour != Behaviour::default()).then(|| self.behaviour.to_string());
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        // Other commands take a listing in place of the folder.
        let built = [
            ("--board", self.board.profile_name()),
            ("--behaviour", behaviour),
            ("--sargon-dir", self.own().map(path)),
        ];
        let built = options(built);
        let application = options([("--app", self.app.as_ref().map(path))]);
        let board = [built.clone(), application, self.board.connection_options()].concat();
        FollowUpOptions { board, simulated: self.app.is_none().then_some(built) }
    }

    /// Returns an error if an option is given that works with a single board only.
    ///
    /// # Errors
    /// Returns an error of usage.
    pub fn refuse_single_board_options(&self) -> Result<(), CommandError> {
        let why = "--faults works with a single board only; omit it, or give one board";
        self.faults.map_or(Ok(()), |_| Err(CommandError::new(USAGE, why)))
    }

    /// Returns the configuration of the board that the options choose.
    ///
    /// # Errors
    /// Returns an error of usage for options that exclude each other, and one of the environment
    /// for files that can't be read.
    pub fn plan(&self) -> Result<SargonConfig, CommandError> {
        self.with_evaluator(self.board.plan()?)
    }

    /// Returns the configuration of a board with the evaluator that the options choose.
    ///
    /// # Errors
    /// Returns an error of usage for options that exclude each other, and one of the environment
    /// for files that can't be read.
    pub fn with_evaluator(&self, board: BoardConfig) -> Result<SargonConfig, CommandError> {
        if self.faults.is_some() && self.board.transcript().is_some() {
            let why = "--faults does not work with a replay, which has no line: omit it";
            return Err(CommandError::new(USAGE, why));
        }
        // A missing listing must not be taken for a folder.
        self.listing.as_deref().map(read).transpose()?;
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.own().cloned() };
        let application = self.app.as_deref().map(read_program).transpose()?;
        let board = BoardConfig { application, fault_seed: self.faults, ..board };
        Ok(SargonConfig { evaluator, ..board.into() })
    }
}

/// Reads a program of any format; a binary is that of an application. Returns its address and its
/// bytes.
pub fn read_program(path: &Path) -> Result<(u16, Vec<u8>), CommandError> {
    let name = path.to_string_lossy();
    let program = program_formats::read_program(&read(path)?, &name, Some(APPLICATION_ADDRESS));
    let program = program
        .map_err(|error| CommandError::new(ENVIRONMENT, format!("{}: {error}", path.escaped())))?;
    let first = program.image.bounds().map_or(APPLICATION_ADDRESS, |(first, _)| first);
    Ok((first, program.image.flat(0xFF)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_by_their_content_and_nothing_else_as_a_binary() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("app.bin");
        let program = |content: &[u8]| {
            std::fs::write(&path, content).expect("a file");
            read_program(&path).map_err(|error| error.message)
        };
        assert_eq!(program(&[0x3E, 5]), Ok((0x8000, vec![0x3E, 5])));
        assert_eq!(program(b":018100003E40\n:00000001FF\n"), Ok((0x8100, vec![0x3E])));
        // FFH - (04+81+00+3E)&FFH = 3CH.
        assert_eq!(program(b"S10481003E3C\nS9030000FC\n"), Ok((0x8100, vec![0x3E])));
        for (content, problem) in [
            (&b":018100003E40\n"[..], "the end record (type 01) is missing"),
            (b"        RET\n        .END\n", "text, not a program"),
            (b"\x7FELF\x01\x01\x01", "not a readable ELF object"),
        ] {
            let error = program(content).expect_err(problem);
            assert!(error.contains(problem), "{error}");
        }
    }
}
