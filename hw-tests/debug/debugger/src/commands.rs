//! The debugger's command language, for the terminal, scripts, gdb's `monitor` and editors.

mod change;
mod print;
mod reload;
mod stop;
mod table;

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::motions::Motion;
use super::{FLAGS, REGISTER_NAMES, location, render};
use CommandOutcome::{Halted, Output, Quit, Show};
use table::Action;

pub use print::{format_value, short_value};

pub(super) use change::set;
pub(super) use print::evaluate;
pub(super) use stop::{StopText, parse_watch};
pub use table::{COMMANDS, Command};

/// Rows of a listing in a script, which has no window to fill.
const SCRIPT_ROWS: usize = 12;
/// Maximum repeat count of a step command.
const MAX_REPEATED_STEPS: u32 = 10_000_000;

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

/// The outcome of a command, or a message.
pub type CommandResult = Result<CommandOutcome, String>;

/// A view of the debugger's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pane {
    /// A source file, starting at a line.
    Source(String, usize),
    /// Instructions, starting at an address.
    Code(u16),
    /// Memory, starting at an address.
    Memory(u16),
    /// The registers of both sets.
    Registers,
    /// The open calls.
    Calls,
    /// A pane that the program has added, by its name.
    Custom(String),
    /// The breakpoints, the watchpoints and the expressions shown at each halt.
    Stops,
    /// The expressions shown at each halt, with their values.
    Displays,
    /// The output of the board.
    Console,
    /// The commands.
    Help,
    /// What a command has printed.
    Result(String),
}

impl Pane {
    /// Returns the command that shows the pane, if it does not depend on the state, and the title.
    pub fn names(&self) -> (Option<String>, &str) {
        let (command, title) = match self {
            Self::Memory(at) => {
                return (Some(format!("memory {}", render::source_number(*at, 4))), "Memory");
            }
            Self::Source(..) => (None, "Source"),
            Self::Code(_) => (None, "Instructions"),
            Self::Registers => (None, "Registers"),
            Self::Help => (None, "Help"),
            Self::Result(_) => (None, "Result: Page Down for more, Esc leaves"),
            Self::Calls => (Some("calls"), "Calls"),
            Self::Custom(name) => (Some(name.as_str()), name.as_str()),
            Self::Stops => (Some("stops"), "Breakpoints"),
            Self::Displays => (Some("display"), "Expressions"),
            Self::Console => (Some("console"), "Console: c runs, keys go to the board"),
        };
        (command.map(str::to_owned), title)
    }

    /// Returns the lines of the pane; lists without an end have `rows` lines.
    pub fn lines(&self, debugger: &Debugger, rows: usize) -> Vec<String> {
        match self {
            Self::Source(file, line) => render::source(debugger, file, *line, rows),
            Self::Code(at) => render::code(debugger, *at, rows),
            Self::Memory(at) => render::memory(debugger, *at, rows, render::ROW),
            Self::Registers => render::registers(debugger),
            Self::Calls => render::calls(debugger),
            Self::Custom(name) => {
                debugger.find_pane(name).map(|pane| pane.lines(debugger)).unwrap_or_default()
            }
            Self::Stops => render::stops(debugger),
            Self::Displays => print::displays(debugger),
            Self::Console => render::console(debugger),
            Self::Help => table::lines(debugger),
            Self::Result(text) => text.lines().map(str::to_owned).collect(),
        }
    }
}

/// What a command does once its arguments are parsed; returns a text for the user.
pub(super) type Effect = Box<dyn FnOnce(&mut Debugger) -> Result<String, String>>;

/// Executes a command line; an empty line does nothing. `should_stop` is polled while the board
/// runs. The commands of a breakpoint that halts the board are executed, too; their output is
/// logged.
///
/// # Errors
/// Returns a message if the command is unknown or its arguments are invalid. The debugger is then
/// unchanged.
pub fn execute(debugger: &mut Debugger, line: &str, should_stop: ShouldStop<'_>) -> CommandResult {
    Ok(match execute_one(debugger, line, &mut *should_stop)? {
        Halted(halt) => Halted(run_breakpoint_commands(debugger, halt, should_stop)),
        outcome => outcome,
    })
}

/// Returns `true` for a command line that runs the board, or puts it elsewhere.
pub fn runs_board(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    let action = Command::find(name).map(|command| command.action);
    matches!(action, Some(Action::Motion | Action::Until | Action::Restart))
}

/// Runs the board, and the commands of a breakpoint that halts it; see [`execute`].
pub fn run(
    debugger: &mut Debugger,
    command: ExecCommand,
    should_stop: ShouldStop<'_>,
) -> HaltReason {
    let is_forward = !command.is_step() && !command.is_reverse();
    let halt = match std::mem::take(&mut debugger.stops.has_postponed) && is_forward {
        true => HaltReason::Breakpoint,
        false => debugger.run(command, &mut *should_stop),
    };
    run_breakpoint_commands(debugger, halt, should_stop)
}

/// Executes the commands of the breakpoints that halted the board, as long as they run it to
/// others, and logs their output. Those after one that runs the board are dropped. If the caller
/// stops before them, the next run begins with them.
fn run_breakpoint_commands(
    debugger: &mut Debugger,
    mut halt: HaltReason,
    should_stop: ShouldStop<'_>,
) -> HaltReason {
    while halt == HaltReason::Breakpoint {
        let lists = debugger.stops.halting().filter_map(|(_, stop)| stop.commands.clone());
        let lists: Vec<String> = lists.collect();
        if lists.is_empty() {
            break;
        }
        if (should_stop)(debugger) {
            debugger.stops.has_postponed = true;
            return HaltReason::Paused;
        }
        let mut commands = lists.iter().flat_map(|list| separate(list));
        let next = commands.find_map(|command| {
            let text = match execute_one(debugger, command, &mut *should_stop) {
                Ok(Halted(halt)) => return Some(halt),
                Ok(outcome) => shown_outcome(debugger, &outcome),
                Err(problem) => format!("{}: {problem}", command.trim()),
            };
            debugger.stops.log.push(text);
            None
        });
        let Some(next) = next else { break };
        halt = next;
    }
    halt
}

fn execute_one(debugger: &mut Debugger, line: &str, should_stop: ShouldStop<'_>) -> CommandResult {
    let line = line.trim();
    // `/TEXT` needs no space after the slash.
    if let Some(text) = line.strip_prefix('/') {
        return find(debugger, text).map(Show);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if name.is_empty() || name.starts_with(';') {
        return Ok(Output(String::new()));
    }
    let Some(command) = Command::find(name) else {
        let pane = debugger.find_pane(name);
        let pane = pane.ok_or_else(|| format!("unknown command '{name}'; ? lists all commands"))?;
        return Ok(Show(Pane::Custom(pane.heading().name.to_owned())));
    };
    match command.action {
        Action::Motion => {
            let (motion, times) = parse_motion(debugger, command.name, rest)?;
            Ok(Halted(run_repeatedly(debugger, motion, times, should_stop)))
        }
        Action::Until => {
            debugger.run_until(&location::parse(debugger, rest)?, should_stop).map(Halted)
        }
        Action::Restart => Ok(Halted(reload::restart(debugger))),
        Action::Show(pane) => pane(debugger, rest).map(Show),
        Action::Display if rest.is_empty() => Ok(Show(Pane::Displays)),
        Action::Display => print::display(debugger, rest)?(debugger).map(Output),
        Action::Text(parse) => parse(debugger, rest)?(debugger).map(Output),
        Action::Quit => Ok(Quit),
    }
}

/// Separates commands at each `;`, but for those of arrays, as in `[x;8]`.
fn separate(commands: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    commands.split(move |c| {
        depth += i32::from("[{".contains(c)) - i32::from("]}".contains(c));
        c == ';' && depth <= 0
    })
}

/// Checks commands that are executed later, separated by `;`. What depends on the state then, such
/// as local labels, is not checked.
fn check(debugger: &Debugger, commands: &str) -> Result<(), String> {
    for line in separate(commands).map(str::trim).filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let is_pane = debugger.find_pane(name).is_some() || name.starts_with('/');
        let checked = match Command::find(name).map(|command| (command.action, command.name)) {
            None if is_pane => Ok(()),
            None => Err("unknown command; ? lists all commands".to_owned()),
            Some(_) if rest.contains("..") || rest.starts_with(':') => Ok(()),
            Some((Action::Motion, name)) => parse_motion(debugger, name, rest).map(drop),
            Some((Action::Until, _)) => location::parse(debugger, rest).map(drop),
            Some((Action::Display, _)) if !rest.is_empty() => {
                print::display(debugger, rest).map(drop)
            }
            Some((Action::Text(parse), _)) => parse(debugger, rest).map(drop),
            Some(_) => Ok(()),
        };
        checked.map_err(|problem| format!("'{line}': {problem}"))?;
    }
    Ok(())
}

/// Returns the motion of a command, and how often it is run.
fn parse_motion(debugger: &Debugger, name: &str, rest: &str) -> Result<(ExecCommand, u32), String> {
    Ok(match Motion::by_command(name) {
        Some(Motion::Repeatable(command)) => (command, repetitions(rest)?),
        Some(Motion::ToInstruction(make)) => (make(instruction_address(debugger, rest)?), 1),
        Some(Motion::ToByte(make)) => (make(location::resolve_address(debugger, rest)?), 1),
        Some(Motion::Single(command)) => (command, 1),
        Some(Motion::ToStep(_)) | None => return Err(format!("{name} is no motion")),
    })
}

fn repetitions(text: &str) -> Result<u32, String> {
    match text.parse() {
        _ if text.is_empty() => Ok(1),
        Ok(times @ 1..=MAX_REPEATED_STEPS) => Ok(times),
        _ => Err(format!("invalid number of steps '{text}': expected 1 to {MAX_REPEATED_STEPS}")),
    }
}

/// Repeats a command until the board halts for another reason than a completed step.
fn run_repeatedly(
    debugger: &mut Debugger,
    command: ExecCommand,
    times: u32,
    should_stop: ShouldStop<'_>,
) -> HaltReason {
    if command == ExecCommand::ReverseStep {
        return debugger.run(ExecCommand::ReverseSteps(times.into()), should_stop);
    }
    let mut halt = HaltReason::Completed;
    for _ in 0..times {
        halt = debugger.run(command, should_stop);
        if halt != HaltReason::Completed {
            break;
        }
    }
    halt
}

fn instruction_address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let place = location::resolve(debugger, text)?;
    place.addresses.first().copied().ok_or_else(|| format!("{text} has no instruction"))
}

/// Finds text in the source file at PC; searches below the current line first.
fn find(debugger: &Debugger, text: &str) -> Result<Pane, String> {
    let wanted = text.trim().to_ascii_uppercase();
    if wanted.is_empty() {
        return Err("missing text to find in the source".to_owned());
    }
    let Some((file, line)) = debugger.line() else {
        return Err("no source line at PC, so no file to search".to_owned());
    };
    let lines = debugger.code().text(file);
    let count = lines.len();
    let mut order = (0..count).map(|step| (line as usize + step) % count);
    let found = order.find(|at| lines[*at].to_ascii_uppercase().contains(&wanted));
    let found = found.ok_or_else(|| format!("'{}' not found in {file}", text.trim()))?;
    Ok(Pane::Source(file.to_owned(), found + 1))
}

fn code_pane(debugger: &Debugger, text: &str) -> Result<Pane, String> {
    place_or_pc(debugger, text).map(Pane::Code)
}

fn place_or_pc(debugger: &Debugger, text: &str) -> Result<u16, String> {
    if text.is_empty() { Ok(debugger.registers().pc) } else { instruction_address(debugger, text) }
}

fn memory_pane(debugger: &Debugger, text: &str) -> Result<Pane, String> {
    let (first, count) = stop::split_count(text)?;
    let at = match first {
        "" => debugger.registers().hl,
        first => location::resolve_address(debugger, first)?,
    };
    let Some(count) = count else { return Ok(Pane::Memory(at)) };
    let rows = count.div_ceil(render::ROW).into();
    Ok(Pane::Result(render::memory(debugger, at, rows, render::ROW).join("\n")))
}

/// Returns the offset of the name at the end of a text, and the names that begin so: labels and
/// registers, and at its start commands; each with its kind in the Debug Adapter Protocol.
pub(super) fn completions<'d>(
    debugger: &'d Debugger,
    text: &str,
) -> (usize, Vec<(&'d str, &'static str)>) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".$%'_".contains(c);
    let before = text.trim_end_matches(is_name);
    let typed = text[before.len()..].to_ascii_uppercase();
    let labels = debugger.code().labels().map(|(_, label)| (label.name.as_str(), "function"));
    let registers = REGISTER_NAMES.iter().chain(FLAGS.iter().map(|(flag, _)| flag));
    let registers = registers.map(|name| (*name, "variable"));
    let commands = COMMANDS.iter().map(|command| (command.name, "keyword"));
    let panes = debugger.panes().map(|pane| (pane.heading().name, "keyword"));
    let commands = commands.chain(panes).filter(|_| before.trim().is_empty());
    let all = commands.chain(registers).chain(labels);
    (before.len(), all.filter(|(name, _)| name.to_ascii_uppercase().starts_with(&typed)).collect())
}

fn source_pane(debugger: &Debugger, text: &str) -> Result<Pane, String> {
    let at = place_or_pc(debugger, text)?;
    let code = debugger.code();
    let none = || format!("{} has no line of source", code.address_name(at));
    let line = code.line_at(at).ok_or_else(none)?;
    let first = (line.place.line as usize).saturating_sub(SCRIPT_ROWS / 2).max(1);
    Ok(Pane::Source(line.place.file.to_string(), first))
}

/// Returns the text that a script prints after a command: the output, the lines of a pane, or the
/// location at which the board halted, after the log and before the displayed expressions.
pub fn outcome_text(debugger: &mut Debugger, done: &CommandOutcome) -> String {
    let mut lines = debugger.take_log();
    let shown = shown_outcome(debugger, done);
    if !shown.is_empty() {
        lines.push(shown);
    }
    if matches!(done, Halted(_)) {
        lines.extend(print::displays(debugger));
    }
    lines.join("\n")
}

fn shown_outcome(debugger: &Debugger, done: &CommandOutcome) -> String {
    match done {
        Output(text) => text.clone(),
        Show(pane) => pane.lines(debugger, SCRIPT_ROWS).join("\n"),
        Quit => String::new(),
        Halted(halt) => {
            let pc = debugger.registers().pc;
            let place = debugger.code().describe_address(pc);
            let instruction = render::disassemble_at(debugger, pc).text;
            let why = render::describe_halt(debugger, *halt);
            let separator = if why.is_empty() { "" } else { "; " };
            format!("{place}: {instruction}{separator}{why}")
        }
    }
}
