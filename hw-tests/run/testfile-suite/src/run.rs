//! Runs a case or a property of a test file.

use hil_harness::suite::Verdict;

use crate::case::{Run, TestOptions, single_call};
use crate::machine::Machine;
use crate::model::TestFile;
use crate::property;
use crate::result::RunError;
use crate::suite::{TestResult, result_of};

/// Runs the case or property with this index among [`TestFile::headings`].
///
/// # Errors
/// Returns `RunError` if the machine or a reference program fails.
///
/// # Panics
/// Panics if there is no such case or property.
pub fn run_one(
    file: &TestFile,
    index: usize,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
) -> Result<TestResult, RunError> {
    let case = &file.cases[index];
    let mut result = result_of(case);
    let mut calls = file.setup.iter().chain(&case.steps).map(|step| single_call(file, step));
    let refusal = || calls.find_map(|call| machine.refusal(&call));
    result.reason = case.heading.skip.clone().or_else(refusal);
    if result.reason.is_some() {
        result.verdict = Verdict::Skipped;
        return Ok(result);
    }
    let mut run = Run { file, machine, options };
    match &case.property {
        None => {
            run.at_all_times(case, &mut result)?;
            Ok(result)
        }
        Some(property) => property::run(run, case, property, result),
    }
}
