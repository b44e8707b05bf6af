//! Semantic tokens sent to the editor, in full or as the difference from the previous reply.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Serialize, Serializer};

/// A token as the protocol encodes it: line delta, start delta, length, type, modifiers.
pub(super) type EncodedToken = [u32; 5];

/// A list of tokens, serialized as a flat array of numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenData(Rc<Vec<EncodedToken>>);

impl Serialize for TokenData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_flattened().serialize(serializer)
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    /// The id with which the editor requests the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<String>,
    data: TokenData,
}

impl Tokens {
    /// Creates a reply to which no later request can refer.
    pub(super) fn without_id(found: Vec<EncodedToken>) -> Self {
        Self { result_id: None, data: TokenData(Rc::new(found)) }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenEdit {
    start: usize,
    delete_count: usize,
    data: TokenData,
}

/// The reply to a request for the difference.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TokensDelta {
    /// All tokens, if the previous reply is not cached.
    Tokens(Tokens),
    #[serde(rename_all = "camelCase")]
    Edits { result_id: Option<String>, edits: Vec<TokenEdit> },
}

/// The tokens of the last reply for each file.
#[derive(Debug, Default)]
pub(super) struct TokenCache {
    files: HashMap<PathBuf, Tokens>,
    count: u64,
}

impl TokenCache {
    /// Caches the tokens of a file and returns them with a new id.
    pub(super) fn full(&mut self, path: &Path, found: Vec<EncodedToken>) -> Tokens {
        self.count += 1;
        let result_id = Some(self.count.to_string());
        let numbered = Tokens { result_id, data: TokenData(Rc::new(found)) };
        self.files.insert(path.to_owned(), numbered.clone());
        numbered
    }

    /// Caches the tokens of a file and returns the difference from the reply with the id `from`, or
    /// all tokens if that reply is not cached.
    pub(super) fn delta(
        &mut self,
        path: &Path,
        found: Vec<EncodedToken>,
        from: &str,
    ) -> TokensDelta {
        let known = self.files.remove(path);
        let tokens = self.full(path, found);
        match known.filter(|known| known.result_id.as_deref() == Some(from)) {
            None => TokensDelta::Tokens(tokens),
            Some(known) => {
                let edits = difference(&known.data.0, &tokens.data.0).into_iter().collect();
                TokensDelta::Edits { result_id: tokens.result_id, edits }
            }
        }
    }

    /// Removes a closed file.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// Returns the edit that turns `old` into `new`; `None` if they are equal.
fn difference(old: &[EncodedToken], new: &[EncodedToken]) -> Option<TokenEdit> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let inserted = &new[..new.len() - tail];
    let deleted = old.len() - tail;
    (deleted > 0 || !inserted.is_empty()).then(|| TokenEdit {
        start: 5 * same,
        delete_count: 5 * deleted,
        data: TokenData(Rc::new(inserted.to_vec())),
    })
}
