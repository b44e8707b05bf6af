//! The surroundings of a reader who types the command lines of a page in turn: a folder with files,
//! boards, the programs.
//!
//! The lines go to a shell as they are, but for three things: names of ports become those of
//! simulated boards or stand-ins; programs that are not ours, and `cargo`, are the scripts of
//! `files/bin`; and long runs are shortened.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::programs;
use crate::sim::ServedBoard;

/// The names of ports on the pages.
const PORTS: [&str; 4] = ["/dev/ttyUSB0", "/dev/ttyACM0", "/dev/pts/5", "tcp://127.0.0.1:3000"];
/// The port of a third board in another room.
const FAR: &str = "tcp://pi.local:3000";
/// Words that name boards of the rig file.
const NAMED: [&str; 4] = ["--port bench", "--port shelf", "--rig bench", "--all tag="];
/// Commands that stay until they are told to end; they are told as soon as they are there.
const STAYING: [&str; 4] = ["hw-tests sim", "hw-tests standin", "hw-tests gdb", "rcflash serve"];
/// No command line of a book takes longer, shortened.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    boards: BTreeMap<String, ServedBoard>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lines/files"), folder.path());
        let bench = Self { folder, boards: BTreeMap::new() };
        let made = bench.shell("sh prepare").output().expect("there is a shell");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        bench
    }

    /// Runs a command line; what is wrong with how it ended.
    pub(crate) fn run(&mut self, line: &str) -> Option<String> {
        let line = shortened(line);
        let line = self.with_ports(&line).replace("127.0.0.1:3333", "127.0.0.1:0");
        let line = line.replace("--listen 3000", "--listen 0").replace(":2217", ":0");
        let staying = STAYING.iter().any(|command| line.starts_with(command));
        // a shell that became the program can be killed with it
        let mut shell = self.shell(&if staying { format!("exec {line}") } else { line.clone() });
        let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("there is a shell");
        if staying {
            return stays(child);
        }
        let boards = &mut self.boards;
        let asked = |said: &str| {
            if said.contains("button") {
                press_reset(boards);
            }
        };
        match ended(child, asked) {
            Some(output) if output.status.success() => None,
            // A line with faults may spoil cases; that none is failed on its account is the
            // promise.
            Some(output) if line.contains("--faults") && output.status.code() != Some(1) => None,
            Some(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
            None => Some(format!("it did not end within {PATIENCE:?}")),
        }
    }

    /// The line as typed, with a board behind each name of a port.
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
        if line.contains("--rig ") || line.contains("--all ") {
            named.push(("attic", self.simulated("attic", model, true)));
            line = line.replace(FAR, &self.simulated(FAR, model, true));
        }
        let rig: String = named.iter().map(|(name, path)| entry(name, path, model)).collect();
        let settings = self.folder.path().join("settings/rcflash");
        fs::create_dir_all(&settings).expect("a folder");
        fs::write(settings.join("rig.toml"), rig).expect("the rig file");
        PORTS.iter().fold(line, |line, port| line.replace(port, &path))
    }

    /// The port of the board that a line is about.
    fn port_of(&mut self, line: &str, model: &str) -> String {
        match argument(line, "--via") {
            Some("monitor") | None if line.contains("rcflash erase") => {
                self.simulated("to be erased", model, true)
            }
            // Samples can be taken only of a board that keeps to its clock.
            Some("monitor") | None if line.contains("hw-tests profile") => {
                self.simulated("at its clock", model, false)
            }
            Some("monitor") | None => self.simulated(model, model, true),
            Some(part) => {
                let part = if part == "xmodem" { "cpm" } else { part };
                // what runs after one line does not let go of the port for the next
                self.boards.insert(part.to_owned(), ServedBoard::start_command("standin", &[part]));
                self.boards[part].path.clone()
            }
        }
    }

    /// The port of a simulated board that stays for the page's other lines.
    fn simulated(&mut self, key: &str, model: &str, is_free: bool) -> String {
        let pace = is_free.then_some("--free");
        let options: Vec<_> = ["--board", model].into_iter().chain(pace).collect();
        let start = || ServedBoard::start(&options);
        self.boards.entry(key.to_owned()).or_insert_with(start).path.clone()
    }

    /// A shell in the folder that finds our programs first, and nothing at its input.
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
        shell.env_remove("CARGO").env_remove("RCFLASH_PORT").env_remove("RCFLASH_BOARD");
        shell
    }
}

/// An entry of the rig file. One port has one name with the tag.
fn entry(name: &str, path: &str, model: &str) -> String {
    let tags = if name == "shelf" { "" } else { "tags = [\"classic\"]\n" };
    format!("[boards.{name}]\nport = \"{path}\"\nboard = \"{model}\"\n{tags}")
}

/// Presses the buttons that a reader is asked to press.
fn press_reset(boards: &mut BTreeMap<String, ServedBoard>) {
    for board in boards.values_mut() {
        let button = board.process.stdin.as_mut().expect("it is piped");
        std::io::Write::write_all(button, b"\n").expect("the board is there");
    }
}

/// The word behind a flag.
fn argument<'t>(line: &'t str, flag: &str) -> Option<&'t str> {
    line.split_whitespace().skip_while(|word| *word != flag).nth(1)
}

/// The words that make a command take a part of what it runs over, unless it has one of them
/// already.
const SHORTER: [(&str, &[&str], &str); 5] = [
    ("hw-tests exhaust", &["--range"], "--range 0..2000"),
    ("hw-tests run", &["--filter", "--replay"], "--filter document"),
    ("hw-tests diff ", &["--filter"], "--filter document"),
    ("hw-tests profile", &[" - -", "--program", "--port"], "positions.epd"),
    (
        "hw-tests coverage",
        &["--every", "--program"],
        "--every 300 --board rc2014-classic --least 90",
    ),
];

/// The same command where a reader's computer takes long.
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

/// Waits for a program to end, and kills it when that takes too long. `heard` is called with each
/// line of its messages.
fn ended(mut child: Child, mut heard: impl FnMut(&str)) -> Option<Output> {
    let mut out = child.stdout.take()?;
    let err = BufReader::new(child.stderr.take()?);
    let read = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let (said, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        err.split(b'\n').map_while(Result::ok).try_for_each(|l| said.send(l))
    });
    let mut stderr = Vec::new();
    let end = Instant::now() + PATIENCE;
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                heard(&String::from_utf8_lossy(&line));
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

/// Waits for the first line of a program that stays, and ends it.
fn stays(mut child: Child) -> Option<String> {
    let out = child.stdout.take()?;
    let mut line = String::new();
    let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line);
    let ended = child.try_wait().expect("it is ours");
    let _ = child.kill();
    let _ = child.wait();
    match (read, ended) {
        (Ok(1..), None) => None,
        (_, status) => Some(format!("it did not stay: {status:?}, {line}")),
    }
}

/// Copies a folder with all that is in it.
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
