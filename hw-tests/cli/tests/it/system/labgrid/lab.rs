//! labgrid's own coordinator and exporter, with simulated boards behind ser2net and TCP.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The timeout of labgrid's programs.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of polling.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A coordinator and an exporter; ended when dropped.
pub(super) struct Lab {
    programs: PathBuf,
    processes: Vec<Child>,
    coordinator: String,
    /// A folder for the test's files.
    pub(super) folder: TempDir,
}

impl Drop for Lab {
    fn drop(&mut self) {
        // SIGINT, so that the exporter ends its ser2net.
        for process in self.processes.iter_mut().rev() {
            let _ = kill_process(Pid::from_child(process), Signal::INT);
            let deadline = Instant::now() + TIMEOUT;
            while matches!(process.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(POLL_INTERVAL);
            }
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The entry of a place in the exporter's file: a device behind ser2net, or a raw TCP port.
fn entry(port: &str) -> String {
    match port.strip_prefix("tcp://").and_then(|place| place.rsplit_once(':')) {
        Some((host, number)) => format!(
            "  NetworkSerialPort:\n    host: '{host}'\n    port: {number}\n    speed: 115200\n    \
             protocol: raw\n"
        ),
        None => format!("  RawSerialPort:\n    port: '{port}'\n    speed: 115200\n"),
    }
}

impl Lab {
    /// A lab with these places and their ports.
    pub(super) fn with(places: &[(&str, &str)]) -> Self {
        let programs =
            std::env::var_os("LABGRID_BIN").expect("export LABGRID_BIN=$(.ci/install/labgrid)");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let coordinator = format!("127.0.0.1:{}", port.local_addr().expect("it has one").port());
        drop(port);
        let programs = PathBuf::from(programs);
        let mut lab = Self { programs, processes: Vec::new(), coordinator, folder };
        let mut file = std::fs::File::create(lab.path("exporter.yaml")).expect("a file");
        for (name, port) in places {
            write!(file, "{name}:\n{}", entry(port)).expect("it is written");
        }
        lab.start("labgrid-coordinator", &["-l", &lab.coordinator.clone()]);
        lab.wait("the coordinator", |lab| TcpStream::connect(&lab.coordinator).is_ok());
        lab.start("labgrid-exporter", &["-n", "lab", "--hostname", "127.0.0.1", "exporter.yaml"]);
        for (name, _) in places {
            lab.client(&["-p", name, "create"]);
            lab.client(&["-p", name, "add-match", &format!("lab/{name}/*")]);
            let resource = format!("lab/{name}/NetworkSerialPort");
            lab.wait(name, |lab| lab.client(&["resources"]).contains(&resource));
        }
        lab
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// A command in this lab.
    pub(super) fn in_lab(&self, mut command: Command) -> Command {
        let mut path = std::ffi::OsString::from(&self.programs);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path).env("LG_COORDINATOR", &self.coordinator);
        command.env_remove("LG_ENV").env_remove("LG_PLACE").current_dir(self.folder.path());
        command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::null());
        command
    }

    fn start(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.in_lab(Command::new(self.programs.join(program)));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        self.processes.push(command.spawn().expect("it starts"));
    }

    #[track_caller]
    pub(super) fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "waited in vain for {what}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the output of labgrid's client.
    pub(super) fn client(&self, arguments: &[&str]) -> String {
        self.client_of("tester", arguments)
    }

    /// The same as another user.
    pub(super) fn client_of(&self, user: &str, arguments: &[&str]) -> String {
        let mut client = self.in_lab(Command::new(self.programs.join("labgrid-client")));
        let output = client.args(arguments).env("LG_USERNAME", user).output().expect("it starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// `hw-tests` in this lab.
    pub(super) fn hw_tests(&self, arguments: &[&str]) -> Command {
        let mut command = self.in_lab(Command::cargo_bin("hw-tests").expect("it is built"));
        command.args(arguments).env("LG_USERNAME", "tester");
        command
    }

    /// Returns `true` if a place is acquired.
    pub(super) fn is_acquired(&self, place: &str) -> bool {
        !self.client(&["-p", place, "show"]).contains("acquired: None")
    }

    /// Waits until no place is acquired.
    #[track_caller]
    pub(super) fn is_freed(&self, place: &str) {
        self.wait("the release", |lab| !lab.is_acquired(place));
    }
}
