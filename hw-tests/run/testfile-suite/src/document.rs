//! TOML documents whose errors are collected, with line and column.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;

use cli_support::text::Escape;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

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

/// A value of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Node(pub(crate) usize);

/// A document. Methods that return a value report an error and return a substitute if the document
/// has another one.
pub(crate) struct Document<'t> {
    path: &'t Path,
    text: &'t str,
    nodes: RefCell<Vec<NodeData<'t>>>,
    /// Values that were reported, and are read as if they were absent.
    rejected: RefCell<Vec<&'t DeValue<'t>>>,
    errors: RefCell<Vec<FileError>>,
    /// Tables that were decoded, with the fields that they may have.
    pub(crate) decoded: RefCell<Vec<(Node, &'static [&'static str])>>,
}

/// A value and the key it belongs to, with their offsets in bytes.
#[derive(Clone, Copy)]
pub(crate) struct NodeData<'t> {
    pub(crate) key: &'t str,
    key_at: usize,
    at: usize,
    end: usize,
    pub(crate) value: &'t DeValue<'t>,
}

impl<'t> Document<'t> {
    /// Parses a document and converts it, after `expand` has changed its table; that returns errors
    /// with their offsets.
    ///
    /// # Errors
    /// Returns all errors that were reported, or those of the syntax.
    pub(crate) fn read<T>(
        path: &Path,
        text: &str,
        expand: fn(&mut DeTable<'_>) -> Vec<(usize, String)>,
        convert: impl FnOnce(&Document<'_>, Node) -> Option<T>,
    ) -> Result<T, FileErrors> {
        let (table, syntax_errors) = DeTable::parse_recoverable(text);
        let mut table = table.into_inner();
        let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        let mut found: Vec<_> =
            syntax_errors.iter().map(|error| (at(error), error.message().to_owned())).collect();
        if found.is_empty() {
            found = expand(&mut table);
        }
        let (value, end) = (DeValue::Table(table), text.len());
        let root = NodeData { key: "", key_at: 0, at: 0, end, value: &value };
        let nodes = RefCell::new(vec![root]);
        let (rejected, errors, decoded) = Default::default();
        let document = Document { path, text, nodes, rejected, errors, decoded };
        for (at, message) in found {
            document.report_at(document.position(at), message);
        }
        let converted = syntax_errors.is_empty().then(|| convert(&document, Node(0))).flatten();
        let mut errors = document.errors.take();
        errors.sort();
        errors.dedup();
        converted.filter(|_| errors.is_empty()).ok_or(FileErrors(errors))
    }

    /// Returns the number of errors that were reported.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    pub(crate) fn data(&self, node: Node) -> NodeData<'t> {
        self.nodes.borrow()[node.0]
    }

    /// Returns `true` if two nodes are of the same value.
    pub(crate) fn is_same(&self, one: Node, other: Node) -> bool {
        ptr::eq(self.data(one).value, self.data(other).value)
    }

    /// Leaves out a value when its array or table is read again.
    pub(crate) fn reject(&self, node: Node) {
        self.rejected.borrow_mut().push(self.data(node).value);
    }

    /// Reports an error at a value.
    pub(crate) fn report(&self, node: Node, message: impl Into<String>) {
        self.report_at(self.position(self.data(node).at), message);
    }

    /// Reports an error at a line and column.
    pub(crate) fn report_at(&self, (line, column): (usize, usize), message: impl Into<String>) {
        let error = FileError { path: self.path.to_owned(), line, column, message: message.into() };
        self.errors.borrow_mut().push(error);
    }

    /// Reports a value of another type.
    pub(crate) fn report_expected(&self, node: Node, what: &str) {
        let NodeData { key, value, .. } = self.data(node);
        let found = value.type_str();
        let article = if found.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        self.report(node, format!("{}: expected {what}, found {article} {found}", key.escaped()));
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// Returns the line and column of the key of a value.
    pub(crate) fn key_position(&self, node: Node) -> (usize, usize) {
        self.position(self.data(node).key_at)
    }

    /// Returns the line of a value.
    pub(crate) fn line(&self, node: Node) -> usize {
        self.position(self.data(node).at).0
    }

    pub(crate) fn key(&self, node: Node) -> &'t str {
        self.data(node).key
    }

    /// Returns a value as the document writes it.
    pub(crate) fn source(&self, node: Node) -> &'t str {
        let NodeData { at, end, .. } = self.data(node);
        self.text.get(at..end).unwrap_or_default()
    }

    pub(crate) fn as_text(&self, node: Node) -> Option<&'t str> {
        self.data(node).value.as_str()
    }

    pub(crate) fn is_integer(&self, node: Node) -> bool {
        self.data(node).value.is_integer()
    }

    /// Returns an integer of the range, or its start.
    pub(crate) fn integer(&self, node: Node, range: Range<i64>) -> i64 {
        let NodeData { key, value, .. } = self.data(node);
        let (least, most) = (range.start, range.end - 1);
        let Some(integer) = value.as_integer() else {
            self.report_expected(node, "an integer");
            return least;
        };
        let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        value.filter(|value| range.contains(value)).unwrap_or_else(|| {
            let key = key.escaped();
            self.report(node, format!("{key}: {integer} is not in {least} to {most}"));
            least
        })
    }

    /// Returns the value of a key in a table.
    pub(crate) fn field(&self, table: Node, key: &str) -> Option<Node> {
        self.children(table).into_iter().find(|node| self.key(*node) == key)
    }

    /// Returns the elements of an array, or the values of a table in the order of the document.
    pub(crate) fn children(&self, node: Node) -> Vec<Node> {
        let parent = self.data(node);
        let rejected = self.rejected.borrow();
        let array = parent.value.as_array().into_iter().flatten();
        let elements = array.map(|item| {
            let Range { start: at, end } = item.span();
            NodeData { at, end, value: item.get_ref(), ..parent }
        });
        let mut fields: Vec<_> = parent.value.as_table().into_iter().flatten().collect();
        fields.sort_by_key(|(key, _)| key.span().start);
        let fields = fields.into_iter().map(|(key, value): (_, &'t Spanned<DeValue<'t>>)| {
            let (key_at, Range { start: at, end }) = (key.span().start, value.span());
            let value = value.get_ref();
            NodeData { key: key.get_ref(), key_at, at, end, value }
        });
        let is_kept =
            |child: &NodeData<'t>| !rejected.iter().any(|value| ptr::eq(*value, child.value));
        let mut nodes = self.nodes.borrow_mut();
        let first = nodes.len();
        nodes.extend(elements.chain(fields).filter(is_kept));
        (first..nodes.len()).map(Node).collect()
    }
}
