//! Scans a source and its included files for macros, redefined names and `.RADIX`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use tdlasm::source::{Loader, find_inserted, plain_text};
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{lex, zilog};

const MAX_INCLUDED_FILES: usize = 1000;

/// The redefined names and directives that change how lines are read.
#[derive(Debug, Default)]
pub(crate) struct SourceScan {
    long_symbols: bool,
    names: FxHashMap<Vec<u8>, NameFacts>,
    synonyms: usize,
    inserts: FxHashMap<Vec<u8>, Option<String>>,
    /// The inserted files that were read.
    pub(crate) included: FxHashSet<PathBuf>,
    /// Whether an inserted file has `.RADIX`.
    pub(crate) inserted_radix: bool,
}

/// What is known of a name.
#[derive(Debug, Default)]
struct NameFacts {
    /// The earlier name of an operator or macro.
    original: Option<Vec<u8>>,
    is_redefined: bool,
    is_defined: bool,
    is_external: bool,
    /// How often it is assigned a value.
    assigned: u32,
}

impl SourceScan {
    /// Scans a source, and the files that it inserts, which are also searched in `include_dirs`.
    pub(crate) fn scan_file(
        loader: &dyn Loader,
        file: &Path,
        text: &[u8],
        include_dirs: &[PathBuf],
        long_symbols: bool,
    ) -> Self {
        let mut scan = Self { long_symbols, ..Self::default() };
        let search = |file: &Path, name: &str| {
            let mut folders = vec![file.parent().unwrap_or(Path::new(""))];
            folders.extend(include_dirs.iter().map(PathBuf::as_path));
            find_inserted(loader, &folders, name)
        };
        let mut open = scan.scan_text(text, file, &search);
        while let Some(path) = open.pop() {
            if scan.included.len() < MAX_INCLUDED_FILES
                && scan.included.insert(path.clone())
                && let Ok(text) = loader.load(&path)
            {
                let text = plain_text(&text).0;
                scan.inserted_radix |= has_radix(&text);
                open.extend(scan.scan_text(&text, &path, &search));
            }
        }
        scan
    }

    /// Collects from one text; returns the files that it inserts.
    fn scan_text(
        &mut self,
        text: &[u8],
        file: &Path,
        search: &impl Fn(&Path, &str) -> Option<(String, PathBuf)>,
    ) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            if let Some(name) = self.scan_line(line)
                && !self.inserts.contains_key(&name)
            {
                let spelling = String::from_utf8_lossy(&name).into_owned();
                let place = search(file, &spelling);
                self.inserts.insert(name, place.as_ref().map(|(spelling, _)| spelling.clone()));
                found.extend(place.map(|(_, path)| path));
            }
        }
        found
    }

    /// Collects from one line; returns the file that it inserts.
    fn scan_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let (words, end) = words(line);
        let word_at = |at: usize| words.get(at).map(|range| &line[range.clone()]);
        let next = |at: usize| word_at(at + 1);
        for (at, range) in words.iter().enumerate() {
            let word = &line[range.clone()];
            let behind = &line[range.end..end];
            self.name(word, behind);
            match (Directive::from_word(word), word.to_ascii_uppercase().as_slice()) {
                (None, b"EQU" | b"DEFL") if at > 0 => {
                    let before = &line[words[at - 1].clone()];
                    self.facts_mut(before).assigned += 1;
                }
                (Some(Directive::Define), _) => self.mark_redefined(next(at)),
                (Some(Directive::Synonym(_)), _) => {
                    self.mark_redefined(next(at + 1));
                    if let (Some(old), Some(new)) = (next(at), next(at + 1)) {
                        self.facts_mut(new).original = Some(old.to_vec());
                        self.synonyms += 1;
                    }
                }
                (None, b"MACRO") => {
                    self.mark_redefined(next(at));
                    self.mark_redefined(at.checked_sub(1).and_then(word_at));
                }
                // A symbol of another module is not an instruction either.
                (Some(Directive::External), _) => {
                    for name in &words[at + 1..] {
                        self.facts_mut(&line[name.clone()]).is_external = true;
                    }
                }
                (Some(Directive::Insert), _) | (None, b"INCLUDE") => {
                    return Some(zilog::file_name(behind).to_vec());
                }
                _ => {}
            }
        }
        None
    }

    /// Collects a name that is defined where it stands.
    fn name(&mut self, word: &[u8], behind: &[u8]) {
        match behind.trim_ascii_start().first() {
            Some(b'=') => {
                let facts = self.facts_mut(word);
                facts.assigned += 1;
                facts.is_defined = true;
            }
            Some(b':') => self.facts_mut(word).is_defined = true,
            _ => {}
        }
    }

    fn mark_redefined(&mut self, name: Option<&[u8]>) {
        if let Some(name) = name {
            self.facts_mut(name).is_redefined = true;
        }
    }

    /// Returns the name for which this one was defined as a synonym, or the name itself.
    pub(crate) fn original_name<'n>(&'n self, name: &'n [u8]) -> &'n [u8] {
        let mut name = name;
        // Synonyms may be circular.
        for _ in 0..self.synonyms {
            let original = self.facts(name).and_then(|facts| facts.original.as_ref());
            let Some(original) = original else { break };
            name = original;
        }
        name
    }

    pub(crate) fn significant_part(&self, name: &[u8]) -> Vec<u8> {
        let length = if self.long_symbols { name.len() } else { name.len().min(6) };
        name[..length].to_ascii_uppercase()
    }

    fn facts(&self, name: &[u8]) -> Option<&NameFacts> {
        self.names.get(&self.significant_part(name))
    }

    fn facts_mut(&mut self, name: &[u8]) -> &mut NameFacts {
        self.names.entry(self.significant_part(name)).or_default()
    }

    /// Returns `true` if the name is a macro's or was redefined.
    pub(crate) fn is_redefined(&self, name: &[u8]) -> bool {
        self.facts(name).is_some_and(|facts| facts.is_redefined)
    }

    /// Whether the name has a label or an assignment somewhere.
    pub(crate) fn is_defined(&self, name: &[u8]) -> bool {
        self.facts(name).is_some_and(|facts| facts.is_defined)
    }

    pub(crate) fn is_external(&self, name: &[u8]) -> bool {
        self.facts(name).is_some_and(|facts| facts.is_external)
    }

    /// Whether the name is assigned more than once.
    pub(crate) fn is_variable(&self, name: &[u8]) -> bool {
        self.facts(name).is_some_and(|facts| facts.assigned > 1)
    }

    /// The inserted file's name with its extension, if the file was found.
    pub(crate) fn included_file_name(&self, name: &[u8]) -> Option<&str> {
        self.inserts.get(name)?.as_deref()
    }
}

/// Returns the words of a line outside of quotes, and the end of the line or the start of its
/// comment.
fn words(line: &[u8]) -> (Vec<Range<usize>>, usize) {
    let is_word = |byte: u8| lex::is_symbol(byte) || zilog::is_symbol(byte);
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at).filter(|byte| **byte != b';') {
        let rest = &line[at + 1..];
        let start = at;
        at += match *byte {
            byte if is_word(byte) => 1 + rest.iter().take_while(|byte| is_word(**byte)).count(),
            b'\'' | b'"' => memchr::memchr(*byte, rest).map_or(1, |close| close + 2),
            _ => 1,
        };
        if is_word(*byte) {
            ranges.push(start..at);
        }
    }
    (ranges, at)
}

pub(crate) fn has_radix(text: &[u8]) -> bool {
    let is_radix = |word: &[u8]| Directive::from_word(word) == Some(Directive::Radix);
    memchr::memchr_iter(b'.', text).any(|at| text.get(at..at + 6).is_some_and(is_radix))
}
