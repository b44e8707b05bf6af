//! `hw-inspect debug`: the debugger in a terminal, or by a script.

mod saved;
mod terminal;

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use board_debugger::commands::{CommandOutcome, execute, outcome_text};
use board_debugger::view::Screen;
use board_debugger::{Debugger, HaltReason};
use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED, USAGE};

use super::session::SessionArgs;
use cli_support::files::read_input as read;
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use saved::SavedSession;
use terminal::{ConsoleLine, show};

/// Size of the screen that is printed if standard output is not a terminal.
const SCREEN_COLUMNS: u16 = 110;
const SCREEN_ROWS: u16 = 40;

#[derive(Args)]
pub(super) struct DebugArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Set a breakpoint: PLACE [if X] [hits N], as the command `break` takes it; may be given again
    #[arg(long, value_name = "PLACE")]
    r#break: Vec<String>,
    /// Run the commands of this file, one a line, and print their output; - is standard input
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Connect the board's serial line to a pane, or to a pseudo-terminal for another program
    #[arg(long, value_name = "WHERE", default_value = "pane", conflicts_with = "script")]
    console: ConsoleTarget,
    /// Ignore the saved session of this program: its breakpoints, displays and pane
    #[arg(long)]
    fresh: bool,
}

/// Destinations of the board's serial line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ConsoleTarget {
    /// A pane of the debugger
    Pane,
    /// A pseudo-terminal, whose path is shown
    Pty,
}

pub(super) fn debug(args: &DebugArgs) -> CommandResult {
    let stop = install_handler()?;
    let mut session = args.session.start(&mut |_| stop.load(Ordering::Relaxed))?;
    session.debugger.reload = args.session.reload();
    for place in &args.r#break {
        let line = format!("break {place}");
        execute(&mut session.debugger, &line, &mut |_| true)
            .map_err(|problem| CommandError::new(USAGE, format!("--break {place}: {problem}")))?;
    }
    if let Some(script) = &args.script {
        if let Some(message) = &session.message {
            print(&format!("{message}\n"))?;
        }
        return run_script(&mut session.debugger, script, args.session.within(), &stop);
    }
    let code = session.exit_code();
    let explanation = session.message.clone();
    let mut debugger = session.debugger;
    let mut screen = Screen::new(&debugger, session.message);
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        cli_support::eprint_message!("no terminal; --script FILE executes commands, - reads them");
        print(&screen.render_text(&debugger, SCREEN_COLUMNS, SCREEN_ROWS))?;
        let failure = explanation.filter(|_| code != 0);
        return failure.map_or(Ok(0), |message| Err(CommandError::new(code, message)));
    }
    let saved = args.session.program_path().and_then(SavedSession::of);
    if let Some(saved) = saved.as_ref().filter(|_| !args.fresh) {
        saved.restore(&mut screen, &mut debugger);
    }
    let console = match args.console {
        ConsoleTarget::Pane => ConsoleLine::default(),
        ConsoleTarget::Pty => ConsoleLine::pseudo_terminal().map_err(failed)?,
    };
    let outcome = open_with(&mut screen, &mut debugger, console, &stop);
    if let Some(Err(error)) = saved.map(|saved| saved.save(&screen, &debugger)) {
        cli_support::eprint_message!("the session is not saved: {error}");
    }
    outcome
}

/// Runs a debugger on the terminal until the user quits.
pub(super) fn open(mut debugger: Debugger, message: String, stop: &AtomicBool) -> CommandResult {
    let mut screen = Screen::new(&debugger, Some(message));
    open_with(&mut screen, &mut debugger, ConsoleLine::default(), stop)
}

fn open_with(
    screen: &mut Screen,
    debugger: &mut Debugger,
    mut console: ConsoleLine,
    stop: &AtomicBool,
) -> CommandResult {
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let outcome = show(&mut terminal, screen, debugger, &mut console, stop);
    let restored = ratatui::try_restore();
    if outcome.is_err() {
        // Its drop shows the cursor, and panics if neither output works.
        std::mem::forget(terminal);
    }
    let code = outcome.map_err(failed)?;
    restored.map_err(failed)?;
    Ok(code)
}

fn failed(error: io::Error) -> CommandError {
    CommandError::new(ENVIRONMENT, format!("the terminal: {error}"))
}

/// Runs the commands of a script. Each command that runs the board has the timeout `--within`, so
/// that a script always ends.
fn run_script(
    debugger: &mut Debugger,
    script: &Path,
    within: f64,
    stop: &AtomicBool,
) -> CommandResult {
    // Standard input is read line by line: another program may wait for each reply.
    let input: Box<dyn BufRead> = match script.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(io::Cursor::new(read(script)?)),
    };
    for (number, line) in (1..).zip(input.split(b'\n')) {
        let failed =
            |error| CommandError::new(ENVIRONMENT, format!("{}: {error}", script.display()));
        let line = String::from_utf8_lossy(&line.map_err(failed)?).into_owned();
        let end = debugger.clock() + (within * debugger.clock_hz() as f64) as u64;
        let is_late = |debugger: &Debugger| !debugger.is_searching() && debugger.clock() >= end;
        let mut printed = Ok(());
        let should_stop = &mut |debugger: &mut Debugger| {
            // As they come: the debugger keeps only the last ones.
            let log = debugger.take_log();
            if printed.is_ok() && !log.is_empty() {
                printed = print(&format!("{}\n", log.join("\n")));
            }
            printed.is_err() || stop.load(Ordering::Relaxed) || is_late(debugger)
        };
        let done = execute(debugger, &line, should_stop).map_err(|problem| {
            CommandError::new(USAGE, format!("{}:{number}: {problem}", script.display()))
        })?;
        printed?;
        if stop.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        if done == CommandOutcome::Quit {
            break;
        }
        let mut text = outcome_text(debugger, &done);
        if done == CommandOutcome::Halted(HaltReason::Paused) {
            text += &format!(", after {within} s of the board's time (--within)");
        }
        if !text.is_empty() {
            print(&format!("{text}\n"))?;
        }
    }
    Ok(0)
}
