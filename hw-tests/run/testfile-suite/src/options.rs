//! Options of a run, and the contracts that it checks.

use std::ops::Range;
use std::path::Path;

use tdlasm::source::DiskLoader;

use crate::contract::{Contract, contracts};
use crate::machine::Entry;
use crate::model::{Step, TestFile};

/// How to run.
#[derive(Default)]
pub struct TestOptions<'o> {
    /// The seed of properties; by default their own, or else one from the clock.
    pub seed: Option<u64>,
    /// The inputs of an exhaustive property that are tried, counted from 0; all if `None`.
    pub inputs: Option<Range<u64>>,
    /// The contracts that are checked for every call of their routines.
    pub contracts: &'o [Contract],
    /// The most T-states of all runs of a case whose interrupt comes at several T-states; 10^10 by
    /// default. A case that needs more is skipped, unless it fails before.
    pub max_sweep: Option<u64>,
    /// Called between the calls of cases and properties that make many, with how far they are.
    pub progress: Option<&'o dyn Fn(&str)>,
}

impl TestOptions<'_> {
    pub(crate) fn report_progress(&self, text: impl FnOnce() -> String) {
        if let Some(progress) = self.progress {
            progress(&text());
        }
    }
}

impl TestFile {
    /// Returns the contracts in one of the program's sources; `None` if the path is none of them.
    ///
    /// # Errors
    /// Returns a message if the source can't be read.
    pub fn contracts(&self, path: &Path) -> Result<Option<Vec<Contract>>, String> {
        let real = |path: &Path| path.canonicalize().ok();
        let is_it = |source: &&std::path::PathBuf| **source == path || real(source) == real(path);
        let Some(source) = self.sources.iter().find(is_it) else { return Ok(None) };
        let text = crate::program::read(&DiskLoader, source)?;
        let name = source.to_string_lossy();
        Ok(Some(contracts(&name, &String::from_utf8_lossy(&text))))
    }

    /// Returns the contract of the routine that a step calls.
    pub(crate) fn contract_of<'c>(
        &self,
        step: &Step,
        contracts: &'c [Contract],
    ) -> Option<&'c Contract> {
        contracts.iter().find(|one| self.is_called(step, one))
    }

    /// Returns `true` if a step calls the routine of a contract to its return.
    fn is_called(&self, step: &Step, contract: &Contract) -> bool {
        let is_whole = !matches!(step.call.entry, Entry::Until(_));
        is_whole && self.program.map.symbol(&contract.name) == Some(step.call.address)
    }

    /// Returns `true` if a case or property calls the routine of a contract.
    #[must_use]
    pub fn calls(&self, contract: &Contract) -> bool {
        let steps = self.cases.iter().flat_map(|case| &case.steps);
        let steps = steps.chain(self.properties.iter().map(|property| &property.step));
        steps.chain(&self.setup).any(|step| self.is_called(step, contract))
    }
}
