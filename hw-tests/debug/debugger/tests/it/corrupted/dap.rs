//! The Debug Adapter Protocol.

use std::io::Cursor;

use board_debugger::dap::{LaunchedSession, serve};
use serde_json::{Value, json};

use crate::corrupted::{debugger, pieces};

/// Requests of sessions, one per line.
const SESSIONS: &[&[u8]] = &[
    br#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"z80","linesStartAt1":true}}
{"seq":2,"command":"launch","arguments":{"program":"x.asm","stopOnEntry":true}}
{"seq":3,"command":"setBreakpoints","arguments":{"source":{"path":"program.asm"},"breakpoints":[{"line":4,"condition":"HL>8000H","hitCondition":"3"}]}}
{"seq":4,"command":"configurationDone"}
{"seq":5,"command":"stackTrace","arguments":{"threadId":1,"startFrame":0,"levels":20}}
{"seq":6,"command":"scopes","arguments":{"frameId":0}}
{"seq":7,"command":"variables","arguments":{"variablesReference":1}}
{"seq":8,"command":"continue","arguments":{"threadId":1}}
{"seq":9,"command":"pause","arguments":{"threadId":1}}
"#,
    br#"{"seq":1,"command":"launch","arguments":{}}
{"seq":2,"command":"readMemory","arguments":{"memoryReference":"0x8000","offset":-2,"count":64}}
{"seq":3,"command":"writeMemory","arguments":{"memoryReference":"0x9000","data":"AQIDBA=="}}
{"seq":4,"command":"disassemble","arguments":{"memoryReference":"0x8000","instructionOffset":-20,"instructionCount":50}}
{"seq":5,"command":"evaluate","arguments":{"expression":"step 100","context":"repl"}}
{"seq":6,"command":"setVariable","arguments":{"variablesReference":1,"name":"HL","value":"0FFFFH"}}
{"seq":7,"command":"dataBreakpointInfo","arguments":{"variablesReference":1,"name":"HL"}}
{"seq":8,"command":"setDataBreakpoints","arguments":{"breakpoints":[{"dataId":"8010:2","accessType":"write"}]}}
{"seq":9,"command":"next","arguments":{"threadId":1,"granularity":"instruction"}}
{"seq":10,"command":"stepBack","arguments":{"threadId":1}}
{"seq":11,"command":"reverseContinue","arguments":{"threadId":1}}
{"seq":12,"command":"disconnect"}
"#,
    br#"{"seq":1,"command":"attach","arguments":{"program":"x"}}
{"seq":2,"command":"setFunctionBreakpoints","arguments":{"breakpoints":[{"name":"COUNT"}]}}
{"seq":3,"command":"setInstructionBreakpoints","arguments":{"breakpoints":[{"instructionReference":"0x8000","offset":3}]}}
{"seq":4,"command":"breakpointLocations","arguments":{"source":{"path":"program.asm"},"line":1,"endLine":9}}
{"seq":5,"command":"source","arguments":{"source":{"path":"program.asm"},"sourceReference":1}}
{"seq":6,"command":"stepIn","arguments":{"threadId":1}}
{"seq":7,"command":"stepOut","arguments":{"threadId":1}}
{"seq":8,"command":"restart"}
{"seq":9,"command":"threads"}
{"seq":10,"command":"terminate"}
"#,
];
fn launch() -> LaunchedSession {
    LaunchedSession {
        debugger: debugger(),
        warnings: Vec::new(),
        message: None,
        runs: false,
        has_console: true,
    }
}

/// Runs a session. Checks that each message in its output is complete, and returns the sequence
/// numbers of the responses.
fn played(input: Vec<u8>) -> (Vec<i64>, Option<String>) {
    let mut output = Vec::new();
    let error = serve(Cursor::new(input), &mut output, &|_, _| Ok(launch()))
        .err()
        .map(|error| error.to_string());
    let mut rest = String::from_utf8(output).expect("it is text");
    let mut answered = Vec::new();
    while let Some(after) = rest.strip_prefix("Content-Length: ") {
        let (length, after) = after.split_once("\r\n\r\n").expect("a header");
        let (body, after) = after.split_at(length.parse().expect("a length"));
        let message: Value = serde_json::from_str(body).expect("a message");
        if message["type"] == "response" {
            answered.push(message["request_seq"].as_i64().expect("a number"));
        }
        rest = after.to_owned();
    }
    assert_eq!(rest, "", "messages and nothing else");
    (answered, error)
}

fn framed(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn session(lines: &[u8]) -> Vec<u8> {
    let bodies = lines.split(|byte| *byte == b'\n').filter(|body| !body.is_empty());
    bodies.flat_map(framed).collect()
}

#[test]
fn characters_of_several_bytes_may_be_anywhere_in_an_expression() {
    let mut requests = vec![json!({ "command": "launch", "arguments": {} })];
    for expression in pieces() {
        for context in ["repl", "watch", "hover"] {
            let text =
                if context == "repl" { format!("print {expression}") } else { expression.clone() };
            requests.push(json!({ "command": "evaluate",
                "arguments": { "expression": text, "context": context } }));
        }
        requests.push(json!({ "command": "setExpression",
            "arguments": { "expression": expression, "value": expression } }));
        requests.push(json!({ "command": "dataBreakpointInfo",
            "arguments": { "name": expression, "asAddress": true } }));
        // A column may be between the two units of a character beyond 16 bits.
        let columns = 1..=expression.encode_utf16().count() + 2;
        requests.extend(columns.map(|column| {
            json!({ "command": "completions", "arguments": { "text": expression, "column": column } })
        }));
    }
    let numbered = requests.iter_mut().zip(1..).map(|(request, number)| {
        request["seq"] = number.into();
        format!("{request}\n")
    });
    let (answered, error) = played(session(numbered.collect::<String>().as_bytes()));
    assert_eq!((answered.len(), error), (requests.len(), None));
}

#[test]
fn whole_sessions_are_answered_request_by_request() {
    for lines in SESSIONS {
        let (answered, error) = played(session(lines));
        let count = lines.split(|byte| *byte == b'\n').count() as i64 - 1;
        assert_eq!((answered, error), ((1..=count).collect(), None));
    }
}

#[test]
fn a_message_that_is_too_long_is_named_with_its_length() {
    let input = b"Content-Length: 2000000\r\n\r\n".to_vec();
    let (_, error) = played(input);
    let expected = "message too long: 2000000 bytes, maximum 1048576";
    assert_eq!(error.as_deref(), Some(expected));
}
