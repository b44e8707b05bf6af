//! Sessions of calls: requests, replies, and errors that leave the session as it was.

use std::io::Cursor;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use testfile_suite::{CallServer, Program};

use crate::folder;

#[allow(unreachable_pub, reason = "it is a program of its own, too")]
#[path = "../../examples/mul16.rs"]
mod mul16;

#[test]
fn the_example_with_the_library_runs() {
    mul16::main().unwrap_or_else(|error| panic!("{error}"));
}

const SOURCE: &str = "\
TWICE:  ADD     A
        STA     LAST
        RET
BAD:    STA     TWICE
        RET
PUT:    CALL    TWICE
        OUT     10H
        RET
LOOP:   JMP     LOOP
LAST:   .BYTE   7";

fn session() -> CallServer {
    CallServer::new(Box::new(Program::default().machine()))
}

/// A session with the source, and the folder of its file.
fn loaded() -> (CallServer, TempDir) {
    let (folder, mut session) = (folder(SOURCE), session());
    session.load(&[source(folder.path())], &[], None).unwrap_or_else(|error| panic!("{error}"));
    (session, folder)
}

fn source(folder: &Path) -> std::path::PathBuf {
    folder.join("prog.asm")
}

fn ask(session: &mut CallServer, request: Value) -> Value {
    session.reply(&request.to_string())
}

#[test]
fn a_program_is_loaded_with_origin_and_symbols() {
    let (mut session, folder) = loaded();
    let load = json!({ "sources": [source(folder.path())], "origin": "9000H" });
    let reply = ask(&mut session, json!({ "load": load }));
    assert_eq!(reply["machine"], "simulated");
    assert_eq!(reply["symbols"]["TWICE"], 0x9000);
    assert_eq!(ask(&mut session, json!({ "symbols": true }))["symbols"], reply["symbols"]);
    let call = json!({ "call": 0x9000, "in": { "A": 4 }, "outputs": ["A"] });
    assert_eq!(ask(&mut session, call)["out"], json!({ "A": 8 }));
}

#[test]
fn a_call_returns_registers_flags_memory_and_costs() {
    let (mut session, _folder) = loaded();
    let read = json!([{ "at": "LAST" }, { "at": "LAST-1", "size": 2 }]);
    let call = json!({ "call": "TWICE", "in": { "A": 0x90, "flags": "NC" }, "read": read });
    let reply = ask(&mut session, call);
    // 90H + 90H = 120H: carry and overflow, no zero. ADD A takes 4, STA 13 and RET 10 T-states.
    let out = &reply["out"];
    assert_eq!(
        (&out["A"], &out["FC"], &out["FP"], &out["FZ"]),
        (&json!(0x20), &json!(1), &json!(1), &json!(0))
    );
    assert_eq!((&reply["cycles"], &reply["stack"]), (&json!(27), &json!(0)));
    assert_eq!(reply["memory"], json!([[0x20], [0x80, 0x20]]));
    assert_eq!((&reply["returned"], &reply["findings"]), (&json!(true), &json!([])));
}

#[test]
fn memory_is_kept_written_and_restored() {
    let (mut session, _folder) = loaded();
    let read = json!({ "read": [{ "at": "LAST", "size": 3 }] });
    assert_eq!(ask(&mut session, read.clone()), json!({ "memory": [[7, 0xA5, 0xA5]] }));
    let write =
        json!({ "write": [{ "at": "LAST+1", "words": [0x1234] }, { "at": 0xC000, "text": "AB" }] });
    assert_eq!(ask(&mut session, write), json!({}));
    assert_eq!(ask(&mut session, read.clone()), json!({ "memory": [[7, 0x34, 0x12]] }));
    ask(&mut session, json!({ "call": "TWICE", "in": { "A": 1 } }));
    assert_eq!(ask(&mut session, read.clone()), json!({ "memory": [[2, 0x34, 0x12]] }));
    let text = json!({ "read": [{ "at": 0xC000, "size": 2 }] });
    assert_eq!(ask(&mut session, text), json!({ "memory": [[65, 66]] }));
    assert_eq!(ask(&mut session, json!({ "reset": true })), json!({}));
    assert_eq!(ask(&mut session, read), json!({ "memory": [[7, 0xA5, 0xA5]] }));
}

#[test]
fn mocks_ports_expectations_and_guards_are_those_of_test_files() {
    let (mut session, _folder) = loaded();
    let mock = json!({ "TWICE": { "returns": { "A": 9 } } });
    let expect = json!({ "A": 8, "ports": { "10H": [9] } });
    let reply = ask(&mut session, json!({ "call": "PUT", "mock": mock, "expect": expect }));
    assert_eq!(reply["ports"], json!({ "10H": [9] }));
    assert_eq!(reply["calls"], json!({ "TWICE": 1 }));
    assert_eq!(reply["findings"], json!(["A: expected 8, got 9"]));
    let reply = ask(&mut session, json!({ "call": "BAD", "in": { "A": 1 } }));
    let finding = reply["findings"][0].as_str().expect("a finding");
    assert!(
        finding.starts_with("wrote 01H in program memory, 8000H, TWICE (prog.asm:2)"),
        "{finding}"
    );
    let reply = ask(&mut session, json!({ "call": "LOOP", "timeout": 1000 }));
    assert_eq!(reply["returned"], false);
    let finding = reply["findings"][0].as_str().expect("a finding");
    assert!(finding.starts_with("did not return within 1000 T-states; last at "), "{finding}");
}

#[test]
fn each_wrong_request_has_an_error_that_says_what_is_expected() {
    let (mut loaded, _folder) = loaded();
    for (request, message) in [
        ("", "invalid JSON: EOF"),
        ("{", "invalid JSON: EOF"),
        ("[1]", "expected an object such as {\"call\""),
        ("{}", "no request: expected one of load, call, read, write, reset, symbols"),
        ("{\"jump\": 1}", "no request: expected one of load, call"),
        ("{\"call\": null}", "expected numbers, strings, true"),
        ("{\"call\": 18446744073709551615}", "expected numbers"),
        ("{\"call\": \"NONE\"}", "unknown name 'NONE': expected a number such as 1FH, or a label"),
        ("{\"call\": \"TWICE\", \"in\": {\"Q\": 1}}", "unknown register 'Q'"),
        ("{\"call\": \"TWICE\", \"in\": {\"A\": 256}}", "A: 256 does not fit"),
        ("{\"call\": \"TWICE\", \"in\": {\"flags\": \"X\"}}", "unknown flag 'X'"),
        ("{\"call\": \"TWICE\", \"outputs\": [\"SP\"]}", "unknown register 'SP'"),
        (
            "{\"call\": \"TWICE\", \"zzz\": 1}",
            "unknown key 'zzz': expected one of call, signature, convention, returns, until, ",
        ),
        ("{\"call\": \"TWICE\", \"write\": []}", "several requests in one: call, write"),
        ("{\"read\": [{\"at\": 0, \"size\": 65537}]}", "size: 65537 is not in 1 to 65536"),
        ("{\"write\": [{\"at\": 0}]}", "expected one of bytes, words, text, file"),
        ("{\"write\": [{\"at\": 0, \"bytes\": [{\"lt\": 1}]}]}", "operators are for expected"),
        ("{\"reset\": false}", "reset: expected true"),
        ("{\"load\": {}}", "no program: expected sources"),
        ("{\"load\": {\"sources\": [\"none.asm\"]}}", "can't read none.asm"),
        ("{\"load\": {\"sources\": [\"\\u001B\"]}}", "can't read \\x1B"),
        ("{\"load\": {\"sources\": \"\\u001B\"}}", "sources: expected an array"),
    ] {
        let reply = loaded.reply(request);
        let error = reply["error"].as_str().unwrap_or_else(|| panic!("{request}: {reply}"));
        assert!(error.contains(message), "{request}: {error}");
        assert!(!error.contains('\u{1B}'), "{request}: {error}");
    }
    let call = json!({ "call": "TWICE", "in": { "A": 2 }, "outputs": ["A"] });
    assert_eq!(ask(&mut loaded, call)["out"], json!({ "A": 4 }), "the program is still there");
}

#[test]
fn without_a_program_only_load_is_accepted() {
    for request in ["{\"call\": 0}", "{\"read\": []}", "{\"reset\": true}", "{\"symbols\": true}"] {
        let error = session().reply(request);
        assert!(error["error"].as_str().is_some_and(|text| text.starts_with("no program: send")));
    }
}

#[test]
fn each_line_has_one_reply_whatever_it_is() {
    let (mut session, _folder) = loaded();
    let mut input = b"{\"symbols\": true}\n\n\xFF\n{\"a\": \"".to_vec();
    input.extend(std::iter::repeat_n(b'x', 5 << 20));
    input.extend(b"\"}\n{\"read\": [{\"at\": \"LAST\"}]}");
    let mut output = Vec::new();
    session.serve(&mut Cursor::new(input), &mut output).expect("memory does not fail");
    let output = String::from_utf8(output).expect("text");
    let replies: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(replies.len(), 5, "{output}");
    assert!(replies[0]["symbols"].is_object() && replies[1]["error"].is_string());
    assert_eq!(replies[2]["error"], "the request is not UTF-8");
    assert_eq!(replies[3]["error"], "the request is longer than 4194304 bytes");
    assert_eq!(replies[4], json!({ "memory": [[7]] }));
}

#[test]
fn the_content_of_files_decides_how_they_are_loaded() {
    let folder = folder(SOURCE);
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.bin"), [0x3E, 5, 0xC9]).expect("a file");
    std::fs::write(path("a.sym"), "FIVE: EQU 0x00008000\n").expect("a file");
    let load = |names: &[&str], symbols: &[&str], origin| {
        let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect::<Vec<_>>();
        session().load(&paths(names), &paths(symbols), origin)
    };
    assert_eq!(load(&["a.bin"], &["a.sym"], Some(0x8000)), Ok(()));
    for (names, expected) in [
        (&["a.bin"][..], "a binary, which does not contain its address: give the origin"),
        (&["a.bin", "FIVE"], "a.bin is a program, not TDL source: give no other file"),
        (&["prog.asm", "a.bin"], "a.bin is a program, not TDL source: give no other file"),
        (&["a.sym"], "a.sym has symbols and no program: give the program, and --symbols "),
    ] {
        let error = load(names, &[], None).expect_err(expected);
        assert!(error.contains(expected), "{names:?}: {error}");
    }
}
