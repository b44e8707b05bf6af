//! `hw-inspect dap`: the Debug Adapter Protocol on standard input and output.

use std::io;
use std::path::PathBuf;

use board_debugger::dap::{self, LaunchArguments, LaunchedSession};
use board_debugger::{ShouldStop, open_program};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use firmware::evaluator::Evaluator;

use super::session::{
    ExchangeTarget, ProgramArgs, StartedSession, is_test_file, open_case, parse_define,
};
use super::target::TargetArgs;
use sargon_corpus::args::{parse_position, parse_square, single};
use sargon_debugging::{EntryOutcome, open_at_exchange};

/// Seconds of board time within which the call must be reached.
const TIMEOUT_SECONDS: f64 = 10.0;

#[derive(Args)]
pub(super) struct DapArgs {}

pub(super) fn serve(_args: &DapArgs) -> CommandResult {
    let input = io::BufReader::new(io::stdin());
    let mut output = io::stdout().lock();
    dap::serve(input, &mut output, &launch)
        .map_err(|error| CommandError::new(ENVIRONMENT, format!("the client: {error}")))?;
    Ok(0)
}

/// The arguments of `launch` for a position and a square.
struct PositionArguments {
    fen: Option<String>,
    square: Option<String>,
    behaviour: Option<String>,
    /// The folder with the user's own routines.
    sargon_dir: Option<PathBuf>,
    /// Time limit for reaching the call, in seconds of the board's time.
    within: Option<f64>,
}

impl PositionArguments {
    fn take(arguments: &mut LaunchArguments) -> Result<Self, String> {
        Ok(Self {
            fen: arguments.take("fen")?,
            square: arguments.take("square")?,
            behaviour: arguments.take("behaviour")?,
            sargon_dir: arguments.take("sargonDir")?,
            within: arguments.take("within")?,
        })
    }
}

/// Starts the session described by the arguments of `launch`.
fn launch(
    arguments: &mut LaunchArguments,
    should_stop: ShouldStop<'_>,
) -> Result<LaunchedSession, String> {
    let of_position = PositionArguments::take(arguments)?;
    let fen = of_position.fen.clone();
    let session = match (&arguments.program, &fen) {
        (Some(_), Some(_)) => return Err("\"program\" and \"fen\" exclude each other".to_owned()),
        (Some(program), None) if is_test_file(program) => {
            let (line, board) = (line(arguments), arguments.board.as_deref());
            open_case(&line, board, program, arguments.case.as_deref()).map_err(text)?
        }
        (Some(_), None) if arguments.case.is_some() => {
            return Err("\"case\" requires a test file (.test.toml) as \"program\"".to_owned());
        }
        (Some(program), None) => launch_program(arguments, program)?,
        (None, _) => launch_position(arguments, of_position, should_stop)?,
    };
    let named = fen.as_deref().and_then(|fen| single(fen).ok());
    let warning = named.and_then(|named| named.impossible_warning());
    Ok(LaunchedSession {
        runs: session.is_program && arguments.stop_on_entry == Some(false),
        has_console: session.is_program,
        warning,
        debugger: session.debugger,
        message: session.message,
    })
}

/// Returns the options for the board's line from the arguments of `launch`.
fn line(arguments: &LaunchArguments) -> TargetArgs {
    let LaunchArguments { port, rig, rig_file, record, .. } = arguments.clone();
    let rig = rig.and_then(|text| text.parse().ok());
    let path = |text: Option<String>| text.map(Into::into);
    TargetArgs {
        port,
        rig,
        rig_file: path(rig_file),
        record: path(record),
        ..TargetArgs::default()
    }
}

fn text(failure: CommandError) -> String {
    failure.message
}

fn launch_program(arguments: &LaunchArguments, program: &str) -> Result<StartedSession, String> {
    let (line, board) = (line(arguments), arguments.board.as_deref());
    let profile = &line.profile(board).map_err(text)?;
    let define: Result<_, String> = arguments.define.iter().map(|one| parse_define(one)).collect();
    let program_args = ProgramArgs {
        layout: arguments.layout.as_ref().map(Into::into),
        define: define?,
        include: arguments.include.iter().map(Into::into).collect(),
        symbols: arguments.symbols.iter().map(Into::into).collect(),
        entry: arguments.entry.clone(),
        origin: None,
    };
    let loaded = program_args.file(program).load(profile).map_err(|error| error.to_string())?;
    if line.uses_kernel() {
        return StartedSession::open_program_on_target(line.connect(board).map_err(text)?, loaded)
            .map_err(text);
    }
    let debugger = open_program(profile, loaded).map_err(|error| error.to_string())?;
    Ok(StartedSession::program(debugger))
}

fn launch_position(
    arguments: &LaunchArguments,
    of_position: PositionArguments,
    should_stop: ShouldStop<'_>,
) -> Result<StartedSession, String> {
    let PositionArguments { fen, square, behaviour, sargon_dir, within } = of_position;
    let (line, board) = (line(arguments), arguments.board.as_deref());
    let missing = "launch requires \"fen\" and \"square\", such as e4, or \"program\"";
    let fen = fen.ok_or(missing)?;
    let square = parse_square(&square.ok_or(missing)?)?;
    let behaviour = behaviour.as_deref().unwrap_or("corrected").parse()?;
    let evaluator = Evaluator { behaviour, own: sargon_dir };
    let position = parse_position(&fen)?;
    let within = within.unwrap_or(TIMEOUT_SECONDS);
    let session = if line.uses_kernel() {
        let target = ExchangeTarget { evaluator, position, square, within };
        target.on_board(line.connect(board).map_err(text)?, should_stop).map_err(text)?
    } else {
        let profile = line.profile(board).map_err(text)?;
        let session =
            open_at_exchange(&profile, &evaluator, &position, square, within, should_stop);
        StartedSession::from(session.map_err(|error| error.to_string())?)
    };
    // A square without a piece has no call: the arguments are invalid, the program does not hang.
    match (&session.outcome, &session.message) {
        (EntryOutcome::NotCalled(_), Some(message)) => Err(message.clone()),
        _ => Ok(session),
    }
}
