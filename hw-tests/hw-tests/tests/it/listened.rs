//! A program whose messages are waited for while it runs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

/// A program under way, and what it says.
pub(crate) struct Listened {
    pub(crate) run: Child,
    said: BufReader<ChildStderr>,
}

impl Listened {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("it starts");
        let said = BufReader::new(run.stderr.take().expect("it is piped"));
        Self { run, said }
    }

    /// Waits until it has said this.
    pub(crate) fn hear(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(self.said.read_line(&mut line).expect("text") > 0, "it ended before '{words}'");
        }
    }

    /// Its end, and what it said until then.
    pub(crate) fn ended(mut self) -> (Output, String) {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("text");
        (self.run.wait_with_output().expect("it ends"), rest)
    }
}
