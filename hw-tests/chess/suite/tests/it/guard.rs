//! Broken routines on a simulated board: none passes, and each failure names what was done and
//! where, also where all values are right and where the board is lost and recovered.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::ProgramKind;
use firmware::build::{BuiltImage, build, build_with, build_with_sources};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use hil_harness::board::BoardKind;
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, Programs};
use hil_harness::runner::{RunOptions, Verdict};
use sargon_corpus::{Case, CaseInput, builtin_corpus};
use sargon_suite::{CaseResult, SargonBoard, SargonConfig, run_cases};

/// A routine of the evaluator, its file, and the first instruction, before which the damage is
/// inserted.
#[derive(Debug, Clone, Copy)]
struct Routine {
    file: &'static str,
    first: &'static str,
}

const XCHNG: Routine = Routine { file: "xchng.asm", first: "LXI H,BACT  " };
const NEXTAD: Routine = Routine { file: "nextad.asm", first: "INR C  " };
const ATTACK: Routine = Routine { file: "attack.asm", first: "LHLD M3  " };
const ATKSAV: Routine = Routine { file: "atksav.asm", first: "PUSH H\n        MOV L,A" };
const PINFND: Routine = Routine { file: "pinfnd.asm", first: "XRA A\n        STA NPINS" };

/// How often a routine does what it must not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rate {
    Always,
    /// At one call in 64.
    Seldom,
}
use Rate::{Always, Seldom};

/// Instructions that change no register and no flag, `HERE` being a label of the routine's file.
const STRAY: &str = "PUSH PSW\n XRA A\n STA 0E000H\n POP PSW";
const RING: &str = "PUSH PSW\n LDA RXIN#\n STA RXIN#\n POP PSW";
const CODE: &str = "PUSH PSW\n LDA DAMAGE\n STA DAMAGE\n POP PSW";
const ROM: &str = "PUSH PSW\n LDA 10H\n STA 10H\n POP PSW";
const CALLER: &str = "PUSH PSW\n PUSH H\n LXI H,8\n DAD SP\n MOV A,M\n MOV M,A\n POP H\n POP PSW";
const DEEP: &str =
    "PUSH B\n SSPD SPKEEP\n MVI B,140\nDLOOP: PUSH H\n DJNZ DLOOP\n LSPD SPKEEP\n POP B";
const DI: &str = "DI";
/// 24 T-states 6,144 times: 20 ms at 7.3728 MHz.
const LONG_DI: &str = "PUSH PSW\n PUSH B\n DI\n LXI B,6144\nDLOOP: DCX B\n MOV A,B\n ORA C\n \
                       JNZ DLOOP\n EI\n POP B\n POP PSW";
const MODE: &str = "IM1";
const VECTOR: &str = "PUSH PSW\n MVI A,12H\n STAI\n POP PSW";
const OUTPUT: &str = "OUT 81H";
const INPUT: &str = "PUSH PSW\n IN 81H\n POP PSW";
const HALT: &str = "HLT";
const RESTART: &str = "RST 0";

/// What is wrong, in which routine, how often, and a part of the reason.
const TABLE: &[(Routine, Rate, &str, &str)] = &[
    (XCHNG, Always, STRAY, "XCHNG wrote E000H outside its data"),
    (NEXTAD, Seldom, STRAY, "XCHNG wrote E000H outside its data"),
    (ATTACK, Seldom, STRAY, "wrote E000H outside its data"),
    (ATKSAV, Always, STRAY, "wrote E000H outside its data"),
    (PINFND, Seldom, STRAY, "PINFND wrote E000H outside its data"),
    (XCHNG, Seldom, RING, "outside its data"),
    (ATKSAV, Seldom, RING, "outside its data"),
    (XCHNG, Seldom, CODE, "in program memory"),
    (NEXTAD, Always, CODE, "in program memory"),
    (ATTACK, Always, CODE, "in program memory"),
    (ATKSAV, Seldom, CODE, "in program memory"),
    (PINFND, Always, CODE, "in program memory"),
    (NEXTAD, Seldom, ROM, "wrote 0010H outside its data"),
    (PINFND, Always, ROM, "wrote 0010H outside its data"),
    (XCHNG, Always, CALLER, "outside its data"),
    (ATTACK, Seldom, CALLER, "outside its data"),
    (XCHNG, Always, DEEP, "outside its stack"),
    (NEXTAD, Seldom, DEEP, "outside its stack"),
    (ATTACK, Always, DEEP, "outside its stack"),
    (ATKSAV, Seldom, DEEP, "outside its stack"),
    (PINFND, Seldom, DEEP, "outside its stack"),
    (XCHNG, Seldom, DI, "returned with interrupts off"),
    (NEXTAD, Always, DI, "interrupts off"),
    (ATTACK, Always, DI, "interrupts off"),
    (ATKSAV, Seldom, DI, "interrupts off"),
    (PINFND, Seldom, DI, "interrupts off"),
    (XCHNG, Always, LONG_DI, "kept interrupts off"),
    (NEXTAD, Seldom, LONG_DI, "kept interrupts off"),
    (ATTACK, Seldom, LONG_DI, "kept interrupts off"),
    (ATKSAV, Always, LONG_DI, "kept interrupts off"),
    (PINFND, Always, LONG_DI, "kept interrupts off"),
    (XCHNG, Always, MODE, "changed interrupt mode or register I (now IM1"),
    (NEXTAD, Seldom, MODE, "changed interrupt mode or register I"),
    (PINFND, Always, MODE, "changed interrupt mode or register I"),
    (ATTACK, Seldom, VECTOR, "changed interrupt mode or register I (now IM2, I = 12H)"),
    (ATKSAV, Always, VECTOR, "changed interrupt mode or register I"),
    (XCHNG, Seldom, OUTPUT, "to port 81H"),
    (NEXTAD, Always, OUTPUT, "to port 81H"),
    (ATTACK, Always, OUTPUT, "to port 81H"),
    (PINFND, Seldom, OUTPUT, "to port 81H"),
    (XCHNG, Always, INPUT, "read port 81H"),
    (ATKSAV, Seldom, INPUT, "read port 81H"),
    (XCHNG, Seldom, HALT, "executed HLT"),
    (ATTACK, Always, HALT, "executed HLT"),
    (PINFND, Seldom, HALT, "executed HLT"),
    (XCHNG, Always, RESTART, "reached 0000H"),
    (NEXTAD, Seldom, RESTART, "reached 0000H"),
    (ATKSAV, Seldom, RESTART, "reached 0000H"),
    (PINFND, Always, RESTART, "reached 0000H"),
    (XCHNG, Always, "RST 7", "left the program's code for 0038H"),
    (ATTACK, Seldom, "JMP 0E000H", "left the program's code for E000H"),
    (NEXTAD, Seldom, "LXI SP,0D000H", "moved the stack pointer to D000H"),
    (XCHNG, Always, "INX SP\n INX SP", "returned to"),
    (PINFND, Seldom, "INX SP\n INX SP\n INX SP", "moved the stack pointer"),
    (XCHNG, Seldom, "XTHL\n INX H\n XTHL", "returned to"),
    (ATTACK, Always, "XTHL\n INX H\n XTHL", "returned to"),
    (PINFND, Seldom, "POP H\n PUSH H\n PUSH H", "returned with the stack pointer at"),
    (ATTACK, Always, "POP H\n PUSH H\n PUSH H", "returned with the stack pointer at"),
];

/// Returns the routine's source with instructions before its first one.
fn with_damage(routine: Routine, rate: Rate, damage: &str) -> String {
    let text = firmware::source(routine.file).expect("a built-in file");
    let before = match rate {
        Always => format!(" {damage}\nDAMAGE: NOP\n "),
        Seldom => format!(
            " PUSH PSW\n PUSH H\n LXI H,TIMES\n INR M\n MOV A,M\n ANI 3FH\n POP H\n JNZ DSKIP\n \
             POP PSW\n {damage}\n JMP DAMAGE\nDSKIP: POP PSW\nDAMAGE: NOP\n "
        ),
    };
    let broken = text.replacen(routine.first, &format!("{before}{}", routine.first), 1);
    assert_ne!(broken, text, "{routine:?}");
    let data = "\n .LOC .DATA.\nTIMES: .BLKB 1\nSPKEEP: .BLKW 1\n .END";
    broken.replacen("\n        .END", data, 1)
}

fn profile(name: &str) -> BoardProfile {
    BoardProfile::named(name).expect("it ships")
}

fn broken_application(file: &str, text: &str) -> BuiltImage {
    let board = profile("rc2014-classic");
    let evaluator = Evaluator::default();
    build_with_sources(&board, ProgramKind::Application, &evaluator, &[(file, text)])
        .unwrap_or_else(|error| panic!("{file}: {error}\n{text}"))
}

/// Runs cases on a board in this process with an application.
fn run(profile: BoardProfile, application: BuiltImage, cases: Vec<Case>) -> Vec<CaseResult> {
    let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
    let board = BoardKind::InProcess;
    let config = BoardConfig { board, ..BoardConfig::simulated(profile) }.into();
    let programs = Arc::new(Programs { monitor, application });
    let mut live = SargonBoard::prepare_with(&config, programs, &OsFileSystem, |board| board)
        .unwrap_or_else(|error| panic!("{error}"));
    let stop = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let mut results = Vec::new();
    run_cases(&mut live, cases, options, |result| results.push(result));
    results
}

/// Returns positions with many pieces, so that each routine runs 64 times: PINFND once a position.
fn positions(count: usize) -> Vec<Case> {
    let all = builtin_corpus().expect("the corpus").into_iter();
    let is_play = |case: &Case| {
        matches!(case.subject, CaseInput::Position { .. })
            && case.tags.iter().any(|tag| tag == "play")
    };
    all.filter(is_play).take(count).collect()
}

/// Returns what is wrong with the results of a row of the table; `None` if nothing is.
fn check(row: &(Routine, Rate, &str, &str)) -> Option<String> {
    let &(routine, rate, damage, expected) = row;
    let count = match (rate, routine.file) {
        (Seldom, "pinfnd.asm") => 66,
        (Seldom, _) => 8,
        (Always, _) => 2,
    };
    let text = with_damage(routine, rate, damage);
    let application = broken_application(routine.file, &text);
    let results = run(profile("rc2014-classic"), application, positions(count));
    let is_finding = |one: &CaseResult| {
        let reason = one.reason.as_deref().unwrap_or_default();
        // What shows only at the return of the caller is located there.
        let at_return = ["stack pointer", "returned to", "changed interrupt mode"];
        let is_located = reason.contains(&format!("({}:", routine.file))
            || at_return.iter().any(|what| reason.contains(what));
        one.verdict == Verdict::Fail && reason.contains(expected) && is_located
    };
    let passes = results.iter().any(|one| one.verdict == Verdict::Pass);
    if results.iter().any(is_finding) && !(rate == Always && passes) {
        return None;
    }
    let shown: Vec<_> = results.iter().map(|one| (one.verdict, one.reason.as_deref())).collect();
    Some(format!("{} {rate:?} {damage:?}: {shown:?}", routine.file))
}

/// Runs each third row of the table, so that tests run at the same time.
fn check_rows(part: usize) {
    let rows = TABLE.iter().skip(part).step_by(3);
    let wrong: Vec<String> = rows.filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_broken_routine_passes_first_third() {
    check_rows(0);
}

#[test]
fn no_broken_routine_passes_second_third() {
    check_rows(1);
}

#[test]
fn no_broken_routine_passes_last_third() {
    check_rows(2);
}

#[test]
fn an_exchange_without_its_last_return_fails_wherever_it_is_linked() {
    let text = firmware::source("xchng.asm").expect("a built-in file");
    let broken = text.replacen("XCLAST: RET", "XCLAST: NOP", 1);
    assert_ne!(broken, text);
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("xchng.asm"), &broken).expect("a file");
    let evaluator = Evaluator { own: Some(folder.path().to_owned()), ..Evaluator::default() };
    let own = build_with(&profile("rc2014-classic"), ProgramKind::Application, &evaluator)
        .unwrap_or_else(|error| panic!("{error}"));
    for application in [broken_application("xchng.asm", &broken), own] {
        let results = run(profile("rc2014-classic"), application, positions(3));
        for result in results {
            assert_eq!(result.verdict, Verdict::Fail, "{:?}", result.reason);
            let why = result.reason.unwrap_or_default();
            assert!(why.starts_with("XCHNG "), "{why}");
        }
    }
}

#[test]
fn an_endless_loop_has_no_pass() {
    let text = with_damage(XCHNG, Always, "DLOOP: JMP DLOOP");
    let results =
        run(profile("rc2014-classic"), broken_application(XCHNG.file, &text), positions(1));
    let no_reply = [Verdict::Timeout, Verdict::Error];
    assert!(results.iter().all(|one| no_reply.contains(&one.verdict)), "{results:?}");
}

/// 24 T-states 65,536 times, and that TURNS times, without a change of registers.
const DELAY: &str = "PUSH PSW\n PUSH B\n PUSH D\n MVI E,TURNS\n LXI B,0\nDLOOP: DCX B\n MOV A,B\n \
                     ORA C\n JNZ DLOOP\n DCR E\n JNZ DLOOP\n POP D\n POP B\n POP PSW";

#[test]
fn a_slow_but_right_evaluator_is_not_accused_of_the_report_of_its_program_counter() {
    for (routine, turns) in [(PINFND, "40"), (XCHNG, "4")] {
        let text = with_damage(routine, Always, &DELAY.replace("TURNS", turns));
        let application = broken_application(routine.file, &text);
        let results = run(profile("rc2014-classic"), application, positions(3));
        let shown: Vec<_> = results.iter().map(|one| (one.verdict, &one.reason)).collect();
        assert!(results.iter().all(|one| one.verdict != Verdict::Fail), "{shown:?}");
        let is_located = |one: &CaseResult| {
            let reason = one.reason.as_deref().unwrap_or_default();
            one.verdict == Verdict::Timeout && reason.contains("the program counter was at")
        };
        assert!(results.iter().any(is_located), "{shown:?}");
    }
}

#[test]
fn a_case_that_fails_by_a_finding_only_has_the_right_values() {
    let text = with_damage(XCHNG, Always, CODE);
    let results =
        run(profile("rc2014-classic"), broken_application(XCHNG.file, &text), positions(20));
    assert_eq!(results.len(), 20);
    for result in results {
        assert_eq!((result.verdict, result.attempts), (Verdict::Fail, 1), "{:?}", result.reason);
        assert!(
            result.differences.is_empty() && !result.details.squares.is_empty(),
            "{}",
            result.id
        );
    }
}

#[test]
fn only_the_case_whose_position_ran_fails() {
    // The variable counts the calls since power-up: PINFND runs once for each position.
    let damage = "PUSH PSW\n LDA BOARDA#+21\n CPI 4\n JNZ DLOOP\n STA 0E000H\nDLOOP: POP PSW";
    let text = with_damage(PINFND, Always, damage);
    let cases = positions(40);
    // A white rook on a1.
    let expected: Vec<bool> = (cases.iter())
        .map(|case| match &case.subject {
            CaseInput::Position { fen, .. } => {
                fen.split(['/', ' ']).nth(7).is_some_and(|rank| rank.starts_with('R'))
            }
            CaseInput::Array { .. } => false,
        })
        .collect();
    assert!(expected.contains(&true) && expected.contains(&false));
    let mut results =
        run(profile("rc2014-classic"), broken_application(PINFND.file, &text), cases.clone());
    results.sort_by_key(|result| cases.iter().position(|case| case.id == result.id));
    let failed: Vec<bool> = results.iter().map(|result| result.verdict == Verdict::Fail).collect();
    assert_eq!(failed, expected);
}

#[test]
fn the_evaluator_is_clean_in_all_behaviours_on_all_boards() {
    for name in ["rc2014-classic", "rc2014-pro", "rc2014-zed", "sc114"] {
        for behaviour in Behaviour::ALL {
            let evaluator = Evaluator { behaviour, own: None };
            let board = BoardKind::InProcess;
            let board = BoardConfig { board, ..BoardConfig::simulated(profile(name)) };
            let config = SargonConfig { evaluator, ..board.into() };
            let mut live = SargonBoard::prepare(&config).unwrap_or_else(|error| panic!("{error}"));
            let stop = AtomicBool::new(false);
            let options =
                RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
            let cases = builtin_corpus().expect("the corpus").into_iter().step_by(7);
            run_cases(&mut live, cases, options, |result| {
                let shown = format!("{name} {behaviour} {}: {:?}", result.id, result.reason);
                assert_eq!(result.verdict, Verdict::Pass, "{shown}");
            });
        }
    }
}
