//! A run of the corpus whose adapter is unplugged and plugged in again.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use board_simulator::{BoardServer, Pace, ServerOptions, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use crate::programs;
use crate::upload::background_process::BackgroundProcess;
use crate::upload::cable::Cable;

/// A board at its own clock, so that cases take a while.
fn board() -> BoardServer {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let options = ServerOptions { pace: Pace::RealTime, ..ServerOptions::default() };
    BoardServer::start(board_spec(&profile), &rom.bytes, options).expect("a pseudo-terminal")
}

/// A run that has lost its port.
struct Losing {
    run: BackgroundProcess,
    port: PathBuf,
    server: BoardServer,
    _folder: tempfile::TempDir,
}

impl Losing {
    fn new(more: &[&str]) -> Self {
        let server = board();
        let folder = tempfile::tempdir().expect("a scratch folder");
        let port = folder.path().join("port");
        let cable = Cable::new(server.path(), usize::MAX);
        symlink(cable.port(), &port).expect("a link");
        let mut command = Command::new(programs::path("hw-tests"));
        command.args(["run", "--count", "100", "--port"]).arg(&port).args(more);
        command.env_remove("RCFLASH_BOARD").env("XDG_CONFIG_HOME", "/nonexistent");
        let mut run = BackgroundProcess::start(command);
        run.wait_for_message("Sargon exchange evaluator");
        // The link is removed first: the device's name may be reused by another test.
        std::fs::remove_file(&port).expect("it is there");
        cable.remove();
        run.wait_for_message("port disconnected; waiting up to");
        Self { run, port, server, _folder: folder }
    }

    /// Returns its exit code and output, and the board, to which a cable may be reconnected.
    fn ended(self) -> (Output, String, BoardServer) {
        let (output, rest) = self.run.finish();
        (output, rest, self.server)
    }
}

#[test]
fn a_run_waits_for_its_adapter_and_resumes() {
    let losing = Losing::new(&[]);
    let cable = Cable::new(losing.server.path(), usize::MAX);
    symlink(cable.port(), &losing.port).expect("a link");
    let (output, rest, _server) = losing.ended();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{rest}");
    assert!(rest.contains("port reconnected"), "{rest}");
    assert!(printed.contains("PASS: 100 of 100 cases"), "{printed}");
    cable.remove();
}

#[test]
fn a_run_whose_adapter_stays_disconnected_ends_after_the_timeout() {
    let (output, rest, _) = Losing::new(&["--reconnect", "1s"]).ended();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{printed}{rest}");
    assert!(printed.contains("INCOMPLETE"), "{printed}");
}

#[test]
fn the_user_need_not_wait_for_that() {
    let losing = Losing::new(&[]);
    let id = rustix::process::Pid::from_child(&losing.run.run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is there");
    assert_eq!(losing.ended().0.status.code(), Some(130));
}
