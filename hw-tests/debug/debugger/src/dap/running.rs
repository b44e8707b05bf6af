//! Requests that run the board, those that arrive meanwhile, and the stops.

use board_simulator::Registers;
use serde_json::{Value, json};

use super::breakpoints::ClientBreakpoints;
use super::output::Output;
use super::response::{ResponseBody, THREAD_ID};
use super::types::{Arguments, Request};
use super::{Adapter, LaunchedSession, Next, not_launched, queries};
use crate::commands::{self, CommandOutcome};
use crate::{Debugger, ExecCommand, HaltReason, Motion, ShouldStop, render};

impl Adapter<'_> {
    /// Runs the board, and reports why it stopped.
    pub(super) fn run(&mut self, command: ExecCommand) {
        let halt =
            self.run_by(|debugger, should_stop| Ok(commands::run(debugger, command, should_stop)));
        if let Ok(halt) = halt {
            self.stopped(halt);
        }
    }

    /// Executes what may run the board, and handles the requests that arrive meanwhile.
    fn run_by<R>(
        &mut self,
        action: impl FnOnce(&mut Debugger, ShouldStop<'_>) -> Result<R, String>,
    ) -> Result<R, String> {
        let Self { client, session, breakpoints, .. } = self;
        let LaunchedSession { debugger, has_console, .. } =
            session.as_mut().ok_or_else(not_launched)?;
        action(debugger, &mut |debugger| {
            handle_while_running(client, breakpoints, debugger, *has_console)
        })
    }

    /// Handles `evaluate`: an expression; in the console also a command, which may run the board.
    pub(super) fn evaluate(&mut self, request: &Request) -> Result<(Value, Next), String> {
        let session = self.session.as_ref().ok_or_else(not_launched)?;
        let Arguments { context, expression, .. } = request.arguments()?;
        let value = queries::evaluate(&session.debugger, &expression);
        // An expression takes precedence over a command: `C` is the register more often than the
        // abbreviation.
        if value.is_ok() || context.as_deref() != Some("repl") {
            return Ok((value?, Next::Nothing));
        }
        let (text, outcome) = self.run_by(|debugger, should_stop| {
            let outcome = commands::execute(debugger, &expression, should_stop)?;
            Ok((commands::outcome_text(debugger, &outcome), outcome))
        })?;
        let next = match outcome {
            CommandOutcome::Halted(halt) => Next::Stopped(halt),
            CommandOutcome::Output(_) => {
                Next::Event("invalidated", json!({ "areas": ["variables", "stacks"] }))
            }
            _ => Next::Nothing,
        };
        Ok((json!({ "result": text, "variablesReference": 0 }), next))
    }

    /// Handles `goto`: sets PC.
    pub(super) fn go_to(&mut self, request: &Request) -> Result<(Value, Next), String> {
        let debugger = &mut self.session.as_mut().ok_or_else(not_launched)?.debugger;
        debugger.can_modify()?;
        let Arguments { target_id, .. } = request.arguments()?;
        let pc = target_id.ok_or("no target given")?;
        debugger.set_registers(&Registers { pc, ..debugger.registers() });
        Ok((Value::Null, Next::PcSet))
    }

    pub(super) fn stopped(&mut self, halt: HaltReason) {
        let Some(session) = &mut self.session else { return };
        self.client.log(&mut session.debugger);
        if session.has_console {
            self.client.print(session.debugger.output());
        }
        let exception = exception_id(&session.debugger, halt);
        let halting = || session.debugger.stops.halting().map(|(id, _)| id).collect();
        let (reason, hits) = match halt {
            _ if exception.is_some() => ("exception", Vec::new()),
            HaltReason::Completed => ("step", Vec::new()),
            HaltReason::Breakpoint => (self.breakpoints.reason(&session.debugger), halting()),
            HaltReason::Watchpoint(hit) => ("data breakpoint", vec![hit.id]),
            HaltReason::HistoryStart => ("entry", Vec::new()),
            HaltReason::Idle
            | HaltReason::NeverChanged(_)
            | HaltReason::Paused
            | HaltReason::TargetError
            | HaltReason::TwinCaughtUp => ("pause", Vec::new()),
        };
        let text = match halt {
            HaltReason::HistoryStart if !self.has_stopped_before => String::new(),
            HaltReason::Paused => String::new(),
            halt => render::describe_halt(&session.debugger, halt),
        };
        self.stopped_with(reason, &text, &hits);
        self.exception = exception.map(|id| (id, text));
    }

    /// Handles `exceptionInfo`.
    pub(super) fn exception_info(&self) -> ResponseBody {
        let none = || "no exception has stopped the board".to_owned();
        let (id, description) = self.exception.as_ref().ok_or_else(none)?;
        Ok(json!({ "exceptionId": id, "description": description, "breakMode": "always" }))
    }

    pub(super) fn stopped_with(&mut self, reason: &str, text: &str, hit_breakpoint_ids: &[u32]) {
        self.has_stopped_before = true;
        self.exception = None;
        let text = Some(text).filter(|text| !text.is_empty());
        let hits = Some(hit_breakpoint_ids).filter(|ids| !ids.is_empty());
        let stopped = json!({
            "reason": reason, "threadId": THREAD_ID, "allThreadsStopped": true,
            "description": text, "text": text, "hitBreakpointIds": hits
        });
        self.client.event("stopped", stopped);
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
) -> bool {
    client.log(debugger);
    if has_console && !debugger.in_reverse_search {
        client.print(debugger.output());
    }
    while let Some(request) = client.request_reader.try_next() {
        let ends = |request: &Request| {
            ["disconnect", "terminate", "restart"].contains(&request.command.as_str())
        };
        let request = match request {
            Ok(Some(request)) if !ends(&request) => request,
            // The main loop handles these, the end of the stream and an error.
            other => {
                client.request_reader.put_back(other);
                return true;
            }
        };
        let answer = match request.command.as_str() {
            "setVariable" | "setExpression" | "writeMemory" | "evaluate" | "goto"
            | "exceptionInfo" => Err("the board is running; pause it first".to_owned()),
            command if exec_command(command, &request).is_some() => {
                Err("the board is already running".to_owned())
            }
            _ => queries::handle(debugger, breakpoints, &request),
        };
        client.respond(&request, answer);
        if request.command == "pause" {
            return true;
        }
    }
    client.error.is_some()
}

/// The command that a request runs the board with; `None` for other requests.
pub(super) fn exec_command(command: &str, request: &Request) -> Option<ExecCommand> {
    let step: Arguments = request.arguments().unwrap_or_default();
    Motion::by_dap(command, step.granularity.as_deref() == Some("instruction"))?.plain()
}

/// The body of the response to a request that runs the board.
pub(super) fn continued(command: ExecCommand) -> Value {
    let is_long = matches!(command, ExecCommand::Continue | ExecCommand::ReverseContinue);
    if is_long { json!({ "allThreadsContinued": true }) } else { Value::Null }
}
