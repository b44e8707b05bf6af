//! The table of commands: their names, arguments and help, and what they do.

use super::change::{send, set};
use super::print::print;
use super::stop::{change, delete, set_break, set_watch};
use super::{Effect, Pane, code_pane, find, memory_pane, source_pane};
use crate::debugger::{Debugger, PaneHeading};

/// A command of the command language.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The full name.
    pub name: &'static str,
    /// The one-character abbreviation.
    pub short: &'static str,
    /// The arguments, as the help shows them.
    pub arguments: &'static str,
    /// A description in a few words.
    pub text: &'static str,
    pub(super) action: Action,
}

/// What a command does with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// Runs the board by the motion with the command's name; see [`crate::Motion`].
    Motion,
    /// Runs the board until an expression is not 0.
    Until,
    /// Puts the board back to where it began.
    Restart,
    /// Parses arguments for what changes or evaluates something.
    Text(fn(&Debugger, &str) -> Result<Effect, String>),
    /// Shows a pane.
    Show(fn(&Debugger, &str) -> Result<Pane, String>),
    /// Adds an expression, or shows all that were added.
    Display,
    /// Ends the session.
    Quit,
}

const fn row(
    name: &'static str,
    short: &'static str,
    arguments: &'static str,
    text: &'static str,
    action: Action,
) -> Command {
    Command { name, short, arguments, text, action }
}

impl Command {
    /// Returns the command with this name or abbreviation.
    pub fn find(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name || command.short == name)
    }
}

/// All commands, grouped by task.
#[rustfmt::skip] // a row for each
pub static COMMANDS: [Command; 32] = {
    use Action::{Display, Motion, Quit, Restart, Show, Text, Until};
    [
        row("step", "s", "[N]", "one instruction, or N", Motion),
        row("over", "v", "[N]", "one instruction, calls and LDIR as one", Motion),
        row("next", "n", "[N]", "to the next line, over calls", Motion),
        row("into", "i", "[N]", "to the next line, into calls", Motion),
        row("out", "o", "", "run until the routine returns", Motion),
        row("run", "c", "", "run to a breakpoint or watchpoint", Motion),
        row("to", "t", "PLACE", "run to a location", Motion),
        row("until", "U", "X", "run until an expression is not 0", Until),
        row("back", "S", "[N]", "back one instruction, or N", Motion),
        row("rnext", "N", "[N]", "back to the line before", Motion),
        row("rrun", "C", "", "back to a breakpoint or watchpoint", Motion),
        row("rto", "T", "PLACE", "back to the last visit of a location", Motion),
        row("lastchange", "W", "ADDRESS", "back to the last change of a byte", Motion),
        row("restart", "R", "", "back to the start of the session", Restart),
        row("break", "b", "PLACE [if X] [hits N]", "stop, or log TEXT {X}, or do COMMANDS",
            Text(set_break)),
        row("watch", "w", "ADDRESS[,N] [r|w|rw]", "stop when memory, port P or HL is accessed",
            Text(set_watch)),
        row("change", "g", "NUMBER [if X] [hits N]", "replace condition, hits, log or do", Text(change)),
        row("delete", "d", "NUMBER|PLACE|all", "delete breakpoints and watchpoints", Text(delete)),
        row("stops", "B", "", "breakpoints and watchpoints", Show(|_, _| Ok(Pane::Stops))),
        row("print", "p", "X", "value: HL+1, {SP}, [SP;8], HL.s, sb(A)",
            Text(print)),
        row("display", "D", "[X]", "show a value at each halt", Display),
        row("set", "=", "WHAT = X", "change a register, a flag (FZ) or [ADDRESS]", Text(set)),
        row("send", "<", "TEXT", "send to the board; \\r, \\n, \\xHH", Text(send)),
        row("registers", "r", "", "registers of both sets", Show(|_, _| Ok(Pane::Registers))),
        row("list", "l", "[PLACE]", "source", Show(source_pane)),
        row("code", "u", "[PLACE]", "instructions", Show(code_pane)),
        row("memory", "m", "[ADDRESS][,N]", "bytes, in hexadecimal without H", Show(memory_pane)),
        row("calls", "k", "", "open calls", Show(|_, _| Ok(Pane::Calls))),
        row("console", "O", "", "output of the board", Show(|_, _| Ok(Pane::Console))),
        row("find", "/", "TEXT", "text in the source", Show(find)),
        row("help", "?", "[COMMAND]", "this list, or one command", Text(help)),
        row("quit", "q", "", "end the session", Quit),
    ]
};

/// The commands, and those of the panes that the program has added.
pub(super) fn lines(debugger: &Debugger) -> Vec<String> {
    let line = |short: &str, call: &str, text: &str| format!("{short:<3}{call:<28}{text}");
    let command = |command: &Command| {
        let call = format!("{} {}", command.name, command.arguments);
        line(command.short, call.trim_end(), command.text)
    };
    let pane = |pane: PaneHeading<'_>| line(pane.short, pane.name, pane.title);
    COMMANDS.iter().map(command).chain(debugger.panes().map(|one| pane(one.heading()))).collect()
}

/// Returns the help for a command; for an empty name, the list of all commands.
///
/// # Errors
/// Returns a message if there is no such command.
fn help(debugger: &Debugger, name: &str) -> Result<Effect, String> {
    let commands = COMMANDS.iter().map(|command| (command.name, command.short));
    let panes = debugger.panes().map(|pane| (pane.heading().name, pane.heading().short));
    let found = commands.chain(panes).position(|(full, short)| full == name || short == name);
    let text = match found {
        _ if name.is_empty() => lines(debugger).join("\n"),
        Some(found) => lines(debugger).swap_remove(found),
        None => return Err(format!("unknown command '{name}'; ? lists all commands")),
    };
    Ok(Box::new(|_| Ok(text)))
}
