//! Helpers of the tests: the program, a board, a rig file.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use board_simulator::board_spec;
use board_simulator::{BoardServer, Pace, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use crate::programs;

/// The program, with pipes on all sides.
pub(crate) fn program() -> Command {
    let mut command = programs::rcflash();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The end of a run of the program.
pub(crate) struct RunEnd {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) messages: String,
}

impl RunEnd {
    pub(crate) fn from_output(output: Output) -> Self {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code(), out: output.stdout, messages }
    }

    /// Returns what it printed, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Asserts the exit code, and that standard error contains `parts`.
    #[track_caller]
    pub(crate) fn assert_ends(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.messages, self.text());
        for part in parts {
            assert!(self.messages.contains(part), "no '{part}' in: {}", self.messages);
        }
        self
    }
}

/// Runs the program until it exits.
pub(crate) fn rcflash(arguments: &[&str]) -> RunEnd {
    finish(program().args(arguments).spawn().expect("it starts"), b"")
}

/// Sends a running program its input and waits until it exits.
pub(crate) fn finish(mut child: Child, input: &[u8]) -> RunEnd {
    // A program that ends without reading closes the pipe; that is not a failure.
    let _ = child.stdin.take().expect("its input").write_all(input);
    RunEnd::from_output(child.wait_with_output().expect("it ends"))
}

/// A simulated board and its serial device.
pub(crate) struct Bench {
    pub(crate) server: BoardServer,
    pub(crate) port: String,
}

impl Bench {
    /// A board with the monitor in its ROM.
    pub(crate) fn new(board: &str, pace: Pace) -> Self {
        let profile = BoardProfile::named(board).expect("it ships");
        let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
        Self::with_rom(profile, &rom.bytes, pace)
    }

    /// A board with these bytes in its ROM.
    pub(crate) fn with_rom(profile: BoardProfile, rom: &[u8], pace: Pace) -> Self {
        let options = ServerOptions { pace, ..ServerOptions::default() };
        let server = BoardServer::start(board_spec(&profile), rom, options).expect("a terminal");
        let port = server.path().to_string_lossy().into_owned();
        Self { server, port }
    }

    pub(crate) fn classic() -> Self {
        Self::new("rc2014-classic", Pace::Free)
    }
}

/// A temporary folder.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// Writes a file. Returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).expect("a file");
        self.name(name)
    }
}
