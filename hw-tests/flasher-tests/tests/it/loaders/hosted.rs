//! Runs of the corpus through stock monitors: the message without `--via`, the other serial
//! chip, and runs that are broken off.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use monitor_standins::{
    Basic, Cpm, CpmMonitor, MonitorModel, MonitorOptions, MonitorServer, ReceiverSpec, Romwbw, Scm,
    ScmRelease,
};
use rcflash_monitors::{Processor, StockMonitor, load_hex};
use rustix::process::{Pid, Signal, kill_process};

use super::bench::{CommandOutput, run, run_via};
use super::programs;
use super::virtual_bench::{EventLines, VirtualBench};

fn standin(peer: Box<dyn MonitorModel>) -> MonitorServer {
    MonitorServer::start(peer, MonitorOptions::default()).expect("a pseudo-terminal")
}

#[test]
fn without_via_the_message_names_monitor_version_and_command() {
    let peers: [(Box<dyn MonitorModel>, &str, &str); 5] = [
        (Box::<Scm>::default(), "found Small Computer Monitor 1.3.0 instead of", "--via scm"),
        (Box::new(Romwbw::in_monitor()), "found RomWBW 3.5.1's debug monitor", "--via romwbw"),
        (
            Box::new(Basic::feilipu().at_start_prompt()),
            "found ROM BASIC 4.7c (feilipu's)",
            "--via basic",
        ),
        (Box::new(Cpm::quick()), "found CP/M 2.2", "--via cpm"),
        (Box::<CpmMonitor>::default(), "boot CP/M there (X, then Y), then", "--via cpm"),
    ];
    // Each probe waits for seconds, so they run side by side.
    std::thread::scope(|scope| {
        for (peer, who, way) in peers {
            scope.spawn(move || {
                let server = standin(peer);
                let port = server.path().to_string_lossy().into_owned();
                let ran = CommandOutput::from_output(&run(&server).output().expect("it starts"));
                ran.assert_ends(3, &[who, &format!("{port}: found "), &format!("use `{way}`")]);
            });
        }
    });
}

#[test]
fn with_the_wrong_via_the_message_has_the_right_command_and_the_step_before_it() {
    let peers: [(Box<dyn MonitorModel>, &str, &str); 2] = [
        (Box::<Scm>::default(), "found the Small Computer Monitor", "use `--via scm`"),
        (
            Box::<CpmMonitor>::default(),
            "found the factory's CP/M monitor",
            "boot CP/M there (X, then Y), then use `--via cpm`",
        ),
    ];
    for (peer, who, way) in peers {
        let ran = CommandOutput::from_output(
            &run_via(&standin(peer), "basic").output().expect("it starts"),
        );
        ran.assert_ends(3, &[who, way]);
    }
}

#[test]
fn nothing_is_sent_to_a_program_on_a_disk_before_it_has_announced_itself() {
    std::thread::scope(|scope| {
        for load_time in [0, 700, 3000].map(Duration::from_millis) {
            scope.spawn(move || {
                let server = standin(Box::new(Cpm::quick().with_load_time(load_time)));
                let ran = run_via(&server, "cpm").arg("byte.figure4").output().expect("it starts");
                let ran = CommandOutput::from_output(&ran);
                ran.assert_ends(0, &["back in CP/M"]);
                assert!(!ran.text.contains("retr"), "{load_time:?}: {}", ran.text);
                assert_eq!(server.file("HWTESTS.COM"), None, "{load_time:?}: the file stays");
            });
        }
    });
}

/// A monitor that sends nothing after a program has returned to it.
struct LostAfterProgram {
    peer: Scm,
    is_running: bool,
    /// How many programs have returned.
    returned: u32,
    is_lost: bool,
}

impl MonitorModel for LostAfterProgram {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        if !self.is_lost {
            self.peer.receive(character, out);
        }
    }

    fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> bool {
        let runs = !self.is_lost && self.peer.idle(since, out);
        self.returned += u32::from(self.is_running && !runs);
        self.is_running = runs;
        // The first one is the loader's routine that adds up memory.
        self.is_lost |= self.returned == 2;
        if self.is_lost {
            // The program's last frame ends with a zero; what follows is the monitor's banner.
            let frames = out.iter().rposition(|byte| *byte == 0).map_or(0, |last| last + 1);
            out.truncate(frames);
        }
        runs
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        self.peer.receiver_spec()
    }

    fn processing_time(&self) -> Duration {
        self.peer.processing_time()
    }
}

#[test]
fn no_command_that_lost_the_boards_monitor_ends_with_0() {
    let figure = "r3r1k1/ppq2pp1/2p2n1p/3p4/3Pn2B/2PB4/PPQ2PPP/R3R1K1 w - - 0 1";
    let file = "sources = [\"returns.asm\"]\norigin = 0x8400\n[[case]]\nname = \"returns\"\ncall = \
                \"RETURN\"\n";
    let folder = tempfile::tempdir().expect("a folder");
    let tests = folder.path().join("returns.test.toml");
    std::fs::write(&tests, file).expect("a file");
    std::fs::write(folder.path().join("returns.asm"), "RETURN::\tRET\n\t.END\n").expect("a file");
    let tests = tests.to_str().expect("UTF-8");
    let commands: [(&str, &[&str], &str); 7] = [
        ("hw-tests", &["run", "byte.figure4"], "1 of 1 cases passed"),
        ("hw-tests", &["test", tests], "1 of 1 cases passed"),
        ("hw-tests", &["call"], ""),
        ("sargon", &["exhaust", "--range", "0..9"], "PASS: board and reference agree"),
        ("sargon", &["explain", figure, "d5"], "d5"),
        ("sargon", &["prizes", figure], ""),
        ("sargon", &["residues", "--fen", figure], "\"squares\""),
    ];
    std::thread::scope(|scope| {
        for (program, arguments, printed) in commands {
            scope.spawn(move || {
                let peer = LostAfterProgram {
                    peer: Scm::default(),
                    is_running: false,
                    returned: 0,
                    is_lost: false,
                };
                let server = standin(Box::new(peer));
                let mut command = Command::new(programs::path(program));
                command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::null());
                command.args(arguments).args(["--via", "scm", "--port"]).arg(server.path());
                let ran = CommandOutput::from_output(&command.output().expect("it starts"));
                let message = "the board's monitor (scm) did not reappear: press the board's reset";
                let shown =
                    format!("{program} {arguments:?}: {:?} {}{}", ran.code, ran.data, ran.text);
                assert_eq!(ran.code, Some(3), "{shown}");
                assert!(ran.data.contains(printed), "{shown}");
                assert!(format!("{}{}", ran.data, ran.text).contains(message), "{shown}");
            });
        }
    });
}

#[test]
fn the_driver_for_the_boards_own_serial_chip_is_found() {
    let server = standin(Box::<Scm>::default());
    let mut command = run_via(&server, "scm");
    command.args(["--board", "rc2014-zed", "byte.figure4"]);
    let ran = CommandOutput::from_output(&command.output().expect("it starts"));
    ran.assert_ends(0, &["no reply; trying the driver of the 68B50", "back in "]);
}

#[test]
fn a_board_with_another_processor_is_recognised_before_a_program_is_sent() {
    let z180 = |via| -> Box<dyn MonitorModel> {
        if via == "scm" {
            Box::new(Scm::new(ScmRelease::S6V13))
        } else {
            Box::new(Romwbw::in_monitor().on_z180())
        }
    };
    for via in ["scm", "romwbw"] {
        let server = standin(z180(via));
        let ran = run_via(&server, via).output().expect("it starts");
        let board = if via == "scm" { "sc126\n" } else { "sc126, sc130, sc131 or sc140\n" };
        let message = "the board has a Z180, and the program is for a Z80 board: use --board ";
        let message = &format!("{message}{board}");
        CommandOutput::from_output(&ran).assert_ends(3, &[message]);
    }
    let server = standin(Box::<Scm>::default());
    let ran = run_via(&server, "scm").args(["--board", "sc126"]).output().expect("it starts");
    CommandOutput::from_output(&ran).assert_ends(3, &["the board has no Z180"]);
}

#[test]
fn the_evaluator_runs_on_z180_boards() {
    let peers: [(Box<dyn MonitorModel>, &str, &str, &str); 2] = [
        (
            Box::new(Scm::new(ScmRelease::S6V13)),
            "scm",
            "sc126",
            "back in the Small Computer Monitor",
        ),
        (Box::new(Romwbw::default().on_z180()), "romwbw", "sc131", "back in RomWBW's boot loader"),
    ];
    for (peer, via, board, back) in peers {
        let server = standin(peer);
        let mut command = run_via(&server, via);
        command.args(["--board", board, "--shard", "1/100"]);
        let ran = CommandOutput::from_output(&command.output().expect("it starts"));
        ran.assert_ends(0, &[back]);
        assert!(ran.data.contains("PASS: 13 of 13 cases"), "{}", ran.data);
    }
}

#[test]
fn romwbws_banner_names_the_z180_board() {
    let peer = Box::new(Romwbw::in_monitor().on_z180());
    let bench = VirtualBench::new(peer, MonitorOptions::default());
    let banner = b"\r\nSmall Computer SC131 [SCZ180_sc131_std] Boot Loader\r\n";
    let mut session = bench.session().with_received(banner);
    session.require_processor(Processor::Z80);
    let mut events = EventLines::default();
    let error = load_hex(&StockMonitor::Romwbw, &mut session, &bench.request(), &mut events)
        .expect_err("it is for another processor");
    let message = "the board has a Z180, and the program is for a Z80 board: use --board sc131";
    assert_eq!(error.to_string(), message);
}

/// A run that has begun.
fn start_run(server: &MonitorServer) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut command = run_via(server, "scm");
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut printed = BufReader::new(run.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.starts_with("Sargon exchange evaluator") {
        line.clear();
        assert!(printed.read_line(&mut line).expect("text") > 0, "it ended early");
    }
    (run, printed)
}

#[test]
fn a_stopped_run_releases_the_board() {
    let server = standin(Box::<Scm>::default());
    let (run, mut printed) = start_run(&server);
    kill_process(Pid::from_child(&run), Signal::INT).expect("it is there");
    let mut rest = String::new();
    printed.read_to_string(&mut rest).expect("text");
    assert_eq!(run.wait_with_output().expect("it ends").status.code(), Some(130), "{rest}");
    assert!(rest.contains("back in the Small Computer Monitor"), "{rest}");
}

/// Kills a run, and checks that the next one through `via` has nothing to load.
#[track_caller]
fn check_found_running(via: &str) {
    let server = standin(Box::<Scm>::default());
    let (mut run, _) = start_run(&server);
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    let mut command = run_via(&server, via);
    let ran = next_run(command.arg("byte.figure4"));
    assert!(!ran.text.contains("sending"), "nothing had to be loaded: {}", ran.text);
}

#[test]
fn after_a_run_was_killed_the_next_one_finds_the_application_running() {
    check_found_running("scm");
}

#[test]
fn after_a_run_was_killed_a_described_loader_finds_the_application_running() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scm.toml");
    std::fs::write(&file, super::descriptions::scm()).expect("a file");
    check_found_running(file.to_str().expect("UTF-8"));
}

/// Runs a command that passes and leaves the board in its monitor.
fn next_run(command: &mut std::process::Command) -> CommandOutput {
    let ran = CommandOutput::from_output(&command.output().expect("it starts"));
    ran.assert_ends(0, &["back in the "]);
    ran
}
