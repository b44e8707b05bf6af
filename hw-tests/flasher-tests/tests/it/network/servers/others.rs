//! Servers that others wrote: ser2net, websockify, pyserial.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Server, first_line};

/// The time that a server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The time between two looks at whether it does.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Debian's ser2net for a port, with or without RFC 2217.
pub(in crate::network) fn ser2net(port: &str, is_raw: bool) -> Server {
    let places = ["/usr/sbin/ser2net", "/usr/bin/ser2net", "/usr/local/sbin/ser2net"];
    let program = places.into_iter().find(|place| Path::new(place).exists());
    let program = program.expect("ser2net, of Debian's package of that name");
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
    server
}

/// Debian's websockify for a raw port at `place`.
pub(in crate::network) fn websockify(place: &str) -> Server {
    let number = free_port();
    let process = Command::new("websockify")
        .args([&format!("127.0.0.1:{number}"), place])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let process = process.expect("websockify, of Debian's package of that name");
    let server = Server { process, address: format!("ws://127.0.0.1:{number}"), _folder: None };
    wait_for(number, "websockify");
    server
}

/// Waits until a program listens at a port. A connection would open the board's port, so it is only
/// looked whether the place is taken.
fn wait_for(number: u16, name: &str) {
    let deadline = Instant::now() + START_TIMEOUT;
    while TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
        assert!(Instant::now() < deadline, "{name} does not listen");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The Python that has pyserial.
pub(in crate::network) fn python() -> Command {
    let has_it = |program: &&str| {
        let mut command = Command::new(program);
        command.args(["-c", "import serial.rfc2217"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(has_it);
    Command::new(found.expect("a Python with pyserial, Debian's python3-serial"))
}

/// A server made of pyserial's `PortManager` for a port.
pub(in crate::network) fn pyserial(port: &str) -> Server {
    let mut process = python()
        .arg(script("pyserial_server.py"))
        .arg(port)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let address = format!("rfc2217://127.0.0.1:{}", first_line(&mut process));
    Server { process, address, _folder: None }
}

/// A script beside this file.
pub(in crate::network) fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/network").join(name)
}

/// Returns a port at which no program listens.
pub(in crate::network) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("it has one").port()
}

impl Server {
    /// Ends the server; what it wrote to standard output and error since it was started.
    pub(in crate::network) fn end(mut self) -> String {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let mut printed = String::new();
        if let Some(mut out) = self.process.stdout.take() {
            out.read_to_string(&mut printed).expect("text");
        }
        if let Some(mut out) = self.process.stderr.take() {
            out.read_to_string(&mut printed).expect("text");
        }
        printed
    }
}
