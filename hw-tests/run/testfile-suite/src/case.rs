//! Builds the calls of cases, and runs one: its calls in order, and again for each T-state of an
//! interrupt that is tried at several.

use std::ops::Range;

use board_simulator::routines::{Call, CallEnd, Outcome};
use hil_harness::suite::Verdict;
use z80_core::{Registers, set_register};

use crate::contract::Contract;
use crate::judge::Judged;
use crate::machine::Machine;
use crate::model::{Case, ExpectedMemory, Step, Sweep, TestFile};
use crate::result::RunError;
use crate::suite::{TestResult, result_of};

/// The most T-states of all runs of a case with an interrupt at several T-states: about a minute.
const MAX_SWEEP: u64 = 10_000_000_000;
const NO_RETURN_WITHOUT_INTERRUPT: &str = "without the interrupt; at = \"all\" is for calls that \
                                           return without it: expected T-states such as at = \
                                           \"0..200\"";
/// Registers that a test does not set. Their halves differ, so that a routine that needs one of
/// them or confuses two is found.
const REGISTERS: Registers = Registers {
    af: 0x5A55,
    bc: 0xB1C2,
    de: 0xD3E4,
    hl: 0x9687,
    ix: 0x7869,
    iy: 0x6B5C,
    sp: 0,
    pc: 0,
    af_alt: 0x4CAA,
    bc_alt: 0x3D2E,
    de_alt: 0x1F0D,
    hl_alt: 0x8E7B,
    i: 0,
    r: 0,
};

/// How to run.
#[derive(Default)]
pub struct TestOptions<'o> {
    /// The seed of properties; by default their own, or else one from the clock.
    pub seed: Option<u64>,
    /// The inputs of an exhaustive property that are tried, counted from 0; all if `None`.
    pub inputs: Option<Range<u64>>,
    /// The contracts that are checked for every call of their routines.
    pub contracts: &'o [Contract],
    /// The most T-states of all runs of a case whose interrupt comes at several T-states; 10^10 by
    /// default. A case that needs more is skipped, unless it fails before.
    pub max_sweep: Option<u64>,
    /// Called between the calls of cases and properties that make many, with how far they are.
    pub progress: Option<&'o dyn Fn(&str)>,
}

/// What runs the calls of a file.
pub(crate) struct Run<'r> {
    pub(crate) file: &'r TestFile,
    pub(crate) machine: &'r mut dyn Machine,
    pub(crate) options: &'r TestOptions<'r>,
}

impl Run<'_> {
    pub(crate) fn report_progress(&self, text: impl FnOnce() -> String) {
        if let Some(progress) = self.options.progress {
            progress(&text());
        }
    }

    /// Runs a case; one with an interrupt at several T-states once for each of them, up to the
    /// first that fails. Returns the case as it ran last.
    pub(crate) fn at_all_times(
        &mut self,
        case: &Case,
        result: &mut TestResult,
    ) -> Result<Case, RunError> {
        let mut case = case.clone();
        let find = |(step, of): (usize, &Step)| Some((step, of.sweep?));
        let Some((step, sweep)) = case.steps.iter().enumerate().find_map(find) else {
            self.steps(&case.steps, result)?;
            return Ok(case);
        };
        let Sweep { interrupt, times } = sweep;
        let times = match times {
            Some(times) => Some(times),
            None => self.times_up_to_return(&case, (step, interrupt), result)?,
        };
        let Some((mut at, last)) = times else { return Ok(case) };
        let may_end_uninterruptible = sweep.times.is_none() && case.steps[step].any_interrupts;
        while at <= last {
            let spent = result.details.all_t_states.unwrap_or(0);
            if spent > self.options.max_sweep.unwrap_or(MAX_SWEEP) {
                result.verdict = Verdict::Skipped;
                let end = last + 1;
                result.reason = Some(format!(
                    "stopped after {spent} T-states of all its runs, before the interrupt at {at} \
                     T-states: split the case, this one up to at = \"..{at}\", the next at = \
                     \"{at}..{end}\""
                ));
                break;
            }
            self.report_progress(|| format!("interrupt at {at} of {last} T-states"));
            case.steps[step].call.interrupts[interrupt].at = at;
            let mut run = result_of(&case);
            let outcomes = self.steps(&case.steps, &mut run)?;
            let call = outcomes.get(self.file.setup.len() + step);
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

    /// Returns the T-states of a call up to its return without the interrupt that is tried at all
    /// of them. `None` if it does not return then, which is a finding.
    fn times_up_to_return(
        &mut self,
        case: &Case,
        (step, interrupt): (usize, usize),
        result: &mut TestResult,
    ) -> Result<Option<(u64, u64)>, RunError> {
        let mut steps = case.steps.clone();
        steps[step].call.interrupts[interrupt].at = u64::MAX;
        let mut run = result_of(case);
        let outcomes = self.steps(&steps, &mut run)?;
        match outcomes.get(self.file.setup.len() + step) {
            Some(outcome) if outcome.end != CallEnd::Returned => {
                add_run(result, run);
                result.reason = Some(NO_RETURN_WITHOUT_INTERRUPT.to_owned());
                Ok(None)
            }
            outcome => Ok(Some((0, outcome.and_then(|outcome| outcome.t_states).unwrap_or(0)))),
        }
    }

    /// Makes the calls of the setup and of a case, up to the first that fails, and returns their
    /// outcomes.
    pub(crate) fn steps(
        &mut self,
        steps: &[Step],
        result: &mut TestResult,
    ) -> Result<Vec<Outcome>, RunError> {
        let Self { file, options, .. } = *self;
        let steps: Vec<&Step> = file.setup.iter().chain(steps).collect();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            let call = nth_call(file, step, index, &outcomes);
            let outcome = self.machine.run_one(&call)?;
            result.details.add(&outcome);
            result.details.location = Some(file.program.location(step.call.address));
            let judged = Judged::new(file, step, &call, &outcome, options.contracts);
            result.differences = judged.differences(self.machine, &mut result.details.not_checked);
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
}

/// Adds a run of the same case, whose verdict, findings and reason become this one's.
fn add_run(result: &mut TestResult, run: TestResult) {
    let mut details = std::mem::take(&mut result.details);
    details.add_run(run.details);
    *result = TestResult { details, ..run };
}

/// Returns the calls before each case, without judging them.
pub(crate) fn setup_calls(file: &TestFile) -> Vec<Call> {
    file.setup.iter().enumerate().map(|(index, step)| nth_call(file, step, index, &[])).collect()
}

/// Returns the call of a step after the `outcomes` of those before it, the setup included. The
/// calls of a case share registers; those of the setup, and the first of the case, start with the
/// fixed ones.
pub(crate) fn nth_call(file: &TestFile, step: &Step, index: usize, outcomes: &[Outcome]) -> Call {
    let shared = outcomes.last().filter(|_| index > file.setup.len());
    let base = shared.map_or(REGISTERS, |outcome| outcome.registers);
    let sp = file.stack.top.wrapping_sub(step.call.stack_arguments.len() as u16);
    let mut registers = Registers { sp, ..base };
    for (name, value) in &step.registers {
        set_register(&mut registers, name, *value);
    }
    registers.af = step.flags.apply(registers.af);
    let bytes = |memory: &ExpectedMemory| {
        (memory.address, memory.elements.len() * usize::from(memory.width))
    };
    let console = file.program.console.as_ref();
    let printed = step.expect.console.as_ref().and_then(|text| console?.after(text));
    let read = step.expect.memory.iter().map(bytes).chain(printed).collect();
    let (reload, stack_size) = (index == 0, file.stack.size);
    Call { reload, registers, read, stack_size, ..step.call.clone() }
}

/// Returns the call of a step after a reload or the setup.
pub(crate) fn single_call(file: &TestFile, step: &Step) -> Call {
    nth_call(file, step, file.setup.len(), &[])
}
