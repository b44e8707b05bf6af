//! `rcflash monitor` with and without a terminal: keys, log, hex dump, files, and every exit.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use board_simulator::{PtyLine, SerialLine};
use monitor_standins::{MonitorOptions, MonitorServer, Scm};
use rustix::process::{Pid, Signal, kill_process};

use crate::commands::bench::{Folder, RunEnd, finish, program};
use crate::screen::TerminalSession;

/// The timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A board whose output the test writes, and whose input it checks.
struct Board(PtyLine);

impl Board {
    fn new() -> Self {
        Self(PtyLine::open(115_200).expect("a pseudo-terminal"))
    }

    fn port(&self) -> String {
        self.0.path().to_string_lossy().into_owned()
    }

    fn send(&mut self, text: &[u8]) {
        text.iter().for_each(|byte| self.0.transmit(*byte));
        self.0.flush(None);
    }

    /// Waits for exactly these characters.
    #[track_caller]
    fn expect(&mut self, text: &[u8]) {
        let deadline = Instant::now() + TIMEOUT;
        let mut received = Vec::new();
        while received.len() < text.len() && Instant::now() < deadline {
            match self.0.receive() {
                Some(byte) => received.push(byte),
                None => self.0.flush(Some(Duration::from_millis(10))),
            }
        }
        assert_eq!(String::from_utf8_lossy(&received), String::from_utf8_lossy(text));
    }

    fn is_silent(&mut self) -> bool {
        self.0.receive().is_none()
    }
}

/// `rcflash monitor` at a terminal, ready for keys.
fn session(board: &Board, more: &[&str]) -> TerminalSession {
    start_session(&board.port(), more)
}

/// The same on a port of this name.
fn start_session(port: &str, more: &[&str]) -> TerminalSession {
    let mut command = program();
    command.args(["monitor", "--port", port]).args(more);
    let mut session = TerminalSession::spawn(command);
    session.expect("Ctrl-] exits");
    let deadline = Instant::now() + TIMEOUT;
    while session.is_in_cooked_mode() {
        assert!(Instant::now() < deadline, "{}", session.seen);
        std::thread::sleep(Duration::from_millis(2));
    }
    session
}

/// Waits for the end with this exit code; returns the output.
#[track_caller]
fn ended(session: TerminalSession, code: i32) -> String {
    let (ended, seen) = session.wait_for_exit();
    assert_eq!(ended, Some(code), "{seen}");
    seen
}

#[test]
fn keys_go_to_the_board_and_its_output_to_the_screen() {
    let mut board = Board::new();
    let mut session = session(&board, &[]);
    session.press(b"LIST\r\x03\x04\x1A");
    board.expect(b"LIST\r\x03\x04\x1A");
    board.send(b"10 PRINT\r\n\x1B[1mOk");
    session.expect("10 PRINT\r\n\x1B[1mOk");
    session.press(b"\x1Dnot this");
    ended(session, 0);
    assert!(board.is_silent());
}

#[test]
fn every_exit_restores_the_terminal() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 130), (Signal::HUP, 130)] {
        let board = Board::new();
        let session = session(&board, &[]);
        kill_process(Pid::from_child(&session.child), signal).expect("it runs");
        assert!(ended(session, code).contains("interrupted"), "{signal:?}");
    }
}

#[test]
fn a_port_that_vanishes_ends_the_session_with_its_name() {
    let board = Board::new();
    let port = board.port();
    let session = session(&board, &["--reconnect", "0s"]);
    drop(board);
    let seen = ended(session, 3);
    assert!(seen.contains(&format!("{port}: port disconnected")), "{seen}");
}

#[test]
fn a_reconnected_port_is_resumed_and_keys_reach_the_board_again() {
    let folder = Folder::new();
    let port = folder.name("port");
    let board = Board::new();
    std::os::unix::fs::symlink(board.port(), &port).expect("a link");
    let mut session = start_session(&port, &[]);
    std::fs::remove_file(&port).expect("it is there");
    drop(board);
    session.expect("the port is gone; waiting up to 600 s for it");
    session.press(b"LIST");
    let mut board = Board::new();
    std::os::unix::fs::symlink(board.port(), &port).expect("a link");
    session.expect("the port is back\r\n");
    board.expect(b"LIST");
    board.send(b"10 PRINT");
    session.expect("10 PRINT");
    session.press(b"\x1D");
    ended(session, 0);
}

#[test]
fn a_disconnected_port_is_left_by_the_usual_key_or_after_a_timeout() {
    let folder = Folder::new();
    let port = folder.name("port");
    // The link is removed with the board: its number may be reused by another pseudo-terminal.
    let unplugged = |options: &[&str]| {
        let board = Board::new();
        std::os::unix::fs::symlink(board.port(), &port).expect("a link");
        let session = start_session(&port, options);
        std::fs::remove_file(&port).expect("it is there");
        session
    };
    let mut left = unplugged(&[]);
    left.expect("the port is gone; waiting up to 600 s for it");
    left.press(b"\x1D");
    ended(left, 0);
    let given_up = unplugged(&["--reconnect", "1s"]);
    let seen = ended(given_up, 3);
    assert!(seen.contains("it was not plugged in again within 1 s"), "{seen}");
}

#[test]
fn a_file_is_sent_by_its_name_with_returns_at_its_line_ends() {
    let folder = Folder::new();
    let file = folder.file("prog.bas", "10 PRINT\n20 GOTO 10\r\n");
    let mut board = Board::new();
    let mut session = session(&board, &[]);
    session.press(b"\x1C");
    session.expect("file to send");
    session.press(format!("{file}x\x7F\r").as_bytes());
    board.expect(b"10 PRINT\r20 GOTO 10\r");
    session.expect("prog.bas sent: 20 characters\r\n");
    session.press(b"\x1C/nonexistent/file\rRUN\r");
    session.expect("can't read /nonexistent/file");
    board.expect(b"RUN\r");
    session.press(b"\x1D");
    ended(session, 0);
}

#[test]
fn a_file_that_is_sent_with_pauses_can_be_stopped() {
    let folder = Folder::new();
    let file = folder.file("long.txt", "x".repeat(5000));
    let mut board = Board::new();
    let mut session = session(&board, &["--send", &file, "--pace", "5"]);
    board.expect(b"xxx");
    session.press(b"\x1C");
    session.expect("characters not sent");
    session.press(b"\x1D");
    let seen = ended(session, 0);
    let left = seen.split("long.txt canceled: ").nth(1).and_then(|rest| rest.split(' ').next());
    let left: usize = left.and_then(|count| count.parse().ok()).expect("a number");
    assert!((1..=4997).contains(&left), "{left}");
}

#[test]
fn figures_show_both_directions_and_the_log_keeps_them() {
    let folder = Folder::new();
    let log = folder.file("log.txt", "earlier\n");
    let mut board = Board::new();
    let mut session = session(&board, &["--hex", "--log", &log]);
    session.press(b"A");
    board.expect(b"A");
    let sent = format!("> 00000000  41{:45}  A", "");
    session.expect(&sent);
    board.send(b"0123456789ABCDEF\x00");
    let received = "< 00000000  30 31 32 33 34 35 36 37 38 39 41 42 43 44 45 46  0123456789ABCDEF";
    session.expect(received);
    let rest = format!("< 00000010  00{:45}  .", "");
    session.expect(&rest);
    session.press(b"\x1D");
    ended(session, 0);
    let kept = std::fs::read_to_string(log).expect("the log");
    assert!(kept.starts_with("earlier\n\n--- "), "{kept}");
    assert!(kept.contains(&format!("Z, {} at 115200 baud\n", board.port())), "{kept}");
    assert!(kept.ends_with(&format!("{sent}\n{received}\n{rest}\n")), "{kept}");
}

/// Runs `rcflash monitor` with pipes while `act` operates the board.
fn piped(board: &mut Board, more: &[&str], input: &[u8], act: impl FnOnce(&mut Board)) -> RunEnd {
    let mut command = program();
    command.args(["monitor", "--port", &board.port()]).args(more);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let _ = child.stdin.as_mut().expect("its input").write_all(input);
    drop(child.stdin.take());
    act(board);
    RunEnd::from_output(child.wait_with_output().expect("it ends"))
}

#[test]
fn a_pipe_is_sent_to_its_end_and_the_answer_waited_for() {
    let folder = Folder::new();
    let log = folder.name("log.txt");
    let mut board = Board::new();
    let input = "HELP\n".repeat(2000);
    let ended = piped(&mut board, &["--log", &log], input.as_bytes(), |board| {
        board.expect("HELP\r".repeat(2000).as_bytes());
        board.send(b"Small Computer\x1D Monitor\r\n*");
    });
    let ended = ended.assert_ends(0, &[]);
    assert_eq!(ended.text(), "Small Computer\x1D Monitor\r\n*");
    let kept = std::fs::read_to_string(log).expect("the log");
    assert!(kept.ends_with("\nSmall Computer\x1D Monitor\r\n*"), "{kept}");
}

#[test]
fn pauses_are_made_on_request() {
    let mut board = Board::new();
    let began = Instant::now();
    let more = ["--pace", "10,50"];
    piped(&mut board, &more, b"a\nb\r\n", |board| board.expect(b"a\rb\r")).assert_ends(0, &[]);
    // Three pauses after characters and one after a line come before the last character.
    assert!(began.elapsed() >= Duration::from_millis(3 * 10 + 50), "{:?}", began.elapsed());
}

#[test]
fn files_that_cannot_be_opened_are_reported_before_anything_is_sent() {
    let mut board = Board::new();
    let port = board.port();
    for (more, code, part) in [
        (["--send", "/nonexistent/file"], 3, "can't read /nonexistent/file"),
        (["--log", "/nonexistent/log"], 3, "can't write /nonexistent/log"),
        (["--pace", "fast"], 2, "as in 2,20"),
    ] {
        let mut command = program();
        command.args(["monitor", "--port", &port]).args(more);
        finish(command.spawn().expect("it starts"), b"x").assert_ends(code, &[part]);
    }
    assert!(board.is_silent());
}

#[test]
fn each_command_of_a_pipe_waits_for_the_prompt_after_the_one_before() {
    // SCM polls its chip: what arrives while it prints is lost.
    let server = MonitorServer::start(Box::<Scm>::default(), MonitorOptions::default())
        .expect("a pseudo-terminal");
    let run = |more: &[&str]| {
        let mut command = program();
        command.args(["monitor", "--port"]).arg(server.path()).args(more);
        finish(command.spawn().expect("it starts"), b"M 8000\n\x1bHELP\nX\n")
    };
    let text = run(&[]).assert_ends(0, &[]).text();
    assert!(text.contains("Monitor 1.3.0") && text.ends_with("Bad command\r\n*"), "{text}");
    let text = run(&["--no-wait"]).assert_ends(0, &[]).text();
    assert!(!text.ends_with("Bad command\r\n*"), "{text}");
}

#[test]
fn a_script_sends_and_expects_and_its_exit_code_tells() {
    let folder = Folder::new();
    let server = MonitorServer::start(Box::<Scm>::default(), MonitorOptions::default())
        .expect("a pseudo-terminal");
    let port = server.path().to_string_lossy().into_owned();
    let run = |text: &str| {
        let script = folder.file("script.txt", text);
        let mut command = program();
        command.args(["monitor", "--port", &port, "--script", &script]);
        finish(command.spawn().expect("it starts"), b"not read")
    };
    let ended = run("send \\r\nexpect *\nsend HELP\\r\nexpect Monitor 1.3.0\nexpect *\n");
    assert!(ended.assert_ends(0, &[]).text().contains("Monitor 1.3.0"));
    let failed = run("send HELP\\r\n\ntimeout 200ms\nexpect BASIC\\x07\n");
    failed.assert_ends(1, &["line 4 of the script: 'BASIC<07>' was not received within 0.2 s"]);
    run("sned x\n").assert_ends(2, &["script.txt:1: expected `send TEXT`"]);
}

#[test]
fn lines_begin_with_times_on_request() {
    let mut board = Board::new();
    let ended = piped(&mut board, &["--timestamps"], b"x\n", |board| {
        board.expect(b"x\r");
        board.send(b"a\r\nb\r\n");
    });
    let text = ended.assert_ends(0, &[]).text();
    let lines: Vec<_> = text.lines().map(|line| line.split_once("] ").expect("a time")).collect();
    assert!(lines.iter().all(|(time, _)| time.starts_with("[ ")), "{text}");
    assert_eq!(lines.iter().map(|(_, rest)| *rest).collect::<Vec<_>>(), ["a", "b"], "{text}");
    assert!(text.ends_with("b\r\n"), "{text:?}");
}
