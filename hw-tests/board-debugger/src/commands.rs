//! The language of the debugger's commands, which the terminal, scripts, gdb's `monitor` and
//! editors' consoles share.

mod change;
mod help;
mod stop;

use super::debugger::Debugger;
use super::debugger::ShouldStop;
use super::exec::ExecCommand;
use super::exec::HaltReason;
use super::location;
use super::render;

pub(super) use change::set_named;
pub use change::unescaped;
pub use help::{COMMANDS, Help, help};
pub(super) use stop::parse_watch;

/// Rows of what is listed in a script.
const SCRIPT_ROWS: usize = 12;
/// Most times that one command repeats a step.
const MAX_REPEATED_STEPS: u32 = 1_000_000;

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Text for the user.
    Output(String),
    /// The board ran and halted.
    Halted(HaltReason),
    /// Show this pane.
    Show(Pane),
    /// End the session.
    Quit,
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pane {
    /// A source file from a line on.
    Source(String, usize),
    /// Instructions from an address on.
    Code(u16),
    /// Memory from an address on.
    Memory(u16),
    /// The registers of both sets.
    Registers,
    /// The open calls.
    Calls,
    /// The attackers array and the registers by the article's names.
    Array,
    /// The position that the evaluator has.
    Board,
    /// The breakpoints and watchpoints.
    Stops,
    /// The bytes that the board has sent.
    Console,
    /// The commands.
    Help,
}

impl Pane {
    /// The lines of a pane.
    #[must_use]
    pub fn lines(&self, debugger: &Debugger, rows: usize) -> Vec<String> {
        match self {
            Self::Source(file, line) => render::source(debugger, file, *line, rows),
            Self::Code(at) => render::code(debugger, *at, rows),
            Self::Memory(at) => render::memory(debugger, *at, rows),
            Self::Registers => render::registers(debugger),
            Self::Calls => render::calls(debugger),
            Self::Array => [render::array(debugger), render::roles(debugger)].concat(),
            Self::Board => render::board_text(debugger),
            Self::Stops => render::stops(debugger),
            Self::Console => render::console(debugger),
            Self::Help => help::lines(),
        }
    }
}

/// Runs a command line; an empty one does nothing. `ask` can stop whatever moves the board.
///
/// # Errors
/// Returns a message if the command is unknown or its arguments make no sense; nothing has changed
/// then.
pub fn execute(
    debugger: &mut Debugger,
    line: &str,
    ask: ShouldStop<'_>,
) -> Result<CommandOutcome, String> {
    let line = line.trim();
    // `/TEXT` needs no blank after it.
    if let Some(text) = line.strip_prefix('/') {
        return find(debugger, text);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if name.is_empty() || name.starts_with(';') {
        return Ok(CommandOutcome::Output(String::new()));
    }
    let command = COMMANDS.iter().find(|one| one.name == name || one.short == name);
    let command = command.ok_or_else(|| format!("there is no command {name}; ? lists them"))?;
    match command.name {
        "watch" => debugger.can_set_watchpoint()?,
        "set" => debugger.can_modify()?,
        _ => {}
    }
    match command.name {
        "break" => stop::set_break(debugger, rest).map(CommandOutcome::Output),
        "watch" => stop::set_watch(debugger, rest).map(CommandOutcome::Output),
        "delete" => stop::delete(debugger, rest).map(CommandOutcome::Output),
        "set" => change::set(debugger, rest).map(CommandOutcome::Output),
        "send" => change::send(debugger, rest).map(CommandOutcome::Output),
        "print" => print(debugger, rest),
        "find" => find(debugger, rest),
        "help" => help::help(rest).map(CommandOutcome::Output),
        "quit" => Ok(CommandOutcome::Quit),
        "restart" => {
            debugger.restart();
            Ok(CommandOutcome::Halted(HaltReason::HistoryStart))
        }
        name => match motion(debugger, name, rest)? {
            Some((motion, times)) => {
                Ok(CommandOutcome::Halted(repeated(debugger, motion, times, ask)))
            }
            None => look(debugger, name, rest).map(CommandOutcome::Show),
        },
    }
}

/// The motion of a command, and how often; `None` for a command that moves nothing.
fn motion(
    debugger: &Debugger,
    name: &str,
    rest: &str,
) -> Result<Option<(ExecCommand, u32)>, String> {
    let motion = match name {
        "step" => ExecCommand::Step,
        "over" => ExecCommand::StepOver,
        "next" => ExecCommand::StepLine,
        "into" => ExecCommand::StepLineInto,
        "back" => ExecCommand::ReverseStep,
        "lineback" => ExecCommand::ReverseStepLine,
        "out" => return Ok(Some((ExecCommand::StepOut, 1))),
        "run" => return Ok(Some((ExecCommand::Continue, 1))),
        "goback" => return Ok(Some((ExecCommand::ReverseContinue, 1))),
        "to" => return Ok(Some((ExecCommand::RunTo(one_address(debugger, rest)?), 1))),
        "backto" => return Ok(Some((ExecCommand::ReverseTo(one_address(debugger, rest)?), 1))),
        "who" => {
            return Ok(Some((ExecCommand::ReverseToChange(location::address(debugger, rest)?), 1)));
        }
        _ => return Ok(None),
    };
    let times = if rest.is_empty() { Some(1) } else { rest.parse().ok() };
    let times = times.filter(|times| (1..=MAX_REPEATED_STEPS).contains(times));
    let wrong = || format!("'{rest}' is no number of steps; it is 1 to {MAX_REPEATED_STEPS}");
    Ok(Some((motion, times.ok_or_else(wrong)?)))
}

/// Repeats a motion; anything but the end of a step ends it.
fn repeated(
    debugger: &mut Debugger,
    motion: ExecCommand,
    times: u32,
    ask: ShouldStop<'_>,
) -> HaltReason {
    let mut halt = HaltReason::Step;
    for _ in 0..times {
        halt = debugger.run(motion, ask);
        if halt != HaltReason::Step {
            break;
        }
    }
    halt
}

fn one_address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let place = location::resolve(debugger, text)?;
    place.addresses.first().copied().ok_or_else(|| format!("{text} has no instruction"))
}

fn print(debugger: &Debugger, text: &str) -> Result<CommandOutcome, String> {
    let value = location::value(debugger, text)?;
    Ok(CommandOutcome::Output(value_text(debugger, value)))
}

/// A value in every form that people read it in, with the label that it is the address of.
#[must_use]
pub fn value_text(debugger: &Debugger, value: u16) -> String {
    let label = debugger.code().label(value).map(|label| format!(" = {}", label.name));
    let signed = match value {
        0x80..=0xFF => format!(", {} as a signed byte", value as u8 as i8),
        0x8000.. => format!(", {} signed", value as i16),
        _ => String::new(),
    };
    format!("{value:04X}H = {value}{signed}{}", label.unwrap_or_default())
}

/// Finds text in the source that is running, below the running line first.
fn find(debugger: &Debugger, text: &str) -> Result<CommandOutcome, String> {
    let wanted = text.trim().to_ascii_uppercase();
    if wanted.is_empty() {
        return Err("find what? as in: find XCHNG".to_owned());
    }
    let Some((file, line)) = debugger.line() else {
        return Err("no line of source is running that could be searched".to_owned());
    };
    let lines = debugger.code().text(file);
    let count = lines.len();
    let mut order = (0..count).map(|step| (line as usize + step) % count);
    let found = order.find(|at| lines[*at].to_ascii_uppercase().contains(&wanted));
    let found = found.ok_or_else(|| format!("{file} has no '{}'", text.trim()))?;
    Ok(CommandOutcome::Show(Pane::Source(file.to_owned(), found + 1)))
}

fn look(debugger: &Debugger, name: &str, rest: &str) -> Result<Pane, String> {
    let registers = debugger.registers();
    Ok(match name {
        "list" => source_pane(debugger, rest)?,
        "code" if rest.is_empty() => Pane::Code(registers.pc),
        "code" => Pane::Code(one_address(debugger, rest)?),
        "memory" if rest.is_empty() => Pane::Memory(registers.hl),
        "memory" => Pane::Memory(location::address(debugger, rest)?),
        "registers" => Pane::Registers,
        "calls" => Pane::Calls,
        "array" => Pane::Array,
        "board" => Pane::Board,
        "stops" => Pane::Stops,
        "console" => Pane::Console,
        _ => Pane::Help,
    })
}

fn source_pane(debugger: &Debugger, text: &str) -> Result<Pane, String> {
    let at = match text {
        "" => debugger.registers().pc,
        text => one_address(debugger, text)?,
    };
    let code = debugger.code();
    let none = || format!("{} has no line of source", code.name_of(at));
    let line = code.line_at(at).ok_or_else(none)?;
    let first = (line.place.line as usize).saturating_sub(SCRIPT_ROWS / 2).max(1);
    Ok(Pane::Source(line.place.file.to_string(), first))
}

/// Returns the output of a script after a command: the text, the lines of a pane, or the place
/// where the board stands.
#[must_use]
pub fn report(debugger: &Debugger, done: &CommandOutcome) -> String {
    match done {
        CommandOutcome::Output(text) => text.clone(),
        CommandOutcome::Show(pane) => pane.lines(debugger, SCRIPT_ROWS).join("\n"),
        CommandOutcome::Quit => String::new(),
        CommandOutcome::Halted(halt) => {
            let pc = debugger.registers().pc;
            let place = debugger.code().place_of(pc);
            let instruction = render::instruction_at(debugger, pc).text;
            let why = render::describe(debugger, *halt);
            let separator = if why.is_empty() { "" } else { "; " };
            format!("{place}: {instruction}{separator}{why}")
        }
    }
}
