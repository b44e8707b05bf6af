//! `hw-inspect dap`: the Debug Adapter Protocol on standard input and output.

use std::io;

use board_debugger::ShouldStop;
use board_debugger::dap::{self, LaunchedSession};
use clap::{CommandFactory, Parser};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use serde_json::Value;

use super::session::{SessionArgs, is_test_file};
use sargon_corpus::args::single;
use sargon_debugging::EntryOutcome;

/// The keys of `launch` that are no options; those of VS Code and of the protocol are ignored, as
/// those that begin with `__`, which are an editor's, too.
const KEYS: &str = "program case fen square stopOnEntry type request name noDebug cwd env console \
                    presentation preLaunchTask postDebugTask internalConsoleOptions debugServer \
                    serverReadyAction suppressMultipleSessionWarning";

pub(super) fn serve() -> CommandResult {
    dap::serve(io::BufReader::new(io::stdin()), &mut io::stdout().lock(), &launch)
        .map_err(|error| CommandError::new(ENVIRONMENT, format!("the client: {error}")))?;
    Ok(0)
}

/// The command line that a launch configuration stands for.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct LaunchLine {
    #[command(flatten)]
    session: SessionArgs,
}

/// Returns the position or program of a configuration, and its square or case.
fn subject(text: impl Fn(&str) -> Option<String>) -> Result<(String, Option<String>), String> {
    let missing = "launch requires \"fen\" and \"square\", such as e4, or \"program\"";
    let case = text("case");
    match (text("program"), text("fen")) {
        (Some(_), Some(_)) => Err("\"program\" and \"fen\" exclude each other".to_owned()),
        (Some(program), None) if case.is_some() && !is_test_file(&program) => {
            Err("\"case\" requires a test file (.test.toml) as \"program\"".to_owned())
        }
        (Some(program), None) => Ok((program, case)),
        (None, fen) => Ok((fen.ok_or(missing)?, Some(text("square").ok_or(missing)?))),
    }
}

/// Parses options, a position or program, and its square or case as the command `debug` does.
fn parse(
    options: Vec<String>,
    (target, square_or_case): (String, Option<String>),
) -> Result<SessionArgs, String> {
    let line = options.into_iter().chain(["--".to_owned(), target]).chain(square_or_case);
    LaunchLine::try_parse_from(line).map(|line| line.session).map_err(|error| {
        let text = error.to_string();
        let problem = text.lines().next().unwrap_or_default();
        format!("invalid arguments: {}", problem.trim_start_matches("error: "))
    })
}

/// The name of an option, `rig-file` for the key `rigFile`.
fn option_name(key: &str) -> String {
    let letter = |letter: char| match letter.is_ascii_uppercase() {
        true => format!("-{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    };
    key.chars().map(letter).collect()
}

/// The options for a value: one for each of several, none for `false` or null.
fn options(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(|value| options(name, value)).collect(),
        Value::String(text) => vec![format!("--{name}={text}")],
        // A time is in seconds.
        Value::Number(number) if name == "within" => vec![format!("--{name}={number}s")],
        Value::Bool(true) => vec![format!("--{name}")],
        Value::Bool(false) | Value::Null => Vec::new(),
        other => vec![format!("--{name}={other}")],
    }
}

/// Starts the session described by the arguments of `launch`: those of the command `debug`, whose
/// options have the same names in camel case.
fn launch(arguments: Value, should_stop: ShouldStop<'_>) -> Result<LaunchedSession, String> {
    let Value::Object(keys) = arguments else { return Err("launch requires an object".to_owned()) };
    let command = LaunchLine::command();
    let (mut given, mut unknown) = (Vec::new(), Vec::new());
    for (key, value) in &keys {
        let name = option_name(key);
        if command.get_arguments().any(|argument| argument.get_long() == Some(&name)) {
            given.extend(options(&name, value));
        } else if !key.starts_with("__") && !KEYS.split(' ').any(|known| known == key) {
            unknown.push(key.as_str());
        }
    }
    let warning = || format!("unknown keys of the launch configuration: {}", unknown.join(", "));
    let unknown = (!unknown.is_empty()).then(warning);
    let failed = |problem: String| match &unknown {
        Some(keys) => format!("{problem}; {keys}"),
        None => problem,
    };
    let text = |key: &str| keys.get(key).and_then(Value::as_str).map(str::to_owned);
    let session = subject(text).and_then(|subject| parse(given, subject)).map_err(failed)?;
    let session = session.start(should_stop).map_err(|error| failed(error.message))?;
    // A square without a piece has no call: the arguments are invalid, the program does not hang.
    if let (EntryOutcome::NotCalled(_), Some(message)) = (&session.outcome, &session.message) {
        return Err(failed(message.clone()));
    }
    let position = text("fen").and_then(|fen| single(&fen).ok());
    let impossible = position.and_then(|position| position.impossible_warning());
    Ok(LaunchedSession {
        runs: session.is_program && keys.get("stopOnEntry") == Some(&Value::Bool(false)),
        has_console: session.is_program,
        warnings: unknown.into_iter().chain(impossible).collect(),
        debugger: session.debugger,
        message: session.message,
    })
}
