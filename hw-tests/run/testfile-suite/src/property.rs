//! Runs properties: generates inputs, judges outputs, and shrinks inputs that fail.

mod count;
mod expected;
mod generate;
mod paste;
mod reference;

use std::collections::BTreeMap;
use std::ops::Range;

use board_simulator::routines::{Call, CallEnd, Outcome};
use cli_support::text::Escape;
use hil_harness::suite::Verdict;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::case::{Run, setup_calls, single_call};
use crate::contract::Contract;
use crate::document::FileError;
use crate::judge::{Judged, Sight};
use crate::machine::MachineError;
use crate::model::{Case, Expectation, Judge, Property, Step};
use crate::registers::value;
use crate::result::{Difference, RunError};
use crate::suite::TestResult;

use count::Counter;
use expected::{expect_reply, expect_value};
use generate::{Input, InputTree, nth_input, runner, strategy};
use reference::Reference;
use tdlasm::image::ImageRun;

/// Calls of a batch.
const BATCH: usize = 64;
/// Attempts to find a simpler input.
const MAX_SHRINKS: u32 = 5_000;
/// T-states of all attempts to find a simpler input, so that a loop without end doesn't take long.
const MAX_SHRINK_TIME: u64 = 1_000_000_000;
/// Generated inputs for each that fulfils the assumption, at most.
const MAX_REJECTIONS: u32 = 100;

/// Runs a property, whose `result` has its name.
///
/// # Errors
/// Returns `RunError` if the machine or the reference fails.
pub(crate) fn run<'t>(
    mut run: Run<'t>,
    case: &'t Case,
    property: &'t Property,
    mut result: TestResult,
) -> Result<TestResult, RunError> {
    let (file, options) = (run.file, run.options);
    let reference = match &property.judge {
        Judge::Reference(words, line) => Some(Reference::start(file, words, *line)?),
        _ => None,
    };
    // What is wrong with the setup is no matter of inputs.
    let mut before = result.clone();
    run.steps(&[], &mut before)?;
    if before.verdict == Verdict::Fail {
        return Ok(before);
    }
    result.details.location = Some(file.program.location(case.steps[0].call.address));
    let mut trial = Trial { run, case, property, reference, result, spent: 0 };
    if property.exhaustive {
        trial.run_all()?;
    } else {
        trial.run_random(options.seed.or(property.seed).unwrap_or_else(generate::clock_seed))?;
    }
    Ok(trial.result)
}

/// A property in progress.
struct Trial<'t> {
    run: Run<'t>,
    case: &'t Case,
    property: &'t Property,
    reference: Option<Reference>,
    result: TestResult,
    /// T-states of all calls.
    spent: u64,
}

/// A call that was made.
struct Made {
    step: Step,
    call: Call,
    outcome: Outcome,
}

/// An input that fails.
struct Failure {
    /// The call, with all that is expected of it.
    step: Step,
    differences: Vec<Difference>,
    /// Whether the call is one of the routine with which the tested one is compared.
    is_of_other: bool,
}

impl Trial<'_> {
    fn run_all(&mut self) -> Result<(), RunError> {
        let all = 0..self.property.input_count();
        let range = self.run.options.inputs.clone().unwrap_or_else(|| all.clone());
        let counter = || Counter::new(&self.run, &self.case.steps[0], self.property);
        let mut counter = self.run.machine.is_board().then(counter).flatten();
        let mut next = range.start;
        while next < range.end {
            self.run.report_progress(|| format!("input {} of {}", next + 1, all.end));
            let (end, has_passed) = match &mut counter {
                Some(counter) => counter.count(self, next..range.end)?,
                None => (range.end.min(next + BATCH as u64), false),
            };
            if !has_passed && self.run_each(next..end)? {
                return Ok(());
            }
            next = end;
        }
        self.result.details.tried = Some(match range == all {
            true => format!("all {} inputs", all.end),
            false => format!("inputs {} to {} of {}", range.start + 1, range.end, all.end),
        });
        Ok(())
    }

    /// Tries these of all inputs. Returns `true` if one fails.
    fn run_each(&mut self, range: Range<u64>) -> Result<bool, RunError> {
        for first in range.clone().step_by(BATCH) {
            let numbers = first..range.end.min(first + BATCH as u64);
            let inputs: Vec<_> = numbers.map(|number| nth_input(self.property, number)).collect();
            if let Some((index, failure)) = self.first_failure(&inputs)? {
                let (number, values) = (first + 1 + index as u64, self.values(&inputs[index]));
                let reason = format!("input {number} in ascending order: {values}");
                self.fail(failure, reason, "the exhaustive search");
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run_random(&mut self, seed: u64) -> Result<(), RunError> {
        let (strategy, mut runner) = (strategy(self.property), runner(seed));
        let (count, mut tried, mut rejected) = (self.property.cases, 0, 0);
        while tried < count {
            self.run.report_progress(|| format!("input {} of {count}", tried + 1));
            let wanted = BATCH.min((count - tried) as usize);
            let mut trees = self.accepted(&strategy, &mut runner, wanted, &mut rejected)?;
            if trees.is_empty() {
                self.result.verdict = Verdict::Fail;
                let message = format!("'assume' holds for only {tried} of {rejected} inputs");
                self.result.differences.push(Difference::finding(message, None));
                break;
            }
            let inputs: Vec<Input> = trees.iter().map(ValueTree::current).collect();
            if let Some((index, failure)) = self.first_failure(&inputs)? {
                let (failure, input, shrinks) = self.shrink(&mut trees[index], failure)?;
                let (number, values) = (tried + 1 + index as u32, self.values(&input));
                let reason = format!(
                    "input {number} of {count}, seed {seed}, simplified {shrinks} times: {values}"
                );
                self.fail(failure, reason, &format!("seed {seed}"));
                return Ok(());
            }
            tried += inputs.len() as u32;
        }
        let tried = Some(format!("{tried} inputs, seed {seed}"));
        match self.result.verdict {
            Verdict::Fail => self.result.reason = tried,
            _ => self.result.details.tried = tried,
        }
        Ok(())
    }

    /// Generates inputs that fulfil the assumption; none if that takes too long.
    fn accepted(
        &mut self,
        strategy: &generate::InputStrategy,
        runner: &mut TestRunner,
        wanted: usize,
        rejected: &mut u32,
    ) -> Result<Vec<InputTree>, RunError> {
        let limit = self.property.cases.saturating_mul(MAX_REJECTIONS);
        let mut trees = Vec::new();
        while trees.len() < wanted && *rejected < limit {
            let tree = strategy.new_tree(runner);
            let tree = tree.map_err(|reason| MachineError::Failed(reason.to_string()))?;
            if self.is_assumed(&tree.current()) {
                trees.push(tree);
            } else {
                *rejected += 1;
            }
        }
        Ok(trees)
    }

    fn is_assumed(&mut self, input: &Input) -> bool {
        let Some(assume) = &self.property.assume else { return true };
        let step = self.step(input);
        let call = single_call(self.run.file, &step);
        assume.value(&Sight::new(&step, &call, None, self.run.machine)) != 0
    }

    /// Looks for the simplest input that fails. Each step replaces a value by one half as far from
    /// the simplest, until that no longer fails.
    fn shrink(
        &mut self,
        tree: &mut InputTree,
        failure: Failure,
    ) -> Result<(Failure, Input, u32), RunError> {
        let mut best = (failure, tree.current(), 0);
        let limit = self.spent + MAX_SHRINK_TIME;
        let mut more = tree.simplify();
        for _ in 0..MAX_SHRINKS {
            if !more || self.spent > limit {
                break;
            }
            self.run.report_progress(|| format!("simplified {} times", best.2));
            let input = tree.current();
            let is_assumed = self.is_assumed(&input);
            let tried = if is_assumed { std::slice::from_ref(&input) } else { &[] };
            more = if let Some((_, failure)) = self.first_failure(tried)? {
                best = (failure, input, best.2 + 1);
                tree.simplify()
            } else {
                tree.complicate()
            };
        }
        Ok(best)
    }

    fn fail(&mut self, failure: Failure, mut reason: String, origin: &str) {
        self.result.verdict = Verdict::Fail;
        if failure.is_of_other {
            reason += &format!("; calling {}", failure.step.target.escaped());
            self.result.details.location =
                Some(self.run.file.program.location(failure.step.call.address));
        }
        self.result.reason = Some(reason);
        self.result.details.case = Some(paste::case(self, &failure, origin));
        self.result.differences = failure.differences;
    }

    /// The call of the property with the values of an input.
    fn step(&self, input: &Input) -> Step {
        let mut step = self.case.steps[0].clone();
        let args = self.property.args.iter().zip(&input.registers);
        step.registers.extend(args.map(|((name, _), value)| (*name, *value)));
        for (block, bytes) in self.property.blocks.iter().zip(&input.blocks) {
            step.call.memory.push(ImageRun { address: block.address, bytes: bytes.clone() });
            step.registers.extend(block.count_in.map(|name| (name, bytes.len() as u16)));
        }
        step
    }

    /// Formats the values of an input: `A = 3, DE = 7, BUFFER = [1, 2]`.
    fn values(&self, input: &Input) -> String {
        let registers = self.property.args.iter().zip(&input.registers);
        let registers = registers.map(|((name, _), value)| format!("{name} = {value}"));
        let blocks = self.property.blocks.iter().zip(&input.blocks);
        let blocks = blocks.map(|(block, bytes)| format!("{} = {bytes:?}", block.name.escaped()));
        registers.chain(blocks).collect::<Vec<_>>().join(", ")
    }

    /// Runs inputs and returns the index of the first that fails.
    fn first_failure(&mut self, inputs: &[Input]) -> Result<Option<(usize, Failure)>, RunError> {
        let tried = self.try_inputs(inputs)?.into_iter().enumerate();
        Ok(tried.filter_map(|(index, (_, failure))| Some((index, failure?))).next())
    }

    /// Runs inputs and returns what each did, and what is wrong with it.
    fn try_inputs(
        &mut self,
        inputs: &[Input],
    ) -> Result<Vec<(Outcome, Option<Failure>)>, RunError> {
        let checks = &self.case.steps[0].expect.checks;
        let reads = checks.iter().any(|(_, condition)| condition.reads_memory());
        // Conditions can only read memory after the last call of a batch.
        let size = if reads { 1 } else { BATCH };
        let mut tried = Vec::new();
        for batch in inputs.chunks(size) {
            let (steps, error) = self.expected_steps(batch);
            // First, as conditions see the memory that the tested routine leaves.
            let others = steps.iter().filter_map(|step| self.other(step)).collect();
            let mut others = self.make(others)?.into_iter();
            for made in self.make(steps)? {
                let Made { call, outcome, .. } = &made;
                self.result.details.add(outcome);
                self.spent += outcome.t_states.unwrap_or_else(|| unmeasured_time(call, outcome));
                tried.push(self.judge(made, others.next()));
            }
            // Of the inputs before it one may have failed.
            match error {
                Some(error) if tried.iter().all(|(_, failure)| failure.is_none()) => {
                    return Err(error.into());
                }
                Some(_) => break,
                None => {}
            }
        }
        Ok(tried)
    }

    /// Returns the calls of inputs with what the reference expects of them, up to its first error.
    fn expected_steps(&mut self, inputs: &[Input]) -> (Vec<Step>, Option<FileError>) {
        let mut steps = Vec::new();
        for input in inputs {
            let mut step = self.step(input);
            if let Some(reference) = &mut self.reference {
                let reply = reference.ask(&request(self.property, &step, input));
                let expected = reply.and_then(|reply| {
                    let expected = expect_reply(&mut step.expect, &reply, &self.run.file.program);
                    expected.map_err(|message| reference.error(&message))
                });
                if let Err(error) = expected {
                    return (steps, Some(error));
                }
            }
            steps.push(step);
        }
        (steps, None)
    }

    /// Returns the call of the routine with which the tested one is compared.
    fn other(&self, step: &Step) -> Option<Step> {
        let Judge::SameAs(address, name, _) = &self.property.judge else { return None };
        let (target, expect) = (name.clone(), Expectation::default());
        let call = Call { address: *address, ..step.call.clone() };
        Some(Step { call, target, expect, ..step.clone() })
    }

    /// Makes calls, each after the setup.
    fn make(&mut self, steps: Vec<Step>) -> Result<Vec<Made>, RunError> {
        let Run { file, machine, .. } = &mut self.run;
        let setup = setup_calls(file);
        let mut calls = Vec::with_capacity(steps.len() * (setup.len() + 1));
        for step in &steps {
            calls.extend(setup.iter().cloned().chain([single_call(file, step)]));
        }
        let outcomes = machine.run(&calls)?;
        if outcomes.len() != calls.len() {
            let problem = "the machine returned too few outcomes".to_owned();
            return Err(MachineError::Failed(problem).into());
        }
        let calls = calls.into_iter().zip(outcomes).skip(setup.len()).step_by(setup.len() + 1);
        let made = |(step, (call, outcome))| Made { step, call, outcome };
        Ok(steps.into_iter().zip(calls).map(made).collect())
    }

    /// Returns what a call did, and what is wrong with it, or with that of the other routine.
    fn judge(&mut self, mut made: Made, other: Option<Made>) -> (Outcome, Option<Failure>) {
        let returned = |made: &Made| made.outcome.end == CallEnd::Returned;
        if let (Judge::SameAs(_, _, outputs), Some(other)) = (&self.property.judge, &other)
            && returned(other)
        {
            for name in outputs {
                let output = value(&other.outcome.registers, name);
                expect_value(&mut made.step.expect, name, output);
            }
        }
        let contracts = self.run.options.contracts;
        let mut failure = self.failure(&made, false, contracts);
        if failure.is_none()
            && let Some(other) = other.filter(|other| !returned(other))
        {
            failure = self.failure(&other, true, &[]);
        }
        (made.outcome, failure)
    }

    /// Returns what is wrong with a call, if anything is.
    fn failure(
        &mut self,
        Made { step, call, outcome }: &Made,
        is_of_other: bool,
        contracts: &[Contract],
    ) -> Option<Failure> {
        let judged = Judged::new(self.run.file, step, call, outcome, contracts);
        let not_checked = &mut self.result.details.not_checked;
        let differences = judged.differences(self.run.machine, not_checked);
        let has_failed = !differences.is_empty();
        has_failed.then(|| Failure { step: step.clone(), differences, is_of_other })
    }
}

/// Returns the T-states that a call on a board counts for while inputs are simplified. One that
/// does not return takes three attempts and a restart of the board.
fn unmeasured_time(call: &Call, outcome: &Outcome) -> u64 {
    if outcome.end == CallEnd::Returned { 0 } else { call.timeout.saturating_mul(10) }
}

/// Returns the request for a reference: the call, its registers and its arrays.
fn request(property: &Property, step: &Step, input: &Input) -> Value {
    let arrays = property.blocks.iter().map(|block| &block.name).zip(&input.blocks);
    serde_json::json!({
        "call": step.target,
        "in": step.registers.iter().copied().collect::<BTreeMap<_, _>>(),
        "memory": arrays.collect::<BTreeMap<_, _>>(),
    })
}
