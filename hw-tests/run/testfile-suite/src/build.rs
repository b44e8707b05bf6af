//! The command of a test file that builds its program.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cli_support::text::Escape;
use cli_support::time::parse_time;
use rcflash_transport::child::{self, ChildEnd};
use rcflash_transport::platform::process::shell_command;

use crate::document::{Document, Fields, FileErrors, Item};

/// The time limit of a build whose test file has none.
const TIMEOUT: Duration = Duration::from_secs(300);
/// What is shown of the output, from its end.
const MAX_OUTPUT: usize = 16 * 1024;

/// A command and its time limit.
pub(crate) struct Build<'d> {
    item: Item<'d>,
    /// A line for the shell, or a program and its arguments.
    words: Vec<String>,
    timeout: Duration,
}

impl<'d> Build<'d> {
    /// Reads the fields `build` and `build_timeout`.
    pub(crate) fn of(fields: &Fields<'d>) -> Option<Self> {
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
        let end = child::run(&mut command, self.timeout, &AtomicBool::new(false), |_| {});
        let (what, output) = match end {
            Ok(ChildEnd::Exited(status, _)) if status.success() => return Ok(()),
            Ok(ChildEnd::Exited(status, output)) => (format!("failed ({status})"), output),
            Ok(ChildEnd::TimedOut(output)) => {
                let seconds = self.timeout.as_secs_f64();
                let more = "build_timeout = \"10m\" gives it more time";
                (format!("was stopped after {seconds} s; {more}"), output)
            }
            Ok(ChildEnd::Interrupted) => return Err(failed("was stopped".into())),
            Err(error) => return Err(failed(format!("can't be started: {error}"))),
        };
        let output = &output[output.len().saturating_sub(MAX_OUTPUT)..];
        let output = String::from_utf8_lossy(output);
        let lines = output.trim_end().lines().map(|line| format!("\n  {}", line.escaped()));
        Err(failed(what) + &lines.collect::<String>())
    }
}

/// Runs the command of a test file that builds its program, in the folder of the file; none if the
/// file has none.
///
/// # Errors
/// Returns `FileErrors` if the file can't be read, or if the command fails; its output is in the
/// message.
pub fn run_build(path: &Path) -> Result<(), FileErrors> {
    match std::fs::read_to_string(path) {
        Ok(text) => run_build_of(path, &text),
        Err(_) => Ok(()), // reading the tests reports it
    }
}

/// Runs the command of a test file with this text, which may not exist yet, as [`run_build`] does.
///
/// # Errors
/// Returns `FileErrors` if the command fails.
pub fn run_build_of(path: &Path, text: &str) -> Result<(), FileErrors> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut has_syntax_errors = true;
    let result = Document::read(path, text, |root| {
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
