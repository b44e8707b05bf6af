//! A run of the corpus whose adapter is unplugged and plugged in again.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use board_simulator::{Pace, ServerOptions, SimServer, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;

use crate::cable::Cable;

/// A board at its own clock, so that cases take a while.
fn board() -> SimServer {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let options = ServerOptions { pace: Pace::RealTime, ..ServerOptions::default() };
    SimServer::start(board_spec(&profile), &rom.bytes, options).expect("a pseudo-terminal")
}

/// A run that has lost its port.
struct Losing {
    run: Child,
    said: BufReader<ChildStderr>,
    port: PathBuf,
    server: SimServer,
    _folder: tempfile::TempDir,
}

impl Losing {
    fn new(more: &[&str]) -> Self {
        let server = board();
        let folder = tempfile::tempdir().expect("a scratch folder");
        let port = folder.path().join("port");
        let cable = Cable::new(server.path(), usize::MAX);
        symlink(cable.port(), &port).expect("a link");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hw-tests"));
        command.args(["run", "--count", "100", "--port"]).arg(&port).args(more);
        command.env_remove("RCFLASH_BOARD").env("XDG_CONFIG_HOME", "/nonexistent");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("it starts");
        let said = BufReader::new(run.stderr.take().expect("it is piped"));
        let mut losing = Self { run, said, port, server, _folder: folder };
        losing.hear("Sargon exchange evaluator");
        // The name goes first: the device's own may be another test's by then.
        std::fs::remove_file(&losing.port).expect("it is there");
        cable.carried();
        losing.hear("the port is gone; waiting up to");
        losing
    }

    /// Waits until it has said this.
    fn hear(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(self.said.read_line(&mut line).expect("text") > 0, "it ended before '{words}'");
        }
    }

    /// Its end, what it said until then, and the board, to which a cable may be joined.
    fn ended(mut self) -> (Output, String, SimServer) {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("text");
        (self.run.wait_with_output().expect("it ends"), rest, self.server)
    }
}

#[test]
fn a_run_waits_for_its_adapter_and_goes_on() {
    let losing = Losing::new(&[]);
    let cable = Cable::new(losing.server.path(), usize::MAX);
    symlink(cable.port(), &losing.port).expect("a link");
    let (output, rest, _server) = losing.ended();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{rest}");
    assert!(rest.contains("the port is back"), "{rest}");
    assert!(printed.contains("PASS: 100 of 100 cases"), "{printed}");
    cable.carried();
}

#[test]
fn a_run_whose_adapter_stays_away_ends_after_the_time_that_was_given() {
    let (output, rest, _) = Losing::new(&["--reconnect", "1"]).ended();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{printed}{rest}");
    assert!(printed.contains("INCOMPLETE"), "{printed}");
}

#[test]
fn the_user_need_not_wait_for_that() {
    let losing = Losing::new(&[]);
    let id = rustix::process::Pid::from_child(&losing.run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is there");
    assert_eq!(losing.ended().0.status.code(), Some(130));
}
