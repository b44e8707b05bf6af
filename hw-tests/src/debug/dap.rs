//! The Debug Adapter Protocol (1.65) over two streams: what editors speak to debuggers.
//!
//! Messages are JSON behind a `Content-Length` header. There is one thread, the processor, and one frame for it and each caller
//! that can be told from the stack.

mod answers;
mod inbox;
mod message;
mod show;

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use super::debugger::{Debugger, Halt};
use answers::{Answer, Marks};
use inbox::Inbox;

/// The number of our one thread.
const THREAD: u64 = 1;

/// Makes the debugger of a session: position and square from the arguments of `launch`, or why there is none.
pub type Launch<'a> = &'a dyn Fn(&Value) -> Result<Debugger, String>;

/// Serves a client until it disconnects or hangs up.
///
/// # Errors
/// A stream fails, or what comes is no message.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    launch: Launch<'_>,
) -> io::Result<()> {
    let (inbox, marks) = (Inbox::of(input), Marks::default());
    let mut adapter = Adapter { inbox, output, launch, debugger: None, marks, seq: 0, ran: false };
    while let Some(request) = adapter.inbox.next()? {
        if !adapter.serve(&request)? {
            break;
        }
    }
    Ok(())
}

/// The state of a session.
struct Adapter<'a> {
    inbox: Inbox,
    output: &'a mut dyn Write,
    launch: Launch<'a>,
    debugger: Option<Debugger>,
    marks: Marks,
    seq: u64,
    /// Whether it has stopped before.
    ran: bool,
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
            "configurationDone" => self.stopped(Halt::Start)?,
            "disconnect" | "terminate" => return Ok(false),
            _ => {}
        }
        if running {
            let halt = match command {
                "continue" => self.run_on()?,
                _ => self.step(command, arguments),
            };
            self.stopped(halt)?;
        }
        Ok(true)
    }

    /// Runs on until there is a reason to stop, and answers what the client asks meanwhile.
    fn run_on(&mut self) -> io::Result<Halt> {
        loop {
            let Some(debugger) = &mut self.debugger else { return Ok(Halt::Paused) };
            let halt = debugger.go(|| self.inbox.has_some());
            if halt != Halt::Paused {
                return Ok(halt);
            }
            let Some(request) = self.inbox.next_unless(ends)? else { return Ok(Halt::Paused) };
            let command = request["command"].as_str().unwrap_or_default();
            let answer = match command {
                _ if is_running(command) => Err("the board runs already".to_owned()),
                _ => self.ask(command, &request["arguments"]),
            };
            self.respond(&request, answer)?;
            if command == "pause" {
                return Ok(Halt::Paused);
            }
        }
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

    /// Goes a step, or back to a reason to stop.
    fn step(&mut self, command: &str, arguments: &Value) -> Halt {
        let Some(debugger) = &mut self.debugger else { return Halt::Paused };
        let by_instruction = arguments["granularity"] == "instruction";
        match (command, by_instruction) {
            ("next", true) => debugger.step_over(),
            ("next", false) => debugger.step_line(false),
            ("stepIn", true) => debugger.step(),
            ("stepIn", false) => debugger.step_line(true),
            ("stepOut", _) => debugger.step_out(),
            ("stepBack", true) => debugger.step_back(),
            ("stepBack", false) => debugger.step_line_back(),
            _ => debugger.go_back(),
        }
    }

    fn stopped(&mut self, halt: Halt) -> io::Result<()> {
        let reason = match halt {
            Halt::Step => "step",
            Halt::Breakpoint => "breakpoint",
            Halt::Watchpoint(..) => "data breakpoint",
            Halt::Idle | Halt::Paused => "pause",
            Halt::Start => "entry",
        };
        let text = match halt {
            Halt::Idle => "the board waits for the host, and nothing more will come",
            Halt::Start if self.ran => "the known past begins here",
            _ => "",
        };
        self.ran = true;
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

/// Whether a request ends the session.
fn ends(request: &Value) -> bool {
    request["command"] == "disconnect" || request["command"] == "terminate"
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
