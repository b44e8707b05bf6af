//! Incremental edits give the same diagnostics as a server that receives the final texts at once.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};
use proptest::{bool, option};
use serde_json::{Value, json};
use tdlasm::Options;
use tdlasm_tools::server::LanguageServer;

/// The program, and the file that it inserts.
const FILES: [&str; 2] = ["file:///nowhere/a.asm", "file:///nowhere/b.asm"];
const PROGRAM: &str = "\t.INSERT b.asm\n\t.DEFINE TWICE[X,%Y]=[%Y: X\nX ; both\n\tJMP %Y]\n\
    START::\tMVI A,5\t; five\n..L:\tDCR A\n\tJRNZ ..L\n\tTWICE INX H\n\t.IFE FLAG,[\n\tTWICE NOP\n]\n\
    \tLXI H,TEXT\n\t.IFN FLAG,[ HLT ]\n\tCALL START\nTEXT:\t.ASCII 'some text'[0]\n\t.END\n";
const PART: &str = "FLAG == 0\n; nothing else\nSHARED: RET\n";

/// Fragments that are typed, valid and invalid.
static PIECES: [&str; 56] = [
    "\n",
    "\n\t",
    " ",
    ";",
    "; x",
    ":",
    "=",
    "==",
    "[",
    "]",
    "'",
    "\"",
    ",",
    "L",
    "L1:",
    "L1",
    "..L",
    "..L:",
    "START",
    "TEXT",
    "TEXT:",
    "FLAG",
    "FLAG == 1\n",
    "5",
    "500",
    "A",
    "\tMVI A,",
    "\tMVI ",
    "\tJMP L1\n",
    "\tTWICE ",
    "\tTWICE NOP\n",
    ".IF1 ,[",
    "\tHLT\n",
    "\t.BYTE L1,2\n",
    "Q=\\ 'Q'\n",
    "\t.EXTERN L1\n",
    "\t.LOC 0FFFFH\n",
    "\u{e9}",
    "\u{1F600}",
    "\t.END\n",
    "\t.IF2,[ NOP ]\n",
    "\t.IFN FLAG-1,[\n",
    "\t.IFNDEF L1,[ L1 ]\n",
    "\t.INSERT b.asm\n",
    "\t.RADIX 16\n",
    "\t.PABS\n",
    "\t.LOC .DATA.\n",
    "\t.LOC START+L1\n",
    "\t.PRGEND\n",
    "\t.INTERN L1\n",
    "\t.OPSYN .BYTE,L1\n",
    "\t.DEFINE L1=[\tMVI A,L\n]\n",
    "\tMOV A,L1\n",
    "\tJRNZ L1+\n",
    "\t.BLKB L1\n",
    "START: L=L1+1\n",
];
/// The number of sessions of each test, each of some edits of the program.
const SESSIONS: u32 = 30;

/// A server, and an editor's copy of its diagnostics.
struct Editor {
    server: LanguageServer,
    texts: [String; 2],
    version: i32,
    messages: [Value; 2],
}

impl Editor {
    fn open(texts: [String; 2]) -> Self {
        let mut server = LanguageServer::new(Options::default());
        let begin = json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } });
        server.handle_message(begin).expect("a message");
        let mut editor = Self { server, texts, version: 1, messages: [json!([]), json!([])] };
        for (uri, text) in FILES.iter().zip(editor.texts.clone()) {
            let document = json!({ "uri": uri, "languageId": "tdl", "version": 1, "text": text });
            editor.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        }
        editor
    }

    fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({ "method": method, "params": params });
        self.server.handle_message(message).expect("a message");
    }

    fn ask(&mut self, method: &str, file: usize, more: Value) -> Value {
        let mut params = more;
        params["textDocument"] = json!({ "uri": FILES[file] });
        let method = format!("textDocument/{method}");
        let message = json!({ "id": 2, "method": method, "params": params });
        let answer = self.server.handle_message(message).expect("a message").expect("an answer");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn splice(&mut self, file: usize, start: usize, end: usize, new: &str) {
        let text = &mut self.texts[file];
        let range = json!({ "start": position(text, start), "end": position(text, end) });
        text.replace_range(start..end, new);
        self.version += 1;
        let document = json!({ "uri": FILES[file], "version": self.version });
        let changes = json!([{ "range": range, "text": new }]);
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", &params);
    }

    /// The diagnostics of both files, as an editor has them from the last notifications.
    fn messages(&mut self) -> [Value; 2] {
        for one in self.server.take_notifications() {
            let at = FILES.iter().position(|uri| one["params"]["uri"] == *uri).expect("a file");
            self.messages[at] = one["params"]["diagnostics"].clone();
        }
        self.messages.clone()
    }

    fn tokens(&mut self, file: usize) -> Vec<u64> {
        numbers(&self.ask("semanticTokens/full", file, json!({}))["data"])
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    let all = list.as_array().expect("a list").iter();
    all.map(|one| one.as_u64().expect("a number")).collect()
}

fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let units = before[start..].encode_utf16().count();
    json!({ "line": before.matches('\n').count(), "character": units })
}

/// A change of a text by a typist, and what is then requested.
#[derive(Debug, Clone)]
struct Edit {
    is_part: bool,
    at: Index,
    /// Bytes to delete: more of them if the text is long.
    deleted: usize,
    inserted: &'static str,
    /// A place to request after the change. Sometimes several changes come before a request.
    request: Option<Index>,
}

/// Edits mostly insert, mostly into the program.
fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let deleted = prop_oneof![2 => Just(0), 1 => 0..80_usize];
    let inserted = prop_oneof![1 => Just(""), 3 => select(&PIECES)];
    let request = option::weighted(0.7, any::<Index>());
    let parts = (bool::weighted(0.25), any::<Index>(), deleted, inserted, request);
    let edit = parts.prop_map(|(is_part, at, deleted, inserted, request)| Edit {
        is_part,
        at,
        deleted,
        inserted,
        request,
    });
    // A text that is all in brackets and quotes tests little.
    vec(edit, 1..25)
}

/// The last boundary of a character up to a place.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn apply(editor: &mut Editor, edit: &Edit) {
    let file = usize::from(edit.is_part);
    let text = &editor.texts[file];
    let start = char_boundary(text, edit.at.index(text.len() + 1));
    let deleted = if text.len() > 700 { edit.deleted } else { edit.deleted % 8 };
    let end = char_boundary(text, (start + deleted).min(text.len()));
    editor.splice(file, start, end, edit.inserted);
}

fn compare(editor: &mut Editor, at: Index) {
    let mut fresh = Editor::open(editor.texts.clone());
    let shown = editor.texts.clone();
    assert_eq!(editor.messages(), fresh.messages(), "{shown:#?}");
    for file in 0..FILES.len() {
        for request in ["documentSymbol", "foldingRange"] {
            let both = [&mut *editor, &mut fresh].map(|one| one.ask(request, file, json!({})));
            assert_eq!(both[0], both[1], "{request} {shown:#?}");
        }
        assert_eq!(editor.tokens(file), fresh.tokens(file), "{shown:#?}");
        let offset = char_boundary(&shown[file], at.index(shown[file].len() + 1));
        let at_offset = json!({ "position": position(&shown[file], offset) });
        for request in ["hover", "completion", "definition"] {
            let both =
                [&mut *editor, &mut fresh].map(|one| one.ask(request, file, at_offset.clone()));
            assert_eq!(both[0], both[1], "{request} at {offset} {shown:#?}");
        }
    }
}

#[test]
fn incremental_and_fresh_servers_give_the_same_results() {
    check_sessions(1978);
}

/// A second test, since two run at a time.
#[test]
fn incremental_and_fresh_servers_give_the_same_results_with_another_seed() {
    check_sessions(1979);
}

fn check_sessions(seed: u64) {
    let (compared, with_faults) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::with_cases(SESSIONS)
    };
    let tested = TestRunner::new(config).run(&edits(), |edits| {
        let mut editor = Editor::open([PROGRAM.to_owned(), PART.to_owned()]);
        for edit in &edits {
            apply(&mut editor, edit);
            if let Some(at) = edit.request {
                compare(&mut editor, at);
                compared.set(compared.get() + 1);
                let is_faulty = editor.messages[0] != json!([]);
                with_faults.set(with_faults.get() + usize::from(is_faulty));
            }
        }
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
    let (compared, with_faults) = (compared.get(), with_faults.get());
    assert!((compared / 4..compared).contains(&with_faults), "{with_faults} of {compared}");
}
