//! `hw-tests call`, and `docs/call.schema.json`, which describes its requests and replies.

use std::collections::BTreeSet;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::runs::schema::{Checker, document};

use super::examples;

/// Runs `hw-tests call` in the folder of the examples; returns the exit code and both streams.
fn call(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.arg("call").args(arguments).current_dir(examples());
    let output = command.write_stdin(input).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn replies(requests: &[Value]) -> Vec<Value> {
    replies_on(&["mul16.asm"], requests)
}

/// The replies of the machine that arguments choose.
pub(super) fn replies_on(arguments: &[&str], requests: &[Value]) -> Vec<Value> {
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let (code, shown, errors) = call(arguments, &input);
    assert_eq!(code, Some(0), "{shown}{errors}");
    assert!(!errors.contains("hw-tests:"), "{errors}");
    let replies: Vec<_> =
        shown.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(replies.len(), requests.len(), "{shown}");
    replies
}

/// The schema, with what it refers to in that of test files.
fn schema() -> Value {
    let text = document("call.schema.json").replace("test-file.schema.json#", "#");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    let others: Value = serde_json::from_str(&document("test-file.schema.json")).expect("JSON");
    let definitions = schema["$defs"].as_object_mut().expect("definitions");
    for (name, rule) in others["$defs"].as_object().expect("definitions") {
        let is_new = definitions.insert(name.clone(), rule.clone()).is_none();
        assert!(is_new, "both schemas define {name}");
    }
    schema
}

fn check(kind: &str, value: &Value) -> Result<(), String> {
    let rule = json!({ "$ref": format!("#/$defs/{kind}") });
    Checker::new(schema()).check(&rule, value, "")
}

#[test]
fn requests_and_replies_conform_to_the_schema() {
    let requests = [
        json!({ "call": "MUL16", "in": { "BC": 3, "DE": "7" }, "outputs": ["HL", "FC"] }),
        json!({ "call": 0x8000, "read": [{ "at": "MUL16", "size": 2 }], "expect": { "HL": 1 } }),
        json!({ "call": "MULADD", "mock": { "MUL16": { "returns": { "A": 1 } } }, "timeout": 9 }),
        json!({ "write": [{ "at": 0x9000, "bytes": [1, 2] }, { "at": 0x9100, "text": "A" }] }),
        json!({ "read": [{ "at": 0x9000, "size": 2 }] }),
        json!({ "reset": true }),
        json!({ "symbols": true }),
        json!({ "load": { "sources": ["mul16.asm"], "origin": "9000H", "defines": { "X": 1 } } }),
    ];
    for (request, reply) in requests.iter().zip(replies(&requests)) {
        check("request", request).unwrap_or_else(|wrong| panic!("{request}: {wrong}"));
        check("reply", &reply).unwrap_or_else(|wrong| panic!("{reply}: {wrong}"));
        assert!(reply["error"].is_null(), "{request}: {reply}");
    }
    let wrong = json!({ "call": "MUL16", "zzz": 1 });
    assert!(check("request", &wrong).is_err());
    check("errorReply", &replies(&[wrong])[0]).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn the_schema_has_the_keys_that_the_program_knows() {
    for (kind, request) in [
        ("program", json!({ "load": { "sources": ["mul16.asm"], "zzz": 1 } })),
        ("callRequest", json!({ "call": "MUL16", "zzz": 1 })),
        ("readRequest", json!({ "read": [], "zzz": 1 })),
        ("writeRequest", json!({ "write": [], "zzz": 1 })),
        ("resetRequest", json!({ "reset": true, "zzz": 1 })),
        ("symbolsRequest", json!({ "symbols": true, "zzz": 1 })),
    ] {
        let reply = replies(&[request])[0]["error"].to_string();
        let list = reply.split_once("unknown key 'zzz': expected one of ").expect("a list").1;
        let known: BTreeSet<_> = list.trim_end_matches('"').split(", ").collect();
        let schema = schema();
        let described = schema["$defs"][kind]["properties"].as_object().expect("properties");
        assert_eq!(described.keys().map(String::as_str).collect::<BTreeSet<_>>(), known, "{kind}");
    }
}

#[test]
fn boards_reply_as_the_schema_describes() {
    for profile in ["rc2014-classic", "rc2014-zed"] {
        let call =
            json!({ "call": "MUL16", "in": { "BC": 300, "DE": 300 }, "check": "cycles < 9" });
        let mock = json!({ "call": "MUL16", "mock": { "0005H": {} } });
        let requests = [call.clone(), mock, json!({ "reset": true }), call];
        let made = replies_on(&["mul16.asm", "--rig", "direct", "--board", profile], &requests);
        for reply in &made {
            check("reply", reply).unwrap_or_else(|wrong| panic!("{reply}: {wrong}"));
        }
        // 300 * 300 is 15F90H.
        for reply in [&made[0], &made[3]] {
            let out = (&reply["out"]["DE"], &reply["out"]["HL"], &reply["not_checked"]);
            assert_eq!(out, (&json!(1), &json!(0x5F90), &json!(["cycles"])), "{profile}");
        }
        assert_eq!(
            made[1]["error"],
            "not on this board: 0005H to replace is not in the program's RAM"
        );
    }
}

#[test]
fn the_page_shows_a_request_with_its_reply() {
    let page = document("TESTING-YOUR-CODE.md");
    let lines: Vec<_> = page.lines().map(str::trim).collect();
    let request = lines.iter().position(|line| line.contains("\"outputs\":")).expect("a request");
    let (code, shown, _) = call(&["mul16.asm"], lines[request]);
    assert_eq!((code, shown.trim_end()), (Some(0), lines[request + 1]));
}

#[test]
fn exit_codes_are_those_of_all_commands() {
    assert_eq!(call(&[], "").0, Some(0));
    assert_eq!(call(&[], "no request").0, Some(0), "the reply describes the error");
    let (code, shown, errors) = call(&["none.asm"], "");
    assert_eq!((code, shown.as_str()), (Some(3), ""));
    assert!(errors.contains("can't read none.asm"), "{errors}");
    assert_eq!(call(&["--none"], "").0, Some(2));
    let (code, _, errors) = call(&["--rig", "direct", "--behaviour", "original"], "");
    assert!(code == Some(2) && errors.contains("unexpected argument '--behaviour'"));
    let (code, _, errors) = call(&["--port", "/dev/none"], "");
    assert!(code == Some(3) && errors.contains("/dev/none"), "{errors}");
}
