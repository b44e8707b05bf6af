//! Hover, completion, tokens and folding.

use serde_json::{Value, json};

use super::client::Client;

const FILE: &str = "file:///nowhere/a.asm";

fn client(text: &str) -> Client {
    let mut client = Client::new(None);
    client.open(FILE, text);
    client
}

/// Returns the hover text of a word.
fn hover(client: &mut Client, word: (&str, usize)) -> String {
    let result = client.ask("textDocument/hover", FILE, word, Value::Null).unwrap();
    result["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn hover_shows_the_encoding_bytes_and_t_states_of_an_instruction() {
    let mut client = client(
        "        .LOC 100H\n        MOV A,5(X)\nLOOP:   DJNZ LOOP\n        JNO \
         1234H\n        .END\n",
    );
    // Bytes and T-states as in Zilog's manual UM0080.
    let printed = hover(&mut client, ("MOV", 0));
    assert!(
        printed.contains("| `MOV r,d(X)`* | DD 46 | 19 | `LD r,(IX+d)` | ------ |"),
        "{printed}"
    );
    assert!(printed.ends_with("3 bytes at 0100H = 256: `DD 7E 05`"), "{printed}");
    assert!(printed.contains("`*`: not on the 8080") && !printed.contains("taken"), "{printed}");
    let printed = hover(&mut client, ("DJNZ", 0));
    assert!(printed.contains("T-states: taken/not taken"), "{printed}");
    assert!(printed.contains("| 13/8 |") && printed.ends_with("`10 FE`"), "{printed}");
    let printed = hover(&mut client, ("JNO", 0));
    assert!(printed.contains("second name") && printed.ends_with("`E2 34 12`"), "{printed}");
}

#[test]
fn instructions_in_macros_and_conditionals_have_bytes_too() {
    let text = " .DEFINE LOAD[N]=[\n MVI A,N\n]\n .DEFINE TWICE[N]=[\n LOAD N\n LOAD N+1\n]\n \
    TWICE 5\n .IFE 0,[RET]\n .IFN 0,[HLT]\n .END\n";
    let mut client = client(text);
    let printed = hover(&mut client, ("MVI", 0));
    assert!(printed.contains("`3E 05`; other bytes in 1 more readings"), "{printed}");
    assert!(hover(&mut client, ("RET", 0)).ends_with("`C9`"));
    assert_eq!(hover(&mut client, ("HLT", 0)), "", "it was not assembled");
}

#[test]
fn hover_shows_the_kind_value_and_comment_of_a_symbol() {
    let mut client = client(
        "; PRINT - prints.\n;   Entry: A\nPRINT:: RET\nTWO     == 2     ; a pair\n        .EXTERN \
         FAR\n\x20       LXI H,TWO+PRINT\n        CALL FAR\n        CALL NONE\n        .END\n",
    );
    assert_eq!(
        hover(&mut client, ("PRINT", 2)),
        "`PRINT`: label, 0000H in .PROG., exported\n\n```tdl\n; PRINT - prints.\n;   Entry: \
         A\nPRINT:: RET\n```"
    );
    assert_eq!(
        hover(&mut client, ("TWO", 1)),
        "`TWO`: constant, 0002H = 2 = 2Q = 10B\n\n```tdl\nTWO     == 2     ; a pair\n```"
    );
    assert_eq!(hover(&mut client, ("FAR", 1)), "`FAR`: external symbol");
    assert_eq!(hover(&mut client, ("NONE", 0)), "`NONE`: not defined");
    assert_eq!(hover(&mut client, ("prints", 0)), "", "comments are the author's");
}

#[test]
fn hover_and_tokens_know_the_words_of_zilogs_notation() {
    const FILE: &str = "file:///nowhere/a.z80";
    let text = "ROOM_1  EQU 0x41 ; room's size\nloop_2  ld a,(ix+5)\n        ex af,af'\n        \
                defb ';',$FF\n        jr loop_2\n";
    let mut client = Client::new(None);
    client.open(FILE, text);
    let mut shown = |word| {
        let result = client.ask("textDocument/hover", FILE, word, Value::Null).unwrap();
        result["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let printed = shown(("ld", 0));
    assert!(printed.contains("| DD 46 | 19 | `LD r,(IX+d)` |"), "{printed}");
    assert!(printed.ends_with("3 bytes at 0000H in .PROG.: `DD 7E 05`"), "{printed}");
    assert_eq!(shown(("0x41", 0)), "`0x41`: 0041H = 65 = 101Q = 1000001B = 'A'");
    assert!(shown(("loop_2", 1)).starts_with("`loop_2`: label, 0000H in .PROG."));
    assert_eq!(shown(("size", 0)), "");
    let found = tokens_of(&mut client, FILE, text);
    for expected in [
        "ROOM_1 variable!",
        "EQU decorator",
        "0x41 number",
        "; room's size comment",
        "loop_2 function",
        "ld keyword",
        "a type",
        "ix type",
        "5 number",
        "af type",
        "';' string",
        "$FF number",
    ] {
        assert!(found.iter().any(|one| one == expected), "{expected}: {found:?}");
    }
}

#[test]
fn hover_shows_numbers_in_all_bases_and_flags_by_zilog() {
    let mut client = client(
        "        MVI A,65\n        LXI H,^H8000\n        ANI 101Q\n        .RADIX 16\n        CPI \
         41\n        .END\n",
    );
    let number = "0041H = 65 = 101Q = 1000001B = 'A'";
    assert_eq!(hover(&mut client, ("65", 0)), format!("`65`: {number}"));
    assert_eq!(hover(&mut client, ("101Q", 0)), format!("`101Q`: {number}"));
    assert_eq!(hover(&mut client, ("41", 0)), format!("`41`: {number}"));
    let word = "`H8000`: 8000H = 32768 = 100000Q = 1000000000000000B = -32768";
    assert_eq!(hover(&mut client, ("H8000", 0)), word);
    // AND: H is set, P/V is parity, N and C are reset; CP: as a subtraction (UM0080).
    assert!(hover(&mut client, ("ANI", 0)).contains("| `AND n` | SZ1P00 |"));
    assert!(hover(&mut client, ("CPI", 0)).contains("| `CP n` | SZHV1C |"));
}

/// The label of the active signature at the end of a line, its parameter, and how many there are.
fn signature(client: &mut Client, line: &str) -> Option<(String, u64, usize)> {
    let at = client.text(FILE).find(line).unwrap() + line.len();
    let place = super::client::position(client.text(FILE), at);
    let asked = json!({ "textDocument": { "uri": FILE }, "position": place });
    let found = client.request("textDocument/signatureHelp", asked).unwrap();
    let active = found["activeSignature"].as_u64()? as usize;
    let all = found["signatures"].as_array()?;
    let label = all[active]["label"].as_str()?.to_owned();
    Some((label, found["activeParameter"].as_u64()?, all.len()))
}

#[test]
fn signatures_show_the_operands_of_mnemonics_and_macros() {
    let text =
        "        .DEFINE COPY[FROM,TO]=[\n        LDA FROM\n        STA TO\n]\n        MOV A,\n
        COPY (1,2),\n        RET \n        BIT 7,B ; a comment\n        .END\n";
    let mut client = client(text);
    let is = |label: &str, at, count| Some((label.to_owned(), at, count));
    assert_eq!(signature(&mut client, "MOV A,"), is("MOV r,r", 1, 5));
    assert_eq!(signature(&mut client, "MOV "), is("MOV r,r", 0, 5));
    assert_eq!(signature(&mut client, "COPY (1,2),"), is("COPY FROM,TO", 1, 1));
    assert_eq!(signature(&mut client, "BIT 7,B"), is("BIT b,r", 1, 3));
    for line in ["RET ", "BIT 7,B ; a", "        MO"] {
        assert_eq!(signature(&mut client, line), None, "{line}");
    }
}

#[test]
fn cases_of_a_test_file_have_lenses_that_run_and_debug_them() {
    let mut client = Client::new(None);
    let file = "file:///nowhere/a.test.toml";
    let text = "sources = [\"a.asm\"]\n\n[[case]]\nname = \"adds \\\"x\\\"\"\ncall = \"ADD2\"\n\n\
        [[property]]\nname = 'sum' # of two\n[other]\nname = \"no\"\n";
    client.open(file, text);
    let asked = json!({ "textDocument": { "uri": file } });
    let lenses = client.request("textDocument/codeLens", asked).unwrap();
    let all = lenses.as_array().unwrap();
    let shown = all.iter().map(|one| {
        let command = &one["command"];
        let arguments = (&command["arguments"][0], &command["arguments"][1]);
        assert_eq!(arguments.0, "/nowhere/a.test.toml");
        (&command["title"], &command["command"], arguments.1, &one["range"]["start"]["line"])
    });
    let shown: Vec<_> = shown.map(|one| json!([one.0, one.1, one.2, one.3])).collect();
    let run = |name: &str, line: u32| json!(["Run test", "tdl.runTest", name, line]);
    let debug = |name: &str, line: u32| json!(["Debug test", "tdl.debugTest", name, line]);
    let adds = "adds \"x\"";
    assert_eq!(shown, [run(adds, 2), debug(adds, 2), run("sum", 6)]);
    // It is not assembled.
    assert_eq!(client.messages(file), [""; 0]);
}

#[test]
fn hover_quotes_the_manual_for_a_directive() {
    let mut client = client("        .RADIX 16\n        .END\n");
    assert_eq!(hover(&mut client, (".RADIX", 0)), "`.RADIX n`: 2, 8, 10 or 16, written in decimal");
}

/// The labels of the completions at a place, and the text that each inserts.
fn offered(client: &mut Client, word: (&str, usize)) -> Vec<String> {
    let found = client.ask("textDocument/completion", FILE, word, Value::Null).unwrap();
    let labels = found.as_array().unwrap().iter();
    labels.map(|one| one["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn operators_are_offered_where_operators_stand_and_symbols_in_operands() {
    let mut client =
        client(" .DEFINE MACRO1[ARG]=[NOP]\nCOUNTERS == 5\nSTART: MVI A,C ; here\n D\n .END\n");
    let operators = offered(&mut client, ("D\n", 0));
    for wanted in ["MVI", "DJNZ", ".BYTE", ".DEFINE", "MACRO1"] {
        assert!(operators.iter().any(|one| one == wanted), "{wanted}");
    }
    assert!(!operators.iter().any(|one| one == "START" || one == "B"));
    let operands = offered(&mut client, ("C ;", 0));
    for wanted in ["COUNTERS", "START", "B", "PSW", ".DATA.", "MACRO1"] {
        assert!(operands.iter().any(|one| one == wanted), "{wanted}");
    }
    assert!(!operands.iter().any(|one| one == "MVI"));
    assert_eq!(offered(&mut client, ("here", 0)), [""; 0]);
}

#[test]
fn a_completion_replaces_the_word_so_far() {
    let mut client = client("        .BY\n        .END\n");
    // The position is after the word.
    let found = client.ask("textDocument/completion", FILE, ("\n", 0), Value::Null).unwrap();
    let byte = found.as_array().unwrap().iter().find(|one| one["label"] == ".BYTE").unwrap();
    let at = |character| json!({ "line": 0, "character": character });
    assert_eq!(byte["textEdit"]["range"], json!({ "start": at(8), "end": at(11) }));
}

#[test]
fn macros_conditionals_and_comments_fold() {
    let mut client = client(
        "; one\n; two\n; three\n .DEFINE M=[\n NOP\n NOP\n]\n .IFE 1,[\n NOP\n][\n HLT\n]\n; \
         alone\n .IFE 1,[NOP]\n .END\n",
    );
    let asked = json!({ "textDocument": { "uri": FILE } });
    let found = client.request("textDocument/foldingRange", asked).unwrap();
    let shown: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!("{} {}-{}", one["kind"].as_str().unwrap(), one["startLine"], one["endLine"])
        })
        .collect();
    assert_eq!(shown, ["comment 0-2", "region 3-5", "region 7-8", "region 9-10"]);
}

#[test]
fn brackets_in_comments_and_quotes_neither_begin_nor_end_a_fold() {
    let folds = |text: &str| -> Vec<(Value, Value)> {
        let asked = json!({ "textDocument": { "uri": FILE } });
        let found = client(text).request("textDocument/foldingRange", asked).unwrap();
        let lines = |one: &Value| (one["startLine"].clone(), one["endLine"].clone());
        found.as_array().unwrap().iter().map(lines).collect()
    };
    let text = " .IFE 0,[ ; see ]\n .BYTE ']','['\n NOP\n]\n .BYTE 1\n";
    assert_eq!(folds(text), [(json!(0), json!(2))]);
    assert_eq!(folds(" NOP ; [\n NOP\n NOP\n NOP ; ]\n"), []);
}

/// Each token of the file: its text and what the legend calls it.
fn tokens(client: &mut Client, text: &str) -> Vec<String> {
    tokens_of(client, FILE, text)
}

pub(super) fn tokens_of(client: &mut Client, file: &str, text: &str) -> Vec<String> {
    let asked = json!({ "textDocument": { "uri": file } });
    let found = client.request("textDocument/semanticTokens/full", asked).unwrap();
    let data: Vec<usize> = found["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_u64().unwrap() as usize)
        .collect();
    // The order of the server's legend.
    let legend = [
        "keyword",
        "decorator",
        "macro",
        "function",
        "enumMember",
        "variable",
        "parameter",
        "type",
        "number",
        "string",
        "comment",
    ];
    let mut line = 0;
    let mut start = 0;
    let show = |token: &[usize]| {
        start = if token[0] == 0 { start + token[1] } else { token[1] };
        line += token[0];
        let units: Vec<u16> = text.lines().nth(line).unwrap().encode_utf16().collect();
        let word = String::from_utf16(&units[start..start + token[2]]).unwrap();
        let declared = if token[4] == 1 { "!" } else { "" };
        format!("{word} {}{declared}", legend[token[3]])
    };
    data.chunks(5).map(show).collect()
}

#[test]
fn words_are_distinguished_by_their_kind() {
    let text = " .DEFINE M[N]=[\n MVI A,N\n]\nLB: M 5 ; \u{1F600} x\nTWO==2\n LXI H,TWO+LB+NONE\n \
    .ASCII /MVI/[TWO]\n .ASCII 'one\ntwo'\n .END\n";
    let mut client = client(text);
    assert_eq!(
        tokens(&mut client, text),
        [
            ".DEFINE decorator",
            "M macro",
            "N parameter",
            "MVI keyword",
            "A type",
            "N parameter",
            "LB function!",
            "M macro",
            "5 number",
            "; \u{1F600} x comment",
            "TWO enumMember!",
            "2 number",
            "LXI keyword",
            "H type",
            "TWO enumMember",
            "LB function",
            ".ASCII decorator",
            "/MVI/ string",
            "TWO enumMember",
            ".ASCII decorator",
            "'one string",
            "two' string",
            ".END decorator",
        ]
    );
}

#[test]
fn bytes_t_states_and_routines_are_annotated() {
    let text =
        "LOOP::  MVI A,5 ; five\n..L:    DJNZ ..L\n        RET\n        .BYTE 1\n        .END\n";
    let mut client = client(text);
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 9 } });
    let asked = json!({ "textDocument": { "uri": FILE }, "range": range });
    let hints = client.request("textDocument/inlayHint", asked).unwrap();
    let labels: Vec<&Value> = hints.as_array().unwrap().iter().map(|one| &one["label"]).collect();
    // T-states as in Zilog's manual UM0080.
    assert_eq!(labels, ["3E 05, 7 T", "10 FE, 13/8 T"]);
    assert_eq!(hints[0]["position"], json!({ "line": 0, "character": 22 }));
    let asked = json!({ "textDocument": { "uri": FILE } });
    let lenses = client.request("textDocument/codeLens", asked).unwrap();
    // 7 + 8 + 10.
    let title = "25 T-states straight through, 3 instructions, 1 conditional";
    assert_eq!(lenses[0]["command"]["title"], title);
    assert_eq!(lenses.as_array().map(Vec::len), Some(1), "local labels have none");
}
