//! Sessions of a debugger: at the call for a square of a position, or with any program.

mod case;

use std::path::{Path, PathBuf};
use std::time::Duration;

use board_debugger::{
    Debugger, ProgramError, ProgramFile, Reload, RunAborted, ShouldStop, open_program, parse_number,
};
use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, NOTHING_SELECTED, USAGE};
use cli_support::time::time_within;
use firmware::evaluator::{Behaviour, Evaluator};
use sargon_corpus::args::{parse_position, parse_square, position};
use sargon_debugging::{
    DebugSession, EntryOutcome, SessionError, add_panes, open_position, run_to_exchange,
};

use super::target::{TargetArgs, target_error};
use crate::ExitResult;
use tdlasm::syntax::lex::symbol;

#[derive(Args)]
pub(super) struct SessionArgs {
    /// A position in FEN with 4 or 6 fields, a program: source (.asm), ELF (.elf) or Intel HEX
    /// (.hex), or a test file (.test.toml)
    #[arg(value_name = "FEN|PROGRAM|TESTS")]
    pub(super) target: String,
    /// A square of the position, such as e4: the board stops at its call of XCHNG; or a case of the
    /// test file: it stops at its first call that fails, or else its last one
    #[arg(value_name = "SQUARE|CASE")]
    pub(super) square_or_case: Option<String>,
    #[command(flatten)]
    pub(super) line: TargetArgs,
    /// Time limit of the board for reaching XCHNG; then the board stops where it is
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = board_time())]
    pub(super) within: Duration,
    /// The evaluator's behaviour
    #[arg(long, value_name = "corrected|original|fast", default_value_t)]
    pub(super) behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR")]
    pub(super) sargon_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) program: ProgramArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Program")]
pub(super) struct ProgramArgs {
    /// Layout file (TOML) of a program; without it `.PROG.` begins at the start of the board's RAM
    #[arg(long, value_name = "FILE")]
    pub(super) layout: Option<PathBuf>,
    /// Define a symbol before a program's first line
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(super) define: Vec<(String, u16)>,
    /// Also search this folder for included files
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(super) include: Vec<PathBuf>,
    /// Symbols and lines of a program: a symbol file, map or listing of any assembler or linker; the
    /// default is the first such file of the same name
    #[arg(long, value_name = "FILE")]
    pub(super) symbols: Vec<PathBuf>,
    /// Address of a binary
    #[arg(long, value_name = "ADDRESS", value_parser = testfile_suite::parse_address)]
    pub(super) origin: Option<u16>,
    /// Entry point of a program: a label or a number
    #[arg(long, value_name = "ADDRESS")]
    pub(super) entry: Option<String>,
}

impl ProgramArgs {
    /// Returns the description of a program file.
    pub(super) fn file(&self, path: impl Into<PathBuf>) -> ProgramFile {
        ProgramFile {
            path: path.into(),
            layout: self.layout.clone(),
            defines: self.define.clone(),
            include: self.include.clone(),
            symbols: self.symbols.clone(),
            origin: self.origin,
            entry: self.entry.clone(),
        }
    }
}

/// A session with a board that is ready for inspection.
pub(super) struct StartedSession {
    pub(super) debugger: Debugger,
    /// Whether the requested call was reached.
    pub(super) outcome: EntryOutcome,
    /// A message for the user if the board is not at the requested call.
    pub(super) message: Option<String>,
    /// Whether it runs a user's program, whose serial line carries text.
    pub(super) is_program: bool,
}

impl StartedSession {
    /// A session at the first instruction of a user's program, with the evaluator's panes if it
    /// contains the evaluator.
    pub(super) fn program(mut debugger: Debugger) -> Self {
        add_panes(&mut debugger);
        Self { debugger, outcome: EntryOutcome::Reached, message: None, is_program: true }
    }

    /// Returns the exit code of a session without interaction: 1 if the call was not reached in
    /// time, 4 if there is no such call.
    pub(super) fn exit_code(&self) -> u8 {
        match &self.outcome {
            EntryOutcome::Reached => 0,
            EntryOutcome::NotCalled(_) => NOTHING_SELECTED,
            EntryOutcome::Aborted(RunAborted::TimedOut(_)) => FAILED,
            EntryOutcome::Aborted(RunAborted::Interrupted) => cli_support::exit::INTERRUPTED,
            EntryOutcome::Failed(_) => ENVIRONMENT,
        }
    }
}

impl SessionArgs {
    /// Returns the time limit, in seconds of the board.
    pub(super) fn within(&self) -> f64 {
        self.within.as_secs_f64()
    }

    /// Starts a session at the call, or the first instruction.
    pub(super) fn start(&self, should_stop: ShouldStop<'_>) -> ExitResult<StartedSession> {
        if is_test_file(&self.target) {
            return self.case();
        }
        let Some(square) = &self.square_or_case else { return self.program() };
        let square = parse_square(square).map_err(|problem| CommandError::new(USAGE, problem))?;
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let position = position(&self.target)?;
        let profile = self.line.profile()?;
        let kernel = self.line.connect(&profile)?;
        let debugger = open_position(&profile, &evaluator, &position, kernel, &mut *should_stop)
            .map_err(target_error)?;
        let session = run_to_exchange(debugger, square, self.within(), should_stop);
        let DebugSession { debugger, outcome } = session.map_err(session_error)?;
        let message = outcome.message(&debugger);
        Ok(StartedSession { debugger, outcome, message, is_program: false })
    }

    /// Starts a session at the call of a case of a test file, on a simulated board.
    fn case(&self) -> ExitResult<StartedSession> {
        let usage = |problem| CommandError::new(USAGE, problem);
        let missing = "missing case after the test file; `hw-tests test --list` shows them";
        let name = self.square_or_case.as_deref().ok_or_else(|| usage(missing))?;
        if self.line.uses_kernel() {
            return Err(usage("cases are debugged on a simulated board: omit the port"));
        }
        case::open(&self.line.profile()?, Path::new(&self.target), name)
    }

    /// Returns the program's file; `None` for a position or a case.
    pub(super) fn program_path(&self) -> Option<&Path> {
        (self.square_or_case.is_none() && !is_test_file(&self.target))
            .then(|| Path::new(&self.target))
    }

    /// Returns how to load the program on the simulated board again; `None` for other sessions.
    pub(super) fn reload(&self) -> Option<Reload> {
        let file = self.program.file(self.program_path().filter(|_| !self.line.uses_kernel())?);
        let profile = self.line.profile().ok()?;
        Some(Box::new(move || {
            let program = file.load(&profile).map_err(|error| error.to_string())?;
            let debugger = open_program(&profile, program, None);
            Ok(StartedSession::program(debugger.map_err(|error| error.to_string())?).debugger)
        }))
    }

    fn program(&self) -> ExitResult<StartedSession> {
        if self.target.contains(['/', ' ']) && parse_position(&self.target).is_ok() {
            return Err(CommandError::new(USAGE, "missing square after the position, such as e4"));
        }
        let profile = self.line.profile()?;
        let program = self.program.file(&self.target).load(&profile).map_err(program_error)?;
        eprint!("{}", program.warnings);
        let kernel = self.line.connect(&profile)?;
        Ok(StartedSession::program(open_program(&profile, program, kernel).map_err(target_error)?))
    }
}

/// Returns `true` if a path is that of a test file.
pub(super) fn is_test_file(path: &str) -> bool {
    path.ends_with(case::ENDING)
}

pub(super) fn session_error(error: SessionError) -> CommandError {
    match error {
        SessionError::Build(error) => error.into(),
        SessionError::NoLabel(_) => CommandError::new(ENVIRONMENT, error),
    }
}

/// Converts an error of a program: exit code 3 for unreadable files, 2 for arguments, else 1.
pub(super) fn program_error(error: ProgramError) -> CommandError {
    match error {
        ProgramError::Read(..) => CommandError::new(ENVIRONMENT, error),
        ProgramError::Program(_, ref cause) if cause.is_usage() => CommandError::new(USAGE, error),
        ProgramError::NoEntry(_) | ProgramError::Project(_) => CommandError::new(USAGE, error),
        _ => CommandError::new(FAILED, error),
    }
}

/// `NAME` or `NAME=VALUE`; without a value it is 1.
fn parse_define(text: &str) -> Result<(String, u16), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let invalid = || format!("invalid number '{value}': expected one such as 12 or 1FH");
    let number = parse_number(value.trim()).ok_or_else(invalid)?;
    if symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty()) {
        return Ok((name.to_owned(), number));
    }
    Err(format!(
        "invalid symbol '{name}': expected letters, digits, $, % and ., and no digit in front"
    ))
}

/// Returns the parser of times of the board.
pub(super) fn board_time() -> impl Fn(&str) -> Result<Duration, String> + Clone {
    time_within(Duration::from_millis(1)..=Duration::from_secs(100_000 * 86_400))
}
