//! Reads the tables of a TOML document, with errors at line and column.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cli_support::text::Escape;
use tdlasm::source::Loader;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Error in a test file or a baseline, at a line and column from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", .path.escaped())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// A document that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Document<'t> {
    pub(crate) path: &'t Path,
    pub(crate) text: &'t str,
    /// What has the files that the document names.
    pub(crate) loader: &'t dyn Loader,
}

impl<'t> Document<'t> {
    /// Parses the document as TOML.
    pub(crate) fn table(&self) -> Result<Spanned<DeTable<'t>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, error.message())
        })
    }

    pub(crate) fn error(&self, at: usize, message: impl Into<String>) -> FileError {
        let (line, column) = self.position(at);
        FileError { path: self.path.to_owned(), line, column, message: message.into() }
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }

    pub(crate) fn line(&self, at: usize) -> usize {
        self.position(at).0
    }
}

/// A value and the key it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) key: &'a str,
    at: usize,
    end: usize,
    value: &'a DeValue<'a>,
}

/// The fields of a table. Those that nobody asked for are errors.
pub(crate) struct Fields<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) at: usize,
    table: &'a DeTable<'a>,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn root(document: &'a Document<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self { document, at: 0, table: table.get_ref(), known: RefCell::default() }
    }

    /// Returns the value of a field, if it is there.
    pub(crate) fn get(&self, name: &'static str) -> Option<Entry<'a>> {
        if !self.known.borrow().contains(&name) {
            self.known.borrow_mut().push(name);
        }
        self.all().find(|entry| entry.key == name)
    }

    /// Returns the value of a field that must be there.
    pub(crate) fn require(
        &self,
        name: &'static str,
        example: &str,
    ) -> Result<Entry<'a>, FileError> {
        let missing = || self.document.error(self.at, format!("'{name}' is missing: {example}"));
        self.get(name).ok_or_else(missing)
    }

    /// Returns all fields, in the order of the file.
    pub(crate) fn all(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let (document, mut all) = (self.document, self.table.iter().collect::<Vec<_>>());
        all.sort_by_key(|(key, _)| key.span().start);
        let entry = move |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let key: &'a std::borrow::Cow<'a, str> = key.get_ref();
            let Range { start: at, end } = value.span();
            Entry { document, key, at, end, value: value.get_ref() }
        };
        all.into_iter().map(entry)
    }

    /// Checks that every field is known, after all have been asked for.
    pub(crate) fn finish(&self) -> Result<(), FileError> {
        let known = self.known.borrow();
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let known = known.join(", ");
                let message = format!("unknown key '{}': expected one of {known}", name.escaped());
                return Err(self.document.error(key.span().start, message));
            }
        }
        Ok(())
    }
}

impl<'a> Entry<'a> {
    /// Returns an error at this value.
    pub(crate) fn error(&self, message: impl Into<String>) -> FileError {
        self.document.error(self.at, message)
    }

    /// The line of the value.
    pub(crate) fn line(&self) -> usize {
        self.document.line(self.at)
    }

    /// Returns the error for a value of another type.
    pub(crate) fn expected(&self, what: &str) -> FileError {
        let found = self.value.type_str();
        self.error(format!("{}: expected {what}, found {}", self.key.escaped(), article(found)))
    }

    pub(crate) fn text(&self, example: &str) -> Result<&'a str, FileError> {
        self.as_text().ok_or_else(|| self.expected(&format!("a string such as {example}")))
    }

    pub(crate) fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Returns an integer of the range; `None` for a value of another type.
    pub(crate) fn as_integer(&self, range: Range<i64>) -> Option<Result<i64, FileError>> {
        let integer = self.value.as_integer()?;
        let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let outside = || {
            let (least, most) = (range.start, range.end - 1);
            self.error(format!("{}: {integer} is not in {least} to {most}", self.key.escaped()))
        };
        Some(value.filter(|value| range.contains(value)).ok_or_else(outside))
    }

    pub(crate) fn integer(&self, range: Range<i64>) -> Result<i64, FileError> {
        self.as_integer(range).unwrap_or_else(|| Err(self.expected("an integer")))
    }

    pub(crate) fn boolean(&self) -> Result<bool, FileError> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// Returns the elements of an array.
    pub(crate) fn items(&self, what: &str) -> Result<Vec<Entry<'a>>, FileError> {
        let array: &'a DeArray<'a> = self.value.as_array().ok_or_else(|| self.expected(what))?;
        let entry = |item: &'a Spanned<DeValue<'a>>| {
            let (Range { start: at, end }, value) = (item.span(), item.get_ref());
            Entry { document: self.document, key: self.key, at, end, value }
        };
        Ok(array.iter().map(entry).collect())
    }

    pub(crate) fn as_items(&self) -> Option<Vec<Entry<'a>>> {
        self.is_array().then(|| self.items("").ok()).flatten()
    }

    /// Returns the value as the document writes it.
    pub(crate) fn source(&self) -> &'a str {
        self.document.text.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the strings of an array.
    pub(crate) fn texts(&self, example: &str) -> Result<Vec<String>, FileError> {
        let items = self.items(&format!("an array of strings such as {example}"))?;
        items.iter().map(|item| item.text(example).map(str::to_owned)).collect()
    }

    pub(crate) fn fields(&self, what: &str) -> Result<Fields<'a>, FileError> {
        self.as_fields().ok_or_else(|| self.expected(what))
    }

    pub(crate) fn as_fields(&self) -> Option<Fields<'a>> {
        let table = self.value.as_table()?;
        Some(Fields { document: self.document, at: self.at, table, known: RefCell::default() })
    }

    pub(crate) fn is_array(&self) -> bool {
        self.value.is_array()
    }
}

/// Returns a noun with its article.
fn article(noun: &str) -> String {
    let an = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if an { "an" } else { "a" })
}
