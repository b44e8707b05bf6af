//! Runs that people trust: what is chosen is run, nothing is lost, and everything ends in exactly one verdict.

mod reports;
mod results;
mod schema;
mod select;

use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use hw_tests::runner::log::Record;

/// The program with these arguments.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.args(arguments);
    command
}

/// What the program does with these arguments.
fn hw_tests(arguments: &[&str]) -> Output {
    command(arguments).output().expect("it starts")
}

/// Its exit code and all that it says.
fn told(arguments: &[&str]) -> (Option<i32>, String) {
    let output = hw_tests(arguments);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// The whole lines of a results file.
fn records(file: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// How many cases there are.
fn corpus_size() -> usize {
    hw_tests::corpus::shipped().expect("the corpus").len()
}
