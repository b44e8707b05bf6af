//! Runs the cases and properties of a test file.

use crate::calls::{REGISTERS, call, result_of};
use crate::judge::Judged;
use crate::machine::{Machine, MachineError, Outcome};
use crate::model::{Case, Heading, Step, TestFile};
use crate::options::RunOptions;
use crate::property;
use crate::result::{RunError, TestResult, Verdict};

/// Runs the selected cases and properties in the order of the file, and reports each result.
///
/// # Errors
/// Returns `RunError` if the machine or a reference program fails.
pub fn run(
    file: &TestFile,
    machine: &mut dyn Machine,
    options: &RunOptions<'_>,
    report: &mut dyn FnMut(TestResult),
) -> Result<(), RunError> {
    let is_selected = |heading: &Heading| options.select.is_none_or(|select| select(heading));
    for case in file.cases.iter().filter(|case| is_selected(&case.heading)) {
        report(match skipped(&case.heading) {
            Some(result) => result,
            None => run_case(file, case, machine, options)?,
        });
    }
    for property in file.properties.iter().filter(|one| is_selected(&one.heading)) {
        report(match skipped(&property.heading) {
            Some(result) => result,
            None => property::run(file, property, machine, options)?,
        });
    }
    Ok(())
}

fn skipped(heading: &Heading) -> Option<TestResult> {
    let reason = heading.skip.clone()?;
    Some(TestResult { verdict: Verdict::Skipped, reason: Some(reason), ..result_of(heading) })
}

fn run_case(
    file: &TestFile,
    case: &Case,
    machine: &mut dyn Machine,
    options: &RunOptions<'_>,
) -> Result<TestResult, RunError> {
    let mut result = result_of(&case.heading);
    let mut registers = REGISTERS;
    let steps: Vec<&Step> = file.setup.iter().chain(&case.steps).collect();
    for (index, step) in steps.iter().enumerate() {
        let call = call(file, step, registers, index == 0);
        let outcomes = machine.run(std::slice::from_ref(&call))?;
        let outcome = first(&outcomes)?;
        registers = outcome.registers;
        result.add(outcome);
        result.routine = file.program.place(step.address);
        let contract = file.contract_at(step.address, options.contracts);
        let judged = Judged { program: &file.program, step, call: &call, outcome, contract };
        let mut found = judged.differences(machine);
        if !found.is_empty() {
            if steps.len() > 1 {
                let target = &step.target;
                let number = index + 1;
                result.reason = Some(format!("call {number} of {}, {target}", steps.len()));
            }
            result.verdict = Verdict::Fail;
            result.differences.append(&mut found);
            break;
        }
    }
    Ok(result)
}

/// Returns the only outcome of a batch.
fn first(outcomes: &[Outcome]) -> Result<&Outcome, MachineError> {
    outcomes.first().ok_or_else(|| MachineError("the machine returned no outcome".to_owned()))
}
