//! Writes values of test files as TOML again, for cases that repeat others.

use std::fmt::Write;

use cli_support::text::Escape;

use crate::document::{Document, Node};

/// Returns a value in one line, its numbers and labels as in the file.
pub(crate) fn inline(document: &Document<'_>, node: Node) -> String {
    let children = || document.children(node).into_iter();
    let value = document.data(node).value;
    if value.is_table() {
        let field = |field| (document.key(field).to_owned(), inline(document, field));
        return table(children().map(field));
    }
    if value.is_array() {
        return array(children().map(|element| inline(document, element)));
    }
    match document.as_text(node) {
        Some(text) => quoted(text),
        None => document.source(node).to_owned(),
    }
}

/// Returns an inline table of keys and written values.
pub(crate) fn table(fields: impl IntoIterator<Item = (String, String)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| format!("{} = {value}", key(&name)));
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// Returns an array of written values.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns a key, with quotes if it needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// Returns a basic string. What a terminal would not print as it is gets escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        // Writing to a string never fails.
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            _ if c.to_string().escaped() == c.to_string() => write!(quoted, "{c}"),
            _ => write!(quoted, "\\U{:08X}", u32::from(c)),
        };
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_read_as_it_was() {
        for text in
            ["", "MUL", "a \"b\" \\ c", "tab\tline\nend\r", "\u{85}\u{202E}\u{1F600}é", "\0"]
        {
            let written = quoted(text);
            let read: toml::Table = format!("a = {written}").parse().expect("TOML");
            assert_eq!(read["a"].as_str(), Some(text), "{written}");
            assert_eq!(written.lines().count(), 1);
            assert_eq!(written.escaped(), written);
        }
        assert_eq!([key("HL"), key("C'"), key("")], ["HL", "\"C'\"", "\"\""]);
    }
}
