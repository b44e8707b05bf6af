//! The start and end of sessions.

use serde_json::{Value, json};

use super::client::{Client, Ended, framed, raw, uri};

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INVALID_REQUEST: i64 = -32600;
const NOT_INITIALIZED: i64 = -32002;

#[test]
fn shutdown_and_exit_end_with_0_anything_else_with_1() {
    assert_eq!(Client::new(None).end(), Some(0));
    assert_eq!(Client::new(None).hang_up(), Some(1));
    let mut client = Client::new(None);
    client.notify("exit", Value::Null);
    assert_eq!(client.hang_up(), Some(1));
}

#[test]
fn unknown_requests_are_refused_and_unknown_notifications_ignored() {
    let mut client = Client::new(None);
    client.notify("$/setTrace", json!({ "value": "off" }));
    client.notify("nonsense", json!(5));
    let code = |result: Result<Value, (i64, String)>| result.unwrap_err().0;
    assert_eq!(code(client.request("textDocument/nonsense", json!({}))), METHOD_NOT_FOUND);
    assert_eq!(code(client.request("textDocument/definition", json!({ "a": 1 }))), INVALID_PARAMS);
    assert_eq!(code(client.request("initialize", json!({}))), INVALID_REQUEST);
    client.request("shutdown", Value::Null).unwrap();
    assert_eq!(code(client.request("textDocument/hover", json!({}))), INVALID_REQUEST);
}

#[test]
fn no_request_is_answered_before_initialize() {
    let early = framed(&json!({ "jsonrpc": "2.0", "id": 1, "method": "shutdown" }));
    let ended = raw(&early, true);
    assert_eq!(ended.code, Some(1));
    assert!(ended.answered.contains(&NOT_INITIALIZED.to_string()), "{}", ended.answered);
}

#[test]
fn an_invalid_message_ends_the_program_with_an_error() {
    let broken: [&[u8]; 6] = [
        b"Content-Length: 5\r\n\r\n{\"a\":",
        b"Content-Length: 2\r\n\r\n{}",
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        b"Nonsense\r\n\r\n",
        b"\r\n\r\n",
    ];
    for bytes in broken {
        let Ended { code, printed, answered } = raw(bytes, false);
        assert_eq!(
            (code, &*answered),
            (Some(3), ""),
            "{}: {printed}",
            String::from_utf8_lossy(bytes)
        );
        assert!(printed.starts_with("error: ") && printed.contains("help: "), "{printed}");
    }
    // The message is truncated.
    assert_eq!(raw(b"Content-Length: 50\r\n\r\n{", true).code, Some(3));
}

#[test]
fn the_fix_of_a_lint_is_a_code_action() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = Client::new(Some(folder.path()));
    let file = uri(&folder.path().join("a.asm"));
    client.open(&file, " MOV A,5\n RET:\n .END\n");
    let shown = client.messages(&file);
    assert!(shown[0].starts_with("0:7: W18") && shown[1].starts_with("1:1: W22"), "{shown:?}");
    for (line, title, place, text) in
        [(0, "Write MVI", (1, 4), "MVI"), (1, "Remove the colon", (4, 5), "")]
    {
        let at = json!({ "line": line, "character": 7 });
        let start = json!({ "line": line, "character": 0 });
        let arguments = json!({
            "textDocument": { "uri": file },
            "range": { "start": start, "end": at },
            "context": { "diagnostics": [] },
        });
        let found = client.request("textDocument/codeAction", arguments).expect("a list");
        assert_eq!(found[0]["title"], title, "{found}");
        let edit = &found[0]["edit"]["changes"][&file][0];
        let columns = (&edit["range"]["start"]["character"], &edit["range"]["end"]["character"]);
        assert_eq!((columns, &edit["newText"]), ((&place.0.into(), &place.1.into()), &text.into()));
    }
    assert_eq!(client.end(), Some(0));
}
