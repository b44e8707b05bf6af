//! Stops that are changed while the past is searched, calls with parameters behind them, logs, and
//! what the view shows of a step.

use board_debugger::commands::{self, CommandOutcome, execute, outcome_text};
use board_debugger::{Debugger, ExecCommand, HaltReason, StopKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use crate::owned_view::View;
use crate::sessions::debugger;

/// It counts calls in B for ever, and writes to a table.
const LOOP: &str = "        .LOC .PROG.
START:  LXI SP,0FF00H
        LXI H,TABLE
        MVI B,0
LOOP:   INR B
        CALL COUNT
        JMPR LOOP
COUNT:  INR M
        RET
TABLE:  .BLKB 16
        .END START
";

#[track_caller]
fn run(debugger: &mut Debugger, line: &str) -> CommandOutcome {
    let runs_away = &mut |debugger: &mut Debugger| debugger.clock() > debugger.clock_hz();
    execute(debugger, line, runs_away).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[track_caller]
fn expect_at(debugger: &Debugger, place: &str) {
    assert_eq!(debugger.code().address_name(debugger.registers().pc), place);
}

#[test]
fn breakpoints_that_are_changed_during_a_search_are_kept_and_do_not_change_it() {
    let table = debugger(LOOP).code().symbol("TABLE").expect("a label");
    for (search, end, place) in [
        ("lastchange TABLE+1", HaltReason::NeverChanged(table + 1), "LOOP"),
        ("rto START", HaltReason::Completed, "START"),
        ("rrun", HaltReason::HistoryStart, "START"),
        ("rnext", HaltReason::Completed, "LOOP+4"),
    ] {
        let mut debugger = debugger(LOOP);
        run(&mut debugger, "step 9998");
        expect_at(&debugger, "LOOP");
        run(&mut debugger, "break TABLE");
        let mut polls = 0;
        let outcome = execute(&mut debugger, search, &mut |debugger| {
            polls += 1;
            if polls == 1 {
                run(debugger, "delete all");
                run(debugger, "break START if B == 99");
            }
            false
        });
        assert_eq!(outcome, Ok(CommandOutcome::Halted(end)), "{search}");
        let stops = debugger.stops.iter().map(|(id, stop)| (id, stop.kind));
        let expected = [(2, StopKind::Breakpoint(0x8000))];
        assert_eq!(stops.collect::<Vec<_>>(), expected, "{search}");
        expect_at(&debugger, place);
    }
}

#[test]
fn a_log_that_nobody_reads_keeps_its_last_messages() {
    let mut debugger = debugger(LOOP);
    run(&mut debugger, "break COUNT log {B}");
    run(&mut debugger, "break LOOP hits 12001");
    run(&mut debugger, "run");
    let log = debugger.take_log();
    assert_eq!((log.len(), log[0].as_str()), (10_001, "(2000 earlier messages dropped)"));
    // 12,000 calls, in a byte.
    assert_eq!(log.last().map(String::as_str), Some("E0H (224)"));
    assert!(debugger.take_log().is_empty());
}

#[test]
fn a_run_in_slices_executes_the_commands_of_every_breakpoint() {
    let run_with = |is_sliced: bool| {
        let mut debugger = debugger(LOOP);
        run(&mut debugger, "break COUNT do print B; run");
        run(&mut debugger, "break LOOP if B == 9");
        let mut polls = 0;
        loop {
            let halt = commands::run(&mut debugger, ExecCommand::Continue, &mut |_| {
                polls += 1;
                is_sliced && polls % 2 == 0
            });
            if halt != HaltReason::Paused {
                return (halt, debugger.registers(), debugger.take_log());
            }
        }
    };
    let whole = run_with(false);
    assert_eq!((whole.0, whole.2.len()), (HaltReason::Breakpoint, 9));
    assert_eq!(run_with(true), whole);
}

#[test]
fn input_sent_before_the_next_step_is_all_received() {
    let mut once = debugger(LOOP);
    run(&mut once, "send abc");
    let mut twice = debugger(LOOP);
    run(&mut twice, "send ab");
    run(&mut twice, "set A = 0");
    run(&mut twice, "send c");
    run(&mut once, "set A = 0");
    // The status of the serial chip, and then its data, are read by hand.
    for debugger in [&mut once, &mut twice] {
        run(debugger, "set [9000H] = 0DBH 80H 0FH 30H 0FBH 0DBH 81H 0C9H");
    }
    let received = |debugger: &mut Debugger| {
        let mut text = Vec::new();
        for _ in 0..3 {
            run(debugger, "set PC = 9000H");
            run(debugger, "to 9007H");
            text.push((debugger.registers().af >> 8) as u8);
        }
        text
    };
    assert_eq!(received(&mut once), b"abc");
    assert_eq!(received(&mut twice), b"abc");
}

/// Calls of routines that take parameters behind the call, in several ways, or do not return.
const PARAMETERS: &str = "        .LOC .PROG.
START:  LXI SP,0FF00H
SWAPS:  CALL PRINT      ; with XTHL and RET
        .ASCIZ /AB/
POPS:   CALL WORD       ; with POP and PCHL
        .WORD 1234H
PUSHES: CALL SKIP       ; with POP, PUSH and RET
        .BYTE 0
TWICE:  CALL OUTER      ; which calls one of them
LATER:  CALL UP         ; which returns to its caller's caller
        JMP START
PRINT:  XTHL
..L:    MOV A,M
        INX H
        ORA A
        JRNZ ..L
        XTHL
        RET
WORD:   POP H
        MOV E,M
        INX H
        MOV D,M
        INX H
        PCHL
SKIP:   POP H
        MVI B,3
..L:    DJNZ ..L
        ORA A
        RNZ
        INX H
        PUSH H
        RET
OUTER:  CALL PRINT
        .ASCIZ /C/
        RET
UP:     CALL INNER
        NOP
INNER:  POP H
        RET
        .END START
";

#[test]
fn over_passes_a_call_with_parameters_behind_it_and_out_ends_behind_them() {
    let mut debugger = debugger(PARAMETERS);
    run(&mut debugger, "step");
    for next in ["POPS", "PUSHES", "TWICE", "LATER"] {
        let call = debugger.registers().pc;
        assert_eq!(run(&mut debugger, "over"), CommandOutcome::Halted(HaltReason::Completed));
        expect_at(&debugger, next);
        // The same way from within the routine.
        run(&mut debugger, &format!("rto {call:04X}H"));
        run(&mut debugger, "step");
        assert_eq!(run(&mut debugger, "out"), CommandOutcome::Halted(HaltReason::Completed));
        expect_at(&debugger, next);
    }
    run(&mut debugger, "step");
    expect_at(&debugger, "UP");
    run(&mut debugger, "over");
    expect_at(&debugger, "LATER+3");
}

#[test]
fn the_memory_pane_shows_the_accesses_of_a_step_and_not_of_a_run() {
    let mut view = View::new(debugger(LOOP));
    let press = |view: &mut View, keys: &str| {
        for key in keys.chars() {
            let key = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
            assert!(view.press(key, &mut |_, _| false));
        }
    };
    press(&mut view, ":memory TABLE\n:to COUNT\ns");
    assert!(has_colour(&view, Color::Red), "INR M has written");
    press(&mut view, ":until B == 3\n");
    assert!(!has_colour(&view, Color::Red), "the run has no step to show");
    press(&mut view, ":to COUNT\nsS");
    assert!(!has_colour(&view, Color::Red), "nor has a step back");
}

/// Returns `true` if anything on the screen has a colour.
fn has_colour(view: &View, colour: Color) -> bool {
    let mut terminal = Terminal::new(TestBackend::new(110, 40)).expect("a terminal");
    terminal.draw(|frame| view.draw(frame)).expect("it is drawn");
    terminal.backend().buffer().content().iter().any(|cell| cell.fg == colour)
}

#[test]
fn control_keys_are_no_letters_and_leaving_asks_when_there_is_a_past() {
    let mut view = View::new(debugger(LOOP));
    let control = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    for letter in ['q', 's', 'b', 'c', 'x'] {
        assert_eq!(view.screen.handle_key(&view.debugger, control(letter)), None, "Ctrl-{letter}");
    }
    // While a command is typed, Ctrl-C leaves it, and others are no part of it.
    for key in [KeyCode::Char(':'), KeyCode::Char('s')] {
        view.handle_key(key);
    }
    view.screen.handle_key(&view.debugger, control('x'));
    assert!(view.text(110, 40).contains(":s_"));
    assert_eq!(view.screen.handle_key(&view.debugger, control('c')), None);
    assert!(!view.screen.has_prompt() && view.screen.status.contains("q ends"));
    // AltGr is both.
    let bracket = KeyEvent::new(KeyCode::Char(':'), KeyModifiers::CONTROL | KeyModifiers::ALT);
    view.screen.handle_key(&view.debugger, bracket);
    assert!(view.screen.has_prompt());
    view.handle_key(KeyCode::Esc);
    let quits = |view: &mut View| view.handle_key(KeyCode::Char('q')) == Some("quit".to_owned());
    assert!(quits(&mut view), "nothing is lost");
    view.press(KeyCode::Char('s'), &mut |_, _| false);
    assert!(!quits(&mut view) && view.screen.status.contains("q again"));
    view.handle_key(KeyCode::Up);
    assert!(!quits(&mut view), "another key was pressed");
    assert!(quits(&mut view));
}

#[test]
fn expressions_and_their_texts_may_have_any_length() {
    let mut debugger = debugger(LOOP);
    let sum = vec!["1"; 60_000].join(" + ");
    let printed = run(&mut debugger, &format!("print {sum}"));
    assert!(outcome_text(&mut debugger, &printed).starts_with("EA60H = 60000"));
    for text in ["é".repeat(100_000), format!("{sum} + ü"), ".b".repeat(100_000)] {
        for command in ["print", "display", "break START if", "watch", "until", "rto", "set HL ="] {
            let refused = execute(&mut debugger, &format!("{command} {text}"), &mut |_| true);
            assert!(refused.is_err(), "{command}");
        }
    }
}
