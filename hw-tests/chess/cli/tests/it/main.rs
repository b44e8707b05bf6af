//! Tests of the command `sargon` from end to end.

mod behaviours;
mod epd;
mod exhaust;
mod golden;
mod page;
mod positions;
mod streams;
mod suites;
mod threshold;

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the program with `input` as its standard input.
fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sargon"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    let _ = writer.join(); // a command that does not read its input is fine
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
