//! A program that runs in the background, while the test waits for its messages.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

/// A running program and its messages.
pub(crate) struct BackgroundProcess {
    pub(crate) run: Child,
    stderr: BufReader<ChildStderr>,
}

impl BackgroundProcess {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("it starts");
        let shown = BufReader::new(run.stderr.take().expect("it is piped"));
        Self { run, stderr: shown }
    }

    /// Waits until the program has printed a line with this text.
    pub(crate) fn wait_for_message(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(
                self.stderr.read_line(&mut line).expect("text") > 0,
                "it ended before '{words}'"
            );
        }
    }

    /// Waits until the program exits. Returns its output, and the rest of its messages.
    pub(crate) fn finish(mut self) -> (Output, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).expect("text");
        (self.run.wait_with_output().expect("it ends"), rest)
    }
}
