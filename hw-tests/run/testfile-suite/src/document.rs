//! TOML documents whose errors are collected, with line and column.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cli_support::text::Escape;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Similarity of names, from 0 to 1, from which one is suggested instead of the other.
const SIMILAR: f64 = 0.75;

/// Error in a test file or a baseline, at a line and column from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
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

/// All errors of a file, at least one, in the order of its lines. The text has a line for each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.messages().join("\n"))]
pub struct FileErrors(pub Vec<FileError>);

impl FileErrors {
    /// Returns the text of each error.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}

/// A value of a document, and the key it belongs to, with their offsets in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Item<'d> {
    pub(crate) key: &'d str,
    key_at: usize,
    at: usize,
    end: usize,
    pub(crate) value: &'d DeValue<'d>,
}

impl<'d> Item<'d> {
    pub(crate) fn as_text(&self) -> Option<&'d str> {
        self.value.as_str()
    }

    /// Returns the item with another key.
    pub(crate) fn named(self, key: &'d str) -> Self {
        Self { key, ..self }
    }

    fn with(self, value: &'d Spanned<DeValue<'d>>) -> Self {
        let span = value.span();
        Self { at: span.start, end: span.end, value: value.get_ref(), ..self }
    }

    /// Returns the elements of an array; none of another value.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        self.value.as_array().into_iter().flatten().map(move |element| self.with(element))
    }

    /// Returns the values of a table in the order of the document; none of another value.
    pub(crate) fn fields(self) -> Vec<Self> {
        let fields = self.value.as_table().into_iter().flatten();
        let field = |(key, value): (&'d Spanned<_>, &'d Spanned<_>)| {
            let key: (&'d std::borrow::Cow<'d, str>, _) = (key.get_ref(), key.span().start);
            Self { key: key.0, key_at: key.1, ..self }.with(value)
        };
        let mut fields: Vec<_> = fields.map(field).collect();
        fields.sort_by_key(|field| field.key_at);
        fields
    }
}

/// A document. Methods that return a value report one of another type, and return a substitute.
pub(crate) struct Document<'d> {
    path: &'d Path,
    text: &'d str,
    errors: RefCell<Vec<FileError>>,
}

impl<'d> Document<'d> {
    /// Parses a document and converts it.
    ///
    /// # Errors
    /// Returns all errors that were reported, or those of the syntax.
    pub(crate) fn read<T>(
        path: &Path,
        text: &str,
        convert: impl for<'x> FnOnce(&'x Document<'x>, Item<'x>) -> Option<T>,
    ) -> Result<T, FileErrors> {
        let (table, syntax_errors) = DeTable::parse_recoverable(text);
        let document = Document { path, text, errors: RefCell::default() };
        for error in &syntax_errors {
            let at = error.span().map_or(0, |span| span.start);
            document.report_at(at, error.message());
        }
        let value = DeValue::Table(table.into_inner());
        let root = Item { key: "", key_at: 0, at: 0, end: text.len(), value: &value };
        let converted = syntax_errors.is_empty().then(|| convert(&document, root)).flatten();
        let mut errors = document.errors.take();
        errors.sort();
        errors.dedup();
        converted.filter(|_| errors.is_empty()).ok_or(FileErrors(errors))
    }

    /// Returns the number of errors that were reported.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Reports an error at a value.
    pub(crate) fn report(&self, item: Item<'_>, message: impl Into<String>) {
        self.report_at(item.at, message);
    }

    fn report_at(&self, at: usize, message: impl Into<String>) {
        let (line, column) = self.position(at);
        let error = FileError { path: self.path.to_owned(), line, column, message: message.into() };
        self.errors.borrow_mut().push(error);
    }

    /// Reports an error at the start of a line.
    pub(crate) fn report_line(&self, line: usize, message: String) {
        let error = FileError { path: self.path.to_owned(), line, column: 1, message };
        self.errors.borrow_mut().push(error);
    }

    /// Reports a value of another type.
    pub(crate) fn report_expected(&self, item: Item<'_>, what: &str) {
        let found = item.value.type_str();
        let article = if found.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let key = item.key.escaped();
        self.report(item, format!("{key}: expected {what}, found {article} {found}"));
    }

    /// Returns the value, or reports the error at an item.
    pub(crate) fn checked<T>(&self, item: Item<'_>, value: Result<T, String>) -> Option<T> {
        value.map_err(|message| self.report(item, message)).ok()
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// Returns the line of a value.
    pub(crate) fn line(&self, item: Item<'_>) -> usize {
        self.position(item.at).0
    }

    /// Returns a value as the document writes it.
    pub(crate) fn source(&self, item: Item<'_>) -> &'d str {
        self.text.get(item.at..item.end).unwrap_or_default()
    }

    /// Returns an integer of the range, or its start.
    pub(crate) fn integer(&self, item: Item<'_>, range: RangeInclusive<i64>) -> i64 {
        let (least, most) = (*range.start(), *range.end());
        let Some(integer) = item.value.as_integer() else {
            self.report_expected(item, "an integer");
            return least;
        };
        let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        value.filter(|value| range.contains(value)).unwrap_or_else(|| {
            let key = item.key.escaped();
            self.report(item, format!("{key}: {integer} is not in {least} to {most}"));
            least
        })
    }

    /// Returns a string.
    pub(crate) fn text(&self, item: Item<'d>, example: &str) -> &'d str {
        item.as_text().unwrap_or_else(|| {
            self.report_expected(item, &format!("a string such as {example}"));
            ""
        })
    }

    /// Converts the elements of an array; `what` describes it.
    pub(crate) fn each<T>(
        &self,
        item: Item<'d>,
        what: &str,
        convert: impl FnMut(Item<'d>) -> T,
    ) -> Vec<T> {
        if !item.value.is_array() {
            self.report_expected(item, what);
        }
        item.elements().map(convert).collect()
    }

    /// Converts a table, and reports the keys that `convert` did not read. `None` if it is none;
    /// `what` describes it.
    pub(crate) fn table<T>(
        &'d self,
        item: Item<'d>,
        what: &str,
        convert: impl FnOnce(&Fields<'d>) -> T,
    ) -> Option<T> {
        if !item.value.is_table() {
            self.report_expected(item, what);
            return None;
        }
        Some(self.fields(item, item.fields(), convert))
    }

    fn fields<T>(
        &'d self,
        table: Item<'d>,
        items: Vec<Item<'d>>,
        convert: impl FnOnce(&Fields<'d>) -> T,
    ) -> T {
        let (cells, known, is_open) = Default::default();
        let fields = Fields { document: self, table, items, cells, known, is_open };
        let converted = convert(&fields);
        let unknown = fields.rest().into_iter().filter(|_| !fields.is_open.get());
        for unknown in unknown {
            self.report_at(unknown.key_at, unknown_key(unknown.key, &fields.known.borrow()));
        }
        converted
    }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    let similar = known.iter().map(|known| (strsim::jaro(key, known), known));
    let similar = similar.filter(|(similarity, _)| *similarity >= SIMILAR);
    let suggestion = similar.max_by(|one, other| one.0.total_cmp(&other.0));
    let suggestion = suggestion.map(|(_, known)| format!("; did you mean '{known}'?"));
    let (key, all) = (key.escaped(), known.join(", "));
    format!("unknown key '{key}': expected one of {all}{}", suggestion.unwrap_or_default())
}

/// The fields of a table. Those that were asked for are known keys.
#[derive(Clone)]
pub(crate) struct Fields<'d> {
    document: &'d Document<'d>,
    pub(crate) table: Item<'d>,
    items: Vec<Item<'d>>,
    /// What a row of a table of cases puts into tables of this one, by keys such as `in.A`.
    cells: Vec<Item<'d>>,
    known: Rc<RefCell<Vec<&'static str>>>,
    /// Whether all keys are known.
    is_open: Cell<bool>,
}

impl<'d> Fields<'d> {
    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &'static str) -> Option<Item<'d>> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.items.iter().find(|item| item.key == key).copied()
    }

    /// Returns those of the keys that the table has.
    pub(crate) fn present(&self, keys: &[&'static str]) -> Vec<&'static str> {
        let has = |key: &&&str| self.items.iter().any(|item| item.key == **key);
        keys.iter().filter(has).copied().collect()
    }

    /// Returns the value of a key; reports the table if it lacks that.
    pub(crate) fn required(&self, key: &'static str, example: &str) -> Option<Item<'d>> {
        let item = self.get(key);
        if item.is_none() {
            let message = format!("'{key}' is missing: {key} = {example}");
            self.document.report(self.table, message);
        }
        item
    }

    /// Returns the values whose keys were not asked for, which are known now.
    pub(crate) fn take_rest(&self) -> Vec<Item<'d>> {
        self.is_open.set(true);
        self.rest()
    }

    fn rest(&self) -> Vec<Item<'d>> {
        let known = self.known.borrow();
        self.items.iter().filter(|item| !known.contains(&item.key)).copied().collect()
    }

    /// Returns the values whose keys were asked for.
    pub(crate) fn read(&self) -> Vec<Item<'d>> {
        let known = self.known.borrow();
        self.items.iter().filter(|item| known.contains(&item.key)).copied().collect()
    }

    pub(crate) fn text(&self, key: &'static str, example: &str) -> Option<&'d str> {
        self.get(key).map(|item| self.document.text(item, example))
    }

    pub(crate) fn texts(&self, key: &'static str, example: &str) -> Vec<String> {
        self.each(key, &format!("an array of strings such as {example}"), |item| {
            self.document.text(item, "\"a\"").to_owned()
        })
    }

    pub(crate) fn integer(&self, key: &'static str, range: RangeInclusive<i64>) -> Option<u64> {
        self.get(key).map(|item| self.document.integer(item, range).unsigned_abs())
    }

    /// Converts a string.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        example: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let item = self.get(key)?;
        if item.as_text().is_none() {
            self.document.text(item, example);
        }
        self.document.checked(item, parse(item.as_text()?))
    }

    /// Converts the values of a table with keys of its own; none if the key is missing.
    pub(crate) fn entries<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnMut(Item<'d>) -> T,
    ) -> Vec<T> {
        let entries = self.table(key, what, Fields::take_rest).unwrap_or_default();
        entries.into_iter().map(convert).collect()
    }

    /// Converts the elements of an array; none if the key is missing.
    pub(crate) fn each<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnMut(Item<'d>) -> T,
    ) -> Vec<T> {
        self.get(key).map(|item| self.document.each(item, what, convert)).unwrap_or_default()
    }

    /// Converts the tables of an array; none if the key is missing.
    pub(crate) fn tables<T>(
        &self,
        key: &'static str,
        what: &str,
        mut convert: impl FnMut(&Fields<'d>) -> T,
    ) -> Vec<T> {
        let table = |item| self.document.table(item, what, &mut convert);
        self.each(key, what, table).into_iter().flatten().collect()
    }

    /// Converts the table of a key, with the cells of a row that belong there.
    pub(crate) fn table<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnOnce(&Fields<'d>) -> T,
    ) -> Option<T> {
        let in_table = |cell: &Item<'d>| {
            Some(Item { key: cell.key.strip_prefix(key)?.strip_prefix('.')?, ..*cell })
        };
        let cells: Vec<_> = self.cells.iter().filter_map(in_table).collect();
        let item = self.get(key);
        if let Some(wrong) = item.filter(|item| !item.value.is_table()) {
            self.document.report_expected(wrong, what);
            return None;
        }
        if item.is_none() && cells.is_empty() {
            return None;
        }
        let mut items = item.map(Item::fields).unwrap_or_default();
        items.retain(|one| cells.iter().all(|cell| cell.key != one.key));
        items.extend(cells);
        Some(self.document.fields(item.unwrap_or(self.table), items, convert))
    }

    /// Returns the fields of a case with the cells of a row.
    pub(crate) fn with_row(&self, row: Item<'d>, cells: Vec<Item<'d>>) -> Self {
        Self { table: Item { at: row.at, ..self.table }, cells, ..self.clone() }
    }
}
