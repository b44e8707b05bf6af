//! The language of the debugger's commands, which the terminal, scripts, gdb's `monitor` and
//! editors' consoles share.

mod change;
mod help;
mod stop;

use super::debugger::{Debugger, Halt};
use super::motion::{Ask, Motion};
use super::place;
use super::show;

pub(super) use change::set_named;
pub use change::unescaped;
pub use help::{COMMANDS, Help, help};
pub(super) use stop::parse_watch;

/// Rows of what is listed in a script.
const ROWS: usize = 12;
/// Most times that one command repeats a step.
const MOST_STEPS: u32 = 1_000_000;

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// Something to read.
    Said(String),
    /// The board moved, and stands still for this reason.
    Halted(Halt),
    /// A person wants to look at something.
    Look(Pane),
    /// The session is to end.
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
            Self::Source(file, line) => show::source(debugger, file, *line, rows),
            Self::Code(at) => show::code(debugger, *at, rows),
            Self::Memory(at) => show::memory(debugger, *at, rows),
            Self::Registers => show::registers(debugger),
            Self::Calls => show::calls(debugger),
            Self::Array => [show::array(debugger), show::roles(debugger)].concat(),
            Self::Board => show::board_text(debugger),
            Self::Stops => show::stops(debugger),
            Self::Console => show::console(debugger),
            Self::Help => help::lines(),
        }
    }
}

/// Runs a command line; an empty one does nothing. `ask` can stop whatever moves the board.
///
/// # Errors
/// Returns a message if the command is unknown or its arguments make no sense; nothing has changed
/// then.
pub fn execute(debugger: &mut Debugger, line: &str, ask: Ask<'_>) -> Result<Done, String> {
    let line = line.trim();
    // `/TEXT` needs no blank after it.
    if let Some(text) = line.strip_prefix('/') {
        return find(debugger, text);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if name.is_empty() || name.starts_with(';') {
        return Ok(Done::Said(String::new()));
    }
    let command = COMMANDS.iter().find(|one| one.name == name || one.short == name);
    let command = command.ok_or_else(|| format!("there is no command {name}; ? lists them"))?;
    match command.name {
        "watch" => debugger.check_watch()?,
        "set" => debugger.check_change()?,
        _ => {}
    }
    match command.name {
        "break" => stop::set_break(debugger, rest).map(Done::Said),
        "watch" => stop::set_watch(debugger, rest).map(Done::Said),
        "delete" => stop::delete(debugger, rest).map(Done::Said),
        "set" => change::set(debugger, rest).map(Done::Said),
        "send" => change::send(debugger, rest).map(Done::Said),
        "print" => print(debugger, rest),
        "find" => find(debugger, rest),
        "help" => help::help(rest).map(Done::Said),
        "quit" => Ok(Done::Quit),
        "restart" => {
            debugger.restart();
            Ok(Done::Halted(Halt::Start))
        }
        name => match motion(debugger, name, rest)? {
            Some((motion, times)) => Ok(Done::Halted(repeated(debugger, motion, times, ask))),
            None => look(debugger, name, rest).map(Done::Look),
        },
    }
}

/// The motion of a command, and how often; `None` for a command that moves nothing.
fn motion(debugger: &Debugger, name: &str, rest: &str) -> Result<Option<(Motion, u32)>, String> {
    let motion = match name {
        "step" => Motion::Step,
        "over" => Motion::Over,
        "next" => Motion::Line,
        "into" => Motion::LineInto,
        "back" => Motion::Back,
        "lineback" => Motion::BackLine,
        "out" => return Ok(Some((Motion::Out, 1))),
        "run" => return Ok(Some((Motion::Go, 1))),
        "goback" => return Ok(Some((Motion::BackGo, 1))),
        "to" => return Ok(Some((Motion::To(one_address(debugger, rest)?), 1))),
        "backto" => return Ok(Some((Motion::BackTo(one_address(debugger, rest)?), 1))),
        "who" => return Ok(Some((Motion::BackToChange(place::address(debugger, rest)?), 1))),
        _ => return Ok(None),
    };
    let times = if rest.is_empty() { Some(1) } else { rest.parse().ok() };
    let times = times.filter(|times| (1..=MOST_STEPS).contains(times));
    let wrong = || format!("'{rest}' is no number of steps; it is 1 to {MOST_STEPS}");
    Ok(Some((motion, times.ok_or_else(wrong)?)))
}

/// Repeats a motion; anything but the end of a step ends it.
fn repeated(debugger: &mut Debugger, motion: Motion, times: u32, ask: Ask<'_>) -> Halt {
    let mut halt = Halt::Step;
    for _ in 0..times {
        halt = debugger.run(motion, ask);
        if halt != Halt::Step {
            break;
        }
    }
    halt
}

fn one_address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let place = place::place(debugger, text)?;
    place.addresses.first().copied().ok_or_else(|| format!("{text} has no instruction"))
}

fn print(debugger: &Debugger, text: &str) -> Result<Done, String> {
    let value = place::value(debugger, text)?;
    Ok(Done::Said(value_text(debugger, value)))
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
fn find(debugger: &Debugger, text: &str) -> Result<Done, String> {
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
    Ok(Done::Look(Pane::Source(file.to_owned(), found + 1)))
}

fn look(debugger: &Debugger, name: &str, rest: &str) -> Result<Pane, String> {
    let registers = debugger.registers();
    Ok(match name {
        "list" => source_pane(debugger, rest)?,
        "code" if rest.is_empty() => Pane::Code(registers.pc),
        "code" => Pane::Code(one_address(debugger, rest)?),
        "memory" if rest.is_empty() => Pane::Memory(registers.hl),
        "memory" => Pane::Memory(place::address(debugger, rest)?),
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
    let first = (line.place.line as usize).saturating_sub(ROWS / 2).max(1);
    Ok(Pane::Source(line.place.file.to_string(), first))
}

/// Returns the output of a script after a command: the text, the lines of a pane, or the place
/// where the board stands.
#[must_use]
pub fn report(debugger: &Debugger, done: &Done) -> String {
    match done {
        Done::Said(text) => text.clone(),
        Done::Look(pane) => pane.lines(debugger, ROWS).join("\n"),
        Done::Quit => String::new(),
        Done::Halted(halt) => {
            let pc = debugger.registers().pc;
            let place = debugger.code().place_of(pc);
            let instruction = show::instruction_at(debugger, pc).text;
            let why = show::describe(debugger, *halt);
            let separator = if why.is_empty() { "" } else { "; " };
            format!("{place}: {instruction}{separator}{why}")
        }
    }
}
