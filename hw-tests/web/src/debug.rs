//! The source-level debugger, stepped from the page.

use std::cell::RefCell;
use std::rc::Rc;

use board_debugger::commands::{self, CommandOutcome, Pane, execute};
use board_debugger::{
    BoundExpression, Debugger, ExecCommand, HaltReason, Machine, Motion, REGISTER_PAIRS, Stop,
    StopId, describe_halt, disassemble_at, flag_letters, register_value,
};
use board_simulator::profiling::{StepCounter, line_times};
use firmware::ProgramKind;
use firmware::code_map::CodeMap;
use firmware_wire::Request;
use rcflash_transport::time::{Duration, Instant};
use sargon_corpus::encode;
use sargon_debugging::{evaluator_debugger, run_to_exchange, xchng_register_roles};
use sargon_reference::parse_fen;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::board::{EvaluatorSources, profile};
use crate::error::PageError;
use crate::examine::square;
use crate::jobs::{Job, Slice};
use crate::message::Post;
use crate::program::Loaded;
use crate::sources::{page_name, set_texts};

/// The board's time within which XCHNG is called for a square; a position takes a third of it.
const DEFAULT_TIME_LIMIT_SECONDS: f64 = 5.0;
/// The computing time after which a command that can't be continued later is aborted.
const MAX_EXEC_TIME: Duration = Duration::from_secs(3);
/// The time after which the worker takes messages.
const MAX_SLICE_TIME: Duration = Duration::from_millis(40);
/// T-states in which a position is examined, and by far.
const MAX_POSITION_T_STATES: u64 = 40_000_000;
/// Rows of what a command shows.
const DISASSEMBLY_ROWS: usize = 24;
/// Bytes of the attackers array.
const ARRAY_BYTES: usize = 14;
/// Messages of breakpoints that a state shows.
const MAX_LOG_LINES: usize = 100;
/// The longest window of memory.
const MAX_MEMORY_WINDOW: usize = 0x1000;

/// A stretch of memory to show.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Window {
    address: u16,
    length: usize,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct BreakpointRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

pub(crate) struct PageDebugSession {
    debugger: Debugger,
    began: u64,
    halt: HaltReason,
    /// The reason for the last stop, if the debugger has none.
    message: Option<String>,
    windows: Vec<Window>,
    /// What breakpoints have logged since the state before.
    log: Vec<String>,
    /// The breakpoints of the editor.
    editor_breakpoints: Vec<StopId>,
    /// Whether the user has requested a stop.
    is_stopped: bool,
}

/// A session that a run and the requests share.
pub(crate) type SharedSession = Rc<RefCell<PageDebugSession>>;

/// Builds the programs and powers up a board on which the application waits.
fn machine(evaluator: &EvaluatorSources) -> Result<(Machine, CodeMap), PageError> {
    let profile = profile(None)?;
    let programs = evaluator.programs(&profile, ProgramKind::Application)?;
    let code = CodeMap::new(&[&programs.monitor, &programs.application]);
    let mut machine = Machine::with_monitor(&profile, programs.monitor);
    machine.start(&programs.application);
    Ok((machine, code))
}

impl PageDebugSession {
    fn new(debugger: Debugger, halt: HaltReason, message: Option<String>) -> Self {
        let began = debugger.clock();
        Self {
            debugger,
            began,
            halt,
            message,
            windows: Vec::new(),
            log: Vec::new(),
            editor_breakpoints: Vec::new(),
            is_stopped: false,
        }
    }

    /// Creates a session stopped at the call of XCHNG for a square.
    pub(crate) fn at_exchange(
        fen: &str,
        name: &str,
        evaluator: &EvaluatorSources,
    ) -> Result<Self, PageError> {
        let position = parse_fen(fen.trim()).map_err(PageError::new)?;
        let square = square(&position, name)?;
        let (mut machine, mut code) = machine(evaluator)?;
        machine.send(&Request::Position { squares: encode::squares(&position) });
        set_texts(&mut code, &evaluator.files);
        let debugger = evaluator_debugger((machine, code));
        let until = Instant::now() + MAX_EXEC_TIME;
        let session = run_to_exchange(debugger, square, DEFAULT_TIME_LIMIT_SECONDS, &mut |_| {
            Instant::now() > until
        })
        .map_err(PageError::new)?;
        let message = session.outcome.message(&session.debugger);
        Ok(Self::new(session.debugger, HaltReason::Breakpoint, message))
    }

    /// Creates a session stopped at the first instruction of a program.
    pub(crate) fn at_program(loaded: Loaded) -> Self {
        let debugger = Debugger::new(loaded.board, loaded.code);
        Self::new(
            debugger,
            HaltReason::HistoryStart,
            Some("at the program's first instruction".to_owned()),
        )
    }

    /// Replaces the windows of memory that a state shows.
    pub(crate) fn show(&mut self, windows: Vec<Window>) {
        self.windows = windows;
    }

    /// Advances the board by at most a slice; returns whether to continue later.
    fn advance(&mut self, motion: ExecCommand, until: Instant) -> bool {
        let goes_on = matches!(
            motion,
            ExecCommand::Continue | ExecCommand::RunTo(_) | ExecCommand::GoToStep(_)
        );
        let slice = if goes_on { MAX_SLICE_TIME } else { MAX_EXEC_TIME };
        let end = until.min(Instant::now() + slice);
        self.halt = commands::run(&mut self.debugger, motion, &mut |_| Instant::now() >= end);
        self.message = None;
        self.keep_log();
        self.halt == HaltReason::Paused && goes_on && !self.is_stopped && Instant::now() < until
    }

    /// Keeps the last messages that breakpoints have logged.
    fn keep_log(&mut self) {
        self.log.extend(self.debugger.take_log());
        self.log.drain(..self.log.len().saturating_sub(MAX_LOG_LINES));
    }

    /// Puts the board back to where the session began.
    pub(crate) fn restart(&mut self) {
        self.halt = self.debugger.restart();
        self.message = None;
    }

    pub(crate) fn command(&mut self, line: &str) -> Result<String, PageError> {
        let until = Instant::now() + MAX_EXEC_TIME;
        let done = execute(&mut self.debugger, line, &mut |_| Instant::now() > until);
        self.keep_log();
        Ok(match done.map_err(PageError::new)? {
            CommandOutcome::Output(text) => text,
            CommandOutcome::Show(pane) => pane.lines(&self.debugger, DISASSEMBLY_ROWS).join("\n"),
            CommandOutcome::Halted(halt) => {
                self.halt = halt;
                self.message = None;
                describe_halt(&self.debugger, halt)
            }
            CommandOutcome::Quit => "the session ends with the page".to_owned(),
        })
    }

    pub(crate) fn set_breakpoints(&mut self, requests: Vec<BreakpointRequest>) -> Value {
        for id in std::mem::take(&mut self.editor_breakpoints) {
            self.debugger.stops.remove(id);
        }
        let set = requests.into_iter().map(|request| match self.set_breakpoint(&request) {
            Ok((address, line)) => {
                json!({ "wish": request, "set": true, "address": address, "line": line })
            }
            Err(message) => json!({ "wish": request, "set": false, "message": message }),
        });
        json!({ "breakpoints": set.collect::<Vec<_>>() })
    }

    fn set_breakpoint(
        &mut self,
        request: &BreakpointRequest,
    ) -> Result<(u16, Option<u32>), String> {
        let code = self.debugger.code();
        let condition = request.condition.as_deref().filter(|text| !text.trim().is_empty());
        let condition = condition.map(|text| BoundExpression::parse(text, code)).transpose();
        let condition = condition.map_err(|error| error.to_string())?;
        let (line, addresses) =
            match (&request.file, request.line, request.address, &request.symbol) {
                (Some(file), Some(line), ..) => {
                    let known = code.find_file(file).map_err(|error| error.to_string())?;
                    let found = code.breakpoint_line(known, line);
                    let (line, addresses) =
                        found.ok_or_else(|| format!("no instruction at or below {file}:{line}"))?;
                    (Some(line), addresses)
                }
                (_, _, Some(address), _) => (None, vec![address]),
                (_, _, _, Some(name)) => {
                    let address =
                        code.symbol(name).ok_or_else(|| format!("unknown label '{name}'"))?;
                    (None, vec![address])
                }
                _ => return Err("a breakpoint is at a line, an address or a label".to_owned()),
            };
        let first = addresses.first().copied().ok_or("no instruction there")?;
        let written = request.condition.as_ref().map(|text| format!("if {text}"));
        for address in addresses {
            let (condition, written) = (condition.clone(), written.clone().unwrap_or_default());
            let one = Stop { condition, written, ..Stop::at(address) };
            self.editor_breakpoints.push(self.debugger.stops.add(one));
        }
        Ok((first, line))
    }

    /// The text of a source by the name that the debugger has for it.
    pub(crate) fn text(&self, file: &str) -> Option<String> {
        let code = self.debugger.code();
        let lines = code.text(code.find_file(file).ok()?);
        (!lines.is_empty()).then(|| lines.join("\n") + "\n")
    }

    pub(crate) fn state(&mut self) -> Value {
        let log = std::mem::take(&mut self.log);
        let debugger = &self.debugger;
        let code = debugger.code();
        let registers = debugger.registers();
        let names = REGISTER_PAIRS.into_iter().chain(["I", "R"]);
        let values: serde_json::Map<String, Value> = names
            .filter_map(|name| Some((name.to_owned(), register_value(&registers, name)?.into())))
            .collect();
        let instruction = disassemble_at(debugger, registers.pc);
        let message = self.message.clone().unwrap_or_else(|| describe_halt(debugger, self.halt));
        let roles = xchng_register_roles(&registers, code);
        let array = code.symbol("ATKLST");
        json!({
            "halt": halt_word(self.halt),
            "message": message,
            "registers": values,
            "flags": flag_letters(registers.af).replace('-', ""),
            "instruction": {
                "address": instruction.address, "bytes": instruction.bytes,
                "text": instruction.text,
            },
            "place": self.place(registers.pc),
            "label": code.address_name(registers.pc),
            "clock": debugger.clock(),
            "elapsed": i128::from(debugger.clock()) as i64 - self.began as i64,
            "step": debugger.step_count(),
            "calls": self.calls(),
            "memory": self.windows.iter().map(|window| self.memory(*window)).collect::<Vec<_>>(),
            "array": array.map(|address| self.memory(Window { address, length: ARRAY_BYTES })),
            "log": log,
            "watches": Pane::Displays.lines(debugger, 0),
            "roles": roles.into_iter().map(|role| json!({
                "meaning": role.meaning, "register": role.register, "value": role.value,
            })).collect::<Vec<_>>(),
        })
    }

    fn memory(&self, window: Window) -> Value {
        let bytes = self.debugger.dump(window.address, window.length.min(MAX_MEMORY_WINDOW));
        json!({ "address": window.address, "bytes": bytes })
    }

    fn place(&self, address: u16) -> Option<Value> {
        let code = self.debugger.code();
        let place = &code.line_at(address)?.place;
        let text = code.text(&place.file).get(place.line as usize - 1);
        Some(json!({ "file": page_name(&place.file), "line": place.line, "text": text }))
    }

    fn calls(&self) -> Vec<Value> {
        let code = self.debugger.code();
        let call = |call: board_debugger::OpenCall| {
            let mut shown = json!({
                "routine": code.address_name(call.routine),
                "address": call.routine,
                "site": code.describe_address(call.site),
                "service": call.is_service,
                "seen": call.was_seen,
            });
            if let Some(line) = code.line_at(call.site) {
                shown["file"] = page_name(&line.place.file).into();
                shown["line"] = line.place.line.into();
            }
            shown
        };
        self.debugger.calls().into_iter().map(call).collect()
    }
}

fn halt_word(halt: HaltReason) -> &'static str {
    match halt {
        HaltReason::Completed => "step",
        HaltReason::Breakpoint => "breakpoint",
        HaltReason::Watchpoint(_) => "watchpoint",
        HaltReason::Idle => "idle",
        HaltReason::HistoryStart => "start",
        // A page debugs simulated boards; the others are stops of real ones.
        HaltReason::NeverChanged(_)
        | HaltReason::Paused
        | HaltReason::TwinCaughtUp
        | HaltReason::TargetError => "paused",
    }
}

/// The motion of a word.
pub(crate) fn parse_exec_command(
    word: &str,
    address: Option<u16>,
    step: Option<u64>,
) -> Result<ExecCommand, PageError> {
    let motion =
        Motion::by_page(word).ok_or_else(|| PageError::new(format!("unknown command '{word}'")))?;
    let missing = match motion {
        Motion::ToStep(_) => "the number of a step",
        _ => "an address",
    };
    let command = motion.with(address, step);
    command.ok_or_else(|| PageError::new(format!("{word} needs {missing}")))
}

pub(crate) struct ExecJob {
    session: SharedSession,
    motion: ExecCommand,
    until: Instant,
}

impl ExecJob {
    /// A motion that ends by itself after a time.
    pub(crate) fn new(session: &SharedSession, motion: ExecCommand, within: Duration) -> Self {
        session.borrow_mut().is_stopped = false;
        Self { session: Rc::clone(session), motion, until: Instant::now() + within }
    }
}

impl Job for ExecJob {
    fn advance(&mut self, _post: &mut Post<'_>) -> Slice {
        let mut session = self.session.borrow_mut();
        if session.advance(self.motion, self.until) {
            return Slice::More;
        }
        Slice::Done(Ok(session.state()))
    }

    fn stop(&mut self) {
        self.session.borrow_mut().is_stopped = true;
    }
}

/// Labels at which XCHNG has just booked points (the article's Figure 4).
const BOOKING_LABELS: [&str; 2] = ["XCBOOK", "XCLAST"];
/// The most bookings of an exchange: 15 pieces a side capture at most.
const MAX_BOOKINGS: usize = 32;

/// The states of the board in an exchange: at the call of XCHNG, after each booking, at the return.
pub(crate) fn play(
    fen: &str,
    square: &str,
    evaluator: &EvaluatorSources,
) -> Result<Value, PageError> {
    let mut session = PageDebugSession::at_exchange(fen, square, evaluator)?;
    let mut states = vec![session.state()];
    let stack = session.debugger.registers().sp;
    let debugger = &mut session.debugger;
    let [low, high] = [0, 1].map(|at| debugger.dump(stack.wrapping_add(at), 1)[0]);
    let end = u16::from_le_bytes([low, high]);
    let labels = BOOKING_LABELS.into_iter().filter_map(|name| debugger.code().symbol(name));
    for address in labels.chain([end]).collect::<Vec<_>>() {
        debugger.stops.add(Stop::at(address));
    }
    let until = Instant::now() + MAX_EXEC_TIME;
    while states.len() <= MAX_BOOKINGS {
        let halt = session.debugger.run(ExecCommand::Continue, &mut |_| Instant::now() > until);
        if halt != HaltReason::Breakpoint {
            return Err(PageError::new("XCHNG does not return"));
        }
        states.push(session.state());
        if session.debugger.registers().pc == end {
            return Ok(json!({ "states": states }));
        }
    }
    Err(PageError::new("XCHNG books more captures than there are pieces"))
}

/// T-states by source line while the board examines a position.
pub(crate) fn times(fen: &str, evaluator: &EvaluatorSources) -> Result<Value, PageError> {
    let position = parse_fen(fen.trim()).map_err(PageError::new)?;
    let (mut machine, mut code) = machine(evaluator)?;
    set_texts(&mut code, &evaluator.files);
    let mut meter = StepCounter::new(&code);
    machine.send(&Request::Position { squares: encode::squares(&position) });
    meter.run(&mut machine.board, MAX_POSITION_T_STATES);
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    let mut total = 0;
    for time in line_times(&meter, &code) {
        total += time.t_states;
        let line = json!({ "line": time.line, "passages": time.runs, "tStates": time.t_states });
        match found.iter_mut().find(|(file, _)| *file == time.file) {
            Some((_, lines)) => lines.push(line),
            None => found.push((time.file, vec![line])),
        }
    }
    let files = found.into_iter().map(|(name, lines)| {
        let text = code.text(&name).join("\n");
        json!({ "name": page_name(&name), "text": text, "lines": lines })
    });
    Ok(json!({ "files": files.collect::<Vec<_>>(), "total": total }))
}
