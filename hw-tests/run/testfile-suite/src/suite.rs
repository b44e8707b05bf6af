//! Test files as a suite of the engine, for results files, baselines and reports.

use std::ops::Range;
use std::sync::Arc;

use firmware_wire::crc32;
use hil_harness::suite::{CaseResult, Page, Suite, Verdict};
use serde_json::{Value, json};

use crate::contract::Contract;
use crate::model::{Case, Heading, Property, TestFile};
use crate::result::{Difference, TestDetails};

/// The most inputs of an exhaustive property that are one case.
const MAX_INPUTS: u64 = 0x1_0000;

/// The suite: cases and properties of test files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestFiles;

/// The result of a case or a property.
pub type TestResult = CaseResult<TestFiles>;

/// A case or a property of a test file.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// The name: file and name in it, as in `mul.test.toml::wraps`.
    pub id: String,
    /// Its index among the headings of the file.
    pub index: usize,
    /// The inputs that are tried, of an exhaustive property that is tried in parts.
    pub inputs: Option<Range<u64>>,
    /// The file.
    pub file: Arc<TestFile>,
    /// The contracts that its calls must keep.
    pub contracts: Arc<[Contract]>,
}

impl TestCase {
    /// Returns the cases and properties of a file that it does not skip. An exhaustive property of
    /// more than 65,536 inputs is several: `NAME part 1/3`.
    pub fn all(file: &Arc<TestFile>, contracts: &Arc<[Contract]>) -> Vec<Self> {
        let mut all = Vec::new();
        let cases = file.cases.iter().enumerate();
        for (index, case) in cases.filter(|(_, case)| case.heading.skip.is_none()) {
            let exhaustive = case.property.as_ref().filter(|property| property.exhaustive);
            let inputs = exhaustive.map_or(1, Property::input_count);
            let parts = inputs.div_ceil(MAX_INPUTS);
            let name = format!("{}::{}", file.path.display(), case.heading.name);
            all.extend((0..parts).map(|part| Self {
                id: match parts {
                    1 => name.clone(),
                    _ => format!("{name} part {}/{parts}", part + 1),
                },
                index,
                inputs: (parts > 1).then(|| part * MAX_INPUTS..inputs.min((part + 1) * MAX_INPUTS)),
                file: Arc::clone(file),
                contracts: Arc::clone(contracts),
            }));
        }
        all
    }

    fn test(&self) -> &Case {
        &self.file.cases[self.index]
    }

    /// Returns name, line and tags in the file.
    pub fn heading(&self) -> &Heading {
        &self.test().heading
    }

    /// Returns `true` if the inputs are the same in each run: of a case, and of an exhaustive
    /// property.
    pub fn has_fixed_inputs(&self) -> bool {
        self.test().property.as_ref().is_none_or(|property| property.exhaustive)
    }

    /// Returns the result of the case with its name in the run.
    pub fn result(&self, found: TestResult) -> TestResult {
        TestResult { id: self.id.clone(), attempts: 1, ..found }
    }
}

/// Returns a result of no call, which passes.
pub(crate) fn result_of(case: &Case) -> TestResult {
    let Heading { name, line, tags, .. } = case.heading.clone();
    let routine = case.steps.last().map(|step| step.target.clone()).unwrap_or_default();
    let details = TestDetails { routine, line, ..TestDetails::default() };
    TestResult { id: name, tags, verdict: Verdict::Pass, details, ..TestResult::default() }
}

impl Suite for TestFiles {
    type Case = TestCase;
    type Difference = Difference;
    type Details = TestDetails;

    const VALUE_NOUN: &'static str = "calls";
    const SUBJECT: &'static str = "Routine";
    const PAGE: Page = Page {
        style: "",
        scripts: &[include_str!("suite/page.js")],
        search: "file, name, routine …",
        legend: "",
    };

    fn id(case: &TestCase) -> &str {
        &case.id
    }

    fn tags(case: &TestCase) -> &[String] {
        &case.heading().tags
    }

    fn content(case: &TestCase) -> String {
        let file = &case.file;
        let runs = file.program.linked.image.runs().iter();
        let program: Vec<_> = runs.map(|run| (run.address, crc32(&run.bytes))).collect();
        let test = (&case.test().steps, &case.test().property);
        let console = file.program.console.as_ref().map(|console| &console.kind);
        let machine = (file.stack, console, &file.setup);
        format!("{program:?} {machine:?} {test:?} {:?}", case.contracts)
    }

    fn details(case: &TestCase) -> TestDetails {
        result_of(case.test()).details
    }

    fn subject(details: &TestDetails) -> Option<&str> {
        Some(&details.routine[..]).filter(|routine| !routine.is_empty())
    }

    fn value_count(details: &TestDetails) -> u64 {
        details.calls
    }

    fn t_states(details: &TestDetails) -> Vec<u64> {
        details.t_states.into_iter().collect()
    }

    fn page_values(details: &TestDetails) -> Value {
        json!(Self::t_states(details))
    }
}
