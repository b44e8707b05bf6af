//! The results file: no result is lost, however a run ends, and a run can be resumed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hil_harness::runner::Verdict;
use rustix::process::{Pid, Signal, kill_process};
use sargon_suite::{Record, RunEndRecord};

use super::{PATIENCE, command, corpus_size, records, run_command};

fn end(file: &Path) -> Option<RunEndRecord> {
    records(file).into_iter().rev().find_map(|record| match record {
        Record::End(end) => Some(end),
        _ => None,
    })
}

/// Returns the number of results of each case, and the last one.
fn verdicts(file: &Path) -> BTreeMap<String, (u32, Verdict)> {
    let mut verdicts = BTreeMap::new();
    for record in records(file) {
        if let Record::Case(result) = record {
            let entry = verdicts.entry(result.id).or_insert((0, result.verdict));
            *entry = (entry.0 + 1, result.verdict);
        }
    }
    verdicts
}

/// A run of the whole corpus, as soon as it has some results in its file.
fn start_run(file: &str) -> Child {
    let mut command = command(&["run", "--rig", "direct", "--results", file]);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let began = Instant::now();
    while verdicts(Path::new(file)).len() < 20 {
        assert!(began.elapsed() < PATIENCE, "no results");
        std::thread::sleep(Duration::from_millis(2));
    }
    run
}

fn signal(run: &Child, signal: Signal) {
    let pid = Pid::from_raw(run.id() as i32).expect("a process");
    kill_process(pid, signal).expect("it runs");
}

/// Resumes a run, and checks that all cases have passed, each once.
fn resumes(file: &str) {
    let (code, printed) = run_command(&["run", "--rig", "direct", "--results", file, "--resume"]);
    assert_eq!(code, Some(0), "{printed}");
    let size = corpus_size();
    assert!(printed.contains(&format!("PASS: {size} of {size} cases")), "{printed}");
    let verdicts = verdicts(Path::new(file));
    assert_eq!(verdicts.len(), size);
    assert!(verdicts.values().all(|found| *found == (1, Verdict::Pass)));
    let end = end(Path::new(file)).expect("the end");
    assert!(end.complete && end.counts.pass == size as u64, "{end:?}");
}

#[test]
fn results_are_not_lost_when_set_up_fails() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let (code, _) =
        run_command(&["run", "--port", "/dev/nonexistent", "byte.*", "--results", &name]);
    assert_eq!(code, Some(3));
    let end = end(&file).expect("the end");
    assert!(!end.complete && end.counts.not_run == 4, "{end:?}");
    let why = end.reason.expect("a reason");
    assert!(why.starts_with("set-up failed: port /dev/nonexistent not found"), "{why}");
}

#[test]
fn an_interrupted_run_leaves_a_whole_file_and_is_resumed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    for sent in [Signal::INT, Signal::TERM] {
        let _ = fs::remove_file(&file);
        let run = start_run(&name);
        signal(&run, sent);
        let output = run.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130));
        let end = end(&file).expect("the end");
        assert!(!end.complete && end.counts.not_run > 0, "{end:?}");
        assert_eq!(end.reason.as_deref(), Some("interrupted"));
        assert_eq!(end.counts.cases, corpus_size() as u64);
        assert_eq!(
            end.counts.pass,
            verdicts(&file).len() as u64,
            "each passed case is in the file"
        );
    }
    resumes(&name);
}

#[test]
fn a_killed_run_keeps_what_it_had_and_is_resumed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let mut run = start_run(&name);
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    assert_eq!(end(&file), None);
    let mut bytes = fs::read(&file).expect("the results");
    bytes.extend(b"{\"case\":{\"id\":\"byte.fig"); // as after a power cut during a write
    fs::write(&file, bytes).expect("the results");
    resumes(&name);
}

#[test]
fn results_of_different_runs_are_not_mixed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let run = |more: &[&str]| {
        run_command(&[&["run", "--rig", "direct", "--results", &name], more].concat())
    };
    assert_eq!(run(&["byte.*"]).0, Some(0));
    let other_board = ["byte.*", "--resume", "--board", "rc2014-zed"];
    let cases: [(&[&str], &str); 5] = [
        (&["byte.*"], "exists; continue its run with --resume"),
        (&["odd.*", "--resume"], "the number of cases is 4 there and 18 here"),
        (&["cpw.*", "odd.full", "odd.alone", "--resume"], "the digest of the cases is"),
        (&["byte.*", "--resume", "--repeat", "2"], "--repeat is 1 there and 2 here"),
        (&other_board, "the board's profile is rc2014-classic there"),
    ];
    for (arguments, why) in cases {
        let (code, printed) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {printed}");
        assert!(printed.contains(why), "{arguments:?}: {printed}");
    }
    assert_eq!(run(&["byte.*", "--resume"]).0, Some(0));
}

#[test]
fn results_that_cannot_be_written_end_the_run() {
    let (code, printed) =
        run_command(&["run", "--rig", "direct", "byte.*", "--results", "/nonexistent/results"]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("can't write the results to /nonexistent/results"), "{printed}");
}
