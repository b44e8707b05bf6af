//! Starts sessions: `launch` and `restart`, until the first stop.

use serde_json::{Value, json};

use super::breakpoints::ClientBreakpoints;
use super::{Adapter, Next, not_launched};
use crate::{ExecCommand, HaltReason};

impl Adapter<'_> {
    /// Handles `restart`: launches the program again, which assembles changed sources; the client
    /// then sets its breakpoints again. If that fails, the session stays as it is. A board on a
    /// serial line is restarted with the same program.
    pub(super) fn restart(&mut self, arguments: &Value) -> Result<(Value, Next), String> {
        let session = self.session.as_mut().ok_or_else(not_launched)?;
        if session.debugger.boards.target.is_some() {
            let halt = session.debugger.restart();
            let problem = session.debugger.last_error();
            return problem.map_or(Ok((Value::Null, Next::Stopped(halt))), Err);
        }
        // The launch configuration as it is now.
        let given = arguments.get("arguments").filter(|given| !given.is_null());
        self.launch(given.unwrap_or(&self.launched).clone())
    }

    /// Handles `launch`: runs the board to its entry point; the client can cancel that.
    pub(super) fn launch(&mut self, mut arguments: Value) -> Result<(Value, Next), String> {
        if arguments.is_null() {
            arguments = json!({});
        }
        let inbox = &mut self.client.request_reader;
        let mut session = (self.launch)(arguments.clone(), &mut |_| inbox.wants_stop())?;
        let warnings = std::mem::take(&mut session.warnings);
        self.session = Some(session);
        self.launched = arguments;
        self.breakpoints = ClientBreakpoints::default();
        self.has_stopped_before = false;
        self.client.printed = 0;
        Ok((Value::Null, Next::Initialized(warnings)))
    }

    /// After the client has set its breakpoints: reports the stop at the entry point, or continues.
    pub(super) fn first_stop(&mut self) {
        let Some(session) = &mut self.session else { return };
        if std::mem::take(&mut session.runs) {
            // `Continue` executes an instruction before it checks for breakpoints.
            return match session.debugger.is_stopped_by_breakpoint() {
                true => self.stopped(HaltReason::Breakpoint),
                false => self.run(ExecCommand::Continue),
            };
        }
        match session.message.take() {
            None => self.stopped(HaltReason::HistoryStart),
            Some(message) => {
                self.client.show("important", &message);
                self.stopped_with("pause", &message, &[]);
            }
        }
    }
}
