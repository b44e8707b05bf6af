//! Requests that run the board, those that arrive meanwhile, and the stops.

use std::io;

use board_simulator::Registers;
use serde_json::{Value, json};

use super::breakpoints::{self, ClientBreakpoints};
use super::output::Output;
use super::response::{ResponseBody, THREAD_ID};
use super::types::{Arguments, Request};
use super::{Adapter, LaunchedSession, not_launched, queries};
use crate::commands::{self, CommandOutcome};
use crate::debugger::ShouldStop;
use crate::{Debugger, ExecCommand, HaltReason, Motion, render};

impl Adapter<'_> {
    /// Responds that the board runs, runs it, and reports why it stopped.
    pub(super) fn resume(&mut self, request: &Request, command: ExecCommand) -> io::Result<()> {
        if self.session.is_none() {
            return self.client.respond(request, Err(not_launched()));
        }
        let all = json!({ "allThreadsContinued": true });
        let is_continue = matches!(command, ExecCommand::Continue | ExecCommand::ReverseContinue);
        self.client.respond(request, Ok(if is_continue { all } else { Value::Null }))?;
        self.run(command)
    }

    pub(super) fn run(&mut self, command: ExecCommand) -> io::Result<()> {
        let halt =
            self.run_by(|debugger, should_stop| commands::run(debugger, command, should_stop))?;
        halt.map_or(Ok(()), |halt| self.stopped(halt))
    }

    /// Executes what may run the board, and handles the requests that arrive meanwhile. Without a
    /// session, returns `None`.
    fn run_by<R>(
        &mut self,
        action: impl FnOnce(&mut Debugger, ShouldStop<'_>) -> R,
    ) -> io::Result<Option<R>> {
        let Self { client, session, breakpoints, .. } = self;
        let Some(LaunchedSession { debugger, has_console, .. }) = session else { return Ok(None) };
        let mut handled = Ok(false);
        let outcome = action(debugger, &mut |debugger| {
            handled = handle_while_running(client, breakpoints, debugger, *has_console);
            *handled.as_ref().unwrap_or(&true)
        });
        handled.map(|_| Some(outcome))
    }

    /// Handles `evaluate`: an expression; in the console also a command, which may run the board.
    pub(super) fn evaluate(&mut self, request: &Request) -> io::Result<()> {
        let value = self.session.as_ref().ok_or_else(not_launched).and_then(|session| {
            let Arguments { context, expression, .. } = request.arguments()?;
            let value = queries::evaluate(&session.debugger, &expression);
            // An expression takes precedence over a command: `C` is the register more often than
            // the abbreviation.
            let is_command = value.is_err() && context.as_deref() == Some("repl");
            Ok(if is_command { Err(expression) } else { Ok(value) })
        });
        let line = match value {
            Ok(Err(line)) => line,
            Ok(Ok(value)) => return self.client.respond(request, value),
            Err(message) => return self.client.respond(request, Err(message)),
        };
        let outcome = self.run_by(|debugger, should_stop| {
            let outcome = commands::execute(debugger, &line, should_stop)?;
            Ok((commands::outcome_text(debugger, &outcome), outcome))
        })?;
        match outcome.unwrap_or_else(|| Err(not_launched())) {
            Err(message) => self.client.respond(request, Err(message)),
            Ok((text, outcome)) => {
                let answer = json!({ "result": text, "variablesReference": 0 });
                self.client.respond(request, Ok(answer))?;
                match outcome {
                    CommandOutcome::Halted(halt) => self.stopped(halt),
                    CommandOutcome::Output(_) => {
                        let areas = json!({ "areas": ["variables", "stacks"] });
                        self.client.event("invalidated", areas)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Handles `goto`: sets PC.
    pub(super) fn go_to(&mut self, request: &Request) -> io::Result<()> {
        let moved = self.session.as_mut().ok_or_else(not_launched).and_then(|session| {
            session.debugger.can_modify()?;
            let Arguments { target_id, .. } = request.arguments()?;
            let pc = target_id.ok_or("no target given")?;
            let registers = session.debugger.registers();
            session.debugger.set_registers(&Registers { pc, ..registers });
            Ok(Value::Null)
        });
        let is_moved = moved.is_ok();
        self.client.respond(request, moved)?;
        if is_moved { self.stopped_with("goto", "", &[]) } else { Ok(()) }
    }

    pub(super) fn stopped(&mut self, halt: HaltReason) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        self.client.log(&mut session.debugger)?;
        if session.has_console {
            self.client.print(session.debugger.output())?;
        }
        let exception = exception_id(&session.debugger, halt);
        let reason = match halt {
            _ if exception.is_some() => "exception",
            HaltReason::Completed => "step",
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
        self.stopped_with(reason, &text, &hits)?;
        self.exception = exception.map(|id| (id, text));
        Ok(())
    }

    /// Handles `exceptionInfo`.
    pub(super) fn exception_info(&self) -> ResponseBody {
        let none = || "no exception has stopped the board".to_owned();
        let (id, description) = self.exception.as_ref().ok_or_else(none)?;
        Ok(json!({
            "exceptionId": id, "description": description, "breakMode": "always"
        }))
    }

    pub(super) fn stopped_with(
        &mut self,
        reason: &str,
        text: &str,
        hit_breakpoint_ids: &[u32],
    ) -> io::Result<()> {
        self.has_stopped_before = true;
        self.exception = None;
        let text = Some(text).filter(|text| !text.is_empty());
        let hits = Some(hit_breakpoint_ids).filter(|ids| !ids.is_empty());
        let stopped = json!({
            "reason": reason, "threadId": THREAD_ID, "allThreadsStopped": true,
            "description": text, "text": text, "hitBreakpointIds": hits
        });
        self.client.event("stopped", stopped)
    }
}

/// The id of a stop after which the program can't continue; `None` for other stops.
fn exception_id(debugger: &Debugger, halt: HaltReason) -> Option<&'static str> {
    match halt {
        HaltReason::Idle if !debugger.interrupt_state().0 => Some("halted"),
        HaltReason::TargetError => Some("board"),
        _ => None,
    }
}

/// Handles the requests that arrive while the board runs; returns `true` if it must stop.
fn handle_while_running(
    client: &mut Output<'_>,
    breakpoints: &mut ClientBreakpoints,
    debugger: &mut Debugger,
    has_console: bool,
) -> io::Result<bool> {
    client.log(debugger)?;
    if has_console && !debugger.in_reverse_search {
        client.print(debugger.output())?;
    }
    while let Some(request) = client.request_reader.try_next() {
        let request = match request {
            Ok(Some(request)) => request,
            // The end of the stream or an error: the main loop handles it.
            other => {
                client.request_reader.put_back(other);
                return Ok(true);
            }
        };
        match request.command.as_str() {
            "disconnect" | "terminate" | "restart" => {
                client.request_reader.put_back(Ok(Some(request)));
                return Ok(true);
            }
            "pause" => {
                client.respond(&request, Ok(Value::Null))?;
                return Ok(true);
            }
            command if exec_command(command, &request).is_some() => {
                client.respond(&request, Err("the board is already running".to_owned()))?;
            }
            "setVariable" | "setExpression" | "writeMemory" | "evaluate" | "goto"
            | "exceptionInfo" => {
                client.respond(&request, Err("the board is running; pause it first".to_owned()))?;
            }
            _ => {
                let answer = queries::handle(debugger, breakpoints, &request);
                client.respond(&request, answer)?;
            }
        }
    }
    Ok(false)
}

/// The command that a request runs the board with; `None` for other requests.
pub(super) fn exec_command(command: &str, request: &Request) -> Option<ExecCommand> {
    let step: Arguments = request.arguments().unwrap_or_default();
    Motion::by_dap(command, step.granularity.as_deref() == Some("instruction"))?.plain()
}
