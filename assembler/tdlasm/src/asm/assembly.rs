//! The result of an assembly.

use crate::diag::Diagnostic;
use crate::listing::Listing;
use crate::module::{Module, ObjectForm};
use crate::references::References;
use crate::source::SourceMap;

/// The result of an assembly, with or without errors.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The modules; more than one only if the source uses `.PRGEND`. After errors, these are the
    /// modules that ZASM would have written.
    pub modules: Vec<Module>,
    /// The form of TDL object file that the source selects for all modules.
    pub object_form: ObjectForm,
    /// The listing. Empty unless [`Options::listing`](super::Options::listing) is set.
    pub listing: Listing,
    /// Errors and warnings, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number that ZASM prints as `n ERRORS WERE DETECTED`.
    pub zasm_error_count: usize,
    /// All source texts that were read.
    pub sources: SourceMap,
    /// The console output: texts of `.PRNTX`, and prompts with their replies.
    pub messages: Vec<String>,
    /// Definitions and uses of names, if [`Options::references`](super::Options::references).
    pub references: References,
}

impl Assembly {
    /// Returns `true` if at least one diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
