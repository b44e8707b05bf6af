//! The time an editor waits for the language server: `cargo bench -p tdlasm-cli --bench typing`.
//!
//! The real program is run over the real protocol, with documents of 2,000 and 30,000 lines. A time is
//! measured from sending a message to the last byte of the reply, before JSON is parsed. The
//! server's processor time is printed, too: it depends less on other work on the computer.

#[path = "../../tests/it/lsp/client.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod client;
#[path = "../../../tdlasm/benches/assemble/program.rs"]
mod program;
mod strokes;

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use client::Client;
use strokes::{Stroke, strokes};

/// The lines of a large program, and of more than any Z80 program has.
const LINES: [usize; 2] = [2_000, 30_000];
const FILE: &str = "file:///nowhere/long.asm";
/// How often all keystrokes are repeated.
const ROUNDS: usize = 3;
/// The number of slowest keystrokes that are printed.
const SLOWEST: usize = 8;
/// How often each request is repeated.
const REQUESTS: usize = 30;

fn main() {
    let programs =
        |lines| [("plain", program::plain(lines)), ("macros", program::with_macros(lines))];
    for (name, text) in LINES.into_iter().flat_map(programs) {
        let lines = text.lines().count();
        let mut client = Client::new(None);
        client.open(FILE, &text);
        client.messages(FILE);
        println!("{name}, {lines} lines, {} bytes", text.len());
        keystrokes(&mut client);
        assert_eq!(client.text(FILE), text, "all changes are undone");
        requests(&mut client);
        assert_eq!(client.end(), Some(0));
    }
}

/// The times of repeated actions.
#[derive(Default)]
struct Times {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
    bytes: usize,
}

impl Times {
    /// Measures an action, up to the reply.
    fn take(&mut self, client: &mut Client, act: impl FnOnce(&mut Client)) {
        let before = processor_time(client);
        act(client);
        self.clock.push(client.arrived - client.sent);
        let busy = processor_time(client).zip(before);
        self.processor.extend(busy.map(|(after, before)| after - before));
        self.bytes = self.bytes.max(client.bytes);
    }

    fn show(self, what: &str) {
        let clock = spread(self.clock);
        let processor = spread(self.processor);
        println!("  {what}: {clock}; processor {processor}; at most {} bytes", self.bytes);
    }
}

/// Median, 99th percentile and maximum.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else { return "unknown".into() };
    let at = |index: usize| times[index].as_secs_f64() * 1e3;
    let rank = (times.len() * 99).div_ceil(100) - 1;
    format!("median {:.1} ms, p99 {:.1} ms, max {:.1} ms", at(last / 2), at(rank), at(last))
}

/// Returns the processor time of the server, if the system provides it.
fn processor_time(client: &Client) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{}/task", client.process())).ok()?;
    let of_thread = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    let nanoseconds: Option<u64> = threads.flatten().map(of_thread).sum();
    nanoseconds.map(Duration::from_nanos)
}

fn keystrokes(client: &mut Client) {
    let all = strokes(client.text(FILE));
    let mut times = Times::default();
    for _ in 0..ROUNDS {
        for Stroke { range, new } in &all {
            times.take(client, |client| {
                client.splice(FILE, range.clone(), new);
                client.messages(FILE);
            });
        }
    }
    let slowest = slowest(&times.processor, &all, client.text(FILE));
    times.show(&format!("{} keystrokes, each to its messages", ROUNDS * all.len()));
    println!("    the slowest by processor: {slowest}");
}

/// The slowest keystrokes: the line, the removed and typed text, and the time.
fn slowest(times: &[Duration], all: &[Stroke], text: &str) -> String {
    let mut slowest: Vec<_> = times.iter().zip(all.iter().cycle()).collect();
    slowest.sort_unstable_by_key(|(time, _)| std::cmp::Reverse(**time));
    let shown = slowest.iter().take(SLOWEST).map(|(time, Stroke { range, new })| {
        let line = text[..range.start.min(text.len())].matches('\n').count() + 1;
        format!("-{} {new:?} at line {line}, {:.1} ms", range.len(), time.as_secs_f64() * 1e3)
    });
    shown.collect::<Vec<_>>().join("; ")
}

fn requests(client: &mut Client) {
    let document = json!({ "textDocument": { "uri": FILE } });
    let place = place(client.text(FILE));
    for (method, parameters) in [
        ("textDocument/hover", &place),
        ("textDocument/completion", &place),
        ("textDocument/definition", &place),
        ("textDocument/documentSymbol", &document),
        ("textDocument/foldingRange", &document),
        ("textDocument/semanticTokens/full", &document),
    ] {
        request(client, method, parameters);
    }
}

/// A position within a partly typed operand.
fn place(text: &str) -> Value {
    let operand = ["LXI H,T0", "MOV A,"];
    let ends = operand.iter().find_map(|one| Some(text.find(one)? + one.len()));
    let position = client::position(text, ends.expect("an operand of the program"));
    json!({ "textDocument": { "uri": FILE }, "position": position })
}

/// Repeats a request, each time after a keystroke, so that no cached result can be used.
fn request(client: &mut Client, method: &str, parameters: &Value) {
    let mut times = Times::default();
    for _ in 0..REQUESTS {
        client.replace(FILE, "\n", 9, " \n");
        client.messages(FILE);
        let mut answer = Ok(Value::Null);
        times.take(client, |client| answer = client.request(method, parameters.clone()));
        if let Err((code, _)) = answer {
            return println!("  {method}: refused, {code}");
        }
    }
    times.show(method);
}
