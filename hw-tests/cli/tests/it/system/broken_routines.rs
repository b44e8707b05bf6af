//! Evaluators whose values are right and that damage the board, on both of MAME's boards: what can
//! be seen from outside fails or makes the run flaky, and is named.

use std::process::Command;

use hil_testing::broken_exchange::exchange_with;

const BOARDS: [&str; 2] = ["rc2014-classic", "rc2014-zed"];

/// What XCHNG does at its start, the number of cases, the exit codes, and a part of the output.
const ROUTINES: [(&str, &str, &[i32], &str); 5] = [
    ("DI", "4", &[1], "interrupts were off"),
    // 20 ms: 5,671 times 26 T-states.
    (
        "DI\n LXI B,5671\nWAIT: DCX B\n MOV A,B\n ORA C\n JNZ WAIT\n EI",
        "16", // more than the host sends ahead
        &[1, 5],
        "the receiver was overrun",
    ),
    ("LXI H,MARK\n INR M\n JMP GOOD\nMARK: .BYTE 0\nGOOD: NOP", "4", &[1], "memory was changed"),
    (
        "MVI B,126\nGROW: PUSH H\n DJNZ GROW\n MVI B,126\nBACK: POP H\n DJNZ BACK",
        "4",
        &[1],
        "the stack",
    ),
    ("RST 0", "1", &[1], "the board restarts whenever this case runs"),
];

/// Returns the exit code and the output of a run with a broken XCHNG.
fn run(board: &str, damage: &str, count: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("xchng.asm"), exchange_with(damage)).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hw-tests"));
    command.args(["run", "--board", board, "--rig", "mame", "--tag", "play", "--count", count]);
    command.arg("--sargon-dir").arg(folder.path()).env_remove("RCFLASH_RIG");
    let output = command.output().expect("it starts");
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn no_evaluator_passes_that_damages_mames_boards() {
    assert!(hil_harness::board::mame().is_some(), "no MAME: Debian's package mame has it");
    for board in BOARDS {
        for (damage, count, codes, reason) in ROUTINES {
            let (code, text) = run(board, damage, count);
            let shown = format!("{board}, {damage}: {code:?}\n{text}");
            assert!(code.is_some_and(|code| codes.contains(&code)), "{shown}");
            assert!(text.contains(reason), "{shown}");
        }
    }
}
