//! Subjects of a debugger: a position and the call for a square, or any program.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use board_debugger::{
    DebugSession, Debugger, EntryOutcome, LoadedProgram, ProgramError, ProgramFile, SessionError,
    ShouldStop, open_at_exchange, open_position_on_target, open_program, open_program_on_target,
    run_to_exchange,
};
use clap::Args;
use cli_support::exit::{Failure, NOTHING, RIG, USAGE, WRONG};
use firmware::evaluator::{Behaviour, Evaluator};
use sargon_reference::{Position, Square};

use super::target::{TargetArgs, TargetConnection, board_failure};

use sargon_corpus::args::square_name;
use sargon_corpus::args::{parse_position, position};

#[derive(Args)]
pub(super) struct SessionArgs {
    /// A position, in FEN with 4 or 6 fields; or a program: source (.asm), ELF (.elf) or Intel HEX
    /// (.hex)
    #[arg(value_name = "FEN|PROGRAM")]
    target: String,
    /// The square of the position, such as e4; the board is stopped at XCHNG for it
    #[arg(value_name = "SQUARE", value_parser = square_name)]
    square: Option<Square>,
    /// The board's profile; rc2014-classic if nothing names another
    #[arg(long, value_name = "PROFILE")]
    board: Option<String>,
    #[command(flatten)]
    line: TargetArgs,
    /// Seconds of the board's time within which the board must come to XCHNG; then it is stopped
    /// where it is
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    pub(super) within: f64,
    /// The evaluator's behaviour
    #[arg(long, value_name = "mended|1978|fast", default_value_t)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR")]
    sargon_dir: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Method of putting the user's program on the board.
#[derive(Args, Default)]
pub(super) struct ProgramArgs {
    /// A program's layout file (TOML); without it `.PROG.` begins where the board's RAM does
    #[arg(long, value_name = "FILE")]
    pub(super) layout: Option<PathBuf>,
    /// Define a symbol before a program's first line
    #[arg(long, value_name = "NAME=VALUE", value_parser = definition)]
    pub(super) define: Vec<(String, u16)>,
    /// Look for inserted files in this folder too
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(super) include: Vec<PathBuf>,
    /// The symbols of a program that has none, `VALUE NAME` a line; without it the file beside it
    /// that ends in .sym
    #[arg(long, value_name = "FILE")]
    pub(super) symbols: Option<PathBuf>,
    /// The place where a program is entered: a label or a number
    #[arg(long, value_name = "ADDRESS")]
    pub(super) entry: Option<String>,
}

impl ProgramArgs {
    /// The program of a file.
    pub(super) fn file(&self, path: impl Into<PathBuf>) -> ProgramFile {
        ProgramFile {
            path: path.into(),
            layout: self.layout.clone(),
            defines: self.define.clone(),
            include: self.include.clone(),
            symbols: self.symbols.clone(),
            entry: self.entry.clone(),
        }
    }
}

/// A board to look into.
pub(super) struct StartedSession {
    pub(super) debugger: Debugger,
    /// Reason for its last stop.
    pub(super) outcome: EntryOutcome,
    /// A sentence about a board that is not where it was asked to stop.
    pub(super) message: Option<String>,
    /// Whether it runs a program of the user's, whose line carries text for people.
    pub(super) is_program: bool,
}

impl StartedSession {
    /// The exit code of a session that can't be watched: 1 if the program did not come to the call,
    /// 4 if there is no such call.
    pub(super) fn code(&self) -> u8 {
        match &self.outcome {
            EntryOutcome::Reached => 0,
            EntryOutcome::NotCalled(_) => NOTHING,
            EntryOutcome::TimedOut(_) => WRONG,
            EntryOutcome::Interrupted => cli_support::exit::INTERRUPTED,
            EntryOutcome::Failed(_) => RIG,
        }
    }
}

impl SessionArgs {
    /// The board at the call, or about to run the program's first instruction. `stop` breaks off a
    /// way that takes long.
    pub(super) fn begin(&self, stop: &AtomicBool) -> Result<StartedSession, Failure> {
        let board = self.board.as_deref();
        let Some(square) = self.square else { return self.program() };
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let position = position(&self.target)?;
        let ask: ShouldStop<'_> = &mut |_| stop.load(Ordering::Relaxed);
        let wanted = ExchangeTarget { evaluator, position, square, within: self.within };
        if self.line.has_line() {
            return wanted.on_board(self.line.reach(board)?, ask);
        }
        let ExchangeTarget { evaluator, position, .. } = &wanted;
        let profile = self.line.profile(board)?;
        let session = open_at_exchange(&profile, evaluator, position, square, self.within, ask);
        Ok(StartedSession::from(session.map_err(failure)?))
    }

    fn program(&self) -> Result<StartedSession, Failure> {
        if self.target.contains(['/', ' ']) && parse_position(&self.target).is_ok() {
            let problem = "a position needs a square, such as e4, after it";
            return Err(Failure::new(USAGE, problem));
        }
        let board = self.board.as_deref();
        let profile = self.line.profile(board)?;
        let program = self.program.file(&self.target).load(&profile).map_err(program_failure)?;
        if !program.warnings.is_empty() {
            eprint!("{}", program.warnings);
        }
        if self.line.has_line() {
            return StartedSession::open_program_on_target(self.line.reach(board)?, program);
        }
        Ok(StartedSession::program(open_program(&profile, program).map_err(program_failure)?))
    }
}

/// A call of XCHNG that is wanted.
pub(super) struct ExchangeTarget {
    pub(super) evaluator: Evaluator,
    pub(super) position: Position,
    pub(super) square: Square,
    /// Seconds of the board's time.
    pub(super) within: f64,
}

impl ExchangeTarget {
    /// The board at the end of a line at the call.
    pub(super) fn on_board(
        &self,
        reached: TargetConnection,
        ask: ShouldStop<'_>,
    ) -> Result<StartedSession, Failure> {
        let TargetConnection { profile, kernel } = reached;
        let Self { evaluator, position, square, within } = self;
        let debugger = open_position_on_target(&profile, evaluator, position, kernel, &mut *ask);
        let session = run_to_exchange(debugger.map_err(board_failure)?, *square, *within, ask);
        Ok(StartedSession::from(session.map_err(failure)?))
    }
}

impl StartedSession {
    /// A program of the user's on the board at the end of a line, at its first instruction.
    pub(super) fn open_program_on_target(
        reached: TargetConnection,
        program: LoadedProgram,
    ) -> Result<Self, Failure> {
        let TargetConnection { profile, kernel } = reached;
        let debugger = open_program_on_target(&profile, program, kernel);
        Ok(Self::program(debugger.map_err(board_failure)?))
    }

    /// A program of the user's at its first instruction.
    pub(super) fn program(debugger: Debugger) -> Self {
        Self { debugger, outcome: EntryOutcome::Reached, message: None, is_program: true }
    }
}

impl From<DebugSession> for StartedSession {
    fn from(session: DebugSession) -> Self {
        let DebugSession { debugger, outcome } = session;
        let message = outcome.message(&debugger);
        Self { debugger, outcome, message, is_program: false }
    }
}

/// An error that keeps a session from beginning, with its exit code.
pub(super) fn failure(error: SessionError) -> Failure {
    match error {
        SessionError::Build(error) => error.into(),
        SessionError::NoLabel(_) => Failure::new(RIG, error),
    }
}

/// An error of a program, with its exit code: 3 for files that can't be read, 2 for what was asked
/// for wrongly, 1 for what is wrong in the program.
pub(super) fn program_failure(error: ProgramError) -> Failure {
    match error {
        ProgramError::Build(error) => error.into(),
        ProgramError::Read(..) => Failure::new(RIG, error),
        ProgramError::Kind(_) | ProgramError::NoEntry(_) | ProgramError::Project(_) => {
            Failure::new(USAGE, error)
        }
        _ => Failure::new(WRONG, error),
    }
}

/// `NAME` or `NAME=VALUE`; without a value it is 1.
pub(super) fn definition(text: &str) -> Result<(String, u16), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let number = board_debugger::parse_number(value.trim());
    let number = number.ok_or_else(|| format!("'{value}' is no number; it is like 12 or 1FH"))?;
    let is_symbol =
        tdlasm::syntax::lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
    if is_symbol { Ok((name.to_owned(), number)) } else { Err(format!("{name} is no symbol")) }
}

/// A time of the board's, longer than nothing.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| "it is a number of seconds above 0".to_owned())
}
