//! Diagnostics while a text is typed.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, uri};

const FILE: &str = "file:///nowhere/a.asm";

#[test]
fn messages_follow_what_is_typed() {
    let mut client = Client::new(None);
    client.open(FILE, "START:  MVI A,5\n        JMP STRT\n        .END\n");
    assert_eq!(client.messages(FILE), ["1:12: U01 STRT is not defined"]);
    client.replace(FILE, "STRT", 0, "START");
    assert_eq!(client.messages(FILE), [""; 0]);
    client.replace(FILE, "MVI A,5", 0, "MVI A,500");
    assert_eq!(client.messages(FILE).len(), 1);
    client.replace(FILE, "START:  MVI A,500\n", 0, "");
    assert_eq!(client.messages(FILE), ["0:12: U01 START is not defined"]);
}

#[test]
fn positions_count_units_of_utf16() {
    let mut client = Client::new(None);
    // The letter has one unit and two bytes, the picture two units and four bytes.
    client.open(FILE, "        .ASCII /\u{e9}\u{1F600}/[OOPS] ; allow W32\n        .END\n");
    assert_eq!(client.messages(FILE), ["0:21: U01 OOPS is not defined"]);
    client.replace(FILE, "\u{1F600}", 0, "");
    assert_eq!(client.messages(FILE), ["0:19: U01 OOPS is not defined"]);
    client.replace(FILE, "[OOPS]", 0, "/\u{1F600}/");
    assert_eq!(client.messages(FILE), [""; 0]);
    client.replace(FILE, "\u{1F600}/", 0, "\u{1F600}");
    // The slash after the picture is deleted: the text extends to the end, beyond the .END, which
    // is reported once, where it begins.
    let open = "0:18: A04 the text that begins here is not closed";
    assert_eq!(client.messages(FILE), [open]);
}

#[test]
fn several_changes_of_one_message_are_applied_in_order() {
    let mut client = Client::new(None);
    client.open(FILE, "NOP\r\nNOP\r\n");
    let at = |line, character| json!({ "line": line, "character": character });
    let changes = json!([
        { "range": { "start": at(0, 0), "end": at(1, 0) }, "text": " HLT\n" },
        { "range": { "start": at(0, 4), "end": at(0, 99) }, "text": "X" },
        { "range": { "start": at(1, 0), "end": at(1, 0) }, "text": " " },
        { "range": { "start": at(7, 0), "end": at(7, 0) }, "text": " .END" },
    ]);
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": FILE, "version": 1 }, "contentChanges": changes }),
    );
    // The text is now " HLTX\n NOP\r\n .END".
    let formatted = client.request("textDocument/formatting", json!({ "textDocument": { "uri": FILE }, "options": { "tabSize": 8, "insertSpaces": true } }));
    let edits = formatted.unwrap();
    assert_eq!(edits[0]["newText"], "        HLTX\n        NOP\r\n        .END\n");
    assert_eq!(edits[0]["range"]["end"], at(2, 5));
}

#[test]
fn inserted_files_are_read_as_the_editor_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.asm");
    let part = folder.path().join("part.asm");
    fs::write(&main, "        .INSERT part\n        MVI A,TWO\n        .END\n").unwrap();
    fs::write(&part, "TWO     == 2\n").unwrap();
    let mut client = Client::new(Some(folder.path()));
    client.open(&uri(&main), &fs::read_to_string(&main).unwrap());
    assert_eq!(client.messages(&uri(&main)), [""; 0]);
    // A part of a program need not end with .END.
    client.open(&uri(&part), "TWO     == 2\n");
    assert_eq!(client.messages(&uri(&part)), [""; 0]);
    client.replace(&uri(&part), "TWO", 0, "TOO");
    client.messages(&uri(&part));
    assert_eq!(client.messages(&uri(&main)), ["1:14: U01 TWO is not defined"]);
    client.replace(&uri(&part), "== 2", 0, "==");
    assert_eq!(client.messages(&uri(&part)).len(), 1, "what is wrong in the part is shown there");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&part) } }));
    client.replace(&uri(&main), "MVI A,TWO", 0, "MVI A,TWO+1");
    assert_eq!(client.messages(&uri(&main)), [""; 0], "the disk has it right");
}

#[test]
fn errors_in_macro_text_are_shown_at_the_call() {
    let mut client = Client::new(None);
    client.open(
        FILE,
        "        .DEFINE M[WHAT]=[\n        MVI A,WHAT\n]\n        M NONE\n        .END\n",
    );
    assert_eq!(client.messages(FILE), ["3:8: U01 NONE is not defined"]);
    let related = &client.diagnostics[FILE]["diagnostics"][0]["relatedInformation"][0];
    assert_eq!(related["message"], "in the macro M");
}

#[test]
fn an_error_that_follows_from_another_is_not_reported() {
    let mut client = Client::new(None);
    let text = " .DEFINE LOAD[N]=[\n MVI Q,N\n MVI A,\n]\n CALL FAR\n LOAD 1\n LOAD 2\nA1: NOP\nA1: \
        NOP\n CALL A1\n CALL FAR\n JMP FAR+1\n .END\n";
    client.open(FILE, text);
    let mut messages = client.messages(FILE);
    messages.sort();
    let expected = [
        "4:6: U01 FAR is not defined",
        "5:1: A02 an operand is missing here",
        "5:1: U01 Q is not defined",
        "8:0: M01 A1 is already defined with another value",
    ];
    assert_eq!(messages, expected);
    let first = client.diagnostics[FILE]["diagnostics"].as_array().unwrap().iter();
    let first = first.clone().find(|one| one["message"] == "FAR is not defined").unwrap();
    let related = first["relatedInformation"].as_array().unwrap();
    let lines: Vec<&Value> =
        related.iter().map(|one| &one["location"]["range"]["start"]["line"]).collect();
    assert_eq!(lines, [10, 11], "{related:?}");
}

#[test]
fn options_come_from_the_command_line() {
    let text =
        "        .IFN ONE-1,[.ERROR /ONE/]\n        .IFN TWO-2,[.ERROR /TWO/]\n        .END\n";
    let mut client = Client::with(&["--define", "ONE=1", "--define", "TWO=2"], None);
    client.open(FILE, text);
    assert_eq!(client.messages(FILE), [""; 0]);
}
