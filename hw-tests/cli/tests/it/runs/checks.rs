//! Positions that are compared by CRC first: verdicts and messages are those of `--full`.

use std::path::Path;

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use sargon_suite::{CaseResult, Record};

use super::error_messages::changed;
use super::{records, run_command};

/// A change of the application at an address that is found by a label and a byte after it.
struct Change {
    label: &'static str,
    from: u8,
    to: u8,
}

/// A value, a direction, a comparison of XCHNG, and the place of an attacker in the array.
const WRONG: [Change; 4] = [
    Change { label: "TBASE", from: 5, to: 4 },
    Change { label: "TBASE", from: 11, to: 12 },
    Change { label: "GUARD", from: 0x38, to: 0x30 },
    Change { label: "ATKSAV", from: 0x34, to: 0x35 },
];

/// Positions by documents, odd ones, and pins.
const SOME: [&str; 6] = ["--tag", "document", "--tag", "odd", "--tag", "pin"];

/// Writes the application with this change.
fn with(folder: &Path, change: &Change) -> String {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let label = image.program.symbol(change.label).expect("a label");
    let after = &image.bytes[usize::from(label - image.address)..];
    let offset = after.iter().position(|byte| *byte == change.from).expect("the byte");
    changed(folder, change.label, offset, &[change.to]).to_string_lossy().into_owned()
}

/// Returns the exit code, and the report of each case, sorted by name.
fn verdicts(arguments: &[&str], folder: &Path) -> (Option<i32>, Vec<String>) {
    let file = folder.join("results");
    let results = ["--force", "--results", &file.to_string_lossy()].map(str::to_owned);
    let results = results.each_ref().map(String::as_str);
    let (code, _) = run_command(&[arguments, &results].concat());
    let cases = records(&file).into_iter().filter_map(|record| match record {
        Record::Case(case) => Some(case),
        _ => None,
    });
    let found = cases.map(|case| {
        let CaseResult { id, verdict, reason: why, differences, details, attempts, .. } = *case;
        format!("{id} {verdict} {why:?} {differences:?} {:?} {attempts}", details.squares)
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    (code, found)
}

#[test]
fn wrong_programs_get_the_same_verdicts_and_messages() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for change in &WRONG {
        let file = with(folder.path(), change);
        let own = ["run", "--rig", "direct", "--app", &file];
        let run = [&own[..], &SOME].concat();
        let (code, by_checks) = verdicts(&run, folder.path());
        let (full, by_bytes) = verdicts(&[&run[..], &["--full"]].concat(), folder.path());
        assert_eq!((code, full), (Some(1), Some(1)), "{}", change.label);
        assert_eq!(by_checks.len(), by_bytes.len());
        for (checked, asked) in by_checks.iter().zip(&by_bytes) {
            assert_eq!(checked, asked, "{}", change.label);
        }
    }
}

#[test]
fn a_check_that_is_wrong_by_itself_makes_a_case_flaky() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // In the routine of the check: another register.
    let file = with(folder.path(), &Change { label: "CRC32", from: 0xAC, to: 0xAD });
    let run = ["run", "--rig", "direct", "--app", &file, "--tag", "pin"];
    let (code, printed) = run_command(&run);
    assert_eq!(code, Some(5), "{printed}");
    assert!(printed.contains("passed on a retry: the CRC of its replies was "), "{printed}");
    let (code, printed) = run_command(&[&run[..], &["--full"]].concat());
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn a_transcript_is_replayed_with_the_options_of_its_recording() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for more in [&[][..], &["--full", "--force"]] {
        let tape = folder.path().join("tape").to_string_lossy().into_owned();
        let run = ["run", "--rig", "direct", "--tag", "document", "--record", &tape];
        let (code, printed) = run_command(&[&run[..], more].concat());
        assert_eq!(code, Some(0), "{printed}");
        let (code, printed) = run_command(&["run", "--rig", &format!("replay:{tape}")]);
        assert_eq!(code, Some(0), "{more:?}: {printed}");
    }
}
