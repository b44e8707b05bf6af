//! The debugger on a board on a serial line, by the debug kernel: simulated in-process, over TCP,
//! and from a transcript.

use std::io::{BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use board_simulator::{BoardServer, ServerOptions, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use serde_json::json;

use crate::dap::Client;
use crate::debugger::FIGURE_1;
use crate::gdb::Server;
use crate::hw_tests;
use crate::screen::TerminalSession;
use crate::stuck::folder;

/// A session with all kinds of commands that a real board supports.
const SESSION: &str = "registers\ncode\nstep 3\nover 2\nbreak NEXTAD if E == 0 hits 2\nrun\nregisters\n\
                       step\nprint 0 - [M3]\nattackers\nset HL = 1234H\nprint HL\nmemory ATKLST\n\
                       delete all\nout\nto NEXTAD\nnext 4\nset [M4] = 77H\nprint [M4]\n";
/// A program that counts in a loop and ignores its input.
const LOOP: &str =
    "START::\tLXI SP,0EF00H\n\tMVI B,0\nLOOP:\tINR B\n\tNOP\n\tJMPR LOOP\n\t.END START\n";

fn script(folder: &Path, text: &str) -> String {
    let file = folder.join("session.txt");
    std::fs::write(&file, text).expect("written");
    file.display().to_string()
}

/// The output of a script of commands at e5 of Figure 1, without the rows of I, R and interrupts:
/// R counts instructions of the kernel, too, which does not report the interrupt mode.
fn session(text: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = script(folder.path(), text);
    let (code, out, problem) =
        hw_tests(&[&["debug", FIGURE_1, "e5", "--script", &script], more].concat());
    let shown = out.split_inclusive('\n').filter(|line| !line.starts_with("I "));
    (code, shown.collect(), problem)
}

/// A board that listens on a TCP port.
fn server(board: &str) -> (BoardServer, String) {
    let profile = BoardProfile::named(board).expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    let options = ServerOptions::default();
    let server = BoardServer::listen(address, board_spec(&profile), &monitor.bytes, options);
    let server = server.expect("it listens");
    let path = server.path().display().to_string();
    (server, path)
}

#[test]
fn a_session_on_a_board_is_the_same_as_on_the_simulated_one() {
    let simulated = session(SESSION, &[]);
    assert_eq!((simulated.0, simulated.2.as_str()), (Some(0), ""));
    assert_eq!(session(SESSION, &["--rig", "direct"]), simulated);
    for board in ["rc2014-classic", "rc2014-zed"] {
        let simulated = session(SESSION, &["--board", board]);
        let (_server, path) = server(board);
        let there = session(SESSION, &["--board", board, "--port", &path]);
        assert_eq!(there, simulated, "{board}");
    }
}

#[test]
fn a_recorded_session_can_be_replayed_without_the_board() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("line.jsonl").display().to_string();
    let (_server, path) = server("rc2014-classic");
    let there = session(SESSION, &["--port", &path, "--record", &file]);
    assert_eq!(there.0, Some(0), "{there:?}");
    assert_eq!(session(SESSION, &["--rig", &format!("replay:{file}")]), there);
    let before = std::fs::read(&file).expect("the recording");
    let (code, _, problem) = session(SESSION, &["--rig", "direct", "--record", &file]);
    assert!(code == Some(2) && problem.contains("--force"), "{problem}");
    assert_eq!(std::fs::read(&file).expect("the recording"), before);
    let (code, ..) = session("step\n", &["--rig", "direct", "--record", &file, "--force"]);
    assert_eq!(code, Some(0));
    // Other commands than those recorded: within the recording, and after its end.
    for (other, part) in
        [("run\n", "when this was recorded it sent"), ("step\nstep\n", "ends here")]
    {
        let (code, _, problem) = session(other, &["--rig", &format!("replay:{file}")]);
        assert!(code == Some(3) && problem.contains(part), "{code:?} {problem}");
        assert!(!problem.contains("plugged") && !problem.contains('{'), "in words: {problem}");
    }
}

#[test]
fn an_endless_exchange_is_stopped_inspected_and_restarted() {
    let own = folder();
    let own = own.path().display().to_string();
    let text = "registers\nstep\nrun\nprint [XCHNG]\ncalls\nrestart\nrun\n";
    let options = ["--rig", "direct", "--sargon-dir", &own, "--within", "0.5s"];
    let (code, printed, problem) = session(text, &options);
    assert_eq!((code, problem.as_str()), (Some(0), ""), "{printed}");
    let stuck = "XCHNG..LOOP (xchng.asm:4)";
    let stops: Vec<&str> = printed.lines().filter(|line| line.contains(stuck)).collect();
    assert!(stops.len() >= 3, "at first, after a step, and after more of it: {printed}");
    assert!(printed.contains("after 0.5 s of the board's time (--within)"), "{printed}");
    assert!(printed.contains("0000H = 0"), "NOP is there: {printed}");
    let restarted = printed.lines().find(|line| line.starts_with("8000H, APP"));
    assert!(restarted.is_some(), "{printed}");
    // After the restart it waits for a request, and no host sends one.
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.contains("IDLE") || last.contains("RXWAIT"), "{last}");
}

#[test]
fn unsupported_commands_on_a_board_are_refused_with_the_reason() {
    for (line, reason) in [
        ("break 0100H", "0100H is not writable (ROM"),
        ("break 0F100H", "F100H belongs to the debug kernel"),
        ("watch M3", "does not support watchpoints"),
        ("watch port 81H", "does not support watchpoints"),
        ("back\nset HL = 1", "the history of the simulated twin is read-only"),
    ] {
        let (code, printed, problem) = session(&format!("step 2\n{line}\n"), &["--rig", "direct"]);
        assert_eq!(code, Some(2), "{line}: {printed}");
        assert!(problem.contains(reason), "{line}: {problem}");
    }
}

#[test]
fn stepping_back_uses_a_reported_twin_and_stepping_forward_returns_to_the_board() {
    let forward =
        "step 5\nregisters\nback 2\nregisters\nback 3\nlastchange M3\nrun\nregisters\nstep\n";
    let simulated = session("step 3\nregisters\n", &[]).1;
    let (code, printed, problem) = session(forward, &["--rig", "direct"]);
    assert_eq!((code, problem.as_str()), (Some(0), ""), "{printed}");
    let third: Vec<&str> = simulated.lines().skip(1).collect();
    let shown: Vec<&str> = printed.lines().collect();
    assert_eq!(shown[9..16], third, "two steps back of five: {printed}");
    assert!(shown[8].ends_with("on the twin"), "{printed}");
    assert!(printed.contains("M3"), "{printed}");
    assert!(printed.contains("the twin has caught up"), "{printed}");
    let registers = &shown[1..8];
    assert_eq!(&shown[shown.len() - 8..shown.len() - 1], registers, "the present: {printed}");
    assert!(!shown[shown.len() - 1].contains("twin"), "{printed}");
}

#[test]
fn any_program_is_debugged_on_a_board_with_a_notice_if_it_cannot_be_paused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.asm");
    std::fs::write(&file, LOOP).expect("written");
    let text = "step 4\nbreak LOOP if B == 40H\nrun\nprint B\ndelete all\nrun\n";
    let script = script(folder.path(), text);
    let file = file.display().to_string();
    let arguments = ["debug", "--rig", "direct", "--within", "0.2s", "--script", &script, &file];
    let (code, printed, problem) = hw_tests(&arguments);
    assert_eq!((code, problem.as_str()), (Some(0), ""), "{printed}");
    assert!(printed.contains("LOOP+2 (loop.asm:5): JMPR LOOP"), "{printed}");
    assert!(printed.contains("0040H = 64"), "{printed}");
    assert!(printed.contains("this program has no interrupt service that halts it"), "{printed}");
}

#[test]
fn a_terminal_does_not_stop_a_running_program_to_draw() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.asm");
    std::fs::write(&file, LOOP).expect("written");
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", "--fresh", "--rig", "direct"]).arg(file);
    let mut screen = TerminalSession::spawn(command);
    screen.expect("LXI SP");
    screen.press(b"c");
    // The `r` of `running` is where that of `ready` was.
    screen.expect("unning:");
    assert!(!screen.seen.contains("interrupt"), "nothing has tried to stop it");
    screen.press(b"\x1b");
    // This program has no interrupt service that halts it.
    screen.expect("interrupt");
    screen.press(b"qq");
    assert_eq!(screen.wait_for_exit().0, Some(0));
}

#[test]
fn a_program_that_cannot_be_stopped_is_restarted_after_a_reset_of_the_board() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.asm");
    std::fs::write(&file, LOOP).expect("written");
    let (server, path) = server("rc2014-classic");
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", "--within", "0.2s", "--script", "-", "--port", &path]).arg(file);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let mut ask = |line: &str| {
        writeln!(input, "{line}").expect("sent");
        let mut reply = String::new();
        output.read_line(&mut reply).expect("a line");
        reply
    };
    let running = ask("run");
    assert!(running.contains("or press reset on the board"), "{running}");
    let lost = ask("restart");
    assert!(lost.contains("press reset on the board, and restart again"), "{lost}");
    server.reset();
    let restarted = ask("restart");
    assert!(restarted.starts_with("8000H, START"), "{restarted}");
    assert!(restarted.ends_with("start of the recorded history\n"), "{restarted}");
    let stepped = ask("step");
    assert!(stepped.contains("START+3"), "{stepped}");
    drop(input);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn gdb_debugs_a_board_like_the_simulated_one() {
    let mut simulated = Server::with(&[]);
    let mut board = Server::with(&["--rig", "direct"]);
    let mut both = |packet: &str| (simulated.ask(packet), board.ask(packet));
    for packet in ["m9100,20", "s", "s", "?", "mc279,e"] {
        let (here, there) = both(packet);
        assert_eq!(there, here, "{packet}");
    }
    assert_eq!(board.register(5), simulated.register(5));
    let refused = board.ask("Z0,100,1");
    assert!(refused.starts_with("E.0100H is not writable"), "{refused}");
    let refused = board.ask("Z2,c200,1");
    assert!(refused.starts_with("E.the debug kernel does not support watchpoints"), "{refused}");
    assert_eq!(board.ask("bs"), "S05");
    let refused = board.set_register(5, 0);
    assert!(refused.starts_with("E.the history of the simulated twin is read-only"), "{refused}");
    assert_eq!(board.ask("c"), "T05replaylog:end;");
    board.write(b"$c#63");
    assert_eq!(board.byte(), b'+');
    board.write(&[3]);
    assert_eq!(board.answer(), "S02", "^C stops the board");
}

#[test]
fn an_editor_debugs_a_board_over_the_line() {
    let (_server, path) = server("rc2014-classic");
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    client.ask("launch", json!({ "fen": FIGURE_1, "square": "e5", "port": path }));
    client.event("initialized");
    let wanted = json!({ "breakpoints": [{ "name": "NEXTAD" }, { "name": "0100H" }] });
    let set = client.ask("setFunctionBreakpoints", wanted);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    assert_eq!(set["breakpoints"][1]["verified"], false, "{set}");
    let why = set["breakpoints"][1]["message"].to_string();
    assert!(why.contains("not writable (ROM"), "{why}");
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    client.ask("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "function breakpoint", "{stopped}");
    let frames = client.ask("stackTrace", json!({ "threadId": 1 }));
    assert_eq!(frames["stackFrames"][0]["name"], "NEXTAD", "{frames}");
    client.ask("stepBack", json!({ "threadId": 1, "granularity": "instruction" }));
    let stopped = client.event("stopped");
    assert!(stopped["body"].to_string().contains("twin"), "{stopped}");
    client.ask("disconnect", json!({}));
}

#[test]
fn samples_of_a_board_find_the_routines_that_take_the_time() {
    let arguments = ["profile", "--rig", "direct", "--samples", "120", "--json", FIGURE_1];
    let (code, json, problem) = hw_tests(&arguments);
    assert_eq!((code, problem.as_str()), (Some(0), ""));
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let routines = value["routines"].as_array().expect("routines");
    let samples = |name: &str| {
        let of = routines.iter().find(|one| one["name"] == name);
        of.map_or(0, |one| one["samples"].as_u64().expect("a number"))
    };
    let all: u64 = routines.iter().map(|one| one["samples"].as_u64().expect("a number")).sum();
    assert_eq!(all, 120, "{json}");
    // ATTACK scans outwards from each square, which takes most of the time besides waiting.
    assert!(samples("ATTACK") > 120 / 10, "{json}");
    assert!(samples("ATTACK") > samples("POINTS"), "{json}");
}

#[test]
fn a_board_that_finishes_before_each_sample_ends_the_profile() {
    let (_server, path) = server("rc2014-classic"); // not limited to the board's clock
    let (code, _, problem) = hw_tests(&["profile", "--port", &path, "--samples", "20", FIGURE_1]);
    // On a busy computer the board may be slow enough for samples.
    let is_told = code == Some(3) && problem.contains("it must run at its own clock");
    assert!(is_told || code == Some(0), "{code:?} {problem}");
}
