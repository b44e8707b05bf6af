//! Positions as a stream: many threads, any size, a reader that ends early.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::{run, text};

const LINE: &str = "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -\n";

#[test]
fn threads_do_not_change_the_output() {
    let corpus = include_str!("../../../corpus/corpus/generated.epd");
    let input = format!("{corpus}rubbish\n{corpus}");
    let [one, four] =
        ["1", "4"].map(|jobs| run(&["captures", "--json", "--jobs", jobs, "-"], &input));
    assert_eq!(one.stdout, four.stdout);
    let shown = text(&one.stdout);
    assert_eq!(shown.lines().count(), 2401);
    assert!(shown.lines().last().is_some_and(|line| line.contains("\"line\":2401,")));
    assert!(text(&four.stderr).contains("standard input:1201:1: "), "{}", text(&four.stderr));
}

#[test]
fn a_row_may_continue_after_what_is_read_at_once() {
    // 4,000 rows of two lines, more than one read holds; the longest read ends inside some row.
    let input = "(\"4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -\",\n \"exd5\", 100),\n".repeat(4000);
    let output = run(&["positions", "--json", "-"], &input);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert_eq!(shown.lines().filter(|line| line.contains("\"value\":100")).count(), 4000);
}

#[test]
fn a_closed_output_ends_an_endless_stream() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sargon"));
    command.args(["captures", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || while input.write_all(LINE.as_bytes()).is_ok() {});
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut first).expect("a line");
    drop(output);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), text(&ended.stderr)), (Some(0), String::new()));
    writer.join().expect("its pipe is closed");
}
