//! The time an editor waits for the language server: `cargo bench -p tdlasm-cli --bench typing`.
//!
//! The real program is spoken to over the real protocol, about a document of 30,000 lines.

#[path = "../../tests/lsp/client.rs"]
#[allow(dead_code, reason = "the tests ask for more")]
mod client;
#[path = "../../../language/benches/assemble/program.rs"]
mod program;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::Client;

const LINES: usize = 30_000;
const FILE: &str = "file:///nowhere/long.asm";
const KEYSTROKES: usize = 200;

fn main() {
    for (name, text) in [("plain", program::plain(LINES)), ("macros", program::with_macros(LINES))]
    {
        let lines = text.lines().count();
        let mut client = Client::new(None);
        client.open(FILE, &text);
        let usual = client.messages(FILE).len();
        println!("{name}, {lines} lines, {} bytes", text.len());
        keystrokes(&mut client, usual);
        requests(&mut client);
        assert_eq!(client.end(), Some(0));
    }
}

/// Types a letter that makes a line wrong, and takes it back, each time until the messages are
/// there.
fn keystrokes(client: &mut Client, usual: usize) {
    let mut times = Vec::new();
    for stroke in 0..KEYSTROKES {
        let (old, new) = if stroke % 2 == 0 { ("INX H", "INXX H") } else { ("INXX H", "INX H") };
        let start = Instant::now();
        client.replace(FILE, old, 0, new);
        let messages = client.messages(FILE);
        times.push(start.elapsed());
        assert_eq!(messages.len(), usual + usize::from(stroke % 2 == 0));
    }
    show("from a keystroke to its messages", &mut times);
}

fn requests(client: &mut Client) {
    let document = json!({ "textDocument": { "uri": FILE } });
    let place =
        json!({ "textDocument": { "uri": FILE }, "position": { "line": 9, "character": 10 } });
    for (method, parameters) in [
        ("textDocument/hover", &place),
        ("textDocument/completion", &place),
        ("textDocument/definition", &place),
        ("textDocument/documentSymbol", &document),
        ("textDocument/foldingRange", &document),
        ("textDocument/semanticTokens/full", &document),
    ] {
        let mut times = Vec::new();
        for _ in 0..10 {
            // A keystroke before, so that nothing is known from the last time.
            client.replace(FILE, "\n", 0, " \n");
            client.messages(FILE);
            let start = Instant::now();
            let _: Result<Value, _> = client.request(method, parameters.clone());
            times.push(start.elapsed());
        }
        show(method, &mut times);
    }
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let median = times[times.len() / 2];
    let most = times[times.len() - 1];
    println!(
        "  {what}: median {:.1} ms, at most {:.1} ms",
        milliseconds(median),
        milliseconds(most)
    );
}
