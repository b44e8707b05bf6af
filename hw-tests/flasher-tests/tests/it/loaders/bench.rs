//! A monitor emulator and the real program on one pseudo-terminal.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use monitor_standins::{FaultOptions, MonitorModel, MonitorOptions, MonitorServer};
use tdlasm::image::{Image, ImageRun, intel_hex};

use crate::loaders::programs;

/// Longer than typing in a hex loader takes.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How often the memory is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A monitor emulator, and a folder with a program for it.
pub(crate) struct Bench {
    pub(crate) server: MonitorServer,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) image: Image,
}

impl Bench {
    /// A program at 9000h that counts in its bytes, behind a RET.
    pub(crate) fn new(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> Self {
        let mut bytes: Vec<u8> = (0..700u32).map(|i| (i * 7 + i / 256) as u8).collect();
        bytes[0] = 0xC9;
        Self::with(peer, options, Image::new([ImageRun { address: 0x9000, bytes }]))
    }

    pub(crate) fn with(peer: Box<dyn MonitorModel>, options: MonitorOptions, image: Image) -> Self {
        let server = MonitorServer::start(peer, options).expect("a pseudo-terminal");
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("prog.hex"), intel_hex(&image, None)).expect("a file");
        Self { server, folder, image }
    }

    pub(crate) fn command(&self, via: &str, more: &[&str]) -> Command {
        let mut command = programs::rcflash();
        command.args(["write", "--port"]).arg(self.server.path());
        command.args(["--via", via]).args(more).arg(self.folder.path().join("prog.hex"));
        command
    }

    pub(crate) fn write(&self, via: &str, more: &[&str]) -> CommandOutput {
        CommandOutput::from_output(&self.command(via, more).output().expect("it starts"))
    }

    pub(crate) fn start(&self, via: &str, more: &[&str]) -> Child {
        let mut command = self.command(via, more);
        command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts")
    }

    /// Waits until the program's first line is in the emulator's memory, while the command runs.
    #[track_caller]
    pub(crate) fn wait_for_first_line(&self, child: &mut Child) {
        let run = &self.image.runs()[0];
        let line = &run.bytes[..16];
        let deadline = Instant::now() + LOAD_TIMEOUT;
        while self.server.memory(run.address, 16) != line {
            assert!(Instant::now() < deadline, "nothing arrives");
            assert!(child.try_wait().expect("it runs").is_none(), "it has ended");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns `true` if the whole program is in the emulator's memory.
    pub(crate) fn has_loaded(&self) -> bool {
        let there =
            |run: &ImageRun| self.server.memory(run.address, run.bytes.len() as u16) == run.bytes;
        self.image.runs().iter().all(there)
    }
}

/// Returns a run of the corpus on a board with this project's monitor.
pub(crate) fn run(server: &MonitorServer) -> Command {
    let mut command = Command::new(programs::path("hw-tests"));
    command.env_remove("RCFLASH_BOARD").env_remove("RCFLASH_RIG");
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command.args(["run", "--port"]).arg(server.path());
    command
}

/// Returns a run of the corpus through a stock monitor.
pub(crate) fn run_via(server: &MonitorServer, host: &str) -> Command {
    let mut command = run(server);
    command.args(["--via", host]);
    command
}

/// The exit code and the output of a command.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
    pub(crate) data: String,
}

impl CommandOutput {
    pub(crate) fn from_output(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), text: text(&output.stderr), data: text(&output.stdout) }
    }

    #[track_caller]
    pub(crate) fn assert_ends(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for word in words {
            assert!(self.text.contains(word), "no '{word}' in: {}", self.text);
        }
    }
}

pub(crate) fn faults(faults: FaultOptions) -> MonitorOptions {
    MonitorOptions { faults, ..MonitorOptions::default() }
}
