//! Breakpoints and watchpoints as they are listed, changed, checked and deleted.

use board_debugger::commands::{Pane, execute, outcome_text};
use board_debugger::{Debugger, ExecCommand, HaltReason};

use crate::sessions::debugger;

const LOOP: &str = "START:\tMVI B,3
LOOP:\tSTA CELL
..IN:\tDJNZ LOOP
\tJMP START
CELL:\t.BYTE 0
\t.END START
";

fn text(debugger: &mut Debugger, line: &str) -> Result<String, String> {
    let outcome = execute(debugger, line, &mut |_| true)?;
    Ok(outcome_text(debugger, &outcome))
}

#[track_caller]
fn run(debugger: &mut Debugger, line: &str) -> String {
    text(debugger, line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn stops(debugger: &Debugger) -> Vec<String> {
    Pane::Stops.lines(debugger, 0)
}

#[test]
fn what_was_written_is_listed_and_can_be_changed() {
    let mut debugger = debugger(LOOP);
    run(&mut debugger, "break LOOP if B == 2 hits >= 1 do print B; print FZ");
    run(&mut debugger, "break START log B is {B}");
    run(&mut debugger, "watch CELL if A == 0 hits 9");
    let listed = stops(&debugger);
    assert!(listed[0].contains(" if B == 2 hits >= 1 do print B; print FZ; 0 hits"), "{listed:?}");
    assert!(listed[1].contains(" log B is {B}; 0 hits"), "{listed:?}");
    assert!(listed[2].contains(" if A == 0 hits 9; 0 hits"), "{listed:?}");
    let halt = debugger.run(ExecCommand::Continue, &mut |_| false);
    assert_eq!((halt, debugger.registers().bc >> 8), (HaltReason::Breakpoint, 2));
    let changed = run(&mut debugger, "change 1 if B == 1");
    assert!(changed.contains(" if B == 1; 0 hits so far"), "{changed}");
    let halt = debugger.run(ExecCommand::Continue, &mut |_| false);
    assert_eq!((halt, debugger.registers().bc >> 8), (HaltReason::Breakpoint, 1));
    run(&mut debugger, "change 1");
    assert!(stops(&debugger)[0].ends_with(", LOOP (program.asm:2); 0 hits so far"));
    for wrong in ["change 9 if B == 1", "change LOOP", "change 1 if NONE", "change 3 log x"] {
        assert!(text(&mut debugger, wrong).is_err(), "{wrong}");
    }
    assert_eq!(stops(&debugger).len(), 3, "a refused change changes nothing");
    let saved = debugger.saved_stops();
    assert_eq!(saved[1..], ["break START log B is {B}", "watch CELL,1 if A == 0 hits 9"]);
}

#[test]
fn commands_of_a_breakpoint_are_checked_when_it_is_set() {
    let mut debugger = debugger(LOOP);
    for wrong in [
        "fly",
        "print B; fly",
        "print NONE",
        "display [NONE;4]",
        "print [CELL;",
        "set Q = 1",
        "set B = NONE",
        "until NONE",
        "to NONE",
        "step x",
        "break NONE",
        "watch NONE",
        "send \\q",
        "break LOOP do fly",
        "change x",
        "help fly",
    ] {
        let error = text(&mut debugger, &format!("break START do {wrong}")).err();
        let shown = format!("{wrong}: {error:?}");
        assert!(
            error.is_some_and(|error| error.contains(wrong.split("; ").last().unwrap())),
            "{shown}"
        );
    }
    assert_eq!(stops(&debugger), ["no breakpoints and watchpoints"]);
    // What depends on the state at the halt is not known before.
    for right in [
        "print B; display; stops",
        "print [CELL;B]",
        "set A = BC",
        "print [..IN]; to ..IN",
        "break :2",
        "delete 7; change 7 if B == 1",
        "memory; list; find x; /x; code",
        "break LOOP do print B; break LOOP do print B",
    ] {
        run(&mut debugger, &format!("break START do {right}"));
    }
    let deep = "break LOOP do ".repeat(100_000);
    assert!(text(&mut debugger, &deep).is_err());
}

#[test]
fn stops_are_deleted_by_what_set_them() {
    let mut debugger = debugger(LOOP);
    for what in [
        "break LOOP if B == 2 do print B",
        "break program.asm:3",
        "break 0FACEH",
        "watch CELL",
        "watch CELL,2 rw if A == 0",
        "watch port 80H,2 r",
        "watch HL",
        "watch FZ",
        "watch [SP]",
    ] {
        run(&mut debugger, what);
        let (_, place) = what.split_once(' ').expect("a place");
        let other = run(&mut debugger, "watch 9000H,7");
        run(&mut debugger, &format!("delete {place}"));
        assert_eq!(stops(&debugger).len(), 1, "{what} leaves {other}");
        run(&mut debugger, "delete 9000H,7");
        assert_eq!(stops(&debugger), ["no breakpoints and watchpoints"], "{what}");
    }
    let error = text(&mut debugger, "delete LOOP").expect_err("nothing is there");
    assert!(error.contains("no breakpoint or watchpoint at LOOP"), "{error}");
    assert!(text(&mut debugger, "delete NONE").is_err_and(|error| error.contains("NONE")));
}
