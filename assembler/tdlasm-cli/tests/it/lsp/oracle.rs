//! Opens the programs recorded with the original assembler in an editor: the server survives each,
//! and its diagnostics equal the assembler's.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

use serde_json::{Value, json};

use tdlasm::Options;
use tdlasm::asm::run;
use tdlasm::diag::render::in_file;
use tdlasm::source::MemoryLoader;

use super::client::Client;

const PROGRAMS: &[u8] = include_bytes!("../../../../tdlasm/tests/data/oracle/programs.jsonl.gz");
/// The number of recorded programs.
const COUNT: usize = 5_500;
const FILE: &str = "/nowhere/p.asm";
/// The requests of an editor as soon as it shows a file.
const REQUESTS: [&str; 3] = ["foldingRange", "documentSymbol", "semanticTokens/full"];

fn sources() -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let source = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["source"].as_str().expect("a program").to_owned()
    };
    text.lines().map(source).collect()
}

/// The assembler's own messages: the line, from 0, and the code of each.
fn assembled(source: &str) -> BTreeSet<String> {
    let loader = MemoryLoader::new().with(FILE, source);
    let outcome = run(&loader, &[PathBuf::from(FILE)], &Options::default());
    let shown = outcome.diagnostics.iter().map(|one| {
        let (_, line) = outcome.sources.file_line(in_file(one.span, &outcome.sources).start);
        format!("{} {}", line - 1, one.code.id())
    });
    shown.collect()
}

#[test]
fn the_editor_shows_the_messages_of_the_assembler_for_every_program() {
    let sources = sources();
    assert_eq!(sources.len(), COUNT);
    std::thread::scope(|scope| {
        for half in sources.chunks(COUNT / 2) {
            scope.spawn(|| verify_messages(half));
        }
    });
}

fn verify_messages(sources: &[String]) {
    let mut client = Client::new(None);
    let uri = format!("file://{FILE}");
    let document = json!({ "textDocument": { "uri": uri } });
    for source in sources {
        client.diagnostics.remove(&uri);
        client.open(&uri, source);
        let shown = client.messages(&uri).into_iter().map(|message| {
            let [line, _, text] = message.splitn(3, ':').collect::<Vec<_>>()[..] else {
                panic!("{message}");
            };
            format!("{line} {}", text.split_whitespace().next().expect("a code"))
        });
        assert_eq!(shown.collect::<BTreeSet<_>>(), assembled(source), "{source}");
        for request in REQUESTS {
            let method = format!("textDocument/{request}");
            assert!(client.request(&method, document.clone()).is_ok(), "{request}\n{source}");
        }
        client.notify("textDocument/didClose", document.clone());
    }
    assert_eq!(client.end(), Some(0));
}
