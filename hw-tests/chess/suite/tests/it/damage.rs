//! Evaluators whose replies are right and that damage the board, which is seen only through its
//! line: no run passes, and the case is named.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::ProgramKind;
use firmware::build::build_with_sources;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, BoardKind, ResetFn};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::BoardConfig;
use hil_harness::runner::{RunOptions, RunSummary, Verdict, exit_code};
use hil_testing::broken_exchange::exchange_with;
use rcflash_transport::Transport;
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{CaseResult, SargonBoard, SargonConfig, VerdictCounts, run_cases};
use tempfile::TempDir;

const XCHNG: &str = include_str!("../../../../../sargon-src/xchng.asm");
const APP: &str = include_str!("../../../../../firmware/z80/app.asm");

/// A board without instrumentation, as a real one.
struct OutsideBoard(Box<dyn Board>);

impl Board for OutsideBoard {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.0.open()
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        self.0.reset_fn()
    }

    fn sleep(&mut self, time: std::time::Duration) {
        self.0.sleep(time);
    }
}

/// Code that runs at one call in 64. The counter is outside the program, and is not cleared.
fn at_some_calls(code: &str) -> String {
    let count = "LXI H,HITS\n INR M\n MOV A,M\n ANI 63\n JNZ GOOD\n";
    let damaged = exchange_with(&format!("{count} {code}\nGOOD:   NOP"));
    damaged.replacen("XCHNG:  ", " .LOC .DATA.\nHITS: .BLKB 1\n .LOC .PROG.\nXCHNG:  ", 1)
}

fn folder(xchng: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("xchng.asm"), xchng).expect("a file");
    folder
}

fn config(folder: &TempDir) -> SargonConfig {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let own = Some(folder.path().to_owned());
    let board = BoardKind::InProcess;
    let board = BoardConfig { board, ..BoardConfig::simulated(profile) };
    SargonConfig { evaluator: Evaluator { own, ..Evaluator::default() }, ..board.into() }
}

fn run(config: &SargonConfig) -> (Vec<CaseResult>, RunSummary) {
    let programs = config.programs().unwrap_or_else(|error| panic!("{error}"));
    let outside = |board| -> Box<dyn Board> { Box::new(OutsideBoard(board)) };
    let live = SargonBoard::prepare_with(config, Arc::new(programs), &OsFileSystem, outside);
    let mut live = live.unwrap_or_else(|error| panic!("{error}"));
    let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = builtin_corpus().expect("it ships").into_iter().filter(is_played).take(40);
    let stop = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let mut results = Vec::new();
    let summary = run_cases(&mut live, cases, options, |result| results.push(result));
    assert_eq!(results.len(), 40);
    (results, summary)
}

/// Runs cases with this XCHNG. Asserts that the run does not pass, and returns the exit code and
/// the reasons of cases.
fn damage(xchng: &str) -> (u8, Vec<String>) {
    let folder = folder(xchng);
    let (results, summary) = run(&config(&folder));
    let code = exit_code(VerdictCounts::from_results(&results), &summary.ended);
    assert!([1, 5].contains(&code), "exit code {code}: {summary:?}");
    let reasons = results.into_iter().filter_map(|result| result.reason).collect();
    (code, reasons)
}

fn assert_found(xchng: &str, code: u8, words: &str) {
    let (found, reasons) = damage(xchng);
    assert_eq!(found, code, "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains(words)), "{reasons:?}");
}

#[test]
fn a_harmless_evaluator_passes() {
    let folder = folder(&at_some_calls("NOP"));
    let (results, summary) = run(&config(&folder));
    let failed: Vec<_> = results.iter().filter(|one| one.verdict != Verdict::Pass).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(summary, RunSummary::default());
}

#[test]
fn an_evaluator_that_turns_interrupts_off_fails() {
    assert_found(&exchange_with("DI"), 1, "interrupts were off");
    assert_found(&at_some_calls("DI"), 1, "interrupts were off");
}

#[test]
fn an_evaluator_that_turns_interrupts_off_for_20_milliseconds_fails() {
    // 5,671 times 26 T-states at 7.3728 MHz.
    let wait = "DI\n LXI B,5671\nWAIT: DCX B\n MOV A,B\n ORA C\n JNZ WAIT\n EI";
    let (code, reasons) = damage(&at_some_calls(wait));
    assert!(code == 1 || code == 5, "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("overrun")), "{reasons:?}");
}

#[test]
fn an_evaluator_that_writes_into_the_program_fails() {
    let write = "LXI H,SPOILT\n INR M\n JMP GOOD\nSPOILT: .BYTE 0";
    assert_found(&at_some_calls(write), 1, "memory was changed");
}

#[test]
fn an_evaluator_that_outgrows_the_stack_fails() {
    let grow = "MVI B,126\nGROW: PUSH H\n DJNZ GROW\n MVI B,126\nBACK: POP H\n DJNZ BACK";
    assert_found(&at_some_calls(grow), 1, "the stack");
}

#[test]
fn a_restart_without_a_known_cause_is_no_pass() {
    let (code, reasons) = damage(&at_some_calls("RST 0"));
    assert!(!reasons.is_empty(), "exit code {code}");
}

#[test]
fn an_evaluator_that_restarts_the_board_at_each_call_fails() {
    assert_found(&exchange_with("RST 0"), 1, "the board restarts whenever this case runs");
}

#[test]
fn an_application_without_status_runs_and_what_is_not_observed_is_in_the_summary() {
    let older = APP.replacen("C.CHKS+C.IDLE+C.STUS", "C.CHKS+C.IDLE", 1);
    assert_ne!(older, APP);
    let folder = folder(XCHNG);
    let mut config = config(&folder);
    let replaced = [("app.asm", older.as_str())];
    let kind = ProgramKind::Application;
    let built = build_with_sources(&config.board.profile, kind, &config.evaluator, &replaced)
        .unwrap_or_else(|error| panic!("{error}"));
    config.board.application = Some((built.address, built.bytes));
    let (results, summary) = run(&config);
    assert!(results.iter().all(|result| result.verdict == Verdict::Pass));
    assert!(summary.unobserved.is_some_and(|what| what.contains("program memory")));
}
