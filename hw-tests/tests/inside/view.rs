//! The debugger in a terminal: what it draws, and a run on a pseudo-terminal.

use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use hw_tests::debug::at_exchange;
use hw_tests::debug::view::View;
use hw_tests::reference::{Square, parse_fen};

use crate::debugger::FIGURE_1;
use crate::screen::Screen;

/// What the view draws, row by row.
fn drawn(view: &View) -> Vec<String> {
    view.text(110, 40).lines().map(str::to_owned).collect()
}

fn view() -> View {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let position = parse_fen(FIGURE_1).expect("a position");
    let square = Square::named("e5").expect("a square");
    let debugger = at_exchange(&profile, &Evaluator::default(), &position, square);
    View::new(debugger.unwrap_or_else(|error| panic!("{error}")))
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
    let pc = view.debugger().registers().pc;
    row(&rows, &format!("PC  {pc:04X}"));
    row(&rows, "(while XCHNG runs)");
    row(&rows, "+0 T-states");
    // A knight, a rook and a queen attack e5; two knights' worth and more defend it.
    let white = row(&rows, "White   3").split("White").nth(1).expect("the array").to_owned();
    assert_eq!(
        white.split_whitespace().take(7).collect::<Vec<_>>(),
        ["3", "00", "03", "00", "05", "09", "00"]
    );
    assert!(view.press('s'));
    // LXI takes 10 T-states.
    row(&drawn(&view), "+10 T-states");
    assert!(view.press('S'));
    assert_eq!(view.debugger().registers().pc, pc);
    row(&drawn(&view), "+0 T-states");
}

#[test]
fn keys_step_stop_and_go_back() {
    let mut view = view();
    let guard = view.debugger().code().symbol("GUARD").expect("GUARD");
    for _ in 0..40 {
        if view.debugger().registers().pc != guard {
            view.press('n');
        }
    }
    let rows = drawn(&view);
    assert!(row(&rows, "points at stake").contains("points at stake        1"), "a pawn");
    assert!(row(&rows, "value of the attacker").contains("attacker  3"), "a knight");
    view.press('w');
    view.press('C');
    row(&drawn(&view), "written");
    let before = view.debugger().clock();
    view.press('b');
    assert!(
        row(&drawn(&view), "breakpoint at").len() > 20 && row(&drawn(&view), "*8").contains('*')
    );
    view.press('c');
    assert!(view.debugger().clock() >= before);
    view.press('N');
    view.press('o');
    assert!(view.press('?') && !view.press('q'));
}

/// Waits until the screen shows this anew.
#[track_caller]
fn expect(screen: &mut Screen, text: &str) {
    screen.expect(text);
    screen.seen.clear();
}

#[test]
fn a_run_on_a_terminal_steps_and_leaves_it_as_it_was() {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.args(["debug", FIGURE_1, "e5"]);
    let mut screen = Screen::of(command);
    expect(&mut screen, "Attackers");
    assert!(!screen.is_cooked());
    screen.press(b"sC");
    expect(&mut screen, "begins");
    screen.press(b"w");
    expect(&mut screen, "to the array"); // of what is shown, only what changes is sent
    screen.press(b"q");
    assert_eq!(screen.ends().0, Some(0));
}

#[test]
fn without_a_terminal_the_first_screen_is_printed() {
    let (code, screen, said) = crate::hw_tests(&["debug", FIGURE_1, "e5"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(screen, view().text(110, 40));
    let (code, _, said) = crate::hw_tests(&["debug", FIGURE_1, "a1"]);
    assert!(code == Some(4) && said.contains("a1"), "nothing stands there: {said}");
}
