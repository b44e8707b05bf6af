//! A test file of the user's, run on the simulated processor.

use std::path::Path;

use rcflash_transport::time::{Duration, Instant};
use serde::Deserialize;
use serde_json::{Value, json};
use testfile_suite::{RoutineMachine, TestFile, TestOptions, TestResult, run_one};

use crate::assemble::loader;
use crate::board::SourceFile;
use crate::error::PageError;
use crate::jobs::{Job, Slice};
use crate::message::Post;

/// The time after which the worker takes messages.
const MAX_SLICE_TIME: Duration = Duration::from_millis(40);

#[derive(Debug, Deserialize)]
pub(crate) struct TestRequest {
    files: Vec<SourceFile>,
    /// The name of the test file.
    test: String,
}

pub(crate) struct TestRun {
    file: TestFile,
    machine: RoutineMachine,
    results: Vec<Value>,
    is_stopped: bool,
}

impl TestRun {
    pub(crate) fn new(request: &TestRequest) -> Result<Self, PageError> {
        let TestRequest { files, test } = request;
        let text = files.iter().find(|file| file.name == *test).map(|file| &file.text);
        let text = text.ok_or_else(|| PageError::new("no such test file"))?;
        let file = TestFile::parse(Path::new(test), text, &loader(files));
        let file = file.map_err(PageError::new)?;
        let machine = file.program.machine();
        Ok(Self { file, machine, results: Vec::new(), is_stopped: false })
    }

    fn is_over(&self) -> bool {
        self.is_stopped || self.results.len() == self.file.headings().count()
    }
}

impl Job for TestRun {
    fn advance(&mut self, _post: &mut Post<'_>) -> Slice {
        let begun = Instant::now();
        while !self.is_over() && begun.elapsed() < MAX_SLICE_TIME {
            let index = self.results.len();
            match run_one(&self.file, index, &mut self.machine, &TestOptions::default()) {
                Ok(result) => self.results.push(facts(&result)),
                Err(error) => return Slice::Done(Err(PageError::new(error))),
            }
        }
        if !self.is_over() {
            return Slice::More;
        }
        let results = std::mem::take(&mut self.results);
        let total = self.file.headings().count();
        Slice::Done(Ok(json!({ "total": total, "tests": results })))
    }

    fn stop(&mut self) {
        self.is_stopped = true;
    }
}

fn facts(result: &TestResult) -> Value {
    let reason = result.reason.clone().or(result.details.tried.clone());
    let differences = result.differences.iter().map(ToString::to_string);
    let reasons: Vec<String> = reason.into_iter().chain(differences).collect();
    json!({
        "name": result.id, "line": result.details.line, "verdict": result.verdict.as_str(),
        "reason": reasons.join("\n"), "tStates": result.details.t_states,
    })
}
