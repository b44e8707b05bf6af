//! The Debug Adapter Protocol (1.65) over two streams: what editors speak to debuggers.
//!
//! Messages are JSON after a `Content-Length` header. There is one thread, the processor, and one
//! frame for it and each open call. A board that runs answers meanwhile, and can be paused or left
//! at any moment.

mod base64;
mod breakpoints;
mod memory;
mod message;
mod queries;
mod request_reader;
mod types;
mod variables;

use std::io::{self, BufRead, Write};

use serde_json::Value;

use super::commands::{self, CommandOutcome};
use super::debugger::Debugger;
use super::debugger::ShouldStop;
use super::exec::ExecCommand;
use super::exec::HaltReason;
use super::render;
use breakpoints::ClientBreakpoints;
use queries::{ResponseBody, body};
use request_reader::RequestReader;
use types::{Capabilities, Client, Evaluate, Message, Request, Step, Stopped};

pub use types::LaunchArguments;

/// The number of our one thread.
const THREAD: u64 = 1;

/// The number of the errors that a client may show: their texts tell them apart.
const FAILED: u32 = 1;

/// A session as `launch` makes it.
pub struct Launched {
    /// The board, at its first stop.
    pub debugger: Debugger,
    /// A sentence about a board that is not where it was asked to stop.
    pub message: Option<String>,
    /// Whether to run on at once instead of standing at the first stop.
    pub runs: bool,
    /// Whether the board's output is text for people.
    pub has_console: bool,
}

/// Makes a session from the arguments of `launch`, or a message why there is none. The caller's
/// question stops a board that does not come to its first stop.
pub type Launch<'a> = &'a dyn Fn(&LaunchArguments, ShouldStop<'_>) -> Result<Launched, String>;

/// Serves a client until it disconnects or hangs up.
///
/// # Errors
/// Returns an error if a stream fails, or if what comes is no message.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    launch: Launch<'_>,
) -> io::Result<()> {
    let line = Line { inbox: RequestReader::of(input), output, seq: 0, printed: 0 };
    let mut adapter =
        Adapter { line, launch, session: None, marks: ClientBreakpoints::default(), ran: false };
    while let Some(request) = adapter.line.inbox.next()? {
        if !adapter.serve(&request)? {
            break;
        }
    }
    Ok(())
}

/// Output to the client.
struct Line<'a> {
    inbox: RequestReader,
    output: &'a mut dyn Write,
    seq: u64,
    /// The share of what the board has sent the client was shown.
    printed: usize,
}

/// The state of a session.
struct Adapter<'a> {
    line: Line<'a>,
    launch: Launch<'a>,
    session: Option<Launched>,
    marks: ClientBreakpoints,
    /// Whether it has stopped before.
    ran: bool,
}

impl Line<'_> {
    fn respond(&mut self, request: &Request, answer: ResponseBody) -> io::Result<()> {
        self.seq += 1;
        let success = answer.is_ok();
        let (body, message) = match answer {
            Ok(body) => (body, None),
            Err(message) => {
                let error = serde_json::json!({ "id": FAILED, "format": message });
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

    /// Shows the client what the board has sent since it was last shown something.
    fn print(&mut self, sent: &[u8]) -> io::Result<()> {
        // After a way back the board has sent less, and will send the same again.
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
    /// Answers a request; returns whether the session goes on.
    fn serve(&mut self, request: &Request) -> io::Result<bool> {
        match request.command.as_str() {
            "initialize" => {
                let checked = request.arguments().and_then(|client: Client| client.check());
                let answer = checked.and_then(|()| body(&Capabilities::ALL));
                self.line.respond(request, answer)?;
            }
            "launch" | "attach" => self.start(request)?,
            "configurationDone" => {
                let answer = self.session.as_ref().map(|_| Value::Null).ok_or_else(nothing);
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
            command => match motion(command, request) {
                Some(motion) => self.resume(request, motion)?,
                None => {
                    let answer = self.ask(request);
                    self.line.respond(request, answer)?;
                }
            },
        }
        Ok(true)
    }

    /// `launch`: the board goes to its first stop, which the client can break off.
    fn start(&mut self, request: &Request) -> io::Result<()> {
        let inbox = &mut self.line.inbox;
        let launched = request
            .arguments()
            .and_then(|arguments| (self.launch)(&arguments, &mut |_| inbox.wants_stop()));
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

    /// After the client has set its breakpoints the board stands at its first stop, or runs on at
    /// once.
    fn first_stop(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        if session.runs {
            session.runs = false;
            // A motion leaves the instruction where it begins before it looks for breakpoints.
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

    /// Answers that the board runs, has it run, and reports why it stopped.
    fn resume(&mut self, request: &Request, motion: ExecCommand) -> io::Result<()> {
        if self.session.is_none() {
            return self.line.respond(request, Err(nothing()));
        }
        let all = serde_json::json!({ "allThreadsContinued": true });
        let is_continue = matches!(motion, ExecCommand::Continue | ExecCommand::ReverseContinue);
        self.line.respond(request, Ok(if is_continue { all } else { Value::Null }))?;
        self.run(motion)
    }

    fn run(&mut self, motion: ExecCommand) -> io::Result<()> {
        let Self { line, session, marks, .. } = self;
        let Some(session) = session else { return Ok(()) };
        let mut failure = None;
        let has_console = session.has_console;
        let halt = session.debugger.run(motion, &mut |debugger| {
            handle_while_running(line, marks, debugger, has_console).unwrap_or_else(|error| {
                failure = Some(error);
                true
            })
        });
        failure.map_or(Ok(()), Err)?;
        self.stopped(halt)
    }

    /// `evaluate`: an expression, or in the console also a command, after which the board may stand
    /// elsewhere.
    fn evaluate(&mut self, request: &Request) -> io::Result<()> {
        let Self { line, session, marks, .. } = self;
        let Some(session) = session else { return line.respond(request, Err(nothing())) };
        let wanted: Evaluate = match request.arguments() {
            Ok(wanted) => wanted,
            Err(message) => return line.respond(request, Err(message)),
        };
        let is_console = wanted.context.as_deref() == Some("repl");
        let value = queries::evaluate(&session.debugger, &wanted.expression);
        // What can be read as an expression is one: `HL` and `M3` are meant more often than letters
        // of commands.
        if value.is_ok() || !is_console {
            return line.respond(request, value);
        }
        let has_console = session.has_console;
        let mut failure = None;
        let done = commands::execute(&mut session.debugger, &wanted.expression, &mut |debugger| {
            handle_while_running(line, marks, debugger, has_console).unwrap_or_else(|error| {
                failure = Some(error);
                true
            })
        });
        failure.map_or(Ok(()), Err)?;
        let said = done.as_ref().map(|done| commands::report(&session.debugger, done));
        let said = said.map_err(Clone::clone);
        let answer =
            said.map(|text| serde_json::json!({ "result": text, "variablesReference": 0 }));
        self.line.respond(request, answer)?;
        match done {
            Ok(CommandOutcome::Halted(halt)) => self.stopped(halt),
            Ok(CommandOutcome::Output(_)) => {
                let areas = serde_json::json!({ "areas": ["variables", "stacks"] });
                self.line.event("invalidated", areas)
            }
            _ => Ok(()),
        }
    }

    /// Answers from what the debugger knows.
    fn ask(&mut self, request: &Request) -> ResponseBody {
        let session = self.session.as_mut().ok_or_else(nothing)?;
        queries::answer(&mut session.debugger, &mut self.marks, request)
    }

    fn stopped(&mut self, halt: HaltReason) -> io::Result<()> {
        let Some(session) = &self.session else { return Ok(()) };
        if session.has_console {
            self.line.print(session.debugger.output())?;
        }
        let reason = match halt {
            HaltReason::Step => "step",
            HaltReason::Breakpoint => self.marks.reason(&session.debugger),
            HaltReason::Watchpoint(_) => "data breakpoint",
            HaltReason::Idle
            | HaltReason::Paused
            | HaltReason::TargetError
            | HaltReason::TwinCaughtUp => "pause",
            HaltReason::HistoryStart => "entry",
        };
        let text = match halt {
            HaltReason::HistoryStart if !self.ran => String::new(),
            HaltReason::Paused => String::new(),
            halt => render::describe(&session.debugger, halt),
        };
        let hits = breakpoints::hits(&session.debugger, halt);
        self.stopped_with(reason, text, hits)
    }

    fn stopped_with(
        &mut self,
        reason: &'static str,
        text: String,
        hit_breakpoint_ids: Vec<u32>,
    ) -> io::Result<()> {
        self.ran = true;
        let stopped = Stopped {
            reason,
            thread_id: THREAD,
            all_threads_stopped: true,
            description: text.clone(),
            text,
            hit_breakpoint_ids,
        };
        self.line.event("stopped", body(&stopped).unwrap_or_default())
    }
}

fn nothing() -> String {
    "nothing is launched yet".to_owned()
}

/// Answers what the client asks while the board runs; returns whether it is to stop.
fn handle_while_running(
    line: &mut Line<'_>,
    marks: &mut ClientBreakpoints,
    debugger: &mut Debugger,
    has_console: bool,
) -> io::Result<bool> {
    if has_console && !debugger.in_reverse_search {
        line.print(debugger.output())?;
    }
    while let Some(request) = line.inbox.take() {
        let request = match request {
            Ok(Some(request)) => request,
            // The stream has ended: that is for the one who waits for requests to find.
            other => {
                line.inbox.put_back(other);
                return Ok(true);
            }
        };
        match request.command.as_str() {
            "disconnect" | "terminate" => {
                line.inbox.put_back(Ok(Some(request)));
                return Ok(true);
            }
            "pause" => {
                line.respond(&request, Ok(Value::Null))?;
                return Ok(true);
            }
            command if motion(command, &request).is_some() => {
                line.respond(&request, Err("the board runs already".to_owned()))?;
            }
            "setVariable" | "writeMemory" | "evaluate" => {
                line.respond(&request, Err("the board runs; pause it first".to_owned()))?;
            }
            _ => {
                let answer = queries::answer(debugger, marks, &request);
                line.respond(&request, answer)?;
            }
        }
    }
    Ok(false)
}

/// The motion that a request asks for, if it asks for one.
fn motion(command: &str, request: &Request) -> Option<ExecCommand> {
    let step: Step = request.arguments().unwrap_or_default();
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
