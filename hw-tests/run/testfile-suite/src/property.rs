//! Runs properties: generates inputs, judges outputs, and shrinks inputs that fail.

mod count;
mod expected;
mod generate;
mod paste;
mod reference;

use std::ops::Range;

use cli_support::text::Escape;
use hil_harness::suite::Verdict;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::block::Block;
use crate::calls::{setup_calls, single_call};
use crate::case::run_steps;
use crate::contract::Contract;
use crate::document::FileError;
use crate::judge::{Judged, Sight};
use crate::machine::{Call, CallEnd, Machine, MachineError, Outcome};
use crate::model::{Case, Expectation, Judge, Property, Step, TestFile};
use crate::options::TestOptions;
use crate::result::{Difference, RunError};
use crate::suite::{TestResult, result_of};

use count::Counter;
use expected::{expect_outputs, expect_reply};
use generate::{Input, InputTree, nth_input, runner, strategy};
use reference::Reference;

/// Calls of a batch.
const BATCH: usize = 64;
/// Attempts to find a simpler input.
const MAX_SHRINKS: u32 = 5_000;
/// T-states of all attempts to find a simpler input, so that a loop without end doesn't take long.
const MAX_SHRINK_TIME: u64 = 1_000_000_000;
/// Generated inputs for each that fulfils the assumption, at most.
const MAX_REJECTIONS: u32 = 100;

/// Runs a property.
///
/// # Errors
/// Returns `RunError` if the machine or the reference fails.
pub(crate) fn run(
    file: &TestFile,
    property: &Property,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
) -> Result<TestResult, RunError> {
    let reference = match &property.judge {
        Judge::Reference(words, line) => Some(Reference::start(file, words, *line)?),
        _ => None,
    };
    let mut result = result_of(&property.heading);
    result.details.place = Some(file.program.place(property.step.call.address));
    // What is wrong with the setup is no matter of inputs.
    let setup = Case { heading: property.heading.clone(), steps: Vec::new() };
    let mut before = result_of(&property.heading);
    run_steps(file, &setup, machine, options, &mut before)?;
    if before.verdict == Verdict::Fail {
        return Ok(before);
    }
    let mut trial = Trial { file, property, machine, options, reference, result, spent: 0 };
    if property.exhaustive {
        trial.run_all()?;
    } else {
        trial.run_random(options.seed.or(property.seed).unwrap_or_else(generate::clock_seed))?;
    }
    Ok(trial.result)
}

/// A property in progress.
struct Trial<'t> {
    file: &'t TestFile,
    property: &'t Property,
    machine: &'t mut dyn Machine,
    options: &'t TestOptions<'t>,
    reference: Option<Reference>,
    result: TestResult,
    /// T-states of all calls.
    spent: u64,
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
        let range = self.options.inputs.clone().unwrap_or_else(|| all.clone());
        let counter = || Counter::new(self.file, self.property, self.options);
        let mut counter = self.machine.counts().then(counter).flatten();
        let mut next = range.start;
        while next < range.end {
            self.options.report_progress(|| format!("input {} of {}", next + 1, all.end));
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
            let inputs: Vec<_> =
                numbers.clone().map(|number| nth_input(self.property, number)).collect();
            let tried = self.try_inputs(&inputs)?;
            for ((number, input), (_, failure)) in numbers.zip(&inputs).zip(tried) {
                let Some(failure) = failure else { continue };
                let values = paste::values(self.property, input);
                let reason = format!("input {} in ascending order: {values}", number + 1);
                self.fail(failure, reason, "the exhaustive search");
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run_random(&mut self, seed: u64) -> Result<(), RunError> {
        let strategy = strategy(self.property);
        let mut runner = runner(seed);
        let mut tried = 0;
        let mut rejected = 0;
        while tried < self.property.cases {
            let count = self.property.cases;
            self.options.report_progress(|| format!("input {} of {count}", tried + 1));
            let wanted = BATCH.min((self.property.cases - tried) as usize);
            let trees = self.accepted(&strategy, &mut runner, wanted, &mut rejected)?;
            if trees.is_empty() {
                self.result.verdict = Verdict::Fail;
                let message = format!("'assume' holds for only {tried} of {rejected} inputs");
                self.result.differences.push(Difference::finding(message, None));
                break;
            }
            let inputs: Vec<Input> = trees.iter().map(ValueTree::current).collect();
            let failures = self.try_inputs(&inputs)?;
            for (mut tree, (_, failure)) in trees.into_iter().zip(failures) {
                tried += 1;
                let Some(failure) = failure else { continue };
                let (failure, input, shrinks) = self.shrink(&mut tree, failure)?;
                let values = paste::values(self.property, &input);
                let count = self.property.cases;
                let reason = format!(
                    "input {tried} of {count}, seed {seed}, simplified {shrinks} times: {values}"
                );
                self.fail(failure, reason, &format!("seed {seed}"));
                return Ok(());
            }
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
            let tree = generate::tree(strategy, runner).map_err(MachineError)?;
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
        let call = single_call(self.file, &step);
        assume.value(&Sight::new(&step, &call, None, self.machine)) != 0
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
            self.options.report_progress(|| format!("simplified {} times", best.2));
            let input = tree.current();
            let failure = match self.is_assumed(&input) {
                true => {
                    self.try_inputs(std::slice::from_ref(&input))?.pop().and_then(|tried| tried.1)
                }
                false => None,
            };
            more = if let Some(failure) = failure {
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
            self.result.details.place = Some(self.file.program.place(failure.step.call.address));
        }
        self.result.reason = Some(reason);
        self.result.details.case = Some(paste::case(self.file, self.property, &failure, origin));
        self.result.differences = failure.differences;
    }

    /// The call of the property with the values of an input.
    fn step(&self, input: &Input) -> Step {
        let mut step = self.property.step.clone();
        let args = self.property.args.iter().zip(&input.registers);
        step.registers.extend(args.map(|((name, _), value)| (*name, *value)));
        for (block, bytes) in self.property.blocks.iter().zip(&input.blocks) {
            step.call.memory.push(Block { address: block.address, bytes: bytes.clone() });
            step.registers.extend(block.count_in.map(|name| (name, bytes.len() as u16)));
        }
        step
    }

    /// Runs inputs and returns what each did, and what is wrong with it.
    fn try_inputs(
        &mut self,
        inputs: &[Input],
    ) -> Result<Vec<(Outcome, Option<Failure>)>, RunError> {
        let checks = &self.property.step.expect.checks;
        let reads = checks.iter().any(|(_, condition)| condition.reads_memory());
        // Conditions can only read memory after the last call of a batch.
        let size = if reads { 1 } else { BATCH };
        let mut tried = Vec::new();
        for batch in inputs.chunks(size) {
            let (steps, error) = self.expected_steps(batch);
            let others: Vec<Step> = steps.iter().filter_map(|step| self.other(step)).collect();
            let other_calls: Vec<Call> =
                others.iter().map(|step| single_call(self.file, step)).collect();
            // First, as conditions see the memory that the tested routine leaves.
            let other_outcomes = self.outcomes(&other_calls)?;
            let calls: Vec<Call> = steps.iter().map(|step| single_call(self.file, step)).collect();
            let outcomes = self.outcomes(&calls)?;
            let mut others = others.into_iter().zip(other_calls).zip(other_outcomes);
            for ((step, call), outcome) in steps.into_iter().zip(calls).zip(outcomes) {
                self.result.details.add(&outcome);
                self.spent += outcome.t_states.unwrap_or_else(|| unmeasured_time(&call, &outcome));
                let other = others.next().map(|((step, call), outcome)| (step, call, outcome));
                let failure = self.judge(step, &call, &outcome, other);
                tried.push((outcome, failure));
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
                    let expected = expect_reply(&mut step.expect, &reply, &self.file.program);
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

    /// Runs calls, each after the setup, and returns their outcomes.
    fn outcomes(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, RunError> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let setup = setup_calls(self.file);
        let each = setup.len() + 1;
        let all = calls.iter().flat_map(|call| setup.iter().chain([call]).cloned());
        let outcomes = self.machine.run(&all.collect::<Vec<_>>())?;
        if outcomes.len() != calls.len() * each {
            return Err(MachineError("the machine returned too few outcomes".to_owned()).into());
        }
        Ok(outcomes.into_iter().skip(each - 1).step_by(each).collect())
    }

    fn judge(
        &mut self,
        mut step: Step,
        call: &Call,
        outcome: &Outcome,
        other: Option<(Step, Call, Outcome)>,
    ) -> Option<Failure> {
        if let (Judge::SameAs(_, _, outputs), Some((_, _, other))) = (&self.property.judge, &other)
            && other.end == CallEnd::Returned
        {
            expect_outputs(&mut step.expect, other, outputs);
        }
        let differences = self.differences(&step, call, outcome, self.options.contracts);
        if !differences.is_empty() {
            return Some(Failure { step, differences, is_of_other: false });
        }
        let (step, call, outcome) =
            other.filter(|(_, _, outcome)| outcome.end != CallEnd::Returned)?;
        let differences = self.differences(&step, &call, &outcome, &[]);
        Some(Failure { step, differences, is_of_other: true })
    }

    /// Returns what is wrong with a call.
    fn differences(
        &mut self,
        step: &Step,
        call: &Call,
        outcome: &Outcome,
        contracts: &[Contract],
    ) -> Vec<Difference> {
        let judged = Judged::new(self.file, step, call, outcome, contracts);
        judged.differences(self.machine, &mut self.result.details.not_checked)
    }
}

/// Returns the T-states that a call on a board counts for while inputs are simplified. One that
/// does not return takes three attempts and a restart of the board.
fn unmeasured_time(call: &Call, outcome: &Outcome) -> u64 {
    if outcome.end == CallEnd::Returned { 0 } else { call.timeout.saturating_mul(10) }
}

/// Returns the request for a reference: the call, its registers and its arrays.
fn request(property: &Property, step: &Step, input: &Input) -> Value {
    let registers =
        step.registers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    let arrays = property.blocks.iter().zip(&input.blocks);
    let arrays = arrays.map(|(block, bytes)| (block.name.clone(), bytes.clone().into()));
    serde_json::json!({
        "call": step.target,
        "in": registers.collect::<serde_json::Map<String, Value>>(),
        "memory": arrays.collect::<serde_json::Map<String, Value>>(),
    })
}
