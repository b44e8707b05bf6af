//! The command line of the terminal's view, and results that have no room in the status row.

use board_debugger::commands::{CommandOutcome, Pane, execute};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::owned_view::View;
use crate::sessions::debugger;

const PROGRAM: &str = "START:\tLXI SP,0FF00H
COUNTR:\tINR A
COUNTD:\tJMP COUNTR
TEXT:\t.ASCIZ \"a text that is much longer than any row of a status line can be, since it goes on\"
\t.END START
";

fn view() -> View {
    View::new(debugger(PROGRAM))
}

fn press(view: &mut View, keys: &[KeyCode]) {
    for key in keys {
        assert!(view.press(*key, &mut |_, _| false), "{key:?} ends the session");
    }
}

fn type_text(view: &mut View, text: &str) {
    let keys: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
    press(view, &keys);
}

/// The row with the command line or the status.
fn status(view: &View) -> String {
    view.text(80, 24).lines().nth(22).expect("a row").to_owned()
}

#[test]
fn a_command_line_is_edited_and_recalled() {
    let mut view = view();
    type_text(&mut view, ":set HL = 9");
    press(&mut view, &[KeyCode::Left, KeyCode::Backspace, KeyCode::Left, KeyCode::Left]);
    type_text(&mut view, "x");
    press(&mut view, &[KeyCode::Delete, KeyCode::Backspace, KeyCode::End]);
    assert!(status(&view).starts_with(":set HL=9_ "), "{}", status(&view));
    let control = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
    view.screen.handle_key(&view.debugger, control);
    assert!(status(&view).starts_with(":_ "), "{}", status(&view));
    type_text(&mut view, "print 1");
    press(&mut view, &[KeyCode::Enter]);
    type_text(&mut view, ":print 2");
    press(&mut view, &[KeyCode::Enter]);
    type_text(&mut view, ":");
    for (key, line) in [
        (KeyCode::Up, ":print 2_"),
        (KeyCode::Up, ":print 1_"),
        (KeyCode::Up, ":print 1_"),
        (KeyCode::Down, ":print 2_"),
        (KeyCode::Down, ":_"),
        (KeyCode::Up, ":print 2_"),
    ] {
        press(&mut view, &[key]);
        assert!(status(&view).starts_with(&format!("{line} ")), "{key:?}: {}", status(&view));
    }
    type_text(&mut view, "1");
    press(&mut view, &[KeyCode::Enter]);
    assert!(status(&view).starts_with("0015H = 21"), "{}", status(&view));
    type_text(&mut view, ":");
    press(&mut view, &[KeyCode::Backspace]);
    assert!(!view.screen.has_prompt());
}

#[test]
fn names_are_completed_as_far_as_they_agree() {
    let mut view = view();
    type_text(&mut view, ":br");
    press(&mut view, &[KeyCode::Tab]);
    type_text(&mut view, " cou");
    press(&mut view, &[KeyCode::Tab]);
    assert!(status(&view).starts_with(":break COUNT_ "), "{}", status(&view));
    assert_eq!(view.screen.status, "COUNTR COUNTD");
    type_text(&mut view, "d");
    press(&mut view, &[KeyCode::Tab, KeyCode::Enter]);
    let address = view.debugger.code().symbol("COUNTD").expect("a label");
    assert!(view.debugger.stops.has_breakpoint(address), "{}", view.screen.status);
    type_text(&mut view, ":print é+nothing");
    press(&mut view, &[KeyCode::Tab]);
    assert!(status(&view).starts_with(":print é+nothing_ "), "{}", status(&view));
}

#[test]
fn pasted_text_is_no_keys() {
    let mut view = view();
    view.screen.paste("qs\u{1b}[A\nprint 7\n");
    assert!(status(&view).starts_with(":qs [A print 7_ "), "{}", status(&view));
    assert_eq!(view.debugger.step_count(), 0);
}

#[test]
fn a_result_without_room_in_the_status_row_is_shown_whole() {
    let mut view = view();
    view.text(80, 24);
    type_text(&mut view, ":print TEXT.s");
    press(&mut view, &[KeyCode::Enter]);
    let shown: String = view.text(80, 24).lines().map(|row| row.trim_matches('│')).collect();
    assert!(shown.contains("it g") && shown.contains("oes on") || shown.contains("it goes on"));
    // Page Down shows the rest of a list.
    type_text(&mut view, ":help");
    press(&mut view, &[KeyCode::Enter]);
    assert!(!view.text(80, 24).contains("end the session"));
    press(&mut view, &[KeyCode::PageDown; 12]);
    assert!(view.text(80, 24).contains("end the session"), "{}", view.text(80, 24));
    press(&mut view, &[KeyCode::Esc]);
    assert!(view.text(80, 24).contains("Instructions"));
}

#[test]
fn memory_is_shown_as_far_as_requested() {
    let mut debugger = debugger(PROGRAM);
    let outcome = execute(&mut debugger, "memory 8000H,40", &mut |_| true);
    let Ok(CommandOutcome::Show(pane @ Pane::Result(_))) = outcome else { panic!("{outcome:?}") };
    let rows = pane.lines(&debugger, 1);
    let addresses: Vec<&str> = rows.iter().map(|row| &row[..4]).collect();
    assert_eq!(addresses, ["8000", "8010", "8020"]);
    assert!(execute(&mut debugger, "memory 8000H,0", &mut |_| true).is_err());
}
