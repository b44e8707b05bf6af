//! Servers of a board's port, each in a process of its own.

#[cfg(feature = "system-tests")]
mod others;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::network::programs::rcflash;

#[cfg(feature = "system-tests")]
pub(super) use others::{free_port, pyserial, python, script, ser2net, websockify};

/// A server; ended when dropped.
pub(super) struct Server {
    process: Child,
    /// The address for `--port`.
    pub(super) address: String,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// The place without its scheme.
    pub(super) fn place(&self) -> &str {
        self.address.split_once("://").expect("an address").1
    }
}

/// `rcflash serve` for a port.
pub(super) fn ours(port: &str, more: &[&str]) -> Server {
    let mut command = rcflash();
    command.args(["serve", "--listen", "0", "--port", port]).args(more);
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let address = first_line(&mut process);
    Server { process, address, _folder: None }
}

/// The first line of a process's standard output, read byte by byte: the rest stays there.
fn first_line(process: &mut Child) -> String {
    let out = process.stdout.as_mut().expect("it is piped");
    let mut line = String::new();
    BufReader::with_capacity(1, out).read_line(&mut line).expect("text");
    assert!(line.ends_with('\n'), "it ended early: {line}");
    line.trim_end().to_owned()
}
