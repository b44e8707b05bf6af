//! The Debug Adapter Protocol (1.65) over two streams: what editors speak to debuggers.
//!
//! Messages are JSON behind a `Content-Length` header. There is one thread, the processor, and one frame for it and each caller
//! that can be told from the stack.

mod answers;
mod message;
mod show;

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use super::debugger::{Debugger, Halt};
use answers::{Answer, Marks};

/// The number of our one thread.
const THREAD: u64 = 1;

/// Makes the debugger of a session: position and square from the arguments of `launch`, or why there is none.
pub type Launch<'a> = &'a dyn Fn(&Value) -> Result<Debugger, String>;

/// Serves a client until it disconnects or hangs up.
///
/// # Errors
/// A stream fails, or what comes is no message.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    launch: Launch<'_>,
) -> io::Result<()> {
    let mut adapter =
        Adapter { output, launch, debugger: None, marks: Marks::default(), seq: 0, last: None };
    while let Some(request) = message::read(input)? {
        if !adapter.serve(&request)? {
            break;
        }
    }
    Ok(())
}

/// The state of a session.
struct Adapter<'a> {
    output: &'a mut dyn Write,
    launch: Launch<'a>,
    debugger: Option<Debugger>,
    marks: Marks,
    seq: u64,
    /// Why the board stands, for `exceptionInfo` and the like.
    last: Option<Halt>,
}

impl Adapter<'_> {
    /// Answers a request; whether the session goes on.
    fn serve(&mut self, request: &Value) -> io::Result<bool> {
        let command = request["command"].as_str().unwrap_or_default();
        let arguments = &request["arguments"];
        let answer = match command {
            "initialize" => Ok(capabilities()),
            "launch" | "attach" => (self.launch)(arguments).map(|debugger| {
                self.debugger = Some(debugger);
                Value::Null
            }),
            "disconnect" | "terminate" => Ok(Value::Null),
            "configurationDone" => Ok(Value::Null),
            _ => self.ask(command, arguments),
        };
        let running = is_running(command) && answer.is_ok();
        self.respond(request, answer.clone())?;
        match command {
            "launch" | "attach" if answer.is_ok() => self.event("initialized", &Value::Null)?,
            "configurationDone" => self.stopped("entry")?,
            "disconnect" | "terminate" => return Ok(false),
            _ => {}
        }
        if running {
            let reason = self.run(command, arguments);
            self.stopped(reason)?;
        }
        Ok(true)
    }

    /// What the debugger knows.
    fn ask(&mut self, command: &str, arguments: &Value) -> Answer {
        let Some(debugger) = &mut self.debugger else {
            return Err("nothing is launched yet".to_owned());
        };
        if is_running(command) {
            return Ok(json!({ "allThreadsContinued": true }));
        }
        answers::answer(debugger, &mut self.marks, command, arguments)
    }

    /// Runs on, in either direction, and tells why the board stands again.
    fn run(&mut self, command: &str, arguments: &Value) -> &'static str {
        let Some(debugger) = &mut self.debugger else { return "pause" };
        let by_instruction = arguments["granularity"] == "instruction";
        let halt = match (command, by_instruction) {
            ("next", true) => debugger.step_over(),
            ("next", false) => debugger.step_line(false),
            ("stepIn", true) => debugger.step(),
            ("stepIn", false) => debugger.step_line(true),
            ("stepOut", _) => debugger.step_out(),
            ("stepBack", true) => debugger.step_back(),
            ("stepBack", false) => debugger.step_line_back(),
            ("reverseContinue", _) => debugger.go_back(),
            _ => debugger.go(|| false),
        };
        self.last = Some(halt);
        match halt {
            Halt::Step => "step",
            Halt::Breakpoint => "breakpoint",
            Halt::Watchpoint(..) => "data breakpoint",
            Halt::Idle | Halt::Paused => "pause",
            Halt::Start => "entry",
        }
    }

    fn stopped(&mut self, reason: &str) -> io::Result<()> {
        let text = match self.last {
            Some(Halt::Idle) => "the board waits for the host, and nothing more will come",
            Some(Halt::Start) => "the known past begins here",
            _ => "",
        };
        let body = json!({
            "reason": reason, "threadId": THREAD, "allThreadsStopped": true, "description": text, "text": text
        });
        self.event("stopped", &body)
    }

    fn respond(&mut self, request: &Value, answer: Answer) -> io::Result<()> {
        let mut response = json!({
            "type": "response", "request_seq": request["seq"], "command": request["command"], "success": answer.is_ok()
        });
        match answer {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(message) => response["message"] = message.into(),
        }
        self.send(response)
    }

    fn event(&mut self, event: &str, body: &Value) -> io::Result<()> {
        self.send(json!({ "type": "event", "event": event, "body": body }))
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        message::write(self.output, &message)
    }
}

/// Requests after which the board runs.
fn is_running(command: &str) -> bool {
    ["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue"].contains(&command)
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsDisassembleRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsSetVariable": true
    })
}
