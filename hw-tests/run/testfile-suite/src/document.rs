//! TOML documents whose errors are collected, with line and column.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
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
    pub fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}

/// A document whose errors are collected.
pub(crate) struct Document<'d> {
    path: &'d Path,
    text: &'d str,
    errors: RefCell<Vec<FileError>>,
}

impl Document<'_> {
    /// Parses a document and converts its table.
    ///
    /// # Errors
    /// Returns all errors that were reported, or those of the syntax.
    pub(crate) fn read<T>(
        path: &Path,
        text: &str,
        convert: impl for<'x> FnOnce(Item<'x>) -> Option<T>,
    ) -> Result<T, FileErrors> {
        let (table, syntax_errors) = DeTable::parse_recoverable(text);
        let value = DeValue::Table(table.into_inner());
        let document = Document { path, text, errors: RefCell::default() };
        let document = &document;
        let root = Item { document, key: "", key_at: 0, at: 0, end: text.len(), value: &value };
        for error in &syntax_errors {
            let at = error.span().map_or(0, |span| span.start);
            document.report(document.position(at), error.message());
        }
        let converted = syntax_errors.is_empty().then(|| convert(root)).flatten();
        let mut errors = document.errors.take();
        errors.sort();
        errors.dedup();
        converted.filter(|_| errors.is_empty()).ok_or(FileErrors(errors))
    }

    /// Returns the number of errors that were reported.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Reports an error at a line and column.
    pub(crate) fn report(&self, (line, column): (usize, usize), message: impl Into<String>) {
        let error = FileError { path: self.path.to_owned(), line, column, message: message.into() };
        self.errors.borrow_mut().push(error);
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// A value of a document, and the key it belongs to, with their offsets in bytes. Methods that
/// convert it report a value of another type, and return a substitute.
#[derive(Clone, Copy)]
pub(crate) struct Item<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) key: &'d str,
    pub(crate) key_at: usize,
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) value: &'d DeValue<'d>,
}

impl<'d> Item<'d> {
    fn with(self, value: &'d Spanned<DeValue<'d>>) -> Self {
        let Range { start: at, end } = value.span();
        Self { at, end, value: value.get_ref(), ..self }
    }

    /// Returns the elements of an array; none of another value.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        self.value.as_array().into_iter().flatten().map(move |element| self.with(element))
    }

    /// Returns the values of a table in the order of the document; none of another value.
    pub(crate) fn fields(self) -> Vec<Self> {
        let fields = self.value.as_table().into_iter().flatten();
        let field = |(key, value): (&'d Spanned<Cow<'d, str>>, &'d Spanned<_>)| {
            Self { key: key.get_ref(), key_at: key.span().start, ..self }.with(value)
        };
        let mut fields: Vec<_> = fields.map(field).collect();
        fields.sort_by_key(|field| field.key_at);
        fields
    }

    /// Returns the value as the document writes it.
    pub(crate) fn source(self) -> &'d str {
        self.document.text.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the line of the value.
    pub(crate) fn line(self) -> usize {
        self.document.position(self.at).0
    }

    /// Reports an error at the value.
    pub(crate) fn report(self, message: impl Into<String>) {
        self.document.report(self.document.position(self.at), message);
    }

    /// Reports a value of another type.
    pub(crate) fn report_expected(self, what: &str) {
        let found = self.value.type_str();
        let article = if found.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        self.report(format!("{}: expected {what}, found {article} {found}", self.key.escaped()));
    }

    /// Returns what was made of the value, or reports the error.
    pub(crate) fn checked<T>(self, converted: Result<T, String>) -> Option<T> {
        converted.map_err(|message| self.report(message)).ok()
    }

    pub(crate) fn as_text(self) -> Option<&'d str> {
        self.value.as_str()
    }

    /// Returns a string.
    pub(crate) fn text(self, example: &str) -> &'d str {
        self.as_text().unwrap_or_else(|| {
            self.report_expected(&format!("a string such as {example}"));
            ""
        })
    }

    /// Returns an integer of the range, or its start.
    pub(crate) fn integer(self, range: RangeInclusive<i64>) -> i64 {
        let (least, most) = (*range.start(), *range.end());
        let Some(integer) = self.value.as_integer() else {
            self.report_expected("an integer");
            return least;
        };
        let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        value.filter(|value| range.contains(value)).unwrap_or_else(|| {
            let key = self.key.escaped();
            self.report(format!("{key}: {integer} is not in {least} to {most}"));
            least
        })
    }

    /// Converts the elements of an array, or a value by itself.
    pub(crate) fn one_or_more<T>(self, convert: impl FnMut(Self) -> T) -> Vec<T> {
        match self.value.is_array() {
            true => self.elements().map(convert).collect(),
            false => [self].map(convert).into(),
        }
    }

    /// Converts the elements of an array; `what` describes it.
    pub(crate) fn each<T>(self, what: &str, convert: impl FnMut(Self) -> T) -> Vec<T> {
        if !self.value.is_array() {
            self.report_expected(what);
        }
        self.elements().map(convert).collect()
    }

    /// Converts a table, and reports the keys that `convert` did not read. `None` if it is none;
    /// `what` describes it.
    pub(crate) fn table<T>(self, what: &str, convert: impl FnOnce(&Fields<'d>) -> T) -> Option<T> {
        if !self.value.is_table() {
            self.report_expected(what);
            return None;
        }
        Some(Fields::convert(self, self.fields(), convert))
    }

    /// Converts the tables of an array; `what` describes it.
    pub(crate) fn tables<T>(self, what: &str, mut convert: impl FnMut(&Fields<'d>) -> T) -> Vec<T> {
        self.each(what, |item| item.table(what, &mut convert)).into_iter().flatten().collect()
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
    pub(crate) table: Item<'d>,
    items: RefCell<Vec<Item<'d>>>,
    /// What a row of a table of cases puts into tables of this one, by keys such as `in.A`.
    cells: Vec<Item<'d>>,
    known: Rc<RefCell<Vec<&'static str>>>,
}

impl<'d> Fields<'d> {
    fn convert<T>(table: Item<'d>, items: Vec<Item<'d>>, convert: impl FnOnce(&Self) -> T) -> T {
        let (cells, known) = Default::default();
        let fields = Self { table, items: items.into(), cells, known };
        let converted = convert(&fields);
        let document = table.document;
        for unknown in fields.take_rest() {
            let message = unknown_key(unknown.key, &fields.known.borrow());
            document.report(document.position(unknown.key_at), message);
        }
        converted
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &'static str) -> Option<Item<'d>> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.items.borrow().iter().find(|item| item.key == key).copied()
    }

    /// Returns the value of a key; reports the table if it lacks that.
    pub(crate) fn required(&self, key: &'static str, example: &str) -> Option<Item<'d>> {
        let item = self.get(key);
        if item.is_none() {
            self.table.report(format!("'{key}' is missing: {key} = {example}"));
        }
        item
    }

    /// Removes and returns the values whose keys were not asked for.
    pub(crate) fn take_rest(&self) -> Vec<Item<'d>> {
        let known = self.known.borrow();
        self.items.borrow_mut().extract_if(.., |item| !known.contains(&item.key)).collect()
    }

    /// Returns the values whose keys were asked for.
    pub(crate) fn read(&self) -> Vec<Item<'d>> {
        let known = self.known.borrow();
        let items = self.items.borrow();
        items.iter().filter(|item| known.contains(&item.key)).copied().collect()
    }

    pub(crate) fn text(&self, key: &'static str, example: &str) -> Option<&'d str> {
        self.get(key).map(|item| item.text(example))
    }

    pub(crate) fn texts(&self, key: &'static str, example: &str) -> Vec<String> {
        let what = format!("an array of strings such as {example}");
        let text = |item: Item<'_>| item.text("\"a\"").to_owned();
        self.get(key).map(|item| item.each(&what, text)).unwrap_or_default()
    }

    pub(crate) fn integer(&self, key: &'static str, range: RangeInclusive<i64>) -> Option<u64> {
        self.get(key).map(|item| item.integer(range).unsigned_abs())
    }

    /// Converts a string.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        example: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let item = self.get(key)?;
        let text = item.text(example);
        item.as_text().and_then(|_| item.checked(parse(text)))
    }

    /// Converts the values of a table with keys of its own; none if the key is missing.
    pub(crate) fn entries<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnMut(Item<'d>) -> Option<T>,
    ) -> Vec<T> {
        let entries = self.table(key, what, Self::take_rest).unwrap_or_default();
        entries.into_iter().filter_map(convert).collect()
    }

    /// Converts the tables of an array; none if the key is missing.
    pub(crate) fn tables<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnMut(&Self) -> T,
    ) -> Vec<T> {
        self.get(key).map(|item| item.tables(what, convert)).unwrap_or_default()
    }

    /// Converts the table of a key, with the cells of a row that belong there.
    pub(crate) fn table<T>(
        &self,
        key: &'static str,
        what: &str,
        convert: impl FnOnce(&Self) -> T,
    ) -> Option<T> {
        let in_table = |cell: &Item<'d>| {
            Some(Item { key: cell.key.strip_prefix(key)?.strip_prefix('.')?, ..*cell })
        };
        let cells: Vec<_> = self.cells.iter().filter_map(in_table).collect();
        let item = self.get(key);
        if cells.is_empty() || item.is_some_and(|item| !item.value.is_table()) {
            return item?.table(what, convert);
        }
        let mut items = item.map(Item::fields).unwrap_or_default();
        items.retain(|one| cells.iter().all(|cell| cell.key != one.key));
        items.extend(cells);
        Some(Self::convert(item.unwrap_or(self.table), items, convert))
    }

    /// Returns the fields of a case with the cells of a row.
    pub(crate) fn with_row(&self, row: Item<'d>, cells: Vec<Item<'d>>) -> Self {
        Self { table: Item { at: row.at, ..self.table }, cells, ..self.clone() }
    }
}
