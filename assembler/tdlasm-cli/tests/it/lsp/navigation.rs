//! Definitions and references, across files, modules and macros.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, places, uri};

const FILE: &str = "file:///nowhere/a.asm";

fn definition(client: &mut Client, file: &str, word: (&str, usize)) -> Vec<String> {
    places(&client.ask("textDocument/definition", file, word, Value::Null).unwrap())
}

fn references(client: &mut Client, file: &str, word: (&str, usize), all: bool) -> Vec<String> {
    let context = json!({ "context": { "includeDeclaration": all } });
    places(&client.ask("textDocument/references", file, word, context).unwrap())
}

#[test]
fn a_symbol_leads_to_its_definition_above_or_below() {
    let mut client = Client::new(None);
    client.open(
        FILE,
        "ONE == 1\nSTART: MVI A,ONE\n JMP LATER\n..L: JMPR ..L\nLATER: JMPR ..L\n..L: NOP\n .END\n",
    );
    assert_eq!(definition(&mut client, FILE, ("ONE", 1)), ["a.asm:0:0-3"]);
    assert_eq!(definition(&mut client, FILE, ("LATER", 0)), ["a.asm:4:0-5"]);
    assert_eq!(definition(&mut client, FILE, ("..L", 1)), ["a.asm:3:0-3"], "local to START");
    assert_eq!(definition(&mut client, FILE, ("..L", 2)), ["a.asm:5:0-3"], "local to LATER");
    assert_eq!(definition(&mut client, FILE, ("MVI", 0)), [""; 0]);
}

#[test]
fn labels_are_found_in_zilogs_notation() {
    const FILE: &str = "file:///nowhere/a.z80";
    let mut client = Client::new(None);
    client.open(FILE, "count_up equ 1\nstart:\n ld a,count_up\n.next jr .next\n jp start\n");
    assert_eq!(definition(&mut client, FILE, ("count_up", 1)), ["a.z80:0:0-8"]);
    assert_eq!(definition(&mut client, FILE, ("start", 1)), ["a.z80:1:0-5"]);
    assert_eq!(definition(&mut client, FILE, (".next", 1)), ["a.z80:3:0-5"]);
}

#[test]
fn six_letters_count_and_a_variable_has_several_definitions() {
    let mut client = Client::new(None);
    client.open(FILE, "COUNTER = 1\nCOUNTED = COUNTERS+1\n .BYTE COUNTX\n .END\n");
    assert_eq!(definition(&mut client, FILE, ("COUNTX", 0)), [""; 0]);
    assert_eq!(definition(&mut client, FILE, ("COUNTERS", 0)), ["a.asm:0:0-7", "a.asm:1:0-7"]);
    assert_eq!(references(&mut client, FILE, ("COUNTER", 0), false), ["a.asm:1:10-18"]);
}

#[test]
fn macros_their_arguments_and_what_stands_in_their_bodies_are_found() {
    let mut client = Client::new(None);
    let text = " .DEFINE PUT[WHAT,%SKIP]=[\n MVI A,WHAT\n JMPR %SKIP\n CALL OUTPUT\n%SKIP: NOP\n]\n\
                OUTPUT: RET\nX1 == 5\n PUT X1\n PUT (X1+1)\n .END\n";
    client.open(FILE, text);
    assert_eq!(definition(&mut client, FILE, ("PUT X1", 0)), ["a.asm:0:9-12"]);
    assert_eq!(definition(&mut client, FILE, ("WHAT", 1)), ["a.asm:0:13-17"]);
    assert_eq!(
        references(&mut client, FILE, ("%SKIP", 0), true),
        ["a.asm:0:18-23", "a.asm:2:6-11", "a.asm:4:0-5"]
    );
    assert_eq!(definition(&mut client, FILE, ("OUTPUT", 0)), ["a.asm:6:0-6"]);
    assert_eq!(references(&mut client, FILE, ("X1", 0), false), ["a.asm:8:5-7", "a.asm:9:6-8"]);
    assert_eq!(references(&mut client, FILE, ("PUT", 0), false), ["a.asm:8:1-4", "a.asm:9:1-4"]);
}

#[test]
fn files_and_modules_share_what_they_insert_and_export() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("shared.asm", "PAGE    == 80H\n");
    write(
        "one.asm",
        " .INSERT shared\n .INTERN ENTRY\nENTRY: MVI A,PAGE\n RET\nINNER: NOP\n .END\n",
    );
    let two = " .EXTERN ENTRY\n .INSERT SHARED.ASM\n CALL ENTRY\nINNER: MVI B,PAGE\n .END\n";
    write("two.asm", two);
    let mut client = Client::new(Some(folder.path()));
    let file = uri(&folder.path().join("two.asm"));
    client.open(&file, two);
    assert_eq!(definition(&mut client, &file, ("PAGE", 0)), ["shared.asm:0:0-4"]);
    assert_eq!(definition(&mut client, &file, ("SHARED", 0)), ["shared.asm:0:0-0"], "the file");
    assert_eq!(definition(&mut client, &file, ("ENTRY", 1)), ["one.asm:2:0-5"], "another module");
    assert_eq!(
        references(&mut client, &file, ("PAGE", 0), false),
        ["one.asm:2:13-17", "two.asm:3:13-17"]
    );
    assert_eq!(
        references(&mut client, &file, ("ENTRY", 1), true),
        ["one.asm:1:9-14", "one.asm:2:0-5", "two.asm:0:9-14", "two.asm:2:6-11"]
    );
    assert_eq!(
        references(&mut client, &file, ("INNER", 0), true),
        ["two.asm:3:0-5"],
        "each has its own"
    );
}

#[test]
fn an_external_that_no_module_of_the_project_exports_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("tdl.toml", "[[program]]\nmodules = [\"main.asm\", \"part.asm\"]\n");
    let main = " .EXTERN PART\nSTART: CALL PART\n HLT\n .END START\n";
    let part = " .INTERN PART\nPART: RET\n .END\n";
    write("main.asm", main);
    write("part.asm", part);
    let mut client = Client::new(Some(folder.path()));
    let [main_uri, part_uri] = ["main.asm", "part.asm"].map(|name| uri(&folder.path().join(name)));
    client.open(&part_uri, part);
    client.open(&main_uri, main);
    assert_eq!(client.messages(&main_uri), [""; 0]);
    client.replace(&part_uri, "PART", 0, "PORT");
    client.replace(&part_uri, "PART", 0, "PORT");
    // Those of the file before it come first.
    client.messages(&part_uri);
    let found = client.messages(&main_uri);
    assert_eq!(found, ["0:9: U01 no module of the list in tdl.toml exports PART"]);
    client.replace(&main_uri, "CALL PART", 0, "NOP");
    client.replace(&main_uri, " .EXTERN PART", 0, "");
    assert_eq!(client.messages(&main_uri), [""; 0]);
}

#[test]
fn documents_and_the_workspace_have_symbols() {
    let mut client = Client::new(None);
    client.open(FILE, " .DEFINE MACRO1=[NOP]\nLONGNAME: MACRO1\nTWO == 2\n .END\n");
    let result = client
        .request("textDocument/documentSymbol", json!({ "textDocument": { "uri": FILE } }))
        .unwrap();
    let names = |result: &Value| -> Vec<String> {
        result
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&result), ["MACRO1", "LONGNAME", "TWO"]);
    let found = client.request("workspace/symbol", json!({ "query": "tw" })).unwrap();
    assert_eq!(names(&found), ["TWO"]);
}
