//! The Debug Adapter Protocol: a client of the real program.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use sargon_reference::{Square, evaluate, parse_fen};
use serde_json::{Value, json};

use crate::debugger::FIGURE_1;

/// A running `hw-inspect dap` with its streams.
pub(crate) struct Client {
    pub(crate) process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    seq: u64,
    /// Events that arrived before an awaited response.
    events: Vec<Value>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Client {
    pub(crate) fn start() -> Self {
        Self::start_in(Path::new("."))
    }

    /// An adapter whose current folder is this one.
    pub(crate) fn start_in(folder: &Path) -> Self {
        let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
        let command = command.current_dir(folder);
        let streams = command.arg("dap").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = streams.spawn().expect("it starts");
        let input = process.stdin.take().expect("its input");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        Self { process, input, output, seq: 0, events: Vec::new() }
    }

    /// A session at XCHNG for e5 of Figure 1.
    fn launched() -> Self {
        let mut client = Self::start();
        let capabilities = client.ask("initialize", json!({ "adapterID": "z80" }));
        assert_eq!(capabilities["supportsStepBack"], true);
        client.ask("launch", json!({ "fen": FIGURE_1, "square": "e5" }));
        assert_eq!(client.event("initialized")["event"], "initialized");
        client
    }

    pub(crate) fn send(&mut self, command: &str, arguments: Value) {
        self.seq += 1;
        let request = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let text = request.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("sent");
        self.input.flush().expect("sent");
    }

    fn message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "it has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a message");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The response to a request.
    pub(crate) fn response(&mut self, command: &str, arguments: Value) -> Value {
        self.send(command, arguments);
        loop {
            let message = self.message();
            if message["type"] == "response" {
                assert_eq!(
                    (&message["request_seq"], &message["command"]),
                    (&self.seq.into(), &command.into())
                );
                return message;
            }
            self.events.push(message);
        }
    }

    /// The body of the response to a request that must succeed.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.response(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The response to a request that must succeed; skips responses to earlier requests.
    pub(crate) fn ask_after_others(&mut self, command: &str, arguments: Value) {
        self.send(command, arguments);
        loop {
            let message = self.message();
            if message["type"] == "response" && message["command"] == command {
                assert_eq!(message["success"], true, "{message}");
                return;
            }
        }
    }

    /// The next event of a kind.
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        loop {
            let event = if self.events.is_empty() { self.message() } else { self.events.remove(0) };
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// Sends a command that runs the board; returns the reason of the stop and the name of its
    /// place.
    fn run(&mut self, command: &str, arguments: Value) -> (String, String) {
        self.ask(command, arguments);
        let reason =
            self.event("stopped")["body"]["reason"].as_str().unwrap_or_default().to_owned();
        (reason, self.frames()[0]["name"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn frames(&mut self) -> Vec<Value> {
        self.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// The reference of a variable in a scope.
    fn variable(&mut self, scope: &str, name: &str) -> u64 {
        let scopes = self.ask("scopes", json!({ "frameId": 0 }));
        let found = scopes["scopes"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one["name"] == scope).cloned());
        let reference = found.expect("the scope")["variablesReference"].clone();
        let all = self.ask("variables", json!({ "variablesReference": reference }));
        let one = all["variables"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one["name"] == name).cloned());
        let value = one.unwrap_or_else(|| panic!("no {name} in {all}"))["value"].clone();
        let text = value.as_str().expect("text");
        let decimal = text.split_once('(').map_or(text, |(_, rest)| rest.trim_end_matches(')'));
        decimal.parse().expect("a number")
    }
}

fn at(reason: &str, place: &str) -> (String, String) {
    (reason.to_owned(), place.to_owned())
}

#[test]
fn a_client_stops_in_xchng_reads_table_2_and_steps_back_to_atksav() {
    let mut client = Client::launched();
    client.ask("configurationDone", json!({}));
    assert_eq!(client.event("stopped")["body"]["reason"], "entry");
    let frames = client.frames();
    assert_eq!(
        (&frames[0]["name"], &frames[0]["source"]["name"]),
        (&json!("XCHNG"), &json!("xchng.asm"))
    );
    assert!(frames.len() > 1, "it was called: {frames:?}");
    let scopes = client.ask("scopes", json!({ "frameId": 0 }))["scopes"].clone();
    let names: Vec<_> = scopes.as_array().expect("scopes").iter().map(|one| &one["name"]).collect();
    let expected = ["Registers", "Flags", "Attackers, Table 2", "Position", "Machine"];
    assert_eq!(names, expected);
    let position = json!({ "variablesReference": scopes[3]["variablesReference"] });
    let ranks = client.ask("variables", position)["variables"].clone();
    assert_eq!((ranks.as_array().map(Vec::len), &ranks[0]["name"]), (Some(8), &json!("rank 8")));
    let square = Square::named("e5").expect("a square");
    let (_, verdicts) = evaluate(&parse_fen(FIGURE_1).expect("a position"));
    let verdict = verdicts.iter().find(|one| one.square == square).expect("e5");
    let white = u64::from(verdict.array.to_bytes()[0]);
    assert_eq!(client.variable("Attackers, Table 2", "White: count"), white);
    // At GUARD the attacker is known, and the guard is fetched.
    let names = json!({ "breakpoints": [{ "name": "GUARD", "condition": "E == 0 && L == 3" }] });
    assert_eq!(client.ask("setFunctionBreakpoints", names)["breakpoints"][0]["verified"], true);
    assert_eq!(
        client.run("continue", json!({ "threadId": 1 })),
        at("function breakpoint", "GUARD")
    );
    assert_eq!(
        client.variable("Attackers, Table 2", "points at stake"),
        u64::from(verdict.piece.kind.value())
    );
    assert_eq!(client.variable("Attackers, Table 2", "value of the attacker"), 3);
    assert_eq!(client.variable("Attackers, Table 2", "residue"), 0);
    assert_eq!(
        client.variable("Attackers, Table 2", "attackers left"),
        white - 1,
        "one has been fetched"
    );
    // Back to where the last attacker was filed.
    let names = json!({ "breakpoints": [{ "name": "ATKSAV" }] });
    client.ask("setFunctionBreakpoints", names);
    assert_eq!(
        client.run("reverseContinue", json!({ "threadId": 1 })),
        at("function breakpoint", "ATKSAV")
    );
    assert!(client.frames()[1]["source"]["name"] == "attack.asm");
    let (reason, place) =
        client.run("stepBack", json!({ "threadId": 1, "granularity": "instruction" }));
    assert!(reason == "step" && place != "ATKSAV", "{place}");
    assert_eq!(
        client.run("stepIn", json!({ "threadId": 1, "granularity": "instruction" })),
        at("function breakpoint", "ATKSAV")
    );
    client.ask("disconnect", json!({}));
    assert_eq!(client.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn lines_data_and_ports_stop_the_board() {
    let mut client = Client::launched();
    let text = firmware::source("xchng.asm").expect("it ships");
    // A copy of the built-in source is that source, and another file of its name is not.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("XCHNG.ASM");
    let source = json!({ "name": "XCHNG.ASM", "path": path });
    std::fs::write(&path, "; other\n").expect("written");
    let lines = json!({ "source": source, "breakpoints": [{ "line": 1 }] });
    assert_eq!(client.ask("setBreakpoints", lines)["breakpoints"][0]["verified"], false);
    std::fs::write(&path, text).expect("written");
    // The line before XCHNG is a comment; the one after it is valid but for its condition.
    let entry = text.lines().position(|line| line.starts_with("XCHNG:")).expect("its entry");
    let lines = json!({ "source": source, "breakpoints": [
        { "line": entry },
        { "line": 9999 },
        { "line": entry + 2, "condition": "=" },
    ] });
    let set = client.ask("setBreakpoints", lines)["breakpoints"].clone();
    assert_eq!(
        (&set[0]["verified"], &set[1]["verified"], &set[2]["verified"]),
        (&json!(true), &json!(false), &json!(false))
    );
    let text =
        client.ask("source", json!({ "source": { "name": "xchng.asm" }, "sourceReference": 0 }));
    let line = set[0]["line"].as_u64().expect("a line") as usize;
    let content = text["content"].as_str().expect("the text");
    assert!(
        content.lines().nth(line - 1).is_some_and(|line| line.starts_with("XCHNG:")),
        "moved to code"
    );
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    assert_eq!(client.run("continue", json!({})), at("breakpoint", "XCHNG"), "for the next piece");
    client.ask("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    for (name, access) in [("STATUS", "write"), ("port 81H", "write")] {
        let info = client.ask("dataBreakpointInfo", json!({ "name": name }));
        let wanted = json!({ "breakpoints": [{ "dataId": info["dataId"], "accessType": access }] });
        assert_eq!(client.ask("setDataBreakpoints", wanted)["breakpoints"][0]["verified"], true);
        if name != "STATUS" {
            assert_eq!(client.run("continue", json!({})).0, "data breakpoint", "{name}");
        }
    }
    assert!(client.ask("dataBreakpointInfo", json!({ "name": "NOSUCH" }))["dataId"].is_null());
    assert_eq!(client.response("evaluate", json!({ "expression": "NOSUCH" }))["success"], false);
    assert_eq!(client.response("fly", json!({}))["success"], false);
}

#[test]
fn memory_registers_and_instructions_are_shown() {
    let mut client = Client::launched();
    let code = client.ask("readMemory", json!({ "memoryReference": "XCHNG", "count": 3 }));
    // LXI H is 21H: the first digit of base64 is its upper six bits.
    assert!(
        code["data"].as_str().is_some_and(|data| data.starts_with('I') && data.len() == 4),
        "{code}"
    );
    let written = json!({ "memoryReference": "0x9F00", "data": "qlU=" });
    assert_eq!(client.ask("writeMemory", written)["bytesWritten"], 2);
    assert_eq!(
        client.ask("readMemory", json!({ "memoryReference": "9F00H", "count": 2 }))["data"],
        "qlU="
    );
    client.ask("setVariable", json!({ "variablesReference": 1, "name": "HL'", "value": "1234H" }));
    assert_eq!(client.variable("Registers", "HL'"), 0x1234);
    assert_eq!(
        client.ask("evaluate", json!({ "expression": "HL' - 1 & 0FFH" }))["result"],
        "33H (51)"
    );
    let around =
        json!({ "memoryReference": "XCHNG", "instructionOffset": -2, "instructionCount": 4 });
    let shown = client.ask("disassemble", around)["instructions"].clone();
    assert_eq!(shown.as_array().map(Vec::len), Some(4));
    assert_eq!(
        (&shown[2]["symbol"], &shown[2]["instruction"]),
        (&json!("XCHNG"), &json!("LXI H,BACT"))
    );
    assert!(
        shown[3]["instruction"].as_str().is_some_and(|text| text.starts_with("LXI D,")),
        "{shown}"
    );
}

#[test]
fn log_messages_assignments_completions_and_goto_serve_any_program() {
    let bench = crate::any::Bench::new();
    let program = bench.path("prog.asm");
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    client.ask("launch", json!({ "program": program, "progam": 1, "type": "z80", "__id": 2 }));
    let output = client.event("output")["body"]["output"].clone();
    assert_eq!(output, "unknown keys of the launch configuration: progam\n");
    let source = json!({ "path": program });
    let log = json!({ "line": 20, "logMessage": "left {[COUNT]}" });
    let lines = json!({ "source": source, "breakpoints": [log, { "line": 13 }] });
    let set = client.ask("setBreakpoints", lines)["breakpoints"].clone();
    assert_eq!((&set[0]["verified"], &set[1]["verified"]), (&json!(true), &json!(true)));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    client.ask("continue", json!({}));
    let logged: Vec<Value> =
        (0..3).map(|_| client.event("output")["body"]["output"].clone()).collect();
    assert_eq!(logged, ["left 03H (3)\n", "left 02H (2)\n", "left 01H (1)\n"]);
    assert_eq!(client.event("stopped")["body"]["reason"], "breakpoint");
    assert_eq!(client.frames()[0]["name"], "ECHO", "logged, not stopped");
    for (expression, value, expected) in [
        ("HL", "1234H", "1234H (4660)"),
        ("[COUNT]", "7", "07H (7)"),
        ("{9000H}", "258", "0102H (258)"),
    ] {
        let set = client.ask("setExpression", json!({ "expression": expression, "value": value }));
        assert_eq!(set["value"], expected);
    }
    let text = json!({ "text": "print [COU", "column": 11 });
    let targets = client.ask("completions", text)["targets"].clone();
    assert_eq!(targets, json!([{ "label": "COUNT", "type": "function", "start": 7, "length": 3 }]));
    // Positions count units of UTF-16, of which the first character has two.
    let text = json!({ "text": "\u{1f600}\u{e9}COU", "column": 7 });
    let targets = client.ask("completions", text)["targets"].clone();
    assert_eq!(targets, json!([{ "label": "COUNT", "type": "function", "start": 3, "length": 3 }]));
    let sources = client.ask("loadedSources", json!({}))["sources"].clone();
    let names = sources.as_array().expect("a list").iter().map(|one| one["name"].clone());
    assert!(names.collect::<Vec<_>>().contains(&json!("prog.asm")), "{sources}");
    // Line 24 is ..WAIT of SAY.
    let targets = client.ask("gotoTargets", json!({ "source": source, "line": 24 }));
    assert_eq!(targets["targets"][0]["label"], "SAY..WAIT");
    client.ask("goto", json!({ "threadId": 1, "targetId": targets["targets"][0]["id"] }));
    assert_eq!(client.event("stopped")["body"]["reason"], "goto");
    assert_eq!(client.frames()[0]["line"], 24);
    let info = client.ask("dataBreakpointInfo", json!({ "name": "FC", "variablesReference": 2 }));
    assert_eq!((&info["dataId"], &info["accessTypes"]), (&json!("FC"), &json!(["write"])));
    let info = client.ask("dataBreakpointInfo", json!({ "name": "{COUNT}" }));
    assert_eq!(info["description"], "2 bytes at 802DH (COUNT)");
    let hits = json!({ "dataId": info["dataId"], "accessType": "write", "hitCondition": "2" });
    client.ask("setDataBreakpoints", json!({ "breakpoints": [hits] }));
}

#[test]
fn a_halt_for_ever_is_an_exception_and_a_restart_assembles_again() {
    let bench = crate::any::Bench::new();
    let program = bench.write("halt.asm", "START:\tDI\n\tMVI A,1\n\tNOP\n\tHLT\n\t.END START\n");
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    client.ask("launch", json!({ "program": program, "stopOnEntry": false }));
    let lines = json!({ "source": { "path": program }, "breakpoints": [{ "line": 3 }] });
    client.ask("setBreakpoints", lines.clone());
    client.ask("configurationDone", json!({}));
    assert_eq!(client.event("stopped")["body"]["reason"], "breakpoint");
    let none = client.response("exceptionInfo", json!({ "threadId": 1 }));
    assert_eq!(none["success"], false, "{none}");
    client.ask("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped")["body"].clone();
    assert_eq!(stopped["reason"], "exception", "{stopped}");
    let info = client.ask("exceptionInfo", json!({ "threadId": 1 }));
    assert_eq!((&info["exceptionId"], &info["breakMode"]), (&json!("halted"), &json!("always")));
    assert!(info["description"].as_str().is_some_and(|text| text.contains("only a reset")));
    // Source with an error leaves the session as it was.
    bench.write("halt.asm", "\tMVI Q,1\n");
    let refused = client.response("restart", json!({}));
    assert_eq!(refused["success"], false, "{refused}");
    assert_eq!(client.ask("evaluate", json!({ "expression": "A" }))["result"], "01H (1)");
    bench.write("halt.asm", "START:\tDI\n\tMVI A,2\n\tNOP\n\tHLT\n\t.END START\n");
    client.ask("restart", json!({ "arguments": { "program": program, "stopOnEntry": false } }));
    client.event("initialized");
    client.ask("setBreakpoints", lines);
    client.ask("configurationDone", json!({}));
    assert_eq!(client.event("stopped")["body"]["reason"], "breakpoint");
    assert_eq!(client.ask("evaluate", json!({ "expression": "A" }))["result"], "02H (2)");
}

#[test]
fn an_invalid_launch_is_refused() {
    let mut client = Client::start();
    assert_eq!(client.response("threads", json!({}))["success"], false, "nothing is launched");
    for arguments in [
        json!({}),
        json!({ "fen": FIGURE_1, "square": "e9" }),
        json!({ "fen": "nonsense", "square": "e5" }),
        json!({ "fen": FIGURE_1, "square": "a1" }),
        json!({ "fen": FIGURE_1, "square": "e5", "board": "none" }),
    ] {
        let refused = client.response("launch", arguments.clone());
        assert_eq!(refused["success"], false, "{arguments}");
        assert!(refused["message"].as_str().is_some_and(|text| text.len() > 10), "{refused}");
    }
}

#[test]
fn a_position_that_no_game_reaches_is_launched_with_a_warning() {
    let mut client = Client::start();
    client.ask("launch", json!({ "fen": "4k3/8/8/3p4/4N3/8/8/8 w - -", "square": "d5" }));
    let shown = client.event("output")["body"].clone();
    assert_eq!(shown["category"], "important", "{shown}");
    let warning = "FEN:1: warning: no game reaches this position: White has no king\n";
    assert_eq!(shown["output"], warning);
}

#[test]
fn a_board_that_runs_on_answers_and_can_be_paused() {
    let mut client = Client::launched();
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let jump_to_itself = json!({ "memoryReference": "XCHNG", "data": "GP4=" }); // JMPR .
    client.ask("writeMemory", jump_to_itself);
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.ask("threads", Value::Null)["threads"][0]["id"], 1);
    let again = client.response("continue", json!({ "threadId": 1 }));
    assert_eq!(again["success"], false, "{again}");
    client.ask("pause", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["body"]["reason"], "pause");
    assert_eq!(client.frames()[0]["name"], "XCHNG");
    client.ask("continue", json!({ "threadId": 1 }));
    client.ask("disconnect", json!({}));
    assert!(client.process.wait().expect("it ends").success());
}
