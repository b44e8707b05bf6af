//! The environment in which the command lines of a page run in order: a folder with files, boards
//! and programs.
//!
//! The lines are run by a shell, with three changes: names of ports become those of simulated
//! boards or stand-ins; programs that are not ours, and `cargo`, are the scripts of `files/bin`;
//! and long runs are shortened.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::programs;
use crate::sim::ServedBoard;

/// The names of ports used on the pages.
const PORTS: [&str; 4] = ["/dev/ttyUSB0", "/dev/ttyACM0", "/dev/pts/5", "tcp://127.0.0.1:3000"];
/// The port of a third board in another room.
const FAR: &str = "tcp://pi.local:3000";
/// Options that refer to boards of the rig file.
const NAMED: [&str; 4] = ["--port bench", "--port shelf", "--rig bench", "--rig-tag"];
/// Commands that run until they are stopped; they are stopped as soon as they are ready.
const STAYING: [&str; 4] =
    ["hw-tests simulate board", "hw-tests simulate monitor", "hw-inspect gdb", "rcflash serve"];
/// The timeout of a command line.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    boards: BTreeMap<String, ServedBoard>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self::empty();
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        copy(prepared.get_or_insert_with(prepare).folder.path(), bench.folder.path());
        bench
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Self { folder, boards: BTreeMap::new() }
    }

    /// Runs a command line; returns a description of its failure, if any.
    pub(crate) fn run(&mut self, line: &str) -> Option<String> {
        let line = shortened(line);
        let line = self.with_ports(&line).replace("127.0.0.1:3333", "127.0.0.1:0");
        let line = line.replace("--listen 3000", "--listen 0").replace(":2217", ":0");
        let staying = STAYING.iter().any(|command| line.starts_with(command));
        // `exec` makes the shell become the program, so that killing it kills the program
        let mut shell = self.shell(&if staying { format!("exec {line}") } else { line.clone() });
        let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("there is a shell");
        if staying {
            return check_keeps_running(child);
        }
        let boards = &mut self.boards;
        let asked = |printed: &str| {
            if printed.contains("button") {
                press_reset(boards);
            }
        };
        match wait_for_end(child, asked) {
            Some(output) if output.status.success() => None,
            // Injected faults may leave cases without a verdict, but no case may fail because
            // of them.
            Some(output) if line.contains("--faults") && output.status.code() != Some(1) => None,
            Some(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
            None => Some(format!("it did not end within {COMMAND_TIMEOUT:?}")),
        }
    }

    /// Replaces the names of ports in a line by those of boards, which are started if necessary.
    fn with_ports(&mut self, line: &str) -> String {
        let is_meant = |word: &&str| line.contains(*word);
        if !NAMED.iter().chain(&PORTS).any(is_meant) {
            return line.to_owned();
        }
        let zed = ["rc2014-zed", "--flash", "rcflash erase"].iter().any(|word| line.contains(word));
        let model = if zed { "rc2014-zed" } else { "rc2014-classic" };
        let path = self.port_of(line, model);
        let mut named = vec![("bench", path.clone()), ("shelf", path.clone())];
        let mut line = line.to_owned();
        if line.contains("--rig ") || line.contains("--rig-tag ") {
            named.push(("attic", self.simulated("attic", model, true)));
            line = line.replace(FAR, &self.simulated(FAR, model, true));
        }
        let rig: String = named.iter().map(|(name, path)| entry(name, path, model)).collect();
        let settings = self.folder.path().join("settings/rcflash");
        fs::create_dir_all(&settings).expect("a folder");
        fs::write(settings.join("rig.toml"), rig).expect("the rig file");
        PORTS.iter().fold(line, |line, port| line.replace(port, &path))
    }

    /// Returns the port of the board that a line uses.
    fn port_of(&mut self, line: &str, model: &str) -> String {
        match argument(line, "--via") {
            Some("monitor") | None if line.contains("rcflash erase") => {
                self.simulated("to be erased", model, true)
            }
            // Sampling requires a board that runs at its own clock.
            Some("monitor") | None if line.contains("hw-inspect profile") => {
                self.simulated("at its clock", model, false)
            }
            Some("monitor") | None => self.simulated(model, model, true),
            Some(part) => {
                // a program left running by one line would block the port for the next
                self.boards.insert(part.to_owned(), ServedBoard::simulate("monitor", &[part]));
                self.boards[part].path.clone()
            }
        }
    }

    /// Returns the port of a simulated board that the page's later lines share.
    fn simulated(&mut self, key: &str, model: &str, is_free: bool) -> String {
        let pace = is_free.then_some("--free");
        let options: Vec<_> = ["--board", model].into_iter().chain(pace).collect();
        let start = || ServedBoard::start(&options);
        self.boards.entry(key.to_owned()).or_insert_with(start).path.clone()
    }

    /// A shell in the folder, with our programs first in PATH and empty standard input.
    fn shell(&self, line: &str) -> Command {
        let programs =
            ["tdlasm", "rcflash", "hw-inspect"].map(programs::path)[0].with_file_name("");
        let own = self.folder.path().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{}:{path}", own.display(), programs.display()));
        shell.env("REPOSITORY", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        shell.env("XDG_CONFIG_HOME", self.folder.path().join("settings"));
        shell.env_remove("RCFLASH_PORT").env_remove("RCFLASH_BOARD");
        shell
    }
}

/// What each page takes for granted, made by the first page that runs.
static PREPARED: Mutex<Option<Bench>> = Mutex::new(None);

fn prepare() -> Bench {
    let bench = Bench::empty();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lines/files"), bench.folder.path());
    let made = bench.shell("sh prepare").output().expect("there is a shell");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    bench
}

/// Removes what was prepared for the pages: statics are not dropped.
pub(crate) fn remove_prepared() {
    PREPARED.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// An entry of the rig file. One port has one name with the tag.
fn entry(name: &str, path: &str, model: &str) -> String {
    let tags = if name == "shelf" { "" } else { "tags = [\"classic\"]\n" };
    format!("[boards.{name}]\nport = \"{path}\"\nboard = \"{model}\"\n{tags}")
}

/// Presses the reset buttons, which a command may ask the reader to do.
fn press_reset(boards: &mut BTreeMap<String, ServedBoard>) {
    for board in boards.values_mut() {
        let button = board.process.stdin.as_mut().expect("it is piped");
        std::io::Write::write_all(button, b"\n").expect("the board is there");
    }
}

/// Returns the argument of a flag.
fn argument<'t>(line: &'t str, flag: &str) -> Option<&'t str> {
    line.split_whitespace().skip_while(|word| *word != flag).nth(1)
}

/// By command: options that limit its work, and those to add unless it has one of them.
const SHORTER: [(&str, &[&str], &str); 4] = [
    ("sargon exhaust", &["--range"], "--range 0..2000"),
    ("hw-tests run", &["--tag", "replay:"], "--tag document"),
    ("hw-inspect profile", &[" - -", "--program", "--port"], "positions.epd"),
    ("hw-inspect coverage", &["--program", "positions.epd"], "positions.epd"),
];

/// Limits the work of a command that takes long.
fn shortened(line: &str) -> String {
    let (command, comment) = line.split_once("  #").unwrap_or((line, ""));
    let short = |(of, unless, _): &&(&str, &[&str], &str)| {
        line.contains(of) && !unless.iter().any(|word| line.contains(word))
    };
    let more = SHORTER.iter().find(short).map_or("", |(_, _, more)| more);
    let command = command.trim().replace("--count 10000", "--count 100");
    let command = command.replace("--samples 1000", "--samples 20");
    format!("{command} {more} #{comment}")
}

/// Waits for a program to end, and kills it after the timeout. `on_line` is called with each line
/// of its standard error.
fn wait_for_end(mut child: Child, mut on_line: impl FnMut(&str)) -> Option<Output> {
    let mut out = child.stdout.take()?;
    let err = BufReader::new(child.stderr.take()?);
    let read = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let (printed, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        err.split(b'\n').map_while(Result::ok).try_for_each(|l| printed.send(l))
    });
    let mut stderr = Vec::new();
    let end = Instant::now() + COMMAND_TIMEOUT;
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                on_line(&String::from_utf8_lossy(&line));
                stderr.extend(line);
                stderr.push(b'\n');
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                return None;
            }
        }
    }
    let _ = read.join();
    let status = child.wait().expect("it is ours");
    Some(Output { status, stdout: Vec::new(), stderr })
}

/// Waits for the first line of a program that keeps running, and stops it.
fn check_keeps_running(mut child: Child) -> Option<String> {
    let out = child.stdout.take()?;
    let mut line = String::new();
    let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line);
    let ended = child.try_wait().expect("it is ours");
    let _ = child.kill();
    let _ = child.wait();
    match (read, ended) {
        (Ok(1..), None) => None,
        (_, status) => Some(format!("it did not keep running: {status:?}, {line}")),
    }
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the files").flatten() {
        let target: PathBuf = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file");
        }
    }
}
