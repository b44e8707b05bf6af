//! Random edits: every request gets a reply, and the server's text equals the editor's.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};
use serde_json::json;

use super::client::{Client, position};

const FILE: &str = "file:///nowhere/a.asm";

/// Fragments of programs, valid and invalid.
static PIECES: [&str; 48] = [
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

static PLACES: [&str; 7] = [
    "hover",
    "completion",
    "definition",
    "references",
    "documentHighlight",
    "rename",
    "prepareRename",
];
static TEXTS: [&str; 4] = ["documentSymbol", "foldingRange", "semanticTokens/full", "formatting"];

/// A change of the text, and a request after it.
#[derive(Debug, Clone)]
struct Keystroke {
    at: Index,
    /// Bytes to delete: more of them if the text is long.
    deleted: usize,
    inserted: &'static str,
    request: Request,
}

#[derive(Debug, Clone)]
enum Request {
    AboutText(&'static str),
    AboutPlace(&'static str, Index),
}

fn keystrokes(count: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Keystroke>> {
    let request = prop_oneof![
        1 => select(&TEXTS).prop_map(Request::AboutText),
        2 => (select(&PLACES), any::<Index>()).prop_map(|(name, at)| Request::AboutPlace(name, at)),
    ];
    let keystroke = (any::<Index>(), 0..60_usize, select(&PIECES), request)
        .prop_map(|(at, deleted, inserted, request)| Keystroke { at, deleted, inserted, request });
    vec(keystroke, count)
}

/// Runs a test with sessions of keystrokes, the same at each call.
fn for_each_session(
    sessions: u32,
    keystrokes: impl Strategy<Value = Vec<Keystroke>>,
    test: impl Fn(&[Keystroke]),
) {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(1978),
        failure_persistence: None,
        max_shrink_iters: 100, // each starts the program
        ..ProptestConfig::with_cases(sessions)
    };
    let tested = TestRunner::new(config).run(&keystrokes, |keystrokes| {
        test(&keystrokes);
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The last boundary of a character up to a place.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn press(client: &mut Client, keystroke: &Keystroke) {
    let text = client.text(FILE);
    let start = char_boundary(text, keystroke.at.index(text.len() + 1));
    let deleted = if text.len() > 400 { keystroke.deleted } else { keystroke.deleted % 6 };
    let end = char_boundary(text, (start + deleted).min(text.len()));
    // The protocol has no position between the two bytes of a line end.
    let splits = |at: usize| text[..at].ends_with('\r');
    if splits(start) || splits(end) {
        return;
    }
    client.splice(FILE, start..end, keystroke.inserted);
}

#[test]
fn every_request_is_answered_whatever_the_text_is() {
    for_each_session(4, keystrokes(100..=100), |keystrokes| {
        let mut client = Client::new(None);
        client.open(FILE, " .END\n");
        for keystroke in keystrokes {
            press(&mut client, keystroke);
            let text = client.text(FILE).to_owned();
            let mut parameters = json!({
                "textDocument": { "uri": FILE }, "newName": "NEW1",
                "options": { "tabSize": 8, "insertSpaces": true },
                "context": { "includeDeclaration": true, "triggerKind": 1 },
            });
            let method = match &keystroke.request {
                Request::AboutText(method) => method,
                Request::AboutPlace(method, at) => {
                    let place = char_boundary(&text, at.index(text.len() + 1));
                    parameters["position"] = position(&text, place);
                    method
                }
            };
            let refused = client.request(&format!("textDocument/{method}"), parameters).err();
            // The message of an error is shown to the user.
            assert!(refused.is_none_or(|(code, _)| code == -32803), "{method} about {text:?}");
        }
        assert_eq!(client.end(), Some(0));
    });
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
    for_each_session(4, keystrokes(50..=50), |keystrokes| {
        let mut client = Client::new(None);
        client.open(FILE, " .END\n");
        for several in keystrokes.chunks(5) {
            several.iter().for_each(|keystroke| press(&mut client, keystroke));
            check_formatting(&mut client);
        }
    });
}

fn check_formatting(client: &mut Client) {
    // If the number of lines changes, the whole text is one edit.
    let end = client.text(FILE).len();
    client.splice(FILE, end..end, "\nX");
    let asked = json!({
        "textDocument": { "uri": FILE }, "options": { "tabSize": 8, "insertSpaces": true },
    });
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
