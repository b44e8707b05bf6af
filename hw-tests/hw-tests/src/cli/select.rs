//! Options that select cases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, NOTHING_SELECTED};
use cli_support::files::read_input as read;
use cli_support::text::Escape;
use hil_harness::board::read_header;
use hil_harness::select::{Selection, Shard};
use sargon_corpus::{self as corpus, Case};
use sargon_suite::SargonSuite;

#[derive(Args)]
pub(super) struct SelectArgs {
    /// Only cases with these names; * matches any text, ? any character
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Read cases from this EPD file instead of the built-in corpus; repeatable
    #[arg(long, value_name = "FILE", help_heading = super::CASES)]
    corpus: Vec<PathBuf>,
    /// Only cases with this tag; repeatable
    #[arg(long, value_name = "TAG", help_heading = super::CASES)]
    tag: Vec<String>,
    /// Only cases with this tag or with this text in their name; repeatable
    #[arg(long, value_name = "TEXT", help_heading = super::CASES)]
    filter: Vec<String>,
    /// Only this part of the cases: 2/5 is the second of five parts
    #[arg(long, value_name = "PART/PARTS", help_heading = super::CASES)]
    pub(super) shard: Option<Shard>,
    /// Shuffle cases with this seed
    #[arg(long, value_name = "NUMBER", help_heading = super::CASES)]
    pub(super) seed: Option<u64>,
}

impl SelectArgs {
    /// Returns the selected cases; of a transcript, by default those that it contains.
    pub(super) fn cases(&self, replay: Option<&Path>) -> Result<Vec<Case>, CommandError> {
        let mut cases = self.corpus()?;
        if let Some(file) = replay
            && self.is_unrestricted()
        {
            let recorded =
                read_header(file).map_err(|error| CommandError::new(ENVIRONMENT, error))?.cases;
            cases.retain(|case| recorded.contains(&case.id));
        }
        let selection = Selection {
            names: self.names.clone(),
            tags: self.tag.clone(),
            texts: self.filter.clone(),
            shard: self.shard,
            seed: self.seed,
        };
        let cases = selection.of::<SargonSuite>(cases);
        if cases.is_empty() {
            let why = "no case is selected; list names and tags with `hw-tests run --list`";
            return Err(CommandError::new(NOTHING_SELECTED, why));
        }
        Ok(cases)
    }

    fn is_unrestricted(&self) -> bool {
        self.names.is_empty() && self.tag.is_empty() && self.filter.is_empty()
    }

    fn corpus(&self) -> Result<Vec<Case>, CommandError> {
        if self.corpus.is_empty() {
            return corpus::builtin_corpus().map_err(|error| CommandError::new(ENVIRONMENT, error));
        }
        let mut cases = Vec::new();
        for path in &self.corpus {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            let parsed = corpus::parse_positions(&path.escaped().to_string(), &text);
            cases.extend(parsed.map_err(|error| CommandError::new(ENVIRONMENT, error))?);
        }
        let mut names = BTreeSet::new();
        match cases.iter().find(|case| !names.insert(&case.id)) {
            Some(case) => {
                Err(CommandError::new(ENVIRONMENT, format!("two cases are called {}", case.id)))
            }
            None => Ok(cases),
        }
    }
}
