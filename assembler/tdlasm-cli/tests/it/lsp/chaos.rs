//! Random edits: every request gets a reply, and the server's text equals the editor's.

use std::io::Write;
use std::process::{Command, Stdio};

use seeded_fuzz::Rng;
use serde_json::json;

use super::client::{Client, position};

const FILE: &str = "file:///nowhere/a.asm";

/// Fragments of programs, valid and invalid.
const PIECES: [&str; 48] = [
    "\n",
    "\n",
    "\n ",
    "\n        ",
    "\r\n",
    " ",
    "\t",
    "; x",
    "L1:",
    "L1::",
    "..L:",
    "L1",
    "..L",
    "M1",
    " .DEFINE M1[A1,%B]=[\n",
    " M1 L1,5\n",
    " M1 [L1,\n5]\n",
    "]",
    "[",
    "][",
    " .IFE L1,[",
    " .IFN 0,[\n",
    " .IF1 ,[",
    " MVI A,L1",
    " JMPR ..L",
    " LXI H,",
    "A1",
    "%B",
    "A1'B",
    "'",
    "\"",
    " .ASCII /a\nb/",
    " .BYTE ",
    "TWO == 2\n",
    "TWO=",
    "\u{e9}",
    "\u{1F600}",
    ",",
    "(",
    ")",
    " .INSERT a.asm\n",
    " .OPSYN MVI,X1\n",
    " .PRGEND\n",
    " .END\n",
    " .EXTERN L1\n",
    "=\\",
    ".SYN L1,L2\n",
    "\0",
];

const PLACES: [&str; 7] = [
    "hover",
    "completion",
    "definition",
    "references",
    "documentHighlight",
    "rename",
    "prepareRename",
];
const TEXTS: [&str; 4] = ["documentSymbol", "foldingRange", "semanticTokens/full", "formatting"];

fn keystroke(client: &mut Client, dice: &mut Rng) {
    let text = client.text(FILE);
    let start = dice.char_boundary(text);
    // Sometimes text is deleted, and more of it if the text is long.
    let most = if text.len() > 400 { 60 } else { 6 };
    let mut end = (start + dice.below(most)).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // The protocol has no position between the two bytes of a line end.
    let splits = |at: usize| text[..at].ends_with('\r');
    if splits(start) || splits(end) {
        return;
    }
    client.splice(FILE, start..end.max(start), PIECES[dice.below(PIECES.len())]);
}

#[test]
fn every_request_is_answered_whatever_the_text_is() {
    let mut client = Client::new(None);
    client.open(FILE, " .END\n");
    let mut dice = Rng::from_seed(1978);
    for _ in 0..400 {
        keystroke(&mut client, &mut dice);
        let text = client.text(FILE).to_owned();
        let document = json!({ "uri": FILE });
        let place = position(&text, dice.char_boundary(&text));
        let (method, parameters) = match dice.below(3) {
            0 => (
                TEXTS[dice.below(TEXTS.len())],
                json!({
                    "textDocument": document, "options": { "tabSize": 8, "insertSpaces": true },
                }),
            ),
            _ => (
                PLACES[dice.below(PLACES.len())],
                json!({
                    "textDocument": document, "position": place, "newName": "NEW1", "context": { "includeDeclaration": true, "triggerKind": 1 },
                }),
            ),
        };
        let refused = client.request(&format!("textDocument/{method}"), parameters).err();
        // The message of an error is shown to the user.
        assert!(refused.is_none_or(|(code, _)| code == -32803), "{method} about {text:?}");
    }
    assert_eq!(client.end(), Some(0));
}

/// Formats a text by `tdlasm fmt`; `None` if it refuses the text.
fn laid_out(text: &str) -> Option<String> {
    let mut fmt = Command::new(env!("CARGO_BIN_EXE_tdlasm"))
        .arg("fmt")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    fmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = fmt.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_server_has_the_typed_text_and_formats_it_once() {
    let mut client = Client::new(None);
    client.open(FILE, " .END\n");
    let mut dice = Rng::from_seed(1979);
    for _ in 0..40 {
        for _ in 0..5 {
            keystroke(&mut client, &mut dice);
        }
        // If the number of lines changes, the whole text is one edit.
        let end = client.text(FILE).len();
        client.splice(FILE, end..end, "\nX");
        let asked = json!({ "textDocument": { "uri": FILE }, "options": { "tabSize": 8, "insertSpaces": true } });
        let answer = client.request("textDocument/formatting", asked);
        let expected = laid_out(client.text(FILE));
        if let Some(once) = &expected {
            assert_eq!(laid_out(once).as_ref(), Some(once), "a second time");
        }
        match (answer, expected) {
            (Ok(edits), Some(expected)) if expected.ends_with('\n') => {
                assert_eq!(edits[0]["newText"], expected.as_str())
            }
            // A last line after .END has no line end, so lines are edited one by one.
            (Ok(_), Some(_)) => {}
            (answer, expected) => assert!(answer.is_err() && expected.is_none()),
        }
    }
}
