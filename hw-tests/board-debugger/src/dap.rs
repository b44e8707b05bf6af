//! A debug adapter: serves the Debug Adapter Protocol (1.65) of editors over two streams.
//!
//! Messages are JSON after a `Content-Length` header. There is one thread, the processor, with a
//! frame for PC and for each open call. Requests are handled while the board runs, too; `pause` and
//! `disconnect` stop it.

mod base64;
mod breakpoints;
mod memory;
mod message;
mod queries;
mod request_reader;
mod response;
mod types;
mod variables;

use std::io::{self, BufRead, Write};

use board_simulator::Registers;
use serde_json::Value;

use super::commands::{self, CommandOutcome};
use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::render;
use breakpoints::ClientBreakpoints;
use request_reader::RequestReader;
use response::{ResponseBody, THREAD_ID, to_body};
use types::{
    CAPABILITIES, ClientFormat, EvaluateArguments, GotoArguments, Message, Request, StepArguments,
    StoppedBody,
};

pub use types::LaunchArguments;

/// The id of all errors; only their texts differ.
const ERROR_ID: u32 = 1;

/// A session that `launch` has started.
pub struct LaunchedSession {
    /// The debugger, halted at the entry point.
    pub debugger: Debugger,
    /// A message if the board did not reach its entry point.
    pub message: Option<String>,
    /// Whether to continue at once instead of staying at the entry point.
    pub runs: bool,
    /// Whether to show the board's output, which is text.
    pub has_console: bool,
}

/// Starts a session from the arguments of `launch`; returns a message if that fails. The callback
/// cancels a launch that does not reach its entry point.
pub type Launch<'a> =
    &'a dyn Fn(&LaunchArguments, ShouldStop<'_>) -> Result<LaunchedSession, String>;

/// Serves a client until it disconnects.
///
/// # Errors
/// Returns an error if a stream fails or a message is invalid.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    launch: Launch<'_>,
) -> io::Result<()> {
    let line = Output { request_reader: RequestReader::new(input), output, seq: 0, printed: 0 };
    let mut adapter = Adapter {
        line,
        launch,
        session: None,
        breakpoints: ClientBreakpoints::default(),
        has_stopped_before: false,
    };
    while let Some(request) = adapter.line.request_reader.next()? {
        if !adapter.serve(&request)? {
            break;
        }
    }
    Ok(())
}

struct Output<'a> {
    request_reader: RequestReader,
    output: &'a mut dyn Write,
    seq: u64,
    /// How much of the board's output the client has been sent, in bytes.
    printed: usize,
}

/// The state of a session.
struct Adapter<'a> {
    line: Output<'a>,
    launch: Launch<'a>,
    session: Option<LaunchedSession>,
    breakpoints: ClientBreakpoints,
    has_stopped_before: bool,
}

impl Output<'_> {
    fn respond(&mut self, request: &Request, answer: ResponseBody) -> io::Result<()> {
        self.seq += 1;
        let success = answer.is_ok();
        let (body, message) = match answer {
            Ok(body) => (body, None),
            Err(message) => {
                let error = serde_json::json!({ "id": ERROR_ID, "format": message });
                (serde_json::json!({ "error": error }), Some(message))
            }
        };
        message::write(
            self.output,
            &Message::Response {
                seq: self.seq,
                request_seq: request.seq,
                command: &request.command,
                success,
                message,
                body,
            },
        )
    }

    fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        self.seq += 1;
        message::write(self.output, &Message::Event { seq: self.seq, event, body })
    }

    /// Sends the client what breakpoints have logged.
    fn log(&mut self, debugger: &mut Debugger) -> io::Result<()> {
        for line in debugger.take_log() {
            let output = format!("{line}\n");
            let body = serde_json::json!({ "category": "console", "output": output });
            self.event("output", body)?;
        }
        Ok(())
    }

    /// Sends the client the new output of the board.
    fn print(&mut self, sent: &[u8]) -> io::Result<()> {
        // After a reverse command the output is shorter, and will be repeated.
        let new = sent.get(self.printed..).unwrap_or_default();
        self.printed = self.printed.max(sent.len());
        if new.is_empty() {
            return Ok(());
        }
        let text: String = new.iter().map(|byte| char::from(byte & 0x7F)).collect();
        let shown: String =
            text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
        self.event("output", serde_json::json!({ "category": "stdout", "output": shown }))
    }
}

impl Adapter<'_> {
    /// Handles a request; returns `false` if the session ends.
    fn serve(&mut self, request: &Request) -> io::Result<bool> {
        match request.command.as_str() {
            "initialize" => {
                let checked = request.arguments().and_then(|client: ClientFormat| client.check());
                let answer =
                    checked.map(|()| CAPABILITIES.map(|name| (name, true)).into_iter().collect());
                self.line.respond(request, answer)?;
            }
            "launch" | "attach" => self.start(request)?,
            "configurationDone" => {
                let answer = self.session.as_ref().map(|_| Value::Null).ok_or_else(not_launched);
                let is_launched = answer.is_ok();
                self.line.respond(request, answer)?;
                if is_launched {
                    self.first_stop()?;
                }
            }
            "disconnect" => {
                self.line.respond(request, Ok(Value::Null))?;
                return Ok(false);
            }
            "terminate" => {
                let ended = self.session.take();
                self.line.respond(request, Ok(Value::Null))?;
                // A client may answer the event with the same request.
                if ended.is_some() {
                    self.line.event("terminated", Value::Null)?;
                }
            }
            "evaluate" => self.evaluate(request)?,
            "goto" => self.go_to(request)?,
            command => match exec_command(command, request) {
                Some(motion) => self.resume(request, motion)?,
                None => {
                    let answer = self.handle_query(request);
                    self.line.respond(request, answer)?;
                }
            },
        }
        Ok(true)
    }

    /// Handles `launch`: runs the board to its entry point; the client can cancel that.
    fn start(&mut self, request: &Request) -> io::Result<()> {
        let inbox = &mut self.line.request_reader;
        let arguments = request.arguments::<LaunchArguments>();
        let unknown = arguments.as_ref().map(|arguments| arguments.unknown_keys().join(", "));
        let unknown = unknown.unwrap_or_default();
        let launched =
            arguments.and_then(|arguments| (self.launch)(&arguments, &mut |_| inbox.wants_stop()));
        if !unknown.is_empty() {
            let output = format!("unknown keys of the launch configuration: {unknown}\n");
            let body = serde_json::json!({ "category": "important", "output": output });
            self.line.event("output", body)?;
        }
        match launched {
            Ok(session) => {
                self.session = Some(session);
                self.line.printed = 0;
                self.line.respond(request, Ok(Value::Null))?;
                self.line.event("initialized", Value::Null)
            }
            Err(message) => self.line.respond(request, Err(message)),
        }
    }

    /// After the client has set its breakpoints: reports the stop at the entry point, or continues.
    fn first_stop(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        if session.runs {
            session.runs = false;
            // `Continue` executes an instruction before it checks for breakpoints.
            return match session.debugger.is_stopped_by_breakpoint() {
                true => self.stopped(HaltReason::Breakpoint),
                false => self.run(ExecCommand::Continue),
            };
        }
        match session.message.take() {
            None => self.stopped(HaltReason::HistoryStart),
            Some(message) => {
                let output = format!("{message}\n");
                let category = "important";
                let body = serde_json::json!({ "category": category, "output": output });
                self.line.event("output", body)?;
                self.stopped_with("pause", message, Vec::new())
            }
        }
    }

    /// Responds that the board runs, runs it, and reports why it stopped.
    fn resume(&mut self, request: &Request, motion: ExecCommand) -> io::Result<()> {
        if self.session.is_none() {
            return self.line.respond(request, Err(not_launched()));
        }
        let all = serde_json::json!({ "allThreadsContinued": true });
        let is_continue = matches!(motion, ExecCommand::Continue | ExecCommand::ReverseContinue);
        self.line.respond(request, Ok(if is_continue { all } else { Value::Null }))?;
        self.run(motion)
    }

    fn run(&mut self, motion: ExecCommand) -> io::Result<()> {
        let Self { line, session, breakpoints: marks, .. } = self;
        let Some(session) = session else { return Ok(()) };
        let mut failure = None;
        let has_console = session.has_console;
        let halt = commands::run(&mut session.debugger, motion, &mut |debugger| {
            handle_while_running(line, marks, debugger, has_console).unwrap_or_else(|error| {
                failure = Some(error);
                true
            })
        });
        failure.map_or(Ok(()), Err)?;
        self.stopped(halt)
    }

    /// Handles `evaluate`: an expression; in the console also a command, which may run the board.
    fn evaluate(&mut self, request: &Request) -> io::Result<()> {
        let Self { line, session, breakpoints: marks, .. } = self;
        let Some(session) = session else { return line.respond(request, Err(not_launched())) };
        let wanted: EvaluateArguments = match request.arguments() {
            Ok(wanted) => wanted,
            Err(message) => return line.respond(request, Err(message)),
        };
        let is_console = wanted.context.as_deref() == Some("repl");
        let value = queries::evaluate(&session.debugger, &wanted.expression);
        // An expression takes precedence over a command: `C` is the register more often than the
        // abbreviation.
        if value.is_ok() || !is_console {
            return line.respond(request, value);
        }
        let has_console = session.has_console;
        let mut failure = None;
        let outcome =
            commands::execute(&mut session.debugger, &wanted.expression, &mut |debugger| {
                handle_while_running(line, marks, debugger, has_console).unwrap_or_else(|error| {
                    failure = Some(error);
                    true
                })
            });
        failure.map_or(Ok(()), Err)?;
        let output =
            outcome.as_ref().map(|done| commands::outcome_text(&mut session.debugger, done));
        let output = output.map_err(Clone::clone);
        let answer =
            output.map(|text| serde_json::json!({ "result": text, "variablesReference": 0 }));
        self.line.respond(request, answer)?;
        match outcome {
            Ok(CommandOutcome::Halted(halt)) => self.stopped(halt),
            Ok(CommandOutcome::Output(_)) => {
                let areas = serde_json::json!({ "areas": ["variables", "stacks"] });
                self.line.event("invalidated", areas)
            }
            _ => Ok(()),
        }
    }

    /// Handles `goto`: sets PC.
    fn go_to(&mut self, request: &Request) -> io::Result<()> {
        let moved = self.session.as_mut().ok_or_else(not_launched).and_then(|session| {
            session.debugger.can_modify()?;
            let GotoArguments { target_id } = request.arguments()?;
            let registers = session.debugger.registers();
            session.debugger.set_registers(&Registers { pc: target_id, ..registers });
            Ok(Value::Null)
        });
        let is_moved = moved.is_ok();
        self.line.respond(request, moved)?;
        if is_moved { self.stopped_with("goto", String::new(), Vec::new()) } else { Ok(()) }
    }

    /// Handles a request that only reads or changes state.
    fn handle_query(&mut self, request: &Request) -> ResponseBody {
        let session = self.session.as_mut().ok_or_else(not_launched)?;
        queries::handle(&mut session.debugger, &mut self.breakpoints, request)
    }

    fn stopped(&mut self, halt: HaltReason) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        self.line.log(&mut session.debugger)?;
        if session.has_console {
            self.line.print(session.debugger.output())?;
        }
        let reason = match halt {
            HaltReason::Step => "step",
            HaltReason::Breakpoint => self.breakpoints.reason(&session.debugger),
            HaltReason::Watchpoint(_) => "data breakpoint",
            HaltReason::Idle
            | HaltReason::NeverChanged(_)
            | HaltReason::Paused
            | HaltReason::TargetError
            | HaltReason::TwinCaughtUp => "pause",
            HaltReason::HistoryStart => "entry",
        };
        let text = match halt {
            HaltReason::HistoryStart if !self.has_stopped_before => String::new(),
            HaltReason::Paused => String::new(),
            halt => render::describe_halt(&session.debugger, halt),
        };
        let hits = breakpoints::hit_ids(&session.debugger, halt);
        self.stopped_with(reason, text, hits)
    }

    fn stopped_with(
        &mut self,
        reason: &'static str,
        text: String,
        hit_breakpoint_ids: Vec<u32>,
    ) -> io::Result<()> {
        self.has_stopped_before = true;
        let stopped = StoppedBody {
            reason,
            thread_id: THREAD_ID,
            all_threads_stopped: true,
            description: text.clone(),
            text,
            hit_breakpoint_ids,
        };
        self.line.event("stopped", to_body(&stopped).unwrap_or_default())
    }
}

fn not_launched() -> String {
    "no program is launched yet".to_owned()
}

/// Handles the requests that arrive while the board runs; returns `true` if it must stop.
fn handle_while_running(
    line: &mut Output<'_>,
    breakpoints: &mut ClientBreakpoints,
    debugger: &mut Debugger,
    has_console: bool,
) -> io::Result<bool> {
    line.log(debugger)?;
    if has_console && !debugger.in_reverse_search {
        line.print(debugger.output())?;
    }
    while let Some(request) = line.request_reader.try_next() {
        let request = match request {
            Ok(Some(request)) => request,
            // The end of the stream or an error: the main loop handles it.
            other => {
                line.request_reader.put_back(other);
                return Ok(true);
            }
        };
        match request.command.as_str() {
            "disconnect" | "terminate" => {
                line.request_reader.put_back(Ok(Some(request)));
                return Ok(true);
            }
            "pause" => {
                line.respond(&request, Ok(Value::Null))?;
                return Ok(true);
            }
            command if exec_command(command, &request).is_some() => {
                line.respond(&request, Err("the board is already running".to_owned()))?;
            }
            "setVariable" | "setExpression" | "writeMemory" | "evaluate" | "goto" => {
                line.respond(&request, Err("the board is running; pause it first".to_owned()))?;
            }
            _ => {
                let answer = queries::handle(debugger, breakpoints, &request);
                line.respond(&request, answer)?;
            }
        }
    }
    Ok(false)
}

/// The command that a request runs the board with; `None` for other requests.
fn exec_command(command: &str, request: &Request) -> Option<ExecCommand> {
    let step: StepArguments = request.arguments().unwrap_or_default();
    let by_instruction = step.granularity == "instruction";
    Some(match (command, by_instruction) {
        ("continue", _) => ExecCommand::Continue,
        ("reverseContinue", _) => ExecCommand::ReverseContinue,
        ("next", true) => ExecCommand::StepOver,
        ("next", false) => ExecCommand::StepLine,
        ("stepIn", true) => ExecCommand::Step,
        ("stepIn", false) => ExecCommand::StepLineInto,
        ("stepOut", _) => ExecCommand::StepOut,
        ("stepBack", true) => ExecCommand::ReverseStep,
        ("stepBack", false) => ExecCommand::ReverseStepLine,
        _ => return None,
    })
}
