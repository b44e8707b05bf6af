//! Servers of a board's port, each in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::programs::rcflash;

/// The time that a server may take until it listens.
const START: Duration = Duration::from_secs(20);
/// The time between two looks at whether it does.
const LOOK: Duration = Duration::from_millis(20);

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

    /// Ends the server; what it wrote to standard output and error since it was started.
    pub(super) fn end(mut self) -> String {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let mut said = String::new();
        if let Some(mut out) = self.process.stdout.take() {
            out.read_to_string(&mut said).expect("text");
        }
        if let Some(mut out) = self.process.stderr.take() {
            out.read_to_string(&mut said).expect("text");
        }
        said
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

/// Says that a program is missing, and fails where it must not be.
fn missing(name: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must have {name}");
    eprintln!("not run, since there is no {name}");
}

/// Debian's ser2net for a port, with or without RFC 2217; `None` if it is not installed.
pub(super) fn ser2net(port: &str, is_raw: bool) -> Option<Server> {
    let places = ["/usr/sbin/ser2net", "/usr/bin/ser2net", "/usr/local/sbin/ser2net"];
    let Some(program) = places.into_iter().find(|place| Path::new(place).exists()) else {
        missing("ser2net");
        return None;
    };
    let number = free_port();
    let (scheme, accepter) = match is_raw {
        true => ("tcp", "tcp"),
        false => ("rfc2217", "telnet(rfc2217),tcp"),
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("ser2net.yaml");
    let settings = format!(
        "connection: &board\n  accepter: {accepter},127.0.0.1,{number}\n  \
         connector: serialdev,{port},115200n81,local\n  options:\n    kickolduser: true\n"
    );
    std::fs::write(&file, settings).expect("a file");
    let process = Command::new(program)
        .args(["-n", "-u", "-c"])
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let server = Server {
        process,
        address: format!("{scheme}://127.0.0.1:{number}"),
        _folder: Some(folder),
    };
    wait_for(number, "ser2net");
    Some(server)
}

/// Debian's websockify for a raw port at `place`; `None` if it is not installed.
pub(super) fn websockify(place: &str) -> Option<Server> {
    let number = free_port();
    let process = Command::new("websockify")
        .args([&format!("127.0.0.1:{number}"), place])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(process) = process else {
        missing("websockify");
        return None;
    };
    let server = Server { process, address: format!("ws://127.0.0.1:{number}"), _folder: None };
    wait_for(number, "websockify");
    Some(server)
}

/// Waits until somebody listens at a port. A connection would open the board's port, so it is only
/// looked whether the place is taken.
fn wait_for(number: u16, name: &str) {
    let deadline = Instant::now() + START;
    while TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
        assert!(Instant::now() < deadline, "{name} does not listen");
        std::thread::sleep(LOOK);
    }
}

/// A port at which nobody listens.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("it has one").port()
}

/// The Python that has pyserial; `None` if none has.
pub(super) fn python() -> Option<Command> {
    let has_it = |program: &&str| {
        let mut command = Command::new(program);
        command.args(["-c", "import serial.rfc2217"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(has_it);
    if found.is_none() {
        missing("pyserial");
    }
    found.map(Command::new)
}

/// A server made of pyserial's `PortManager` for a port; `None` if there is no pyserial.
pub(super) fn pyserial(port: &str) -> Option<Server> {
    let mut process = python()?
        .arg(script("pyserial_server.py"))
        .arg(port)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let address = format!("rfc2217://127.0.0.1:{}", first_line(&mut process));
    Some(Server { process, address, _folder: None })
}

/// A script beside this file.
pub(super) fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/network").join(name)
}
