//! A simulated board in a process of its own, for tests in which others use its port.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;

/// `hw-tests sim`; killed when dropped.
pub(crate) struct Board {
    /// The process.
    pub(crate) process: Child,
    /// Its serial device.
    pub(crate) path: String,
}

impl Board {
    /// Starts it with these options, and waits until the port is there.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut process = Command::cargo_bin("hw-tests")
            .expect("it is built")
            .arg("sim")
            .args(options)
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

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
