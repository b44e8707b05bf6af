//! The arguments that choose cases.

use program_kit::text::Show;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use hil_harness::board::heading;
use program_kit::exit::{Failure, NOTHING, RIG};
use sargon_cases::{self as corpus, Case, Selection, Shard};

use hw_console::read;

/// Which cases, and in which order.
#[derive(Args)]
pub(super) struct SelectArgs {
    /// Only cases of these names; * is any text, ? any character
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Take these positions (EPD) instead of the built-in corpus; may be given again
    #[arg(long, value_name = "FILE")]
    corpus: Vec<PathBuf>,
    /// Only cases with this tag; may be given again
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only cases with this tag, or with this text in their name; may be given again
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only one part of them: 2/5 is the second of five
    #[arg(long, value_name = "PART/PARTS")]
    pub(super) shard: Option<Shard>,
    /// Take them in an order that this number decides
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
}

impl SelectArgs {
    /// The cases; of a transcript, those that were recorded.
    pub(super) fn cases(&self, replay: Option<&Path>) -> Result<Vec<Case>, Failure> {
        let mut cases = self.corpus()?;
        if let Some(file) = replay
            && self.takes_all()
        {
            let recorded = heading(file).map_err(|error| Failure::new(RIG, error))?.cases;
            cases.retain(|case| recorded.contains(&case.id));
        }
        let selection = Selection {
            names: self.names.clone(),
            tags: self.tag.clone(),
            texts: self.filter.clone(),
            shard: self.shard,
            seed: self.seed,
        };
        let cases = selection.of(cases);
        if cases.is_empty() {
            let why = "no case is selected; `hw-tests run --list` tells names and tags";
            return Err(Failure::new(NOTHING, why));
        }
        Ok(cases)
    }

    fn takes_all(&self) -> bool {
        self.names.is_empty() && self.tag.is_empty() && self.filter.is_empty()
    }

    fn corpus(&self) -> Result<Vec<Case>, Failure> {
        if self.corpus.is_empty() {
            return corpus::shipped().map_err(|error| Failure::new(RIG, error));
        }
        let mut cases = Vec::new();
        for path in &self.corpus {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            let some = corpus::parse_positions(&path.shown().to_string(), &text);
            cases.extend(some.map_err(|error| Failure::new(RIG, error))?);
        }
        let mut names = BTreeSet::new();
        match cases.iter().find(|case| !names.insert(&case.id)) {
            Some(twice) => Err(Failure::new(RIG, format!("two cases are called {}", twice.id))),
            None => Ok(cases),
        }
    }
}
