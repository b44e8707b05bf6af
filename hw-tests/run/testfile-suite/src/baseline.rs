//! T-states of cases that later runs are compared with.

use std::collections::BTreeMap;
use std::path::Path;

use crate::document::{Document, FileErrors, Item};

/// T-states by the name of the case, as in `mul.test.toml::wraps`.
///
/// The file is TOML with a key and an integer for each case, sorted.
///
/// ```
/// use std::path::Path;
/// use testfile_suite::CycleBaseline;
///
/// let text = "\"mul.test.toml::wraps\" = 26\n";
/// let baseline = CycleBaseline::parse(Path::new("cycles.toml"), text)?;
/// assert_eq!(baseline.cases["mul.test.toml::wraps"], 26);
/// assert_eq!(baseline.to_toml(), text);
/// # Ok::<(), testfile_suite::FileErrors>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CycleBaseline {
    /// The T-states of all calls of each case.
    pub cases: BTreeMap<String, u64>,
}

impl CycleBaseline {
    /// Reads a baseline from memory. The path serves for messages.
    ///
    /// # Errors
    /// Returns all errors with line and column.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileErrors> {
        Document::read(path, text, |root| {
            let t_states = |item: Item<'_>| item.integer(0..=i64::MAX).unsigned_abs();
            let case = |item: Item<'_>| (item.key.to_owned(), t_states(item));
            Some(Self { cases: root.fields().into_iter().map(case).collect() })
        })
    }

    /// Returns the text of the file.
    pub fn to_toml(&self) -> String {
        let pairs = self.cases.iter().map(|(name, t_states)| (name.clone(), *t_states as i64));
        toml::Table::from_iter(pairs.map(|(name, t_states)| (name, t_states.into()))).to_string()
    }
}
