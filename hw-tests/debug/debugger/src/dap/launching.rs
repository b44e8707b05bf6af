//! Starts sessions: `launch` and `restart`, until the first stop.

use std::io;

use serde_json::{Value, json};

use super::breakpoints::ClientBreakpoints;
use super::types::Request;
use super::{Adapter, not_launched};
use crate::{ExecCommand, HaltReason};

impl Adapter<'_> {
    /// Handles `restart`: launches the program again, which assembles changed sources; the client
    /// then sets its breakpoints again. If that fails, the session stays as it is. A board on a
    /// serial line is restarted with the same program.
    pub(super) fn restart(&mut self, request: &Request) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return self.client.respond(request, Err(not_launched()));
        };
        if session.debugger.has_target() {
            let halt = session.debugger.restart();
            if let Some(problem) = session.debugger.last_error() {
                return self.client.respond(request, Err(problem));
            }
            self.client.respond(request, Ok(Value::Null))?;
            return self.stopped(halt);
        }
        // The launch configuration as it is now.
        let given = request.arguments.get("arguments").filter(|given| !given.is_null());
        let arguments = given.unwrap_or(&self.launched).clone();
        self.launch(request, arguments)
    }

    /// Handles `launch`: runs the board to its entry point; the client can cancel that.
    pub(super) fn launch(&mut self, request: &Request, mut arguments: Value) -> io::Result<()> {
        if arguments.is_null() {
            arguments = json!({});
        }
        let inbox = &mut self.client.request_reader;
        let session = match (self.launch)(arguments.clone(), &mut |_| inbox.wants_stop()) {
            Ok(session) => session,
            Err(message) => return self.client.respond(request, Err(message)),
        };
        for warning in &session.warnings {
            self.client.show("important", &format!("{warning}\n"))?;
        }
        self.session = Some(session);
        self.launched = arguments;
        self.breakpoints = ClientBreakpoints::default();
        self.has_stopped_before = false;
        self.client.printed = 0;
        self.client.respond(request, Ok(Value::Null))?;
        self.client.event("initialized", Value::Null)
    }

    /// After the client has set its breakpoints: reports the stop at the entry point, or continues.
    pub(super) fn first_stop(&mut self) -> io::Result<()> {
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
                self.client.show("important", &format!("{message}\n"))?;
                self.stopped_with("pause", &message, &[])
            }
        }
    }
}
