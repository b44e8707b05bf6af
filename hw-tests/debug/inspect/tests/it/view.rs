//! The debugger in a terminal: its screen, and a run on a pseudo-terminal.

use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;
use sargon_debugging::{open_position, run_to_exchange};
use sargon_reference::{Square, parse_fen};

use crate::debugger::FIGURE_1;
use crate::owned_view::View;
use crate::screen::TerminalSession;

/// Returns the rows of the view's screen.
fn drawn(view: &View) -> Vec<String> {
    view.text(110, 40).lines().map(str::to_owned).collect()
}

fn view() -> View {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let position = parse_fen(FIGURE_1).expect("a position");
    let square = Square::named("e5").expect("a square");
    let evaluator = Evaluator::default();
    let board =
        open_position(&profile, &evaluator, &position, None, &mut |_| false).expect("it is built");
    let session = run_to_exchange(board, square, 10.0, &mut |_| false);
    View::new(session.unwrap_or_else(|error| panic!("{error}")).debugger)
}

/// Presses keys one after the other; returns `true` unless the session ends.
fn press(view: &mut View, keys: &str) -> bool {
    keys.chars().all(|key| {
        let key = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        view.press(key, &mut |_, _| false)
    })
}

fn row<'r>(rows: &'r [String], text: &str) -> &'r str {
    let found = rows.iter().find(|row| row.contains(text));
    found.unwrap_or_else(|| panic!("no {text} in\n{}", rows.join("\n")))
}

#[test]
fn source_registers_array_and_time_are_drawn() {
    let mut view = view();
    let rows = drawn(&view);
    assert!(row(&rows, "XCHNG:  LXI H,BACT").contains('>'), "the line that is next");
    assert!(row(&rows, "xchng.asm").contains("Registers"));
    let pc = view.debugger.registers().pc;
    row(&rows, &format!("PC  {pc:04X}"));
    row(&rows, "(while XCHNG runs)");
    row(&rows, "+0 T-states");
    // A knight, a rook and a queen attack e5, in this order of capture.
    assert!(row(&rows, "White  3").contains("White  3: N R Q"));
    assert!(row(&rows, "[p]").contains("5 "), "the pawn on e5 is under examination");
    // The smallest supported terminal shows all registers, and the key that quits.
    let small: Vec<String> = view.text(80, 24).lines().map(str::to_owned).collect();
    for text in [&format!("PC  {pc:04X}"), "F' ", "White  3: N R Q", "q quit"] {
        row(&small, text);
    }
    assert!(press(&mut view, "s"));
    // LXI takes 10 T-states.
    row(&drawn(&view), "+10 T-states");
    assert!(press(&mut view, "S"));
    assert_eq!(view.debugger.registers().pc, pc);
    row(&drawn(&view), "+0 T-states");
}

#[test]
fn keys_step_stop_and_go_back() {
    let mut view = view();
    let guard = view.debugger.code().symbol("GUARD").expect("GUARD");
    for _ in 0..40 {
        if view.debugger.registers().pc != guard {
            press(&mut view, "n");
        }
    }
    let rows = drawn(&view);
    assert!(row(&rows, "points at stake").contains("points at stake       1"), "a pawn");
    assert!(row(&rows, "value of the attacker").contains("attacker 3"), "a knight");
    assert!(row(&rows, " residue   ").contains("+0"), "a residue has a sign");
    press(&mut view, ":watch ATKLST,14\nC");
    row(&drawn(&view), "written");
    let before = view.debugger.clock();
    press(&mut view, "b");
    assert!(row(&drawn(&view), "breakpoint 3 at").len() > 20);
    row(&drawn(&view), ">*");
    press(&mut view, "c");
    assert!(view.debugger.clock() >= before);
    press(&mut view, "No");
    assert!(press(&mut view, "?"));
    row(&drawn(&view), "Help");
    assert!(!press(&mut view, "qq"));
}

#[test]
fn commands_are_typed_and_errors_are_shown() {
    let mut view = view();
    press(&mut view, ":set HL = 1234H\n");
    assert_eq!(view.debugger.registers().hl, 0x1234);
    press(&mut view, ":nonsense\n");
    row(&drawn(&view), "unknown command 'nonsense'");
    press(&mut view, "/GUARD:");
    row(&drawn(&view), "/GUARD:_");
    press(&mut view, "\n");
    row(&drawn(&view), "GUARD:");
    press(&mut view, "t");
    let guard = view.debugger.code().symbol("GUARD");
    assert_eq!(Some(view.debugger.registers().pc), guard, "run to the cursor");
    for _ in 0..2 {
        view.handle_key(KeyCode::Tab);
    }
    row(&drawn(&view), "Calls");
}

#[test]
fn eighty_columns_and_24_rows_hold_what_is_needed() {
    let mut view = view();
    for keys in ["", "nnnnnnnn", ":calls\n", ":memory ATKLST\n", ":position\n", "?"] {
        press(&mut view, keys);
        let text = view.text(80, 24);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 24);
        assert!(rows.iter().all(|row| row.chars().count() <= 80), "{text}");
        assert!(rows[23].ends_with("q quit"), "the key that quits is in the bottom row:\n{text}");
        assert!(text.contains("Registers") && text.contains("White  3: N R Q"), "{text}");
        assert!(text.contains("T-states"), "{text}");
    }
    assert!(view.text(160, 50).contains("Console"), "more panes where there is room");
    assert!(view.text(20, 6).lines().count() == 6, "a small terminal is not an error");
}

#[test]
fn the_interrupt_state_is_shown_and_set_and_memory_fits_80_columns() {
    let mut view = view();
    press(&mut view, ":set IFF = 0\n:set IM = 2\n:set I = 5AH\n");
    row(&drawn(&view), "DI  IM 2");
    row(&drawn(&view), "I 5AH");
    press(&mut view, ":set [9000H] = 41H 42H 43H 44H 45H 46H 47H 48H\n:memory 9000H\n");
    let small: Vec<String> = view.text(80, 24).lines().map(str::to_owned).collect();
    row(&small, "9000H  41 42 43 44 45 46 47 48  ABCDEFGH");
    view.handle_key(KeyCode::PageDown);
    let small: Vec<String> = view.text(80, 24).lines().map(str::to_owned).collect();
    row(&small, "9040H  ");
}

/// Waits until the screen shows this again.
#[track_caller]
fn expect(screen: &mut TerminalSession, text: &str) {
    screen.expect(text);
    screen.seen.clear();
}

#[test]
fn a_run_on_a_terminal_steps_and_leaves_it_as_it_was() {
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", FIGURE_1, "e5"]);
    let mut screen = TerminalSession::spawn(command);
    expect(&mut screen, "Attackers");
    assert!(!screen.is_in_cooked_mode());
    screen.press(b"sC");
    expect(&mut screen, "recorded");
    screen.press(b":w ATKLST\r");
    expect(&mut screen, "watchpoint"); // only changed cells are sent
    // None of them ends the session, steps or sets a breakpoint.
    screen.press(b"\x03\x11\x13\x02:\x03");
    expect(&mut screen, "nothing runs");
    // Pasted text is a command line, not keys.
    screen.press(b"\x1b[200~q\nq\x1b[201~");
    expect(&mut screen, "Enter");
    screen.press(b"\x03");
    expect(&mut screen, "nothing");
    screen.press(b"q");
    expect(&mut screen, "q again");
    screen.press(b"q");
    assert_eq!(screen.wait_for_exit().0, Some(0));
}

#[test]
fn a_closed_terminal_ends_the_debugger_at_its_prompt_and_while_the_board_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("loop.asm");
    std::fs::write(&program, "\t.LOC 8000H\nSTART:\tJMP START\n\t.END START\n").expect("it fits");
    for keys in ["", "c"] {
        let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
        command.arg("debug").arg(&program);
        let mut screen = TerminalSession::spawn(command);
        expect(&mut screen, "Registers");
        screen.press(keys.as_bytes());
        screen.close();
    }
}

#[test]
fn a_running_board_takes_breakpoints_and_no_command_that_runs_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("loop.asm");
    let text = "\t.LOC 8000H\nSTART:\tINR A\n\tJRNZ START\nSECOND:\tJMP START\n\t.END START\n";
    std::fs::write(&program, text).expect("it fits");
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.arg("debug").arg(&program);
    let mut screen = TerminalSession::spawn(command);
    expect(&mut screen, "Registers");
    screen.press(b":break 9000H\rc");
    expect(&mut screen, "running");
    // q is a letter of the command that is typed.
    screen.press(b":print 'q'\r");
    expect(&mut screen, "0071H = 113");
    screen.press(b":step\r");
    // Only cells that change are drawn.
    expect(&mut screen, "needs");
    screen.press(b":break SECOND\r");
    expect(&mut screen, "breakpoint");
    screen.press(b"q");
    expect(&mut screen, "again");
    screen.press(b"q");
    assert_eq!(screen.wait_for_exit().0, Some(0));
}

/// A program whose line 3 writes what line 2 has read.
const COPY: &str =
    "START:\tLXI H,9000H\n\tMOV A,M\n\tINX H\n\tMOV M,A\n\tJMP START\n\t.END START\n";

#[test]
fn bytes_that_a_step_reads_and_writes_have_colours_and_memory_is_edited_in_its_pane() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy.asm");
    std::fs::write(&path, COPY).expect("it fits");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let file = board_debugger::ProgramFile { path, ..Default::default() };
    let program = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
    let debugger = board_debugger::open_program(&profile, program, None);
    let mut view = View::new(debugger.unwrap_or_else(|error| panic!("{error}")));
    press(&mut view, ":memory 9000H\ne5AH 5BH\ns");
    assert!(row(&drawn(&view), "9000H  5A 5B").contains("Z["));
    // The cells of 9000H and 9001H in the first row of the pane.
    let colours = |view: &View| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("in memory");
        terminal.draw(|frame| view.draw(frame)).expect("in memory");
        let buffer = terminal.backend().buffer().clone();
        let text = |y| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        let y = (0..24).find(|y| text(*y).starts_with("│9000H  ")).expect("its row");
        [8, 11].map(|x| buffer[(x, y)].fg)
    };
    assert_eq!(colours(&view), [Color::Reset, Color::Reset], "LXI reads only itself");
    press(&mut view, "s");
    assert_eq!(colours(&view), [Color::Green, Color::Reset]);
    press(&mut view, "ss");
    assert_eq!(colours(&view), [Color::Reset, Color::Red]);
}

#[test]
fn a_session_is_restored_for_its_program_and_edited_source_is_loaded_with_the_breakpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("copy.asm");
    std::fs::write(&program, COPY).expect("it fits");
    let run = |more: &[&str], status: &str, keys: &[(&str, &str)]| {
        let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
        command.arg("debug").arg(&program).args(more);
        command.env("XDG_STATE_HOME", folder.path().join("state"));
        let mut screen = TerminalSession::spawn(command);
        expect(&mut screen, status);
        for (keys, text) in keys {
            screen.press(keys.as_bytes());
            expect(&mut screen, text);
        }
        screen.press(b"q");
        assert_eq!(screen.wait_for_exit().0, Some(0));
    };
    let saved = folder.path().join("state/hw-tests/debug");
    let lines = || -> Vec<String> {
        let files = saved.read_dir().expect("a folder").map(|one| one.expect("a file").path());
        let texts = files.map(|file| std::fs::read_to_string(file).expect("text"));
        texts.flat_map(|text| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let stops = ":break copy.asm:4 if A == 0 hits 2\r:watch 9000H,2 rw if A == 1\r:display [HL]\r\
                 :memory 9000H\r:print 7FH\r";
    run(&[], "ready", &[(stops, "007FH")]);
    let name = program.display().to_string();
    let expected = |line: u32| {
        let place = format!("break {name}:{line} if A == 0 hits 2");
        vec![
            place,
            "watch 9000H,2 rw if A == 1".into(),
            "display [HL]".into(),
            "memory 9000H".into(),
        ]
    };
    assert_eq!(lines(), expected(4));
    // Line 4 becomes line 5, and its code moves.
    let edit = || {
        std::fs::write(&program, COPY.replace("\tINX H", "\tNOP\n\tINX H")).expect("it fits");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        let source = std::fs::File::options().write(true).open(&program);
        source.and_then(|file| file.set_modified(later)).expect("it is there");
        "R"
    };
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.arg("debug").arg(&program).env("XDG_STATE_HOME", folder.path().join("state"));
    command.current_dir(folder.path());
    let mut screen = TerminalSession::spawn(command);
    expect(&mut screen, "saved session: 4 restored");
    edit();
    std::fs::write(&program, COPY.replace("INX H", "INX Q")).expect("it fits");
    screen.press(b"R");
    // The status row has the first error with its line.
    expect(&mut screen, "copy.asm:3:");
    screen.press(edit().as_bytes());
    expect(&mut screen, "loaded");
    screen.press(b"q");
    assert_eq!(screen.wait_for_exit().0, Some(0));
    assert_eq!(lines(), expected(5));
    run(&["--fresh"], "ready", &[]);
    assert_eq!(lines(), [""; 0]);
    for _ in 0..2 {
        run(&["--break", "START"], "Registers", &[]);
        assert_eq!(lines(), ["break START"]);
    }
    run(&[], "saved session: 1 restored", &[(":delete all\r", "deleted")]);
    assert_eq!(saved.read_dir().expect("a folder").count(), 0, "nothing is left to save");
}

#[test]
fn without_a_terminal_the_first_screen_is_printed() {
    let (code, screen, printed) = crate::hw_tests(&["debug", FIGURE_1, "e5"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("--script"), "{printed}");
    assert_eq!(screen, view().text(110, 40));
    let (code, _, printed) = crate::hw_tests(&["debug", FIGURE_1, "a1"]);
    assert!(code == Some(4) && printed.contains("a1"), "the square is empty: {printed}");
}
