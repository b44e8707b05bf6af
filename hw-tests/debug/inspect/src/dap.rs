//! `hw-inspect dap`: the Debug Adapter Protocol on standard input and output.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use board_debugger::ShouldStop;
use board_debugger::dap::{self, LaunchedSession};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use serde::Deserialize;
use serde_json::Value;

use super::session::{ProgramArgs, SessionArgs, is_test_file};
use super::target::TargetArgs;
use sargon_corpus::args::single;
use sargon_debugging::EntryOutcome;

/// Seconds of board time within which the call must be reached.
const TIMEOUT_SECONDS: f64 = 10.0;

pub(super) fn serve() -> CommandResult {
    let input = io::BufReader::new(io::stdin());
    let mut output = io::stdout().lock();
    dap::serve(input, &mut output, &launch)
        .map_err(|error| CommandError::new(ENVIRONMENT, format!("the client: {error}")))?;
    Ok(0)
}

/// The arguments of `launch`, which are the options of the command `debug`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LaunchArguments {
    program: Option<String>,
    case: Option<String>,
    fen: Option<String>,
    square: Option<String>,
    behaviour: Option<String>,
    sargon_dir: Option<PathBuf>,
    /// Seconds of the board's time.
    within: Option<f64>,
    board: Option<String>,
    #[serde(flatten)]
    line: TargetArgs,
    #[serde(flatten)]
    how: ProgramArgs,
    /// Whether to stop before the first instruction of a program; defaults to `true`.
    stop_on_entry: Option<bool>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// Keys of VS Code and of the protocol; those that begin with `__` are an editor's, too.
const EDITOR_KEYS: [&str; 14] = [
    "type",
    "request",
    "name",
    "noDebug",
    "cwd",
    "env",
    "console",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "suppressMultipleSessionWarning",
];

impl LaunchArguments {
    /// A warning of keys that are neither the adapter's nor an editor's.
    fn unknown_keys(&self) -> Option<String> {
        let keys = self.others.keys().map(String::as_str);
        let is_unknown = |key: &&str| !key.starts_with("__") && !EDITOR_KEYS.contains(key);
        let unknown: Vec<&str> = keys.filter(is_unknown).collect();
        let warning =
            || format!("unknown keys of the launch configuration: {}", unknown.join(", "));
        (!unknown.is_empty()).then(warning)
    }

    fn into_options(self) -> Result<SessionArgs, String> {
        let missing = "launch requires \"fen\" and \"square\", such as e4, or \"program\"";
        let (target, square_or_case) = match (self.program, self.fen) {
            (Some(_), Some(_)) => {
                return Err("\"program\" and \"fen\" exclude each other".to_owned());
            }
            (Some(program), None) if self.case.is_some() && !is_test_file(&program) => {
                let problem = "\"case\" requires a test file (.test.toml) as \"program\"";
                return Err(problem.to_owned());
            }
            (Some(program), None) => (program, self.case),
            (None, fen) => (fen.ok_or(missing)?, Some(self.square.ok_or(missing)?)),
        };
        let within = Duration::try_from_secs_f64(self.within.unwrap_or(TIMEOUT_SECONDS));
        Ok(SessionArgs {
            target,
            square_or_case,
            board: self.board,
            line: self.line,
            within: within.map_err(|error| format!("invalid \"within\": {error}"))?,
            behaviour: self.behaviour.as_deref().unwrap_or("corrected").parse()?,
            sargon_dir: self.sargon_dir,
            program: self.how,
        })
    }
}

/// Starts the session described by the arguments of `launch`.
fn launch(arguments: Value, should_stop: ShouldStop<'_>) -> Result<LaunchedSession, String> {
    let arguments: LaunchArguments =
        serde_json::from_value(arguments).map_err(|error| format!("invalid arguments: {error}"))?;
    let unknown = arguments.unknown_keys();
    let position = arguments.fen.as_deref().and_then(|fen| single(fen).ok());
    let impossible = position.and_then(|position| position.impossible_warning());
    let stops_on_entry = arguments.stop_on_entry != Some(false);
    let failed = |problem: String| match &unknown {
        Some(keys) => format!("{problem}; {keys}"),
        None => problem,
    };
    let options = arguments.into_options().map_err(failed)?;
    let session = options.start(should_stop).map_err(|error| failed(error.message))?;
    // A square without a piece has no call: the arguments are invalid, the program does not hang.
    if let (EntryOutcome::NotCalled(_), Some(message)) = (&session.outcome, &session.message) {
        return Err(failed(message.clone()));
    }
    Ok(LaunchedSession {
        runs: session.is_program && !stops_on_entry,
        has_console: session.is_program,
        warnings: unknown.into_iter().chain(impossible).collect(),
        debugger: session.debugger,
        message: session.message,
    })
}
