//! The tokens as editors are given them: in full, or what differs from the last time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Serialize, Serializer};

/// A token as the protocol counts it: lines from the token before, units from it or from the line's
/// start, length, kind, modifiers.
pub(super) type Numbers = [u32; 5];

/// Tokens, or a part of them: a list of all their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Data(Rc<Vec<Numbers>>);

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_flattened().serialize(serializer)
    }
}

/// An answer with tokens.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    /// The number by which the editor asks what differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<String>,
    data: Data,
}

impl Tokens {
    /// Those that nothing will be compared with.
    pub(super) fn unnumbered(found: Vec<Numbers>) -> Self {
        Self { result_id: None, data: Data(Rc::new(found)) }
    }
}

/// One change of a list of numbers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Edit {
    start: usize,
    delete_count: usize,
    data: Data,
}

/// An answer to the question what differs.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Delta {
    /// All tokens, since the earlier ones are not known any more.
    Tokens(Tokens),
    #[serde(rename_all = "camelCase")]
    Edits { result_id: Option<String>, edits: Vec<Edit> },
}

/// The tokens that editors were given last.
#[derive(Debug, Default)]
pub(super) struct Given {
    files: HashMap<PathBuf, Tokens>,
    count: u64,
}

impl Given {
    /// The tokens of a file, with a number.
    pub(super) fn full(&mut self, path: &Path, found: Vec<Numbers>) -> Tokens {
        self.count += 1;
        let result_id = Some(self.count.to_string());
        let numbered = Tokens { result_id, data: Data(Rc::new(found)) };
        self.files.insert(path.to_owned(), numbered.clone());
        numbered
    }

    /// The difference of a file's tokens from those with a number; all of them if these are not
    /// known any more.
    pub(super) fn delta(&mut self, path: &Path, found: Vec<Numbers>, from: &str) -> Delta {
        let known = self.files.remove(path);
        let tokens = self.full(path, found);
        match known.filter(|known| known.result_id.as_deref() == Some(from)) {
            None => Delta::Tokens(tokens),
            Some(known) => {
                let edits = difference(&known.data.0, &tokens.data.0).into_iter().collect();
                Delta::Edits { result_id: tokens.result_id, edits }
            }
        }
    }

    /// Forgets a file that was closed.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// The one edit that makes `new` of `old`.
fn difference(old: &[Numbers], new: &[Numbers]) -> Option<Edit> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let inserted = &new[..new.len() - tail];
    let deleted = old.len() - tail;
    (deleted > 0 || !inserted.is_empty()).then(|| Edit {
        start: 5 * same,
        delete_count: 5 * deleted,
        data: Data(Rc::new(inserted.to_vec())),
    })
}
