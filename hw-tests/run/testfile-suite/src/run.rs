//! Runs the cases and properties of a test file.

use hil_harness::suite::Verdict;

use crate::calls::single_call;
use crate::case::run_at_all_times;
use crate::machine::Machine;
use crate::model::TestFile;
use crate::options::TestOptions;
use crate::property;
use crate::result::RunError;
use crate::suite::{TestResult, result_of};

/// Runs the cases and properties in the order of the file, and reports each result.
///
/// # Errors
/// Returns `RunError` if the machine or a reference program fails.
pub fn run(
    file: &TestFile,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
    report: &mut dyn FnMut(TestResult),
) -> Result<(), RunError> {
    for index in 0..file.headings().count() {
        report(run_one(file, index, machine, options)?);
    }
    Ok(())
}

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
    let property = index.checked_sub(file.cases.len()).map(|index| &file.properties[index]);
    let (heading, steps) = match property {
        None => (&file.cases[index].heading, &file.cases[index].steps[..]),
        Some(property) => (&property.heading, std::slice::from_ref(&property.step)),
    };
    let mut calls = file.setup.iter().chain(steps).map(|step| single_call(file, step));
    let refusal = || calls.find_map(|call| machine.refusal(&call));
    if let Some(reason) = heading.skip.clone().or_else(refusal) {
        let (verdict, reason) = (Verdict::Skipped, Some(reason));
        return Ok(TestResult { verdict, reason, ..result_of(heading) });
    }
    match property {
        None => {
            let mut result = result_of(heading);
            run_at_all_times(file, &file.cases[index], machine, options, &mut result)?;
            Ok(result)
        }
        Some(property) => property::run(file, property, machine, options),
    }
}
