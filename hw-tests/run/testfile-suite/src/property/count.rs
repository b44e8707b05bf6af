//! Tries inputs on a machine that counts through arguments by itself, as the caller on a board.
//!
//! A simulated machine makes the same calls first, and its outputs are judged. If none fails, the
//! CRC-32 of the outputs on the other machine must be that of the simulated ones. Otherwise its
//! calls are made one by one.

use std::collections::BTreeSet;
use std::ops::Range;

use board_simulator::routines::RoutineMachine;
use firmware_wire::{MAX_COUNTED_BYTES, crc32};
use z80_core::{FLAGS, REGISTER_HALVES, canonical_register_name, register_halves};

use crate::case::{Run, single_call};
use crate::machine::ArgumentSweep;
use crate::model::{Generator, Judge, Property, Step};
use crate::registers::{is_input, value, without_prefix};
use crate::result::RunError;
use crate::suite::result_of;

use super::generate::nth_input;
use super::{BATCH, Trial};

/// Most calls that one checksum is of.
const MAX_CALLS: u64 = 0x2000;
/// T-states after which no further call is added to them: two seconds at 7.3728 MHz.
const MAX_T_STATES: u64 = 15_000_000;

/// What of a property is counted through and compared.
pub(super) struct Counter {
    simulated: RoutineMachine,
    /// Registers of eight bits that count, the lowest first.
    counted: Vec<&'static str>,
    /// The number of inputs that differ in those registers only.
    period: u64,
    /// Registers of eight bits that the judge uses, and the flags.
    results: Vec<&'static str>,
    flags: u8,
    /// Whether the last inputs passed, so that memory is as a call by itself has left it.
    is_prepared: bool,
}

impl Counter {
    /// Returns `None` if a judge needs memory, the console, mocks or a program, or if no argument
    /// counts up.
    pub(super) fn new(run: &Run<'_>, step: &Step, property: &Property) -> Option<Self> {
        let expect = &step.expect;
        let reads = expect.checks.iter().any(|(_, condition)| condition.reads_memory());
        let is_program = matches!(property.judge, Judge::Reference(..));
        let reads = reads || !expect.memory.is_empty() || expect.console.is_some();
        if reads || is_program || !step.call.mocks.is_empty() {
            return None;
        }
        let (counted, period) = counted(property);
        let (results, flags) = results(run, step, property);
        let simulated = run.file.program.machine();
        (period > 1 && !results.is_empty()).then_some(Self {
            simulated,
            counted,
            period,
            results,
            flags,
            is_prepared: false,
        })
    }

    /// Tries the first of these inputs. Returns the number of the one after them, and whether they
    /// have passed.
    pub(super) fn count(
        &mut self,
        trial: &mut Trial<'_>,
        range: Range<u64>,
    ) -> Result<(u64, bool), RunError> {
        let first = nth_input(trial.property, range.start);
        let start = range.start;
        let (count, has_passed) = self.simulate(trial, range)?;
        let end = start + u64::from(count.calls);
        let calls = trial.result.details.calls;
        // A call by itself also writes memory, and shows what can't be checked.
        let is_ready = has_passed
            && (std::mem::take(&mut self.is_prepared)
                || trial.first_failure(std::slice::from_ref(&first))?.is_none());
        trial.result.details.calls = calls;
        if !is_ready {
            return Ok((end, false));
        }
        let call = single_call(trial.run.file, &trial.step(&first));
        let used = trial.run.machine.count(&call, &count)?;
        if used.is_some() {
            trial.result.details.calls += end - start;
            self.is_prepared = true;
            trial.result.details.stack = trial.result.details.stack.max(used);
        }
        Ok((end, used.is_some()))
    }

    /// Makes and judges the calls of the first inputs on the simulated machine. Returns the same
    /// calls for the other machine, and whether they have passed.
    fn simulate(
        &mut self,
        trial: &Trial<'_>,
        range: Range<u64>,
    ) -> Result<(ArgumentSweep, bool), RunError> {
        let (case, property) = (trial.case, trial.property);
        let period_end = (range.start / self.period + 1) * self.period;
        let limit = range.end.min(period_end).min(range.start + MAX_CALLS);
        let (reference, result) = (None, result_of(case));
        let run = Run { machine: &mut self.simulated, ..trial.run };
        let mut model = Trial { run, case, property, reference, result, spent: 0 };
        let (mut end, mut bytes, mut has_passed) = (range.start, Vec::new(), true);
        while end < limit && model.spent < MAX_T_STATES {
            let numbers = end..limit.min(end + BATCH as u64);
            end = numbers.end;
            let inputs: Vec<_> = numbers.map(|number| nth_input(property, number)).collect();
            for (outcome, failure) in model.try_inputs(&inputs)? {
                has_passed &= failure.is_none();
                bytes.extend(self.results.iter().map(|name| {
                    let value = value(&outcome.registers, name) as u8;
                    if *name == "F" { value & self.flags } else { value }
                }));
            }
        }
        let count = ArgumentSweep {
            counted: self.counted.clone(),
            calls: (end - range.start) as u32,
            results: self.results.clone(),
            flags: self.flags,
            crc: crc32(&bytes),
            t_states: model.spent,
            stack: model.result.details.stack.unwrap_or_default(),
        };
        Ok((count, has_passed))
    }
}

/// Returns the registers that count when the number of an input does, and for how many inputs.
fn counted(property: &Property) -> (Vec<&'static str>, u64) {
    let (mut counted, mut period) = (Vec::new(), 1);
    for (name, generator) in property.args.iter().rev() {
        let bytes = register_halves(name);
        let is_range = matches!(generator, Generator::Range(_));
        if !is_range || bytes.len() == 0 || counted.len() + bytes.len() > MAX_COUNTED_BYTES {
            break;
        }
        let values = 1 << (8 * bytes.len());
        counted.extend(bytes.rev());
        period *= generator.size();
        if generator.size() < values {
            break;
        }
    }
    (counted, period)
}

/// Returns the registers and flags that the judge uses.
fn results(run: &Run<'_>, step: &Step, property: &Property) -> (Vec<&'static str>, u8) {
    let expect = &step.expect;
    let given = property.args.iter().map(|(name, _)| *name);
    let given = given.chain(step.registers.iter().map(|(name, _)| *name));
    let given: BTreeSet<_> = given.flat_map(register_halves).collect();
    let is_output = |name: &&str| !is_input(name, &given);
    let variables = expect.checks.iter().flat_map(|(_, condition)| condition.variables());
    let mut names: Vec<&str> = variables.filter(is_output).map(without_prefix).collect();
    names.extend(expect.registers().map(|name| name as &str));
    if let Judge::SameAs(_, _, outputs) = &property.judge {
        names.extend(outputs.iter().copied());
    }
    let mut used: BTreeSet<_> = names
        .iter()
        .filter_map(|name| canonical_register_name(name))
        .flat_map(register_halves)
        .collect();
    let contract = run.options.contracts.iter().find(|one| one.is_called(run.file, step));
    let contract = contract.and_then(|one| one.may_change.as_ref());
    let may_change = [expect.clobbers.as_ref(), contract];
    for allowed in may_change.into_iter().flatten() {
        used.extend(REGISTER_HALVES.into_iter().filter(|half| !allowed.contains(half)));
    }
    let is_used = |flag: &str| names.iter().any(|name| name.eq_ignore_ascii_case(flag));
    let flags = FLAGS.iter().filter(|(flag, _)| is_used(flag));
    let flags = flags.fold(expect.flags.mask, |mask, (_, bit)| mask | *bit as u8);
    let flags = if used.contains("F") { 0xFF } else { flags };
    used.extend((flags != 0).then_some("F"));
    (used.into_iter().collect(), flags)
}
