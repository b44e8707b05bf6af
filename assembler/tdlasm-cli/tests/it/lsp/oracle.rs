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
use tdlasm_tools::convert::translate;

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

/// A message: the line, from 0, the code and the text.
type Shown = (String, String, String);

/// The assembler's own messages.
fn assembled(source: &str) -> BTreeSet<Shown> {
    let loader = MemoryLoader::new().with(FILE, source);
    let options = Options { translate: Some(translate), ..Options::default() };
    let outcome = run(&loader, &[PathBuf::from(FILE)], &options);
    let shown = outcome.diagnostics.iter().map(|one| {
        let (_, line) = outcome.sources.file_line(in_file(one.span, &outcome.sources).start);
        let first_line = one.message.lines().next().unwrap_or_default();
        ((line - 1).to_string(), one.code.id().to_owned(), first_line.trim().to_owned())
    });
    shown.collect()
}

/// Whether a message may be left out: it is shown elsewhere, or follows from one that is shown.
fn follows(one: &Shown, shown: &BTreeSet<Shown>) -> bool {
    let (_, code, message) = one;
    let symbol = |text: &str| text.split(' ').next().map(str::to_owned);
    shown.iter().any(|(_, cause, text)| match (code.as_str(), cause.as_str()) {
        ("D01", "M01" | "M02") => symbol(text) == symbol(message),
        // These may be in the text of a macro that is called again.
        ("Q06", "M01" | "M02") | ("Q04", "A02") => true,
        _ => cause == code && text == message,
    })
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
            let (code, text) = text.trim().split_once(' ').expect("a code");
            (line.to_owned(), code.to_owned(), text.to_owned())
        });
        let (shown, all) = (shown.collect::<BTreeSet<_>>(), assembled(source));
        assert!(shown.is_subset(&all), "{shown:?} {all:?} {source}");
        let left_out: Vec<&Shown> = all.iter().filter(|one| !shown.contains(one)).collect();
        assert!(left_out.iter().all(|one| follows(one, &shown)), "{left_out:?} {shown:?} {source}");
        for request in REQUESTS {
            let method = format!("textDocument/{request}");
            assert!(client.request(&method, document.clone()).is_ok(), "{request}\n{source}");
        }
        client.notify("textDocument/didClose", document.clone());
    }
    assert_eq!(client.end(), Some(0));
}
