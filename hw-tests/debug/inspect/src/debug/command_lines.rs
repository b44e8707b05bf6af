//! Commands as lines: of a script, or typed after a prompt.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use board_debugger::commands::{CommandOutcome, execute, outcome_text};
use board_debugger::{Debugger, HaltReason};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED, USAGE};
use cli_support::files::read_input;
use cli_support::output::print;

const PROMPT: &str = "> ";

/// Lines of commands, each of which is executed before the next one is read: another program may
/// wait for each reply.
pub(super) struct CommandLines {
    input: Box<dyn BufRead>,
    /// The name of the script; `None` if the commands are typed. Then an error does not end the
    /// session, and Ctrl-C stops only the board.
    script: Option<String>,
    /// Time limit for each command that runs the board, in seconds of its time, so that a script
    /// always ends; `None` on a terminal, which shows a prompt.
    within: Option<f64>,
}

impl CommandLines {
    /// The lines of a script; `-` is standard input.
    pub(super) fn of_script(script: &Path, within: f64) -> Result<Self, CommandError> {
        let input: Box<dyn BufRead> = match script.as_os_str() == "-" {
            true => Box::new(io::stdin().lock()),
            false => Box::new(io::Cursor::new(read_input(script)?)),
        };
        Ok(Self { input, script: Some(script.display().to_string()), within: Some(within) })
    }

    /// The lines of standard input, with a prompt on a terminal.
    pub(super) fn typed(within: f64) -> Self {
        let within = (!io::stdin().is_terminal()).then_some(within);
        Self { input: Box::new(io::stdin().lock()), script: None, within }
    }

    /// Executes the commands and prints their output.
    pub(super) fn run(self, debugger: &mut Debugger, stop: &AtomicBool) -> CommandResult {
        let Self { input, script, within } = self;
        if script.is_none() {
            print_text(&outcome_text(debugger, &CommandOutcome::Halted(HaltReason::Completed)))?;
        }
        let mut lines = input.split(b'\n');
        for number in 1.. {
            if within.is_none() {
                print(PROMPT)?;
            }
            let Some(line) = lines.next() else { break };
            let name = script.as_deref().unwrap_or("standard input");
            let failed = |error| CommandError::new(ENVIRONMENT, format!("{name}: {error}"));
            let line = String::from_utf8_lossy(&line.map_err(failed)?).into_owned();
            if script.is_none() {
                stop.store(false, Ordering::Relaxed);
            }
            let done = match execute_line(debugger, &line, within, stop)? {
                Ok(CommandOutcome::Quit) => break,
                Ok(done) => done,
                Err(problem) if script.is_none() => {
                    print_text(&problem)?;
                    continue;
                }
                Err(problem) => {
                    let code = if debugger.has_line_failed() { ENVIRONMENT } else { USAGE };
                    return Err(CommandError::new(code, format!("{name}:{number}: {problem}")));
                }
            };
            let is_interrupted = stop.load(Ordering::Relaxed);
            if is_interrupted && script.is_some() {
                return Ok(INTERRUPTED);
            }
            let mut text = outcome_text(debugger, &done);
            if let Some(within) =
                within.filter(|_| done == CommandOutcome::Halted(HaltReason::Paused))
                && !is_interrupted
            {
                text += &format!(", after {within} s of the board's time (--within)");
            }
            print_text(&text)?;
        }
        Ok(0)
    }
}

/// Executes a command, and prints what breakpoints log meanwhile. A failure of the line to the
/// board is an error of any command.
fn execute_line(
    debugger: &mut Debugger,
    line: &str,
    within: Option<f64>,
    stop: &AtomicBool,
) -> Result<Result<CommandOutcome, String>, CommandError> {
    let limit = |seconds: f64| debugger.clock() + (seconds * debugger.clock_hz() as f64) as u64;
    let end = within.map_or(u64::MAX, limit);
    let is_late = |debugger: &Debugger| !debugger.is_searching() && debugger.clock() >= end;
    let mut printed = Ok(());
    let done = execute(debugger, line, &mut |debugger| {
        // As they come: the debugger keeps only the last ones.
        let log = debugger.take_log();
        if printed.is_ok() {
            printed = print_text(&log.join("\n"));
        }
        printed.is_err() || stop.load(Ordering::Relaxed) || is_late(debugger)
    });
    printed?;
    Ok(debugger.last_error().filter(|_| debugger.has_line_failed()).map_or(done, Err))
}

fn print_text(text: &str) -> Result<(), CommandError> {
    if text.is_empty() { Ok(()) } else { print(&format!("{text}\n")) }
}
