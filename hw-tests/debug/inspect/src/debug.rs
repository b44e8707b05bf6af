//! `hw-inspect debug`: the debugger in a terminal, or by a script.

mod command_lines;
mod saved;
mod terminal;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use board_debugger::Debugger;
use board_debugger::commands;
use board_debugger::view::Screen;
use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};

use super::session::SessionArgs;
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use command_lines::CommandLines;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
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
    /// Read commands after a prompt and print lines, instead of drawing a screen: for screen readers;
    /// also if TERM is dumb
    #[arg(long, conflicts_with_all = ["script", "console"])]
    plain: bool,
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
        commands::execute(&mut session.debugger, &format!("break {place}"), &mut |_| true)
            .map_err(|problem| CommandError::new(USAGE, format!("--break {place}: {problem}")))?;
    }
    let plain = args.plain || (is_dumb() && has_terminal());
    if args.script.is_some() || plain {
        if let Some(message) = &session.message {
            print(&format!("{message}\n"))?;
        }
        let commands = match &args.script {
            Some(script) => CommandLines::of_script(script, args.session.within())?,
            None => CommandLines::typed(args.session.within()),
        };
        return commands.run(&mut session.debugger, &stop);
    }
    let code = session.exit_code();
    let explanation = session.message.clone();
    let mut debugger = session.debugger;
    let mut screen = Screen::new(&debugger, session.message);
    if !has_terminal() {
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

/// Returns `true` if a person reads and types.
fn has_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Returns `true` for a terminal that shows lines only.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Returns `true` if a screen can be drawn.
pub(super) fn has_screen() -> bool {
    has_terminal() && !is_dumb()
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
    // A terminal without it pastes keys.
    let _ = execute!(io::stdout(), EnableBracketedPaste);
    let outcome = show(&mut terminal, screen, debugger, &mut console, stop);
    let _ = execute!(io::stdout(), DisableBracketedPaste);
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
