//! Runs of the corpus: every selected case is run and gets exactly one verdict, and no result is
//! lost.

mod baseline;
mod checks;
mod doctor;
mod error_messages;
mod faults;
mod files;
mod history;
mod mutants;
mod page;
mod pins;
mod program_counter;
mod reports;
mod results;
pub(crate) mod schema;
mod select;
mod service;
mod several;
mod untrusted_text;
mod verdicts;

use crate::programs;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use hil_harness::results::line::decode_line;
use rustix::process::{Pid, Signal, kill_process};
use sargon_suite::Record;

/// The timeout of a run in these tests.
const PATIENCE: Duration = Duration::from_secs(150);

/// The program with these arguments.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.args(arguments);
    command
}

/// Runs the program with these arguments.
fn hw_tests(arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let pid = Pid::from_raw(run.id() as i32).expect("a process");
    let (done, is_done) = mpsc::channel();
    let wait = move || done.send(run.wait_with_output());
    let waiting = std::thread::spawn(wait);
    let Ok(output) = is_done.recv_timeout(PATIENCE) else {
        kill_process(pid, Signal::KILL).expect("it still runs");
        panic!("{arguments:?} hangs")
    };
    waiting.join().expect("a thread that waits").expect("the output");
    output.expect("it ends")
}

/// Runs the program; returns its exit code and all of its output.
fn run_command(arguments: &[&str]) -> (Option<i32>, String) {
    let output = hw_tests(arguments);
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
}

/// The whole lines of a results file.
fn records(file: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let mut sum = 0;
    let mut records = Vec::new();
    for line in lines {
        let (record, next) =
            decode_line(line.trim_end(), sum).unwrap_or_else(|wrong| panic!("{wrong}"));
        records.push(record);
        sum = next;
    }
    records
}

/// Returns the number of cases in the corpus.
fn corpus_size() -> usize {
    sargon_corpus::builtin_corpus().expect("the corpus").len()
}
