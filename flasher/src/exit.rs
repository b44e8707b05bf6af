//! The exit codes that `rcflash` and `hw-tests` share with every program of the project.

use std::process::ExitCode;

use firmware::build::BuildError;
use firmware::evaluator::OwnError;
use firmware::profile::ProfileError;

use crate::flash::FlashError;
use crate::link::LinkError;
use crate::loader::LoadError;
use crate::loaders::LoaderError;
use crate::port::OpenError;
use crate::programmer::{FormatError, LayoutError, ProgrammerError};
use crate::reset::ResetError;
use crate::rig::RigFileError;
use crate::terminal::TerminalError;

/// The thing under test is wrong: a failed verify, a wrong residue.
pub const WRONG: u8 = 1;
/// The command line is.
pub const USAGE: u8 = 2;
/// Port, board or file failed.
pub const RIG: u8 = 3;
/// Nothing was selected or found.
pub const NOTHING: u8 = 4;
/// Some of what was asked for was left out, or went well only sometimes.
pub const INCOMPLETE: u8 = 5;
/// A bug of the program.
pub const BUG: u8 = 70;
/// The user stopped it.
pub const INTERRUPTED: u8 = 130;

/// What a command comes to: its exit code, or a failure.
pub type Outcome = Result<u8, Failure>;

/// The exit code of an outcome; a failure is said on standard error, under the program's name.
#[must_use]
pub fn conclude(program: &str, outcome: Outcome) -> ExitCode {
    let code = outcome.unwrap_or_else(|failure| {
        eprintln!("{program}: {}", failure.message);
        failure.code
    });
    ExitCode::from(code)
}

/// A failure with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// One of the codes above.
    pub code: u8,
    /// What happened, where, and what to try.
    pub message: String,
}

impl Failure {
    /// A failure with a message.
    pub fn new(code: u8, message: impl ToString) -> Self {
        Self { code, message: message.to_string() }
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let code = match &error {
            BuildError::Own(OwnError::Unreadable { .. }) => RIG,
            BuildError::Own(OwnError::Empty { .. }) => NOTHING,
            BuildError::NoFlash(_) => USAGE,
            _ => WRONG,
        };
        Self::new(code, error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(RIG, error)
    }
}

impl From<RigFileError> for Failure {
    fn from(error: RigFileError) -> Self {
        let usage = matches!(error, RigFileError::Unknown { .. });
        Self::new(if usage { USAGE } else { RIG }, error)
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        let interrupted = matches!(error, LinkError::Interrupted { .. });
        Self::new(if interrupted { INTERRUPTED } else { RIG }, error)
    }
}

impl From<ResetError> for Failure {
    fn from(error: ResetError) -> Self {
        match error {
            ResetError::Link(error) => error.into(),
            error => Self::new(RIG, error),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Link(error) => error.into(),
            LoadError::Verify { .. } => Self::new(WRONG, error),
            error => Self::new(RIG, error),
        }
    }
}

impl From<FlashError> for Failure {
    fn from(error: FlashError) -> Self {
        match error {
            FlashError::Link(LinkError::Interrupted { .. })
            | FlashError::Load(LoadError::Link(LinkError::Interrupted { .. })) => {
                Self::new(INTERRUPTED, error)
            }
            error => Self::new(if error.is_mismatch() { WRONG } else { RIG }, error),
        }
    }
}

impl From<LoaderError> for Failure {
    fn from(error: LoaderError) -> Self {
        let code = match &error {
            LoaderError::Interrupted { .. } => INTERRUPTED,
            error if error.is_mismatch() => WRONG,
            _ => RIG,
        };
        Self::new(code, error)
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<ProgrammerError> for Failure {
    fn from(error: ProgrammerError) -> Self {
        let code = match &error {
            ProgrammerError::Interrupted(_) => INTERRUPTED,
            error if error.is_mismatch() => WRONG,
            _ => RIG,
        };
        Self::new(code, error)
    }
}

impl From<TerminalError> for Failure {
    fn from(error: TerminalError) -> Self {
        let interrupted = matches!(error, TerminalError::Interrupted);
        Self::new(if interrupted { INTERRUPTED } else { RIG }, error)
    }
}
