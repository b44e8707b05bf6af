//! A simulated board or a monitor emulator in its own process, for tests of programs that use its
//! port.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::programs;

/// A command of `hw-tests` that serves a port; killed when dropped.
pub(crate) struct ServedBoard {
    /// The process.
    pub(crate) process: Child,
    /// Its serial device.
    pub(crate) path: String,
}

impl ServedBoard {
    /// Starts `hw-tests simulate board` with these options, and waits until the port is there.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::simulate("board", options)
    }

    /// Starts a board or a monitor, and waits until its port is there.
    pub(crate) fn simulate(what: &str, options: &[&str]) -> Self {
        let mut process = Command::new(programs::path("hw-tests"))
            .args(["simulate", what])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut path = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut path).expect("the path of the device");
        Self { process, path: path.trim().to_owned() }
    }
}

impl Drop for ServedBoard {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
