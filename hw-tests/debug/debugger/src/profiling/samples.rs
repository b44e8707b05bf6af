//! Samples the program counter of a program on a target at random times.
//!
//! Zeros on the line halt the program by an interrupt. So code with interrupts disabled is never
//! sampled; its samples count for the instruction after which they are enabled again.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::debugger::Debugger;
use crate::exec::{ExecCommand, HaltReason};
use crate::render;
use board_simulator::profiling::{RoutineMap, qualified_name};
use firmware::code_map::CodeMap;

/// Maximum number of polls between two samples. The number is random, so that samples are not in
/// phase with a program that loops.
const MAX_POLLS_PER_SAMPLE: u32 = 4;

/// The samples of a program.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    counts: BTreeMap<u16, u64>,
    random: u32,
}

/// The number of samples in a routine.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SampledRoutine {
    /// The name of the routine.
    pub name: String,
    /// The number of samples.
    pub samples: u64,
    /// Their share of all samples, in percent.
    pub percent: f64,
    /// The standard error of that share, in percent.
    pub error: f64,
}

impl Samples {
    /// Runs the program for a random time, halts it, and records PC.
    ///
    /// # Errors
    /// Returns the reason if the program halted otherwise.
    pub fn take_sample(&mut self, debugger: &mut Debugger) -> Result<(), String> {
        // The generator of "Numerical Recipes"; its high bits are good enough here.
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut polls = self.random >> 16;
        polls = 1 + polls % MAX_POLLS_PER_SAMPLE;
        let halt = debugger.run(ExecCommand::Continue, &mut |_| {
            polls = polls.saturating_sub(1);
            polls == 0
        });
        if halt != HaltReason::Paused {
            return Err(render::describe_halt(debugger, halt));
        }
        *self.counts.entry(debugger.registers().pc).or_default() += 1;
        Ok(())
    }

    /// Returns the number of all samples.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the sampled routines, the most frequent first.
    pub fn routines(&self, code: &CodeMap) -> Vec<SampledRoutine> {
        let regions = RoutineMap::new(code, []);
        let mut found: BTreeMap<u16, u64> = BTreeMap::new();
        for (place, samples) in &self.counts {
            *found.entry(regions.owner(*place).unwrap_or(*place)).or_default() += samples;
        }
        let all = self.count().max(1) as f64;
        let routine = |(start, samples): (u16, u64)| {
            let share = samples as f64 / all;
            let error = (share * (1.0 - share) / all).sqrt() * 100.0;
            let percent = share * 100.0;
            SampledRoutine { name: qualified_name(code, start), samples, percent, error }
        };
        let mut routines: Vec<_> = found.into_iter().map(routine).collect();
        routines.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.name.cmp(&b.name)));
        routines
    }
}

/// Formats a table of sampled routines.
pub fn sample_table(routines: &[SampledRoutine]) -> String {
    let mut text = " samples       %  ±       routine\n".to_owned();
    for SampledRoutine { name, samples, percent, error } in routines {
        let _ = writeln!(text, "{samples:8}  {percent:6.1}  {error:<6.1}  {name}");
    }
    text
}
