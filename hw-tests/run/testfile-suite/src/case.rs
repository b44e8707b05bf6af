//! Runs one case: its calls in order, and again for each T-state of an interrupt that is tried at
//! several.

use hil_harness::suite::Verdict;

use crate::calls::nth_call;
use crate::judge::Judged;
use crate::machine::{CallEnd, Machine, Outcome};
use crate::model::{Case, Step, Sweep, TestFile};
use crate::options::TestOptions;
use crate::result::RunError;
use crate::suite::{TestResult, result_of};

/// The most T-states of all runs of a case with an interrupt at several T-states: about a minute.
const MAX_SWEEP: u64 = 10_000_000_000;
const NO_RETURN_WITHOUT_INTERRUPT: &str = "without the interrupt; at = \"all\" is for calls that \
                                           return without it: expected T-states such as at = \
                                           \"0..200\"";

/// Runs a case; one with an interrupt at several T-states once for each of them, up to the first
/// that fails. Returns the case as it ran last.
pub(crate) fn run_at_all_times(
    file: &TestFile,
    case: &Case,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
    result: &mut TestResult,
) -> Result<Case, RunError> {
    let mut case = case.clone();
    let find = |(step, of): (usize, &Step)| Some((step, of.sweep?));
    let Some((step, sweep)) = case.steps.iter().enumerate().find_map(find) else {
        run_steps(file, &case, machine, options, result)?;
        return Ok(case);
    };
    let Sweep { interrupt, times } = sweep;
    let times = match times {
        Some(times) => Some(times),
        None => times_up_to_return(file, &case, (step, interrupt), machine, options, result)?,
    };
    let Some((mut at, last)) = times else { return Ok(case) };
    let may_end_uninterruptible = sweep.times.is_none() && case.steps[step].any_interrupts;
    while at <= last {
        let spent = result.details.all_t_states.unwrap_or(0);
        if spent > options.max_sweep.unwrap_or(MAX_SWEEP) {
            result.verdict = Verdict::Skipped;
            result.reason = Some(unfinished_sweep(spent, at, last));
            break;
        }
        options.report_progress(|| format!("interrupt at {at} of {last} T-states"));
        case.steps[step].call.interrupts[interrupt].at = at;
        let mut run = result_of(&case.heading);
        let outcomes = run_steps(file, &case, machine, options, &mut run)?;
        let call = outcomes.get(file.setup.len() + step);
        let latest_equal = call.and_then(|outcome| outcome.latest_equal[interrupt]);
        let has_returned = call.is_some_and(|outcome| outcome.end == CallEnd::Returned);
        if may_end_uninterruptible && at > 0 && has_returned && latest_equal.is_none() {
            break;
        }
        add_run(result, run);
        if result.verdict == Verdict::Fail {
            let call = result.reason.take().map(|call| format!("{call}; ")).unwrap_or_default();
            result.reason = Some(format!("{call}interrupt at {at} T-states"));
            break;
        }
        at = latest_equal.unwrap_or(at) + 1;
    }
    Ok(case)
}

/// Returns the T-states of a call up to its return without the interrupt that is tried at all of
/// them. `None` if it does not return then, which is a finding.
fn times_up_to_return(
    file: &TestFile,
    case: &Case,
    (step, interrupt): (usize, usize),
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
    result: &mut TestResult,
) -> Result<Option<(u64, u64)>, RunError> {
    let mut uninterrupted = case.clone();
    uninterrupted.steps[step].call.interrupts[interrupt].at = u64::MAX;
    let mut run = result_of(&case.heading);
    let outcomes = run_steps(file, &uninterrupted, machine, options, &mut run)?;
    match outcomes.get(file.setup.len() + step) {
        Some(outcome) if outcome.end != CallEnd::Returned => {
            add_run(result, run);
            result.reason = Some(NO_RETURN_WITHOUT_INTERRUPT.to_owned());
            Ok(None)
        }
        outcome => Ok(Some((0, outcome.and_then(|outcome| outcome.t_states).unwrap_or(0)))),
    }
}

/// Adds a run of the same case, whose verdict, findings and reason become this one's.
fn add_run(result: &mut TestResult, run: TestResult) {
    let mut details = std::mem::take(&mut result.details);
    details.add_run(run.details);
    *result = TestResult { details, ..run };
}

fn unfinished_sweep(spent: u64, at: u64, last: u64) -> String {
    let end = last + 1;
    format!(
        "stopped after {spent} T-states of all its runs, before the interrupt at {at} T-states: \
         split the case, this one up to at = \"..{at}\", the next at = \"{at}..{end}\""
    )
}

/// Runs the calls of a case, up to the first that fails, and returns their outcomes.
pub(crate) fn run_steps(
    file: &TestFile,
    case: &Case,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
    result: &mut TestResult,
) -> Result<Vec<Outcome>, RunError> {
    let steps: Vec<&Step> = file.setup.iter().chain(&case.steps).collect();
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let call = nth_call(file, step, index, &outcomes);
        let outcome = machine.run_one(&call)?;
        result.details.add(&outcome);
        result.details.place = Some(file.program.place(step.call.address));
        let judged = Judged::new(file, step, &call, &outcome, options.contracts);
        result.differences = judged.differences(machine, &mut result.details.not_checked);
        outcomes.push(outcome);
        if !result.differences.is_empty() {
            let (number, target) = (index + 1, &step.target);
            let of_several = || format!("call {number} of {}, {target}", steps.len());
            result.reason = (steps.len() > 1).then(of_several);
            result.verdict = Verdict::Fail;
            break;
        }
    }
    Ok(outcomes)
}
