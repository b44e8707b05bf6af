//! Selection of cases on the command line, and the number and duration of their runs.

use sargon_suite::Record;
use std::collections::BTreeSet;

use super::{corpus_size, hw_tests, records, run_command};

fn list(arguments: &[&str]) -> Vec<String> {
    let output = hw_tests(&[&["run", "--list"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn names_tags_and_shards_choose_from_the_corpus() {
    assert_eq!(list(&[]).len(), corpus_size());
    let document = ["byte.figure1", "byte.figure5", "byte.box"];
    assert_eq!(list(&["byte.*", "--tag", "document"]), document);
    let shard = |part| list(&["--tag", "odd", "--shard", part]);
    let parts: BTreeSet<_> = ["1/3", "2/3", "3/3"].into_iter().flat_map(shard).collect();
    assert_eq!(parts, list(&["--tag", "odd"]).into_iter().collect());
    assert_eq!([shard("1/3").len(), shard("2/3").len(), shard("3/3").len()], [6, 6, 6]);
    assert_ne!(list(&["--shuffle", "1"]), list(&["--shuffle", "2"]));
}

#[test]
fn nothing_selected_is_not_a_success() {
    for arguments in [["run", "nothing.like.this"], ["run", "--tag=nothing"]] {
        for list in [&[][..], &["--list"]] {
            let (code, printed) = run_command(&[&arguments, list].concat());
            assert_eq!(code, Some(4), "{arguments:?}: {printed}");
            assert!(printed.contains("no case is selected"), "{printed}");
        }
    }
    assert_eq!(run_command(&["run", "--shard", "6/5"]).0, Some(2));
}

#[test]
fn positions_that_no_game_reaches_are_run_with_a_warning() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("own.epd");
    let line = |number| format!("4k3/8/8/3p4/4N3/8/8/8 w - - id \"{number}\";\n");
    std::fs::write(&file, (1..=12).map(line).collect::<String>()).expect("a scratch file");
    let file = file.to_string_lossy();
    let (code, printed) = run_command(&["run", "--rig", "direct", "--corpus", &file]);
    assert_eq!(code, Some(0), "{printed}");
    let warning = format!("{file}:1: warning: no game reaches this position: White has no king");
    assert!(printed.contains(&warning), "{printed}");
    assert_eq!(printed.matches("no game reaches this position").count(), 10, "{printed}");
    assert!(printed.contains("warning: no game reaches 2 further positions"), "{printed}");
}

#[test]
fn repeated_cases_have_one_verdict_each() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let (code, printed) =
        run_command(&["run", "--rig", "direct", "byte.*", "--repeat", "3", "--results", &name]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("PASS: 4 of 4 cases"), "{printed}");
    let attempts = records(&file).into_iter().filter_map(|record| match record {
        Record::Case(result) => Some(result.attempts),
        _ => None,
    });
    assert_eq!(attempts.collect::<Vec<_>>(), [3; 4]);
}

#[test]
fn a_soak_run_repeats_the_cases_until_its_time_is_over_and_writes_only_changes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let (code, printed) =
        run_command(&["run", "--rig", "direct", "byte.*", "--for", "1s", "--results", &name]);
    assert_eq!(code, Some(0), "{printed}");
    let records = records(&file);
    assert_eq!(records.len(), 3, "head, ready and end: {records:?}");
    let Some(Record::End(end)) = records.last() else { panic!("no end") };
    assert!(end.complete && end.counts.pass > 8 && end.counts.pass == end.counts.cases, "{end:?}");
    assert_eq!(run_command(&["run", "--rig", "direct", "--for", "8x"]).0, Some(2));
}
