//! The command language and its expressions.

use board_debugger::commands::{COMMANDS, execute, outcome_text, runs_board};
use board_debugger::{BoundExpression, Debugger, HitCondition};
use cli_support::text::unescape;

use crate::corrupted::corrupted_input::for_each_corrupted;
use crate::corrupted::{LINES, debugger, pieces, with_characters};

const WORDS: &[&[u8]] = &[
    b"print ",
    b"display ",
    b"set ",
    b"break ",
    b"watch ",
    b" if ",
    b" hits ",
    b" log ",
    b" do ",
    b".s",
    b".w",
    b"sb(",
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b";",
    b"..L",
    b"program.asm:",
    b"TABLE",
    b"0x",
    b"H",
    b"\n",
    "ü".as_bytes(),
    "€".as_bytes(),
    "😀".as_bytes(),
    "'ü'".as_bytes(),
];
const CASES: u32 = 200;

/// Executes a line, or refuses it; the board does not run on.
fn try_line(debugger: &mut Debugger, line: &str) {
    if let Ok(outcome) = execute(debugger, line, &mut |_| true) {
        outcome_text(debugger, &outcome);
    }
    let _ = runs_board(line);
    for text in [line, line.split_once(' ').map_or("", |(_, arguments)| arguments)] {
        let _ = BoundExpression::parse(text, debugger.code());
        let _ = HitCondition::parse(text);
        let _ = unescape(text);
    }
}

#[test]
fn characters_of_several_bytes_may_be_anywhere_in_a_line() {
    let mut debugger = debugger();
    for line in LINES.iter().flat_map(|line| with_characters(line)) {
        try_line(&mut debugger, &line);
    }
    for command in COMMANDS {
        for piece in pieces() {
            try_line(&mut debugger, &format!("{} {piece}", command.name));
            try_line(&mut debugger, &format!("{} {piece}", command.short));
        }
    }
}

#[test]
fn any_lines_of_text_are_executed_or_refused() {
    let lines = LINES.join("\n");
    let inputs = [&LINES[..], &[&lines]].concat();
    for_each_corrupted(&inputs, WORDS, CASES, |bytes| {
        let mut debugger = debugger();
        for line in String::from_utf8_lossy(bytes).lines() {
            try_line(&mut debugger, line);
        }
    });
}

#[test]
fn characters_have_their_code_and_those_beyond_16_bits_are_refused() {
    let mut debugger = debugger();
    let mut printed = |line: &str| {
        execute(&mut debugger, line, &mut |_| true).map(|outcome| format!("{outcome:?}"))
    };
    assert_eq!(printed("print 'ü'"), Ok("Output(\"00FCH = 252, -4 as a signed byte\")".to_owned()));
    assert_eq!(printed("print '€'"), Ok("Output(\"20ACH = 8364\")".to_owned()));
    assert_eq!(printed("print '😀'"), Err("'😀' has more than 16 bits".to_owned()));
    for (line, refusal) in [
        ("print für", "unknown name 'für'"),
        ("print [é]", "unknown name 'é'"),
        ("display für", "unknown name 'für'"),
        ("print €.s", "missing value before '€'"),
    ] {
        assert_eq!(printed(line), Err(refusal.to_owned()));
    }
}
