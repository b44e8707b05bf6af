//! Renaming: all places of a name, and refusals of names that would change the program.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::client::{Client, uri};

const FILE: &str = "file:///nowhere/a.asm";

/// A file's text with the edits of a result.
pub(super) fn edited(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut edits: Vec<&Value> = edits.as_array().expect("edits").iter().collect();
    let place =
        |one: &Value, end: &str, unit: &str| one["range"][end][unit].as_u64().unwrap() as usize;
    edits.sort_by_key(|one| (place(one, "start", "line"), place(one, "start", "character")));
    for one in edits.into_iter().rev() {
        let line = &mut lines[place(one, "start", "line")];
        let start = place(one, "start", "character");
        let end = place(one, "end", "character");
        // The texts here are ASCII.
        line.replace_range(start..end, one["newText"].as_str().unwrap());
    }
    lines.concat()
}

fn rename(client: &mut Client, word: (&str, usize), new: &str) -> Result<Value, String> {
    let result = client.ask("textDocument/rename", FILE, word, json!({ "newName": new }));
    result.map(|edit| edit["changes"].clone()).map_err(|(_, message)| message)
}

/// The text with the name at `word` changed, or the error message.
fn renamed(text: &str, word: (&str, usize), new: &str) -> Result<String, String> {
    let mut client = Client::new(None);
    client.open(FILE, text);
    rename(&mut client, word, new).map(|changes| edited(text, &changes[FILE]))
}

#[test]
fn all_places_of_a_symbol_change_and_nothing_else() {
    let text = "ONE == 1 ; ONE is one\n MVI A,ONE+one\n .ASCII /ONE/[ONE]\nONES == 5\n .END\n";
    assert_eq!(
        renamed(text, ("ONE+", 0), "EINS").unwrap(),
        "EINS == 1 ; ONE is one\n MVI A,EINS+EINS\n .ASCII /ONE/[EINS]\nONES == 5\n .END\n"
    );
}

#[test]
fn local_symbols_change_in_their_scope_only() {
    let text = "A1: NOP\n..L: JMPR ..L\nA2: NOP\n..L: JMPR ..L\n .END\n";
    assert_eq!(
        renamed(text, ("..L", 1), "..NEXT").unwrap(),
        "A1: NOP\n..NEXT: JMPR ..NEXT\nA2: NOP\n..L: JMPR ..L\n .END\n"
    );
}

#[test]
fn macros_their_arguments_and_what_is_passed_to_them_change() {
    let text = " .DEFINE PUT[WHAT]=[\n MVI A,WHAT\n JMP DONE\n]\nDONE: NOP\n PUT DONE-DONE\n PUT \
    5\n .END\n";
    assert_eq!(renamed(text, ("DONE", 0), "READY").unwrap(), text.replace("DONE", "READY"));
    assert_eq!(renamed(text, ("WHAT", 1), "VALUE").unwrap(), text.replace("WHAT", "VALUE"));
    assert_eq!(renamed(text, ("PUT 5", 0), "LOAD").unwrap(), text.replace("PUT", "LOAD"));
}

#[test]
fn text_that_is_not_assembled_changes_too() {
    let text = "T1 == 0\nX1: NOP\n..L: NOP\n .IFN T1,[\n JMP X1\n JMP ..L\n .ASCII /X1/\n]\n \
    .DEFINE M[A1]=[\n LXI H,X1\n]\nX2: NOP\n..L: NOP\n .END\n";
    assert_eq!(
        renamed(text, ("X1", 0), "FIRST").unwrap(),
        text.replace("X1", "FIRST").replace("/FIRST/", "/X1/")
    );
    let local = renamed(text, ("..L", 0), "..M").unwrap();
    assert!(local.contains("..M: NOP\n .IFN") && local.contains("JMP ..M"), "{local}");
    assert!(local.ends_with("X2: NOP\n..L: NOP\n .END\n"), "{local}");
}

#[test]
fn invalid_names_are_refused() {
    let text = "START: NOP\n..L: JMPR ..L\n .END\n";
    for (word, new, why) in [
        ("START", "9TO5", "invalid symbol"),
        ("START", "A B", "invalid symbol"),
        ("START", "", "invalid symbol"),
        ("START", ".", "invalid symbol"),
        ("START", "hl", ""),
        ("START", "psw", "register"),
        ("START", ".DATA.", "section"),
        ("START", "mvi", "instruction"),
        ("START", ".byte", "directive"),
        ("START", "..START", "local"),
        ("..L", "L5", "local"),
        ("NOP", "NUP", "no symbol or macro"),
    ] {
        match renamed(text, (word, 0), new) {
            Ok(_) => assert_eq!(why, "", "{new} was taken"),
            Err(printed) => assert!(!why.is_empty() && printed.contains(why), "{new}: {printed}"),
        }
    }
}

#[test]
fn names_that_clash_are_refused_as_far_as_letters_count() {
    let text = "COUNTER == 1\nSTART: MVI A,COUNTER\n .IFNDEF LATER,[NOP]\n .END\n";
    let why = renamed(text, ("START", 0), "COUNTED").unwrap_err();
    assert!(why.ends_with(": COUNTE already exists, and six characters count"), "{why}");
    // Two definitions with equal values are not an error.
    let equal = "ONE == 1\nUNO == 1\n MVI A,ONE\n .END\n";
    assert!(renamed(equal, ("ONE", 0), "UNO").unwrap_err().contains("UNO already exists"));
    // An undefined symbol would become defined.
    assert!(renamed(text, ("START", 0), "LATER").is_err());
    let mut client = Client::with(&["--long-symbols"], None);
    client.open(FILE, text);
    assert!(rename(&mut client, ("START", 0), "COUNTED").is_ok());
}

#[test]
fn a_name_that_a_macro_joins_from_parts_is_refused() {
    let text = " .DEFINE GO[WHERE]=[\n JMP TO.'WHERE\n]\nTO.END: NOP\n GO END\n .END\n";
    let why = renamed(text, ("TO.END", 0), "THERE").unwrap_err();
    assert!(why.contains("joins") && why.ends_with("a.asm, line 2"), "{why}");
}

#[test]
fn symbols_from_the_command_line_cannot_be_renamed() {
    let mut client = Client::with(&["--define", "DEBUG=1"], None);
    client.open(FILE, " MVI A,DEBUG\n .END\n");
    assert!(
        rename(&mut client, ("DEBUG", 0), "TRACE").unwrap_err().contains("not defined in a file")
    );
    let prepared = client.ask("textDocument/prepareRename", FILE, ("DEBUG", 0), Value::Null);
    assert!(prepared.is_err());
}

#[test]
fn the_word_that_will_change_is_shown_before() {
    let mut client = Client::new(None);
    client.open(FILE, "START:  JMP START\n        .END\n");
    let prepared =
        client.ask("textDocument/prepareRename", FILE, ("TART\n", 0), Value::Null).unwrap();
    let at = |character| json!({ "line": 0, "character": character });
    assert_eq!(
        prepared,
        json!({ "range": { "start": at(12), "end": at(17) }, "placeholder": "START" })
    );
}

#[test]
fn inserted_files_and_other_modules_change_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("shared.asm", "PAGE    == 80H\n"),
        ("one.asm", " .INSERT shared\n .INTERN ENTRY\nENTRY: MVI A,PAGE\n .END\n"),
        ("two.asm", " .INSERT shared\n .EXTERN ENTRY\n CALL ENTRY\n MVI A,PAGE\n .END\n"),
        ("three.asm", "PAGE == 1\nENTRY: NOP\n .END\n"),
        ("four.asm", " .INSERT shared\n .IFE 1,[\n MVI A,PAGE\n]\n .END\n"),
    ];
    let path = |name: &str| folder.path().join(name);
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
    }
    let mut client = Client::new(Some(folder.path()));
    let two = uri(&path("two.asm"));
    client.open(&two, files[2].1);
    let apply = |changes: &Value| {
        for (file, edits) in changes.as_object().unwrap() {
            let path = Path::new(file.strip_prefix("file://").unwrap());
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, edited(&text, edits)).unwrap();
        }
    };
    for (word, new) in [("PAGE", "SHEET"), ("ENTRY\n C", "DOOR")] {
        let result = client.ask("textDocument/rename", &two, (word, 0), json!({ "newName": new }));
        apply(&result.unwrap()["changes"]);
        let written = fs::read_to_string(path("two.asm")).unwrap();
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": two } }));
        client.open(&two, &written);
        for (name, _) in files {
            let changed = json!({ "changes": [{ "uri": uri(&path(name)), "type": 2 }] });
            client.notify("workspace/didChangeWatchedFiles", changed);
        }
    }
    for (name, text) in files {
        let expected = match name {
            "three.asm" => text.to_owned(),
            _ => text.replace("PAGE", "SHEET").replace("ENTRY", "DOOR"),
        };
        assert_eq!(fs::read_to_string(path(name)).unwrap(), expected, "{name}");
    }
}
