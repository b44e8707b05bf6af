//! Samples of a program on a real board: its place at moments that it has no part in.
//!
//! Each is a stop by zeros on the line, so that code with interrupts off is never seen, and is
//! counted for the instruction after which they are on again.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::profile::full_name;
use super::routine_map::RoutineMap;
use crate::debugger::Debugger;
use crate::exec::ExecCommand;
use crate::exec::HaltReason;
use crate::render;
use firmware::code::CodeMap;

/// Most looks at the line from one sample to the next. Their number changes, so that samples do not
/// keep step with a program that repeats itself.
const MOST_LOOKS: u32 = 4;

/// Places at which a program was seen.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    places: BTreeMap<u16, u64>,
    random: u32,
}

/// The number of samples in a routine.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SampledRoutine {
    /// Its name.
    pub name: String,
    /// The number of samples.
    pub samples: u64,
    /// Their share of all, in percent.
    pub percent: f64,
    /// The standard error of that share, in percent.
    pub error: f64,
}

impl Samples {
    /// Lets the program go on for a while, and stops it.
    ///
    /// # Errors
    /// The reason for which it was not stopped as wanted.
    pub fn take(&mut self, debugger: &mut Debugger) -> Result<(), String> {
        // The generator of "Numerical Recipes", of which the high bits are good enough here.
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut looks = self.random >> 16;
        looks = 1 + looks % MOST_LOOKS;
        let halt = debugger.run(ExecCommand::Continue, &mut |_| {
            looks = looks.saturating_sub(1);
            looks == 0
        });
        if halt != HaltReason::Paused {
            return Err(render::describe(debugger, halt));
        }
        *self.places.entry(debugger.registers().pc).or_default() += 1;
        Ok(())
    }

    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.places.values().sum()
    }

    /// The routines in which the program was seen, the most frequent first.
    #[must_use]
    pub fn routines(&self, code: &CodeMap) -> Vec<SampledRoutine> {
        let regions = RoutineMap::of(code);
        let mut found: BTreeMap<u16, u64> = BTreeMap::new();
        for (place, samples) in &self.places {
            *found.entry(regions.owner(*place).unwrap_or(*place)).or_default() += samples;
        }
        let all = self.count().max(1) as f64;
        let routine = |(start, samples): (u16, u64)| {
            let share = samples as f64 / all;
            let error = (share * (1.0 - share) / all).sqrt() * 100.0;
            let percent = share * 100.0;
            SampledRoutine { name: full_name(code, start), samples, percent, error }
        };
        let mut routines: Vec<_> = found.into_iter().map(routine).collect();
        routines.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.name.cmp(&b.name)));
        routines
    }
}

/// The routines as a table.
#[must_use]
pub fn sample_table(routines: &[SampledRoutine]) -> String {
    let mut text = " samples       %  ±       routine\n".to_owned();
    for SampledRoutine { name, samples, percent, error } in routines {
        let _ = writeln!(text, "{samples:8}  {percent:6.1}  {error:<6.1}  {name}");
    }
    text
}
