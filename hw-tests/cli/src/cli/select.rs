//! Options that select cases.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, NOTHING_SELECTED};
use cli_support::files::MAX_INPUT_BYTES;
use cli_support::text::{Escape, eprint_message};
use hil_harness::board::read_header;
use hil_harness::select::{Selection, Shard};
use sargon_corpus::args::ImpossibleTally;
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
    /// Only this part of the cases: 2/5 is the second of five parts
    #[arg(long, value_name = "PART/PARTS", help_heading = super::CASES)]
    pub(super) shard: Option<Shard>,
    /// Run the cases in an order that this number determines
    #[arg(long, value_name = "SEED", help_heading = super::CASES)]
    pub(super) shuffle: Option<u64>,
}

impl SelectArgs {
    /// Returns the selected cases; of a transcript, by default those that it contains.
    pub(super) fn cases(&self, replay: Option<&Path>) -> Result<Vec<Case>, CommandError> {
        let replay = replay.filter(|_| self.is_unrestricted()).map(read_header).transpose();
        let replay = replay.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        let is_wanted =
            |case: &Case| replay.as_ref().is_none_or(|recorded| recorded.cases.contains(&case.id));
        let cases = self.corpus(&is_wanted)?;
        let selection = Selection {
            names: self.names.clone(),
            tags: self.tag.clone(),
            shard: self.shard,
            seed: self.shuffle,
        };
        let cases = selection.of::<SargonSuite>(cases);
        if cases.is_empty() {
            let why = "no case is selected; list names and tags with `hw-tests run --list`";
            return Err(CommandError::new(NOTHING_SELECTED, why));
        }
        Ok(cases)
    }

    fn is_unrestricted(&self) -> bool {
        self.names.is_empty() && self.tag.is_empty()
    }

    fn corpus(&self, is_wanted: &dyn Fn(&Case) -> bool) -> Result<Vec<Case>, CommandError> {
        let mut cases = Vec::new();
        if self.corpus.is_empty() {
            let all = corpus::builtin_corpus();
            let all = all.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
            cases.extend(all.into_iter().filter(is_wanted));
        }
        let mut impossible = ImpossibleTally::default();
        for path in &self.corpus {
            read(path, is_wanted, &mut cases, &mut impossible)?;
        }
        impossible.summary().into_iter().for_each(eprint_message);
        let mut names = HashSet::new();
        match cases.iter().find(|case| !names.insert(&case.id)) {
            Some(Case { id, .. }) => {
                Err(CommandError::new(ENVIRONMENT, format!("two cases are called {id}")))
            }
            None => Ok(cases),
        }
    }
}

/// Adds the wanted cases of a file of up to [`MAX_INPUT_BYTES`], line by line. Warns of positions
/// that no game reaches.
fn read(
    path: &Path,
    is_wanted: &dyn Fn(&Case) -> bool,
    cases: &mut Vec<Case>,
    impossible: &mut ImpossibleTally,
) -> Result<(), CommandError> {
    let name = path.escaped().to_string();
    let unreadable =
        |error: &dyn Display| CommandError::new(ENVIRONMENT, format!("can't read {name}: {error}"));
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut source = BufReader::new(file).take(MAX_INPUT_BYTES + 1);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if source.read_until(b'\n', &mut bytes).map_err(|error| unreadable(&error))? == 0 {
            break;
        }
        if source.limit() == 0 {
            let problem = format!("it is larger than the limit of {MAX_INPUT_BYTES} bytes");
            return Err(unreadable(&problem));
        }
        let case = corpus::parse_line(&name, line, &String::from_utf8_lossy(&bytes));
        let case = case.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        if let Some(case) = case.filter(is_wanted) {
            if let Some(warning) = case.impossible_warning(&name, line)
                && impossible.add()
            {
                eprint_message(warning);
            }
            cases.push(case);
        }
    }
    Ok(())
}
