//! Programs that hang: the debugger stops them, shows where, and they can be inspected. Each test
//! has a deadline.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use board_debugger::{Debugger, ExecCommand, HaltReason, RunAborted};
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use sargon_debugging::{EntryOutcome, open_position, run_to_exchange};
use sargon_reference::{Square, parse_fen};
use serde_json::json;

use crate::dap::Client;
use crate::debugger::FIGURE_1;
use crate::gdb::Server;
use crate::screen::TerminalSession;

/// The timeout of each test, long enough for a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// A routine that never returns.
const STUCK: &str = "\t.INTERN XCHNG\n\t.LOC .PROG.\nXCHNG:\tNOP\n..LOOP:\tJMPR ..LOOP\n\t.END\n";

/// A folder with an XCHNG that hangs at the first square.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("xchng.asm"), STUCK).expect("written");
    folder
}

/// Runs something in a thread, and fails if it takes longer than the deadline.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, done) = channel();
    std::thread::spawn(move || send.send(work()));
    done.recv_timeout(DEADLINE).expect("it is frozen")
}

/// A board that hangs before it reaches e5.
fn hanging(folder: &Path) -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { own: Some(folder.to_owned()), ..Evaluator::default() };
    let position = parse_fen(FIGURE_1).expect("a position");
    let square = Square::named("e5").expect("a square");
    let board =
        open_position(&profile, &evaluator, &position, None, &mut |_| false).expect("it is built");
    let session = run_to_exchange(board, square, 0.5, &mut |_| false);
    let session = session.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(session.outcome, EntryOutcome::Aborted(RunAborted::TimedOut(0.5)));
    let explained = session.outcome.message(&session.debugger).expect("it is not there");
    assert!(explained.contains("XCHNG..LOOP (xchng.asm:4)"), "{explained}");
    session.debugger
}

#[test]
fn every_motion_of_a_hanging_program_can_be_stopped() {
    in_time(|| {
        let folder = folder();
        let mut debugger = hanging(folder.path());
        let motions = [
            ExecCommand::Continue,
            ExecCommand::StepOut,
            ExecCommand::RunTo(0x1234),
            ExecCommand::StepLine,
            ExecCommand::StepLineInto,
        ];
        for motion in motions {
            let mut asked = 0;
            let halt = debugger.run(motion, &mut |_| {
                asked += 1;
                asked > 20
            });
            // A line that jumps to itself is left and entered again in each round.
            let expected = match motion {
                ExecCommand::StepLine | ExecCommand::StepLineInto => HaltReason::Completed,
                _ => HaltReason::Paused,
            };
            assert_eq!(halt, expected, "{motion:?}");
        }
        for motion in [
            ExecCommand::ReverseContinue,
            ExecCommand::ReverseTo(0x1234),
            ExecCommand::ReverseToChange(0x1234),
        ] {
            let step = debugger.step_count();
            let halt = debugger.run(motion, &mut |_| true);
            assert_eq!(halt, HaltReason::Paused, "{motion:?}");
            assert_eq!(debugger.step_count(), step, "it stands where it came from");
        }
        assert_eq!(debugger.run(ExecCommand::ReverseStep, &mut |_| false), HaltReason::Completed);
    });
}

#[test]
fn stepping_over_a_call_that_never_returns_can_be_stopped() {
    in_time(|| {
        let folder = folder();
        let program = "\t.LOC .PROG.\nSTART:\tCALL HANG\n\tHLT\nHANG:\tJMPR HANG\n\t.END START\n";
        let file = folder.path().join("call.asm");
        std::fs::write(&file, program).expect("written");
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let file = board_debugger::ProgramFile { path: file, ..Default::default() };
        let program = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
        let mut debugger = board_debugger::open_program(&profile, program, None)
            .unwrap_or_else(|error| panic!("{error}"));
        for motion in [ExecCommand::StepOver, ExecCommand::StepLine, ExecCommand::StepOut] {
            let mut asked = 0;
            let halt = debugger.run(motion, &mut |_| {
                asked += 1;
                asked > 5
            });
            match motion {
                // The first one entered the call; its next line is the jump to itself.
                ExecCommand::StepLine => assert_eq!(halt, HaltReason::Completed),
                _ => assert_eq!(halt, HaltReason::Paused, "{motion:?}"),
            }
            assert_eq!(debugger.code().address_name(debugger.registers().pc), "HANG");
        }
    });
}

#[test]
fn a_program_that_hangs_before_the_call_is_shown_where_it_is() {
    let folder = folder();
    let own = folder.path().display().to_string();
    let arguments = ["debug", FIGURE_1, "e5", "--sargon-dir", &own, "--within", "0.5s"];
    let (code, screen, printed) = crate::hw_tests(&arguments);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("0.5 s")
            && printed.contains("XCHNG..LOOP (")
            && printed.contains("xchng.asm:4"),
        "{printed}"
    );
    assert!(screen.contains("JMPR"), "it can be looked at: {screen}");
}

#[test]
fn a_terminal_stops_a_hanging_program_by_a_key_and_goes_back() {
    let folder = folder();
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", FIGURE_1, "e5", "--within", "0.5s", "--sargon-dir"]).arg(folder.path());
    let mut screen = TerminalSession::spawn(command);
    screen.expect("xchng.asm:4");
    screen.seen.clear();
    screen.press(b"c");
    screen.expect("running");
    screen.seen.clear();
    screen.press(b"\x1b");
    screen.expect("stopped at");
    screen.seen.clear();
    screen.press(b"o");
    screen.expect("running");
    screen.seen.clear();
    screen.press(b"\x03");
    screen.expect("stopped");
    screen.press(b"c");
    screen.press(b"qq");
    assert_eq!(screen.wait_for_exit().0, Some(0), "q stops it and ends");
}

#[test]
fn an_editor_pauses_and_leaves_a_hanging_program() {
    let folder = folder();
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    let own = folder.path().display().to_string();
    client
        .ask("launch", json!({ "fen": FIGURE_1, "square": "e5", "sargonDir": own, "within": 0.5 }));
    client.ask("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "pause");
    assert!(
        stopped["body"]["text"].as_str().is_some_and(|text| text.contains("xchng.asm:4")),
        "{stopped}"
    );
    for command in ["stepOut", "continue", "next"] {
        client.ask(command, json!({ "threadId": 1, "granularity": "statement" }));
        // A line that jumps to itself stops by itself.
        if command != "next" {
            client.ask("pause", json!({ "threadId": 1 }));
        }
        client.event("stopped");
    }
    // The user's file is opened from the disk.
    let source = client.frames()[0]["source"].clone();
    let path = folder.path().join("xchng.asm").canonicalize().expect("it is there");
    assert_eq!(source["path"], json!(path), "{source}");
    client.ask("stepOut", json!({ "threadId": 1 }));
    client.ask("disconnect", json!({}));
    assert_eq!(client.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn an_editor_leaves_a_launch_that_does_not_come_to_its_call() {
    let folder = folder();
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    let own = folder.path().display().to_string();
    let launch = json!({ "fen": FIGURE_1, "square": "e5", "sargonDir": own, "within": 1e9 });
    client.send("launch", launch);
    client.ask_after_others("disconnect", json!({}));
    assert_eq!(client.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn gdb_interrupts_a_hanging_program_in_both_directions_and_past_stray_bytes() {
    let folder = folder();
    let own = folder.path().display().to_string();
    let mut gdb = Server::with(&["--within", "0.5s", "--sargon-dir", &own]);
    for command in ["c", "c", "bc"] {
        gdb.write(&crate::gdb::packed(command));
        assert_eq!(gdb.byte(), b'+', "{command}");
        // A late acknowledgement must not hide the interrupt.
        gdb.write(b"++\x03");
        let answer = gdb.answer();
        assert!(["S02", "T05replaylog:begin;"].contains(&&*answer), "{command}: {answer}");
    }
}

#[test]
fn a_script_of_a_hanging_program_ends() {
    let folder = folder();
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", FIGURE_1, "e5", "--within", "0.2s", "--script", "-", "--sargon-dir"]);
    command.arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let commands = b"out\nregisters\nback\nquit\n";
    child.stdin.take().expect("its input").write_all(commands).expect("written");
    let output = in_time(move || child.wait_with_output().expect("it ends"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("after 0.2 s of the board's time") && text.contains("AF'"), "{text}");
}
