//! The same sessions in each front end of this crate. The page's are in `hw-tests/web/tests`.

mod dap;
mod gdb;
pub(crate) mod table;

use board_debugger::commands::{execute, outcome_text};
use board_debugger::{Debugger, ProgramFile, open_program};
use firmware::profile::BoardProfile;
use ratatui::crossterm::event::KeyCode;

use table::{Motion, PROGRAM, SESSIONS, Session, Stop};

use crate::owned_view::View;

/// The program on a board, at its first instruction.
pub(crate) fn debugger(program: &str) -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.asm");
    std::fs::write(&path, program).expect("it is written");
    let file = ProgramFile { path, ..ProgramFile::default() };
    let loaded = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
    open_program(&profile, loaded, None).unwrap_or_else(|error| panic!("{error}"))
}

/// The state in which a debugger is halted.
fn stop(debugger: &Debugger, log: Vec<String>) -> Stop {
    let registers = debugger.registers();
    let place = debugger.code().address_name(registers.pc);
    Stop { place, b: registers.bc >> 8, hl: registers.hl, log }
}

/// Stops a motion that runs away, after a second of the board's time.
fn runs_away(debugger: &mut Debugger) -> bool {
    debugger.clock() > debugger.clock_hz()
}

/// A session by keys, with breakpoints by commands.
fn on_a_terminal(session: &Session) -> Vec<Stop> {
    let mut view = View::new(debugger(PROGRAM));
    let press = |view: &mut View, keys: &str| {
        for key in keys.chars() {
            let key = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
            assert!(view.press(key, &mut |_, debugger| runs_away(debugger)));
        }
    };
    for breakpoint in session.breakpoints {
        press(&mut view, &format!(":{}\n", breakpoint.command()));
    }
    let mut logged = 0;
    let play = |(motion, _): &(Motion, _)| {
        press(&mut view, motion_key(*motion));
        let log = view.screen.log[logged..].to_vec();
        logged = view.screen.log.len();
        stop(&view.debugger, log)
    };
    session.motions.iter().map(play).collect()
}

fn motion_key(motion: Motion) -> &'static str {
    match motion {
        Motion::Run => "c",
        Motion::RunBack => "C",
        Motion::Step => "s",
        Motion::StepBack => "S",
    }
}

/// A session by lines of a script, whose output ends with where the board halted.
fn by_script(session: &Session) -> Vec<Stop> {
    let mut debugger = debugger(PROGRAM);
    for breakpoint in session.breakpoints {
        let line = breakpoint.command();
        execute(&mut debugger, &line, &mut runs_away).unwrap_or_else(|error| panic!("{error}"));
    }
    let play = |(motion, _): &(Motion, _)| {
        let outcome = execute(&mut debugger, motion_command(*motion), &mut runs_away);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        let text = outcome_text(&mut debugger, &outcome);
        let mut log: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(log.pop().is_some_and(|last| last.contains("program.asm:")), "{text}");
        stop(&debugger, log)
    };
    session.motions.iter().map(play).collect()
}

fn motion_command(motion: Motion) -> &'static str {
    match motion {
        Motion::Run => "run",
        Motion::RunBack => "rrun",
        Motion::Step => "step",
        Motion::StepBack => "back",
    }
}

#[test]
fn breakpoints_behave_the_same_in_every_front_end() {
    for session in SESSIONS {
        session.check("terminal", &on_a_terminal(&session));
        session.check("script", &by_script(&session));
        session.check("dap", &dap::play(&session, dap::set_by_commands));
        if session.breakpoints.iter().all(|breakpoint| breakpoint.commands.is_empty()) {
            session.check("editor", &dap::play(&session, dap::set_in_editor));
        }
        session.check("gdb", &gdb::play(&session));
    }
}
