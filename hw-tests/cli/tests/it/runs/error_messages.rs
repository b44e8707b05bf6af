//! Common complaints about test harnesses, each with a test. For results lost when set-up fails,
//! see `results`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use board_simulator::board_spec;
use board_simulator::{BoardServer, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::runner::{RunEnd, RunOptions, Verdict};
use sargon_corpus::builtin_corpus;
use sargon_suite::{CaseResult, Record, run_cases};

use super::program_counter::over_a_port;
use super::{PATIENCE, records, run_command};

/// The application with these bytes at a symbol.
pub(super) fn changed(folder: &Path, symbol: &str, offset: usize, with: &[u8]) -> PathBuf {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let at = image.program.symbol(symbol).expect("a symbol");
    let at = usize::from(at - image.address) + offset;
    let mut bytes = image.bytes.clone();
    assert_ne!(&bytes[at..at + with.len()], with);
    bytes[at..at + with.len()].copy_from_slice(with);
    let file = folder.join("changed.bin");
    std::fs::write(&file, bytes).expect("a scratch file");
    file
}

/// Runs a case with this application. Returns the exit code, the output, and the result.
pub(super) fn run(application: &Path, more: &[&str]) -> (Option<i32>, String, CaseResult) {
    let file = application.with_extension("results");
    let names = [application, &file].map(|path| path.to_string_lossy().into_owned());
    let arguments = ["run", "byte.figure4", "--app", &names[0], "--results", &names[1]];
    let (code, printed) = run_command(&[&arguments, more].concat());
    let result = records(&file).into_iter().find_map(|record| match record {
        Record::Case(result) => Some(*result),
        _ => None,
    });
    (code, printed, result.expect("the case has ended"))
}

#[test]
fn a_board_that_hangs_does_not_hang_the_run_and_a_timeout_reports_its_program_counter() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let hung = changed(folder.path(), "XCHNG", 0, &[0x18, 0xFE]); // a jump to itself
    let began = Instant::now();
    let (code, printed, result) = run(&hung, &["--rig", "direct"]);
    assert!(began.elapsed() < PATIENCE);
    assert_eq!((code, result.verdict), (Some(3), Verdict::Timeout));
    assert!(printed.contains("board: restarted 1 times"), "{printed}");
    let why = result.reason.expect("a reason");
    let named = why.contains("no reply while playing out an exchange, after 3 attempts in");
    assert!(named, "the wait has a name: {why}");
    assert!(why.contains("; last sent: ") && why.contains("; last received: "), "{why}");
    let at = why.split("the program counter was at ").nth(1).expect("a place");
    assert!(at.contains("H, XCHNG (") && at.contains("xchng.asm:"), "{at}");
}

#[test]
fn a_board_that_is_pulled_out_ends_the_run_and_no_case_lacks_a_verdict() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = |kind| build(&profile, kind).unwrap_or_else(|e| panic!("{e}")).bytes;
    let monitor = image(ProgramKind::Monitor);
    let server = BoardServer::start(board_spec(&profile), &monitor, ServerOptions::default());
    let server = server.expect("a pseudo-terminal");
    // While it is open, the board of no other test gets the same port.
    let _port = File::open(server.path()).expect("a port");
    let mut rig = over_a_port(&server, profile.clone(), image(ProgramKind::Application));
    drop(server);
    let options = RunOptions {
        repeat: 1,
        fail_fast: false,
        baseline: None,
        interrupted: &AtomicBool::new(false),
    };
    let cases = builtin_corpus().expect("the corpus");
    let mut verdicts = Vec::new();
    let summary = run_cases(&mut rig, cases.into_iter().take(9), options, |result| {
        verdicts.push(result.verdict);
    });
    assert!(matches!(&summary.ended, RunEnd::BoardLost(_)), "{summary:?}");
    assert_eq!(verdicts, [Verdict::NotRun; 9]);
}

#[test]
fn no_failure_is_reported_as_success() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let wrong = changed(folder.path(), "TBASE", 4, &[4]); // a rook is worth less than it should
    let (code, printed, _) = run(&wrong, &["--rig", "direct", "byte.figure1", "--repeat", "2"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("FAIL: ") && !printed.contains("PASS: "), "{printed}");
}

#[test]
fn no_success_is_reported_as_failure() {
    for rig in ["direct", "real-time"] {
        let (code, printed) = run_command(&["run", "--rig", rig, "byte.*", "odd.*"]);
        assert_eq!(code, Some(0), "{printed}");
    }
}

#[test]
fn a_flake_is_distinguished_from_pass_and_fail_with_its_cause() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let name = file.to_string_lossy();
    let soak = ["--count", "400", "--faults", "5", "--results", &name];
    let (code, printed) =
        run_command(&[&["run", "--rig", "direct", "--full", "byte.figure5"], &soak[..]].concat());
    assert_ne!(code, Some(0), "{printed}");
    assert_ne!(code, Some(1), "{printed}");
    let flakes = records(&file).into_iter().filter_map(|record| match record {
        Record::Case(result) if result.verdict == Verdict::Flaky => result.reason,
        _ => None,
    });
    let flakes: Vec<_> = flakes.collect();
    assert!(!flakes.is_empty(), "{printed}");
    assert!(flakes.iter().all(|why| why.starts_with("passed on a retry: ")), "{flakes:?}");
}
