//! Results of cases and properties.

use std::collections::BTreeSet;
use std::fmt;

use board_simulator::routines::Outcome;
use serde::{Deserialize, Serialize};

use crate::document::FileError;
use crate::machine::MachineError;

/// What some machines do not observe, so that it is not checked there.
pub const UNOBSERVED: [&str; 8] =
    ["cycles", "stack", "writes", "ports", "console", "reads", "I", "R"];

/// What a result has besides the engine's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestDetails {
    /// The routine that the case calls last, as the file names it.
    pub routine: String,
    /// The line of the case in its file.
    pub line: usize,
    /// The number of calls.
    pub calls: u64,
    /// The T-states of the longest call, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_states: Option<u64>,
    /// The most bytes of stack of a call, where they are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<u16>,
    /// What is expected, but could not be checked on the machine, such as `cycles`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_checked: BTreeSet<String>,
    /// The failing input of a property, as a `[[case]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// How many inputs of a property were tried; not stored, since it differs from run to run.
    #[serde(skip)]
    pub tried: Option<String>,
    /// Address, label, file and line of the routine; not stored.
    #[serde(skip)]
    pub location: Option<String>,
    /// The T-states of all calls, where they are counted; not stored.
    #[serde(skip)]
    pub all_t_states: Option<u64>,
}

impl TestDetails {
    /// Adds the measurements of a call.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.calls += 1;
        self.t_states = self.t_states.max(outcome.t_states);
        let before = self.all_t_states.unwrap_or(0);
        self.all_t_states = outcome.t_states.map(|t_states| before + t_states);
        self.stack = self.stack.max(outcome.stack);
    }

    /// Adds the measurements of a run of the same case, which becomes the one that is described.
    pub(crate) fn add_run(&mut self, run: Self) {
        let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        *self = Self {
            calls: self.calls + run.calls,
            t_states: self.t_states.max(run.t_states),
            all_t_states: sum(self.all_t_states, run.all_t_states),
            stack: self.stack.max(run.stack),
            not_checked: &self.not_checked | &run.not_checked,
            ..run
        };
    }
}

/// Something that differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// What differs, such as `HL`; a whole sentence if nothing was expected.
    pub subject: String,
    /// What was expected; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What was found; empty if nothing was expected.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub actual: String,
    /// The location in the program: address, label, file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What to do; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Difference {
    /// Creates a difference between an expected and an actual value.
    pub(crate) fn new(subject: impl Into<String>, expected: String, actual: String) -> Self {
        Self { subject: subject.into(), expected, actual, ..Self::default() }
    }

    /// Creates a finding that is a sentence of its own, about a location.
    pub(crate) fn finding(subject: String, location: Option<String>) -> Self {
        Self { subject, location, ..Self::default() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, expected, actual, location, advice } = self;
        f.write_str(subject)?;
        if !expected.is_empty() {
            write!(f, ": expected {expected}, got {actual}")?;
        }
        if let Some(location) = location {
            write!(f, " at {location}")?;
        }
        if advice.is_empty() { Ok(()) } else { write!(f, ": {advice}") }
    }
}

/// Error that ends a run; subject a routine does wrong is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The machine failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Something that the test file names failed, such as a reference program.
    #[error(transparent)]
    File(#[from] FileError),
}
