//! What the editor knows of a source in Zilog's notation, and of one that `.ZOP` and `.EPOP` switch.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, places, position, uri};
use super::renaming::edited;
use super::words::tokens_of;

const FILE: &str = "file:///nowhere/a.z80";
const TDL: &str = "file:///nowhere/a.asm";

fn client(file: &str, text: &str) -> Client {
    let mut client = Client::new(None);
    client.open(file, text);
    client
}

/// The labels of the completions behind `line`.
fn offered(client: &mut Client, file: &str, line: &str) -> Vec<String> {
    let text = client.text(file);
    let place = position(text, text.find(line).unwrap() + line.len());
    let asked = json!({ "textDocument": { "uri": file }, "position": place });
    let found = client.request("textDocument/completion", asked).unwrap();
    let labels = found.as_array().unwrap().iter();
    labels.map(|one| one["label"].as_str().unwrap().to_owned()).collect()
}

/// Checks which words are among the completions behind `line`.
fn check_offered(client: &mut Client, file: &str, line: &str, wanted: &[&str], others: &[&str]) {
    let found = offered(client, file, line);
    let has = |word: &&&str| found.iter().any(|one| one == **word);
    let missing: Vec<&&str> = wanted.iter().filter(|word| !has(word)).collect();
    let wrong: Vec<&&str> = others.iter().filter(has).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "{line:?}: {missing:?}, {wrong:?}");
}

#[test]
fn completion_offers_the_words_of_the_notation() {
    let text =
        "copy    macro from,to\n        ld a,from\n        endm\nstart:  d\n        ld a,i\n";
    let mut client = client(FILE, text);
    let operators = ["LD", "DJNZ", "SLL", "DEFB", "INCLUDE", "REPT", "copy"];
    check_offered(&mut client, FILE, "start:  d", &operators, &["MVI", ".BYTE", "HL", "start"]);
    let operands = ["HL", "IXH", "NZ", "AF'", "start"];
    check_offered(&mut client, FILE, "ld a,i", &operands, &["PSW", ".DATA.", "LD"]);
}

#[test]
fn completion_follows_zop_and_epop_in_tdl() {
    let text = " M\n .ZOP\n L\n LD A,B\n .BYTE B\n .EPOP\n D\n .XZOP\n .XEPOP\n X\n .END\n";
    let mut client = client(TDL, text);
    check_offered(&mut client, TDL, " M", &["MVI", ".ZOP"], &["LD", "DEFB"]);
    check_offered(&mut client, TDL, " L", &["LD", ".BYTE"], &["MVI", "DEFB"]);
    check_offered(&mut client, TDL, "LD A,B", &["HL", "IXL", ".PROG."], &["PSW"]);
    check_offered(&mut client, TDL, ".BYTE B", &["PSW", ".PROG."], &["HL"]);
    check_offered(&mut client, TDL, "\n D", &["LD", ".BYTE", "DEFB"], &["MVI"]);
    check_offered(&mut client, TDL, " X", &["MVI", ".ZOP"], &["LD", "DEFB"]);
}

#[test]
fn hover_and_tokens_follow_zop_and_epop_in_tdl() {
    let text = " .ZOP\n .EPOP\nTWO EQU 2\n LD A,(IX+TWO)\n MOV A,B\n DEFB ']'\n .END\n";
    let mut client = client(TDL, text);
    let shown = client.ask("textDocument/hover", TDL, ("LD", 0), Value::Null).unwrap();
    let shown = shown["contents"]["value"].as_str().unwrap();
    assert!(shown.contains("`LD r,(IX+d)`") && shown.ends_with("`DD 7E 02`"), "{shown}");
    let found = tokens_of(&mut client, TDL, text);
    let expected = [
        ".ZOP decorator",
        ".EPOP decorator",
        "TWO variable!",
        "EQU decorator",
        "2 number",
        "LD keyword",
        "A type",
        "IX type",
        "TWO variable",
        "MOV keyword",
        "A type",
        "B type",
        "DEFB decorator",
        "']' string",
        ".END decorator",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_inserted_file_has_the_words_of_the_place_that_inserts_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("main.asm"), " .ZOP ; as in PASM\n .INSERT part\n .XZOP\n NOP\n .END\n")
        .unwrap();
    let part = " L\n LD A,5\n";
    fs::write(path("part.asm"), part).unwrap();
    let mut client = Client::new(Some(folder.path()));
    let file = uri(&path("part.asm"));
    client.open(&file, part);
    check_offered(&mut client, &file, " L", &["LD"], &["MVI"]);
}

/// The label of the active signature at the end of a line, and its parameter.
fn signature(client: &mut Client, file: &str, line: &str) -> Option<(String, u64)> {
    let text = client.text(file);
    let place = position(text, text.find(line).unwrap() + line.len());
    let asked = json!({ "textDocument": { "uri": file }, "position": place });
    let found = client.request("textDocument/signatureHelp", asked).unwrap();
    let active = found["activeSignature"].as_u64()? as usize;
    let label = found["signatures"][active]["label"].as_str()?.to_owned();
    Some((label, found["activeParameter"].as_u64()?))
}

#[test]
fn signatures_show_operands_in_zilogs_spelling() {
    let text = "copy    macro from, to ; a byte\n        endm\n        macro put,what\n        endm\n        \
                ld a,\n        bit 7,(ix+1)\n        copy 1,\n        put 5\n        ret\n";
    let mut client = client(FILE, text);
    let is = |label: &str, at| Some((label.to_owned(), at));
    assert_eq!(signature(&mut client, FILE, "ld a,"), is("LD r,r", 1));
    assert_eq!(signature(&mut client, FILE, "bit 7,"), is("BIT b,r", 1));
    assert_eq!(signature(&mut client, FILE, "copy 1,"), is("copy from, to", 1));
    assert_eq!(signature(&mut client, FILE, "put 5"), is("put what", 0));
    let place = position(text, text.find("ld a,").unwrap() + 3);
    let asked = json!({ "textDocument": { "uri": FILE }, "position": place });
    let all = client.request("textDocument/signatureHelp", asked).unwrap();
    let labels = all["signatures"].as_array().unwrap().iter().map(|one| &one["label"]);
    let labels: Vec<&Value> = labels.collect();
    for wanted in ["LD r,(IX+d)", "LD BC/DE/HL/SP,nn", "LD A,(BC/DE)", "LD (nn),A"] {
        assert!(labels.iter().any(|one| **one == wanted), "{wanted}: {labels:?}");
    }
    let mut client = self::client(TDL, " .ZOP\n LD A,\n MOV A,\n .END\n");
    assert_eq!(signature(&mut client, TDL, "LD A,"), is("LD r,r", 1));
}

/// The titles of the code actions in a line, with the text after each.
fn actions(client: &mut Client, file: &str, line: u32) -> Vec<(String, String)> {
    let text = client.text(file).to_owned();
    let place = |character| json!({ "line": line, "character": character });
    let asked = json!({
        "textDocument": { "uri": file },
        "range": { "start": place(0), "end": place(99) },
        "context": { "diagnostics": [] },
    });
    let found = client.request("textDocument/codeAction", asked).unwrap();
    let one = |action: &Value| {
        let edits = &action["edit"]["changes"][file];
        (action["title"].as_str().unwrap().to_owned(), edited(&text, edits))
    };
    found.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn quick_fixes_apply_to_zilogs_notation() {
    let text =
        "start:  jr nz,far\n        ld a,(cuont)\n        ds 200\nfar:    ret\ncount   db 1\n";
    let mut client = client(FILE, text);
    let is = |title: &str, old: &str, new: &str| vec![(title.to_owned(), text.replace(old, new))];
    assert_eq!(actions(&mut client, FILE, 0), is("Write jp", "jr", "jp"));
    assert_eq!(actions(&mut client, FILE, 1), is("Write COUNT", "cuont", "COUNT"));
}

#[test]
fn included_files_have_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("const.inc"), "two equ 2\n").unwrap();
    fs::write(path("data.bin"), [1, 2]).unwrap();
    let text = "        include \"const.inc\" ; two\n        INCBIN data.bin\n        ld a,two\n";
    let file = uri(&path("main.z80"));
    let mut client = Client::new(Some(folder.path()));
    client.open(&file, text);
    let links = |client: &mut Client, file: &str| -> Vec<(u64, String)> {
        let asked = json!({ "textDocument": { "uri": file } });
        let found = client.request("textDocument/documentLink", asked).unwrap();
        let one = |link: &Value| {
            let target = link["target"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (link["range"]["start"]["character"].as_u64().unwrap(), target)
        };
        found.as_array().unwrap().iter().map(one).collect()
    };
    let expected = [(16, "const.inc".to_owned()), (15, "data.bin".to_owned())];
    assert_eq!(links(&mut client, &file), expected);
    let found = client.ask("textDocument/definition", &file, ("two\n", 1), Value::Null).unwrap();
    assert_eq!(places(&found), ["const.inc:0:0-3"]);
    let tdl = uri(&path("main.asm"));
    client.open(&tdl, " .EPOP\n INCLUDE 'const.inc'\n .END\n");
    assert_eq!(links(&mut client, &tdl), [(9, "const.inc".to_owned())]);
}

#[test]
fn conditionals_macros_and_repetitions_fold() {
    let folds = |file: &str, text: &str| -> Vec<String> {
        let asked = json!({ "textDocument": { "uri": file } });
        let found = client(file, text).request("textDocument/foldingRange", asked).unwrap();
        let shown = |one: &Value| {
            format!("{} {}-{}", one["kind"].as_str().unwrap(), one["startLine"], one["endLine"])
        };
        found.as_array().unwrap().iter().map(shown).collect()
    };
    let text = "; [ one\n; two\nm       macro a\n        if a\n        nop\n        else\n        \
                halt\n        endif\n        endm\nlabel:  rept 3\n        nop\n        endm\n        \
                db ']' ; endm\n";
    let expected = ["comment 0-1", "region 2-7", "region 3-4", "region 5-6", "region 9-10"];
    assert_eq!(folds(FILE, text), expected);
    let text = " .EPOP\n IF 1\n NOP\n ENDIF\n .IFE 0,[\n NOP\n]\n .END\n";
    assert_eq!(folds(TDL, text), ["region 1-2", "region 4-5"]);
    // Behind XEPOP these are TDL's words, or none.
    assert_eq!(folds(TDL, " .EPOP\n .XEPOP\n IF 1\n NOP\n ENDIF\n .END\n"), [""; 0]);
}

/// The text with the name at `word` changed, or the error message.
fn renamed(text: &str, word: (&str, usize), new: &str) -> Result<String, String> {
    let more = json!({ "newName": new });
    let result = client(FILE, text).ask("textDocument/rename", FILE, word, more);
    result.map(|edit| edited(text, &edit["changes"][FILE])).map_err(|(_, message)| message)
}

#[test]
fn renaming_knows_local_and_long_names() {
    let text = "counter equ 5 ; counter\nstart:  ld b,counter\n.loop   djnz .loop\n        if 0\n        \
                jr .loop\n        ld a,counter\n        db 'counter'\n        endif\nnext:   jp \
                start.loop\ncounted equ 6\n.loop:  jr .loop\n";
    let changed = renamed(text, ("counter", 2), "rounds_left").unwrap();
    let expected = text.replace("counter", "rounds_left");
    let expected =
        expected.replace("; rounds_left", "; counter").replace("'rounds_left'", "'counter'");
    assert_eq!(changed, expected);
    let (first, second) = text.split_at(text.find("counted").unwrap());
    assert_eq!(
        renamed(text, (".loop", 1), ".again").unwrap(),
        first.replace(".loop", ".again") + second
    );
    assert_eq!(renamed(text, ("start", 0), "begin").unwrap(), text.replace("start", "begin"));
    let shown = client(FILE, text)
        .ask("textDocument/prepareRename", FILE, ("loop\ncounted", 0), Value::Null)
        .unwrap();
    assert_eq!(shown["placeholder"], ".loop");
    assert_eq!(shown["range"]["start"]["character"], 16);
}

#[test]
fn invalid_names_are_refused() {
    let text = "start:  nop\n.l:     jr .l\nother:  jp start\n";
    for (word, new, why) in [
        ("start", "9to5", "invalid symbol"),
        ("start", "a$", "invalid symbol"),
        ("start", "a_b?", ""),
        ("start", "mvi", ""),
        ("start", "X", ""),
        ("start", "hl", "register"),
        ("start", "ld", "instruction"),
        ("start", "defb", "directive"),
        ("start", ".start", "local"),
        (".l", "l5", "local"),
        ("start", "OTHER", "already exists"),
    ] {
        match renamed(text, (word, 0), new) {
            Ok(_) => assert_eq!(why, "", "{new} was taken"),
            Err(printed) => assert!(!why.is_empty() && printed.contains(why), "{new}: {printed}"),
        }
    }
}

#[test]
fn callers_are_found() {
    let text =
        "main:   call work\n        jr z,work\n        halt\nwork:   djnz work\n        ret\n";
    let mut client = client(FILE, text);
    let item = client.ask("textDocument/prepareCallHierarchy", FILE, ("work:", 0), Value::Null);
    let item = item.unwrap()[0].clone();
    let found = client.request("callHierarchy/incomingCalls", json!({ "item": item })).unwrap();
    assert_eq!(found.as_array().map(Vec::len), Some(0), "no routine calls it");
    let exported = text.replace("main:", "main::");
    client.replace(FILE, "main:", 0, "main::");
    assert_eq!(client.text(FILE), exported);
    let found = client.request("callHierarchy/incomingCalls", json!({ "item": item })).unwrap();
    assert_eq!(found[0]["from"]["name"], "main");
    assert_eq!(found[0]["fromRanges"].as_array().map(Vec::len), Some(2));
}
