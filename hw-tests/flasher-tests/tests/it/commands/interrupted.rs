//! Ctrl-C: every command closes its port, prints the state of the board, and exits with 130.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use board_simulator::Pace;
use monitor_standins::{Cpm, FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Scm};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::commands::bench::{Bench, Folder, RunEnd, finish, program, rcflash};
use crate::programs;

/// Bytes of a program whose upload takes seconds at the board's clock.
const LONG: usize = 0x6000;

pub(super) fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
}

fn wait(until: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !until() {
        assert!(Instant::now() < deadline, "that takes too long");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns `true` if the program has the device open.
fn has_open(child: &Child, port: &str) -> bool {
    let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
    files.flatten().any(|file| std::fs::read_link(file.path()).is_ok_and(|at| at.ends_with(port)))
}

/// Runs a command and presses Ctrl-C after this message, or if that is empty, once it has opened
/// the port.
fn run_until_interrupted(port: &str, arguments: &[&str], once: &str) -> RunEnd {
    let arguments = [arguments, &["--port", port]].concat();
    let mut child = program().args(&arguments).spawn().expect("it starts");
    let mut printed = String::new();
    let mut messages = BufReader::new(child.stderr.take().expect("its messages"));
    if once.is_empty() {
        wait(|| has_open(&child, port));
    }
    while !printed.contains(once) {
        assert!(messages.read_line(&mut printed).expect("text") > 0, "{arguments:?}: {printed}");
    }
    interrupt(&child);
    messages.read_to_string(&mut printed).expect("text");
    let ended = finish(child, b"");
    RunEnd { messages: printed, ..ended }
}

/// The same, and the expected message; the port must be free afterwards.
#[track_caller]
fn check(port: &str, arguments: &[&str], once: &str, state: &str) {
    run_until_interrupted(port, arguments, once).assert_ends(130, &["interrupted while ", state]);
    let next = rcflash(&["probe", "--port", port]);
    assert!(!next.messages.contains("taking over"), "{arguments:?}: {}", next.messages);
}

#[test]
fn read_only_commands_change_nothing() {
    let bench = Bench::new("rc2014-zed", Pace::RealTime);
    let folder = Folder::new();
    let output = folder.name("chip.bin");
    let chip = folder.file("x.bin", vec![0; 0x8_0000]);
    let look = |arguments: &[&str], once: &str| {
        let arguments = [arguments, &["--board", "rc2014-zed"]].concat();
        check(&bench.port, &arguments, once, "nothing was changed on ");
    };
    look(&["read", "--flash", "-o", &output], "SST39SF040");
    look(&["verify", "--flash", &chip, "--address", "0"], "SST39SF040");
    look(&["erase", "--all"], "SST39SF040");
    assert!(!folder.path("chip.bin").exists());
    let left = std::fs::read_dir(folder.path("")).expect("the folder").count();
    assert_eq!(left, 1, "nothing is left aside");
}

#[test]
fn an_interrupted_write_reports_how_to_resume() {
    let bench = Bench::new("rc2014-zed", Pace::RealTime);
    let folder = Folder::new();
    let file = folder.file("own.bin", vec![0x5A; LONG]);
    let write = ["write", "--board", "rc2014-zed", "--no-run", &file, "--address"];
    let to_memory = [&write[..], &["8000"]].concat();
    check(&bench.port, &to_memory, "Sargon board monitor", "repeat the command to resume");
    let to_flash = [&write[..], &["10000", "--flash", "--force"]].concat();
    let ended = run_until_interrupted(&bench.port, &to_flash, "SST39SF040")
        .assert_ends(130, &["interrupted while "]);
    let states = ["nothing was changed on the board", "write again, and only the rest is"];
    assert!(states.iter().any(|state| ended.messages.contains(state)), "{}", ended.messages);
    rcflash(&[&to_flash[..], &["--port", &bench.port]].concat()).assert_ends(0, &["verified"]);
}

#[test]
fn waiting_for_a_manual_reset_can_be_interrupted() {
    let bench = Bench::classic();
    check(
        &bench.port,
        &["reset"],
        "press the board's reset button",
        "may or may not have been reset",
    );
}

#[test]
fn stock_monitors_are_left_at_their_prompt_or_a_failure_is_reported() {
    let folder = Folder::new();
    let file = folder.file("own.bin", vec![0x5A; LONG]);
    let cases: [(Box<dyn MonitorModel>, &str, &str); 2] = [
        (Box::<Scm>::default(), "scm", "the monitor is at its prompt"),
        (Box::new(Cpm::quick()), "cpm", "CP/M"),
    ];
    for (peer, via, state) in cases {
        let server =
            MonitorServer::start(peer, MonitorOptions::default()).expect("a pseudo-terminal");
        let port = server.path().to_string_lossy().into_owned();
        let write = ["write", "--via", via, &file];
        let more: &[&str] = if via == "scm" { &["--address", "8000"] } else { &[] };
        check(&port, &[&write[..], more].concat(), "", state);
    }
}

#[test]
fn waiting_for_a_silent_board_can_be_interrupted() {
    let faults = FaultOptions { silent: true, ..FaultOptions::default() };
    let options = MonitorOptions { faults, ..MonitorOptions::default() };
    for command in [&["probe"][..], &["verify"], &["write"], &["write", "--via", "scm"]] {
        let peer = Box::<Scm>::default();
        let server = MonitorServer::start(peer, options).expect("a pseudo-terminal");
        let port = server.path().to_string_lossy().into_owned();
        run_until_interrupted(&port, command, "").assert_ends(130, &["interrupted while "]);
    }
}

/// Starts a command that reads a pipe, presses Ctrl-C once it does, and waits for its end.
fn interrupt_at_pipe(folder: &Path, number: usize, words: &[&str]) {
    let pipe = folder.join(format!("pipe{number}"));
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
    let mut command = Command::new(programs::path(words[0]));
    command.args(&words[1..]).arg(&pipe).env("XDG_CONFIG_HOME", "/nonexistent");
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // Without waiting, a pipe opens for writing only if it is open for reading.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = || OpenOptions::new().write(true).custom_flags(flags).open(&pipe).ok();
    let deadline = Instant::now() + Duration::from_secs(20);
    let _writer = loop {
        assert!(Instant::now() < deadline, "{words:?}: the pipe is not read");
        match opened() {
            Some(writer) => break writer,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    interrupt(&child);
    let ended = loop {
        assert!(Instant::now() < deadline, "{words:?}: the first signal does not end it");
        match child.try_wait().expect("it is ours") {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let is_interrupted = ended.signal() == Some(Signal::INT.as_raw()) || ended.code() == Some(130);
    assert!(is_interrupted, "{words:?}: {ended:?}");
}

#[test]
fn the_first_signal_ends_a_command_that_reads_a_pipe() {
    const EMPTY: &str = "8/8/8/8/8/8/8/K6k w - - 0 1";
    let commands: [&[&str]; 14] = [
        &["hw-tests", "run", "--app"],
        &["hw-tests", "run", "--rom"],
        &["hw-tests", "run", "--listing"],
        &["hw-tests", "run", "--corpus"],
        &["hw-tests", "run", "--port", "x", "--rig-file"],
        &["hw-tests", "doctor", "--rom"],
        &["hw-tests", "test"],
        &["hw-tests", "call"],
        &["sargon", "exhaust", "--app"],
        &["sargon", "exhaust", "--rom"],
        &["sargon", "exhaust", "--listing"],
        &["sargon", "explain", EMPTY, "a1", "--listing"],
        &["rcflash", "probe", "--port", "x", "--rig-file"],
        &["rcflash", "setup", "--port", "x", "--rig-file"],
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (number, words) in commands.into_iter().enumerate() {
        interrupt_at_pipe(folder.path(), number, words);
    }
}
