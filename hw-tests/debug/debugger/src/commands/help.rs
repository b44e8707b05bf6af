//! The table of commands, and the help that `?` shows.

use crate::debugger::{CustomPane, Debugger};

/// A command and its description.
#[derive(Debug, Clone, Copy)]
pub struct CommandHelp {
    /// The full name.
    pub name: &'static str,
    /// The one-character abbreviation.
    pub short: &'static str,
    /// The arguments, as the help shows them.
    pub arguments: &'static str,
    /// A description in a few words.
    pub text: &'static str,
}

const fn command(
    name: &'static str,
    short: &'static str,
    arguments: &'static str,
    text: &'static str,
) -> CommandHelp {
    CommandHelp { name, short, arguments, text }
}

impl CommandHelp {
    /// Returns the command with this name or abbreviation.
    pub fn find(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name || command.short == name)
    }
}

/// All commands, grouped by task.
pub static COMMANDS: [CommandHelp; 31] = [
    command("step", "s", "[N]", "one instruction, or N"),
    command("over", "v", "[N]", "one instruction, calls and LDIR as one"),
    command("next", "n", "[N]", "to the next line, over calls"),
    command("into", "i", "[N]", "to the next line, into calls"),
    command("out", "o", "", "run until the routine returns"),
    command("run", "c", "", "run to a breakpoint or watchpoint"),
    command("to", "t", "PLACE", "run to a location"),
    command("until", "U", "X", "run until an expression is not 0"),
    command("back", "S", "[N]", "back one instruction, or N"),
    command("rnext", "N", "[N]", "back to the line before"),
    command("rrun", "C", "", "back to a breakpoint or watchpoint"),
    command("rto", "T", "PLACE", "back to the last visit of a location"),
    command("lastchange", "W", "ADDRESS", "back to the last change of a byte"),
    command("restart", "R", "", "back to the start of the session"),
    command("break", "b", "PLACE [if X] [hits N]", "stop, or log TEXT {X}, or do COMMANDS"),
    command("watch", "w", "ADDRESS[,N] [r|w|rw]", "stop when memory, port P or HL is accessed"),
    command("delete", "d", "NUMBER|PLACE|all", "delete breakpoints and watchpoints"),
    command("stops", "B", "", "breakpoints and watchpoints"),
    command("print", "p", "X", "value: HL+1, {SP}, [SP;8], HL.s, sb(A)"),
    command("display", "D", "[X]", "show a value at each halt"),
    command("set", "=", "WHAT = X", "change a register, a flag (FZ) or [ADDRESS]"),
    command("send", "<", "TEXT", "send to the board; \\r, \\n, \\xHH"),
    command("registers", "r", "", "registers of both sets"),
    command("list", "l", "[PLACE]", "source"),
    command("code", "u", "[PLACE]", "instructions"),
    command("memory", "m", "[ADDRESS]", "bytes"),
    command("calls", "k", "", "open calls"),
    command("console", "O", "", "output of the board"),
    command("find", "/", "TEXT", "text in the source"),
    command("help", "?", "[COMMAND]", "this list, or one command"),
    command("quit", "q", "", "end the session"),
];

/// The commands, and those of the panes that the program has added.
pub(super) fn lines(debugger: &Debugger) -> Vec<String> {
    let line = |short: &str, call: &str, text: &str| format!("{short:<3}{call:<28}{text}");
    let command = |command: &CommandHelp| {
        let call = format!("{} {}", command.name, command.arguments);
        line(command.short, call.trim_end(), command.text)
    };
    let pane = |pane: &dyn CustomPane| line(pane.short(), pane.name(), pane.title());
    COMMANDS.iter().map(command).chain(debugger.panes().map(pane)).collect()
}

/// Returns the help for a command; for an empty name, the list of all commands.
///
/// # Errors
/// Returns a message if there is no such command.
pub fn command_help(debugger: &Debugger, name: &str) -> Result<String, String> {
    if name.is_empty() {
        return Ok(lines(debugger).join("\n"));
    }
    let commands = COMMANDS.iter().map(|command| (command.name, command.short));
    let panes = debugger.panes().map(|pane| (pane.name(), pane.short()));
    let found = commands.chain(panes).position(|(full, short)| full == name || short == name);
    let found = found.ok_or_else(|| format!("unknown command '{name}'; ? lists all commands"))?;
    Ok(lines(debugger).swap_remove(found))
}
