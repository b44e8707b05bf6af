//! The state of a machine at a call of a case, for debuggers.

use board_simulator::routines::Call;
use cli_support::text::Escape;
use z80_core::Registers;

use crate::case::{Run, TestOptions, nth_call};
use crate::machine::Machine;
use crate::model::{Case, TestFile};
use crate::result::RunError;
use crate::suite::result_of;

/// Names that an error lists.
const LISTED_CASES: usize = 8;

/// The state of a machine at the first instruction of a routine.
pub struct CallState {
    /// The registers; PC is the address of the routine, SP that of the return address.
    pub registers: Registers,
    /// The contents of the 65,536 addresses.
    pub memory: Vec<u8>,
    /// The address to which the routine returns.
    pub return_address: u16,
    /// What this state lacks, such as mocks; empty if nothing.
    pub missing: Vec<&'static str>,
    /// The number of the call in the case, from 1, and the routine as written.
    pub call: (usize, String),
    /// What the call does wrong on a simulated machine.
    pub findings: Vec<String>,
}

impl CallState {
    /// Runs a case on a simulated machine up to its first call that fails, or else its last one.
    ///
    /// # Errors
    /// Returns a message if the file has no such case.
    pub fn of_case(file: &TestFile, name: &str) -> Result<Self, String> {
        let case = find(file, name)?;
        let mut machine = file.program.machine();
        let mut run = Run { file, machine: &mut machine, options: &TestOptions::default() };
        let result = &mut result_of(case);
        let failed = |error: RunError| error.to_string();
        // Of the T-states of an interrupt, the first that fails.
        let case = run.at_all_times(case, result).map_err(failed)?;
        let outcomes = run.steps(&case.steps, result).map_err(failed)?;
        let steps = file.setup.iter().chain(&case.steps).zip(0..outcomes.len());
        let calls = steps.clone().map(|(step, at)| nth_call(file, step, at, &outcomes[..at]));
        let calls: Vec<_> = calls.collect();
        let Some(((call, before), (step, _))) = calls.split_last().zip(steps.last()) else {
            return Err(format!("the case '{}' has no calls", name.escaped()));
        };
        machine.run(before).map_err(|error| error.to_string())?;
        Ok(Self {
            registers: machine.enter(call).registers(),
            memory: machine.read(0, 0x1_0000),
            return_address: machine.end_address(call),
            missing: missing(call),
            call: (outcomes.len(), step.target.clone()),
            findings: result.differences.iter().map(ToString::to_string).collect(),
        })
    }
}

/// Returns what the state at a call lacks.
fn missing(call: &Call) -> Vec<&'static str> {
    let has_interrupts = !call.interrupts.is_empty() || call.entry.is_interrupt();
    let parts = [
        ("mocks", !call.mocks.is_empty()),
        ("ports", call.feeds_ports()),
        ("values of 'reads'", !call.mapped.is_empty()),
        ("interrupts", has_interrupts),
    ];
    parts.into_iter().filter(|part| part.1).map(|part| part.0).collect()
}

fn find<'f>(file: &'f TestFile, name: &str) -> Result<&'f Case, String> {
    let (path, shown) = (file.path.escaped(), name.escaped());
    match file.cases.iter().find(|case| case.heading.name == name) {
        Some(case) if case.property.is_none() => Ok(case),
        Some(_) => Err(format!(
            "{path}: '{shown}' is a property: add the case that `hw-tests test` prints for its \
             failing input"
        )),
        None => {
            let cases = file.cases.iter().filter(|case| case.property.is_none());
            let names = cases.map(|case| format!("'{}'", case.heading.name.escaped()));
            let names = names.take(LISTED_CASES).collect::<Vec<_>>().join(", ");
            Err(format!("{path}: no case '{shown}': expected one such as {names}"))
        }
    }
}
