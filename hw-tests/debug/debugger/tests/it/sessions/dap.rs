//! Sessions over the Debug Adapter Protocol.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::thread::JoinHandle;

use board_debugger::dap::{LaunchedSession, serve};
use serde_json::{Value, json};

use super::debugger;
use super::table::{Breakpoint, Motion, PROGRAM, Session, Stop};

/// A client of a server on a thread.
pub(super) struct Client {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    server: Option<JoinHandle<()>>,
    seq: u64,
    log: Vec<String>,
}

impl Client {
    fn start() -> Self {
        let (requests, input) = pipe().expect("a pipe");
        let (output, mut replies) = pipe().expect("a pipe");
        let server = std::thread::spawn(move || {
            serve(BufReader::new(requests), &mut replies, &|_, _| Ok(launched()))
                .unwrap_or_else(|error| panic!("{error}"));
        });
        let output = BufReader::new(output);
        Self { input: Some(input), output, server: Some(server), seq: 0, log: Vec::new() }
    }

    fn message(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).expect("a header");
        let length = header.trim().strip_prefix("Content-Length: ").expect("a length");
        let mut body = vec![0; length.parse::<usize>().expect("a number") + 2];
        self.output.read_exact(&mut body).expect("a message");
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        if message["event"] == "output" {
            let text = message["body"]["output"].as_str().expect("a text");
            self.log.extend(text.lines().map(str::to_owned));
        }
        message
    }

    /// Sends a request, and returns the body of its response.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let request = json!({ "seq": self.seq, "command": command, "arguments": arguments });
        let text = request.to_string();
        let input = self.input.as_mut().expect("it is open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("sent");
        loop {
            let message = self.message();
            if message["type"] == "response" {
                assert_eq!(message["success"], true, "{request}: {message}");
                return message["body"].clone();
            }
        }
    }

    fn wait_for_stop(&mut self) {
        while self.message()["event"] != "stopped" {}
    }

    fn value(&mut self, expression: &str) -> u16 {
        let arguments = json!({ "expression": expression, "context": "watch" });
        let body = self.ask("evaluate", arguments);
        let reference = body["memoryReference"].as_str().expect("a value");
        u16::from_str_radix(reference.trim_start_matches("0x"), 16).expect("a number")
    }

    fn stop(&mut self) -> Stop {
        let frames = self.ask("stackTrace", json!({ "threadId": 1 }));
        let place = frames["stackFrames"][0]["name"].as_str().expect("a name").to_owned();
        let (b, hl) = (self.value("B"), self.value("HL"));
        Stop { place, b, hl, log: std::mem::take(&mut self.log) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn launched() -> LaunchedSession {
    LaunchedSession {
        debugger: debugger(PROGRAM),
        warnings: Vec::new(),
        message: None,
        runs: false,
        has_console: false,
    }
}

/// Sets breakpoints in the debug console.
pub(super) fn set_by_commands(client: &mut Client, breakpoints: &[Breakpoint]) {
    for breakpoint in breakpoints {
        let line = breakpoint.command();
        client.ask("evaluate", json!({ "expression": line, "context": "repl" }));
    }
}

/// Sets breakpoints as an editor does, which sends all of a file at once.
pub(super) fn set_in_editor(client: &mut Client, breakpoints: &[Breakpoint]) {
    let fields = |breakpoint: &Breakpoint| {
        json!({
            "line": breakpoint.line(), "condition": breakpoint.condition,
            "hitCondition": breakpoint.hits, "logMessage": breakpoint.log
        })
    };
    let all: Vec<Value> = breakpoints.iter().map(fields).collect();
    let source = json!({ "path": "program.asm" });
    let set = client.ask("setBreakpoints", json!({ "source": source, "breakpoints": all }));
    let set = set["breakpoints"].as_array().expect("a list");
    assert!(set.iter().all(|one| one["verified"] == true), "{set:?}");
}

pub(super) fn play(session: &Session, set: fn(&mut Client, &[Breakpoint])) -> Vec<Stop> {
    let mut client = Client::start();
    client.ask("launch", json!({}));
    set(&mut client, session.breakpoints);
    client.ask("configurationDone", json!({}));
    client.wait_for_stop();
    let mut play = |(motion, _): &(Motion, _)| {
        let request = match motion {
            Motion::Run => "continue",
            Motion::RunBack => "reverseContinue",
            Motion::Step => "stepIn",
            Motion::StepBack => "stepBack",
        };
        client.ask(request, json!({ "threadId": 1, "granularity": "instruction" }));
        client.wait_for_stop();
        client.stop()
    };
    session.motions.iter().map(&mut play).collect()
}
