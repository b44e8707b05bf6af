//! The command of a test file that builds its program.

use std::io::{PipeReader, Read, pipe};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cli_support::text::Escape;
use cli_support::time::parse_time;
use rcflash_transport::platform::process::{
    kill_process_tree, shell_command, use_new_process_group,
};

use crate::document::{Document, Fields, FileErrors, Item};

/// The time limit of a build whose test file has none.
const TIMEOUT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(10);
/// What is kept of the output, from its end.
const MAX_OUTPUT: usize = 16 * 1024;
/// The time for the output after the end of the command, which a process in the background may keep
/// open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// A command and its time limit.
struct Build<'d> {
    item: Item<'d>,
    /// A line for the shell, or a program and its arguments.
    words: Vec<String>,
    timeout: Duration,
}

impl<'d> Build<'d> {
    /// Reads the fields `build` and `build_timeout`.
    fn of(fields: &Fields<'d>) -> Option<Self> {
        let timeout = fields.parsed("build_timeout", "\"30s\"", parse_time);
        let item = fields.get("build")?;
        let words = item.one_or_more(|item| item.text("\"make -s\"").to_owned());
        if words.is_empty() {
            item.report("build: expected a command, as in \"make -s\"");
        }
        let timeout = timeout.unwrap_or(TIMEOUT);
        (!words.is_empty()).then_some(Self { item, words, timeout })
    }

    /// Runs the command in a folder.
    ///
    /// # Errors
    /// Returns a message with the output if it can't be started, fails or takes too long.
    fn run(&self, folder: &Path) -> Result<(), String> {
        let named = self.words.join(" ").escaped();
        let failed = |what: String| format!("build: '{named}' {what}");
        let mut command = match (&self.words[..], self.item.value.is_array()) {
            ([program, arguments @ ..], true) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            (words, _) => shell_command(&words.join(" ")),
        };
        if !folder.as_os_str().is_empty() {
            command.current_dir(folder);
        }
        let can_not_start = |error: std::io::Error| failed(format!("can't be started: {error}"));
        let (reader, writer) = pipe().map_err(can_not_start)?;
        let both = writer.try_clone().map_err(can_not_start)?;
        command.stdin(Stdio::null()).stdout(both).stderr(writer);
        let mut child = use_new_process_group(&mut command).spawn().map_err(can_not_start)?;
        // The command holds the other end of the pipe, which would never end.
        drop(command);
        let output = read_end(reader);
        let mut waited = Duration::ZERO;
        let status: Option<ExitStatus> = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if waited < self.timeout => std::thread::sleep(POLL),
                _ => break None,
            }
            waited += POLL;
        };
        let what = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("failed ({status})"),
            None => {
                kill_process_tree(&mut child);
                let seconds = self.timeout.as_secs_f64();
                format!("was stopped after {seconds} s; build_timeout = \"10m\" gives it more time")
            }
        };
        let output = output.recv_timeout(OUTPUT_TIMEOUT).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let lines = output.trim_end().lines().map(|line| format!("\n  {}", line.escaped()));
        Err(failed(what) + &lines.collect::<String>())
    }
}

/// Checks the fields about the build.
pub(crate) fn check(fields: &Fields<'_>) {
    Build::of(fields);
}

/// Runs the command of a test file that builds its program, in the folder of the file; none if the
/// file has none.
///
/// # Errors
/// Returns `FileErrors` if the file can't be read, or if the command fails; its output is in the
/// message.
pub fn run_build(path: &Path) -> Result<(), FileErrors> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(()); // reading the tests reports it
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut has_syntax_errors = true;
    let result = Document::read(path, &text, |root| {
        has_syntax_errors = false;
        root.table("", |fields| {
            if let Some(build) = Build::of(fields) {
                build.item.checked(build.run(folder));
            }
            // The other fields are read with the tests.
            fields.take_rest();
        })
    });
    // Errors of the syntax are reported with those of the tests.
    if has_syntax_errors { Ok(()) } else { result }
}

/// Reads to the end in a thread, and sends the last bytes.
fn read_end(mut output: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            kept.extend(&bytes[..count]);
            let excess = kept.len().saturating_sub(MAX_OUTPUT);
            kept.drain(..excess);
        }
        // Nobody waits for the output of a command that succeeded.
        let _ = sender.send(kept);
    });
    receiver
}
