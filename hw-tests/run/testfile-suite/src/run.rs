//! Runs the cases and properties of a test file.

use crate::calls::{REGISTERS, call, result_of};
use crate::judge::{Judged, missed_interrupt};
use crate::machine::{Call, CallEnd, Machine, Outcome};
use crate::model::{Case, Step, TestFile};
use crate::options::RunOptions;
use crate::property;
use crate::result::{RunError, TestResult, Verdict};

/// Runs the cases and properties in the order of the file, and reports each result.
///
/// # Errors
/// Returns `RunError` if the machine or a reference program fails.
pub fn run(
    file: &TestFile,
    machine: &mut dyn Machine,
    options: &RunOptions<'_>,
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
    options: &RunOptions<'_>,
) -> Result<TestResult, RunError> {
    let property = index.checked_sub(file.cases.len()).map(|index| &file.properties[index]);
    let (heading, steps) = match property {
        None => (&file.cases[index].heading, &file.cases[index].steps[..]),
        Some(property) => (&property.heading, std::slice::from_ref(&property.step)),
    };
    let mut calls = file.setup.iter().chain(steps).map(|step| call(file, step, REGISTERS, false));
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

/// Runs a case; one with an interrupt at several T-states at each of them, up to the end of the
/// call or the first that fails. Returns the case as it ran last.
pub(crate) fn run_at_all_times(
    file: &TestFile,
    case: &Case,
    machine: &mut dyn Machine,
    options: &RunOptions<'_>,
    result: &mut TestResult,
) -> Result<Case, RunError> {
    let mut case = case.clone();
    let sweep =
        case.steps.iter().enumerate().find_map(|(step, of)| Some((step, of.sweep.clone()?)));
    let Some((step, (interrupt, times))) = sweep else {
        run_steps(file, &case, machine, options, result)?;
        return Ok(case);
    };
    let mut at = *times.start();
    while at <= *times.end() {
        case.steps[step].interrupts[interrupt].at = at;
        let outcomes = run_steps(file, &case, machine, options, result)?;
        if result.verdict == Verdict::Fail {
            let call = result.reason.take().map(|call| format!("{call}; ")).unwrap_or_default();
            result.reason = Some(format!("{call}interrupt at {at} T-states"));
            break;
        }
        // A request up to there is accepted at the same instruction.
        match outcomes.get(file.setup.len() + step).map(|outcome| outcome.accepted[interrupt]) {
            Some(accepted) => at = accepted.unwrap_or(at) + 1,
            None => {
                if at == *times.start() {
                    result.verdict = Verdict::Fail;
                    result.differences.push(missed_interrupt(at));
                }
                break;
            }
        }
    }
    Ok(case)
}

/// Runs the calls of a case, up to the first that fails or returns before the interrupt that is
/// tried at several T-states, and returns their outcomes.
fn run_steps(
    file: &TestFile,
    case: &Case,
    machine: &mut dyn Machine,
    options: &RunOptions<'_>,
    result: &mut TestResult,
) -> Result<Vec<Outcome>, RunError> {
    let steps: Vec<&Step> = file.setup.iter().chain(&case.steps).collect();
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let registers = outcomes.last().map_or(REGISTERS, |outcome| outcome.registers);
        let call = call(file, step, registers, index == 0);
        let outcome = machine.run_one(&call)?;
        if step.sweep.as_ref().is_some_and(|(index, _)| comes_after(&call, *index, &outcome)) {
            break;
        }
        result.add(&outcome);
        result.routine = file.program.place(step.address);
        let contract = file.contract_of(step, options.contracts);
        let judged =
            Judged { program: &file.program, step, call: &call, outcome: &outcome, contract };
        result.not_checked.extend(judged.not_checked(machine));
        let mut found = judged.differences(machine);
        outcomes.push(outcome);
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
    Ok(outcomes)
}

/// Returns `true` if a call returned before the request of an interrupt.
fn comes_after(call: &Call, index: usize, outcome: &Outcome) -> bool {
    let at = call.interrupts[index].at;
    outcome.end == CallEnd::Returned && outcome.t_states.is_some_and(|end| end < at)
}
