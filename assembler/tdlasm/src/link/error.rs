//! Errors of the linker.

use std::fmt;

/// The errors of one link: all of them, or the first hundred and a count of the others.
///
/// [`Debug`](fmt::Debug) shows their messages too, since `main` prints its error so.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkErrors(pub Vec<LinkError>);

impl fmt::Display for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let end = if index + 1 < self.0.len() { "\n" } else { "" };
            write!(f, "error[{}]: {error}{end}", error.code)?;
        }
        Ok(())
    }
}

impl fmt::Debug for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LinkErrors {}

/// Errors beyond this number are only counted.
const MAX_ERRORS: usize = 100;

/// Collects the errors of a link. Descriptions are computed only for the errors that are shown.
#[derive(Debug, Default)]
pub(super) struct Errors {
    found: Vec<LinkError>,
    more: usize,
}

impl Errors {
    pub(super) fn push(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        if self.found.len() < MAX_ERRORS {
            self.found.push(LinkError { code, message: message() });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_result(mut self) -> Result<(), LinkErrors> {
        if self.more > 0 {
            let message = format!("{} more errors of this program are left out", self.more);
            self.found.push(LinkError { code: "L999", message });
        }
        if self.found.is_empty() { Ok(()) } else { Err(LinkErrors(self.found)) }
    }
}

/// An error of the linker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LinkError {
    /// A stable name for the kind of error:
    ///
    /// | name | kind |
    /// |---|---|
    /// | L001 | no module defines the symbol |
    /// | L002 | two modules export the symbol |
    /// | L003 | the layout has no rule for the section |
    /// | L004 | the section does not fit its region |
    /// | L005 | two sections contain the same addresses |
    /// | L006 | the value does not fit its field |
    /// | L007 | the program has bytes at the address of a checksum |
    /// | L008 | an external area is not only reserved |
    /// | L999 | further errors that are not described |
    pub code: &'static str,
    /// What is wrong, and where.
    pub message: String,
}
