//! The debugger by lines: after a prompt on a terminal, and through a pipe.

use std::process::Command;

use assert_cmd::Command as PipedCommand;
use assert_cmd::cargo::CommandCargoExt;

use crate::screen::TerminalSession;

const PROGRAM: &str = "START:\tINR A\nLOOP:\tJMP LOOP\n\t.END START\n";

#[test]
fn a_terminal_has_a_prompt_and_neither_a_typo_nor_an_interrupt_ends_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("loop.asm");
    std::fs::write(&program, PROGRAM).expect("it fits");
    for (option, terminal) in [(Some("--plain"), "xterm"), (None, "dumb")] {
        let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
        command.arg("debug").args(option).arg(&program).env("TERM", terminal);
        let mut screen = TerminalSession::spawn(command);
        let mut type_line = |line: &str, expected: &str| {
            screen.expect("> ");
            screen.seen.clear();
            screen.press(format!("{line}\r").as_bytes());
            screen.expect(expected);
        };
        type_line("fly", "unknown command 'fly'");
        type_line("step", "LOOP (loop.asm:2): JMP LOOP");
        type_line("back", "START (loop.asm:1): INR A");
        type_line("break LOOP hits == 1 log it runs", "breakpoint 1");
        // The message follows the echo of the command.
        type_line("run", "it runs");
        let process =
            i32::try_from(screen.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let interrupt = rustix::process::Signal::INT;
        rustix::process::kill_process(process.expect("a process"), interrupt).expect("it runs");
        screen.expect("stopped at");
        assert!(!screen.seen.contains('\u{1b}'), "nothing is drawn: {:?}", screen.seen);
        screen.press(b"quit\r");
        assert_eq!(screen.wait_for_exit().0, Some(0));
    }
}

#[test]
fn a_pipe_has_no_prompt_and_a_time_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("loop.asm");
    std::fs::write(&program, PROGRAM).expect("it fits");
    let mut command = PipedCommand::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", "--plain", "--within", "100ms"]).arg(&program);
    let output = command.write_stdin("fly\nrun\nprint A\n").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("8000H, START (loop.asm:1): INR A\nunknown command 'fly'"), "{text}");
    assert!(text.contains("after 0.1 s of the board's time") && !text.contains('>'), "{text}");
    assert!(text.ends_with("0001H = 1\n"), "{text}");
}
