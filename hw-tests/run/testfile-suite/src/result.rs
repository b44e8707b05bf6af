//! Results of cases and properties.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::document::FileError;
use crate::machine::MachineError;

/// The result of a case or a property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestResult {
    /// Its name.
    pub id: String,
    /// Its line in the test file.
    pub line: usize,
    /// The routine that it calls last: address, label, file and line.
    pub routine: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether it passed.
    pub verdict: Verdict,
    /// Why it was skipped, or with which input of a property it failed.
    pub reason: Option<String>,
    /// What differs from the expectations.
    pub differences: Vec<Difference>,
    /// The T-states of its longest call, where they are counted.
    pub t_states: Option<u64>,
    /// The T-states of all calls, where they are counted.
    pub all_t_states: Option<u64>,
    /// The most bytes of stack of a call, where they are measured.
    pub stack: Option<u16>,
    /// The number of calls.
    pub calls: u64,
    /// The failing input of a property, as a `[[case]]`.
    pub case: Option<String>,
    /// What is expected, but could not be checked on this machine, such as `cycles`.
    pub not_checked: BTreeSet<&'static str>,
}

/// The verdict on a case or a property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as expected.
    #[default]
    Pass,
    /// Something differs.
    Fail,
    /// It did not run.
    Skipped,
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs, such as `HL`; a whole sentence if nothing was expected.
    pub what: String,
    /// What was expected; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What was found; empty if nothing was expected.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub actual: String,
    /// The place in the program: address, label, file and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Difference {
    /// Creates a difference between an expected and an actual value.
    pub(crate) fn new(what: impl Into<String>, expected: String, actual: String) -> Self {
        Self { what: what.into(), expected, actual, place: None }
    }

    /// Creates a finding that is a sentence of its own, about a place.
    pub(crate) fn finding(what: String, place: Option<String>) -> Self {
        Self { what, expected: String::new(), actual: String::new(), place }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, expected, actual, place } = self;
        f.write_str(what)?;
        if !expected.is_empty() {
            write!(f, ": expected {expected}, got {actual}")?;
        }
        place.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

/// Error that ends a run; what a routine does wrong is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The machine failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Something that the test file names failed, such as a reference program.
    #[error(transparent)]
    File(#[from] FileError),
}
