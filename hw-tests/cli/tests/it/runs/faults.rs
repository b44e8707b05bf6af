//! Cases on a line with injected faults: each has exactly one verdict, and none a wrong one.

use std::collections::BTreeMap;
use std::path::Path;

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::runner::Verdict;
use sargon_suite::residues::SquareEntry;
use sargon_suite::{Record, VerdictCounts};

use super::{records, run_command};

/// Seeds of the injected faults.
const SEEDS: [&str; 3] = ["1", "1978", "314159"];

/// Returns the verdict of each case, with the squares that the board reported.
fn outcomes(file: &Path) -> BTreeMap<String, (Verdict, Vec<SquareEntry>)> {
    let cases = records(file).into_iter().filter_map(|record| match record {
        Record::Case(result) => Some((result.id, (result.verdict, result.details.squares))),
        _ => None,
    });
    cases.collect()
}

fn counts(file: &Path) -> VerdictCounts {
    match records(file).pop() {
        Some(Record::End(end)) => end.counts,
        other => panic!("no end: {other:?}"),
    }
}

/// Runs a hundred cases with this results file. Returns the exit code and the output.
fn run(file: &Path, more: &[&str]) -> (Option<i32>, String) {
    let name = file.to_string_lossy();
    let arguments =
        ["run", "--rig", "direct", "--shuffle", "1", "--shard", "1/12", "--results", &name];
    run_command(&[&arguments, more].concat())
}

#[test]
fn no_right_residue_is_rejected_and_no_wrong_one_accepted_whatever_the_line_does() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let quiet = folder.path().join("quiet");
    assert_eq!(run(&quiet, &[]).0, Some(0));
    let quiet = outcomes(&quiet);
    let size = quiet.len() as u64;
    assert!(size > 100, "{size}");
    for seed in SEEDS {
        let file = folder.path().join(seed);
        let (code, printed) = run(&file, &["--faults", seed]);
        assert!(matches!(code, Some(0 | 3 | 5)), "{seed}: {printed}");
        let counts = counts(&file);
        assert!(counts.is_consistent() && counts.cases == size && counts.fail == 0, "{counts:?}");
        assert!(counts.pass * 4 > size * 3, "faults are got over: {counts:?}");
        let outcomes = outcomes(&file);
        assert_eq!(
            outcomes.len() as u64,
            size - counts.not_run,
            "{seed}: all that ended are there"
        );
        for (id, (verdict, squares)) in outcomes {
            let is_told = matches!(verdict, Verdict::Pass | Verdict::Flaky);
            let right = without_times(&quiet[&id].1);
            assert!(!is_told || without_times(&squares) == right, "{seed}: {id}");
        }
    }
}

fn without_times(squares: &[SquareEntry]) -> Vec<SquareEntry> {
    let squares = squares.iter().cloned();
    squares.map(|square| SquareEntry { t_states: None, ..square }).collect()
}

#[test]
fn a_wrong_program_is_caught_through_faults_too() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let values = image.program.symbol("TBASE").expect("the table of values");
    let mut bytes = image.bytes.clone();
    bytes[usize::from(values - image.address) + 4] = 4; // a rook is worth less than it should
    let wrong = folder.path().join("wrong.bin");
    std::fs::write(&wrong, bytes).expect("a scratch file");
    let wrong = wrong.to_string_lossy();
    let quiet = folder.path().join("quiet");
    assert_eq!(run(&quiet, &["--app", &wrong]).0, Some(1));
    let quiet = outcomes(&quiet);
    for seed in SEEDS {
        let file = folder.path().join(seed);
        let (code, printed) = run(&file, &["--app", &wrong, "--faults", seed]);
        assert_eq!(code, Some(1), "{seed}: {printed}");
        for (id, (verdict, _)) in outcomes(&file) {
            let is_inconclusive =
                matches!(verdict, Verdict::Timeout | Verdict::Error | Verdict::Flaky);
            assert!(is_inconclusive || verdict == quiet[&id].0, "{seed}: {id} {verdict}");
            assert!(verdict != Verdict::Flaky || quiet[&id].0 == Verdict::Pass, "{seed}: {id}");
        }
    }
}

#[test]
fn a_seed_reproduces_its_run_and_is_printed_with_the_command_to_repeat_it() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let files = ["one", "two"].map(|name| folder.path().join(name));
    let outcomes = files.each_ref().map(|file| run(file, &["--full", "--faults", "7"]));
    let [one, two] = files.each_ref().map(|file| std::fs::read(file).expect("results"));
    assert!(one == two, "the same seed, other results");
    let (code, printed) = &outcomes[0];
    assert!(printed.contains("injected by seed 7: "), "{printed}");
    assert!(printed.contains("board: lost and reconnected "), "{printed}");
    assert!(printed.contains("board: restarted "), "{printed}");
    // The program's path before it is quoted where it has a blank.
    let command = " run --rig direct --shuffle 1 --shard 1/12 --results ";
    assert_eq!(*code == Some(3), printed.contains("to reproduce: "), "{printed}");
    assert!(*code != Some(3) || printed.contains(command), "{printed}");
    let (_, printed) = run(&folder.path().join("three"), &["--faults", "8"]);
    assert!(!printed.contains("injected by seed 7: "));
}

#[test]
fn every_kind_of_fault_is_made() {
    let (_, printed) =
        run_command(&["run", "--rig", "direct", "byte.figure4", "--faults", "3", "--count", "400"]);
    let line = printed.lines().find(|line| line.starts_with("faults: ")).expect("the faults");
    let (_, kinds) = line.split_once(": ").expect("counts");
    let (_, kinds) = kinds.split_once(": ").expect("counts by kind");
    assert_eq!(kinds.split(", ").count(), 11, "{line}");
    assert!(kinds.split(", ").all(|kind| !kind.starts_with("0 ")), "{line}");
}
