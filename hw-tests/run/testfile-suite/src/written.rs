//! Values of test files as TOML again, for cases that repeat others.

use std::fmt;

use cli_support::text::Escape;

use crate::document::Item;

/// A value in one line, its numbers and labels as in the file.
#[derive(Debug, Clone)]
pub enum Written {
    /// A number or a string, as TOML.
    Value(String),
    /// An array.
    Array(Vec<Written>),
    /// A table.
    Table(Vec<(String, Written)>),
}

impl Written {
    pub(crate) fn of(item: Item<'_>) -> Self {
        if item.value.is_table() {
            let field = |field: Item<'_>| (field.key.to_owned(), Self::of(field));
            Self::Table(item.fields().into_iter().map(field).collect())
        } else if item.value.is_array() {
            Self::Array(item.elements().map(Self::of).collect())
        } else {
            let source = || Self::Value(item.source().to_owned());
            item.as_text().map_or_else(source, Self::text)
        }
    }

    /// Returns a string. What a terminal would not print as it is gets escaped.
    pub fn text(text: &str) -> Self {
        let escaped = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            _ if c.to_string().escaped() == c.to_string() => c.to_string(),
            _ => format!("\\U{:08X}", u32::from(c)),
        };
        Self::Value(format!("\"{}\"", text.chars().map(escaped).collect::<String>()))
    }

    /// Returns a number, or an array of numbers.
    pub(crate) fn number(value: impl fmt::Debug) -> Self {
        Self::Value(format!("{value:?}"))
    }

    /// Returns `true` for an array or a table without elements.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Array(elements) => elements.is_empty(),
            Self::Table(fields) => fields.is_empty(),
        }
    }
}

/// Writes a field, its key with quotes if it needs them.
pub(crate) fn field((name, value): &(String, Written)) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match !name.is_empty() && name.chars().all(is_bare) {
        true => format!("{name} = {value}"),
        false => format!("{} = {value}", Written::text(name)),
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(value),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", elements.join(", "))
            }
            Self::Table(fields) => {
                let fields: Vec<_> = fields.iter().map(field).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_read_as_it_was() {
        for text in
            ["", "MUL", "a \"b\" \\ c", "tab\tline\nend\r", "\u{85}\u{202E}\u{1F600}é", "\0"]
        {
            let written = Written::text(text).to_string();
            let read: toml::Table = format!("a = {written}").parse().expect("TOML");
            assert_eq!(read["a"].as_str(), Some(text), "{written}");
            assert_eq!(written.lines().count(), 1);
            assert_eq!(written.escaped(), written);
        }
        let key = |name: &str| field(&(name.to_owned(), Written::number(1)));
        assert_eq!([key("HL"), key("C'"), key("")], ["HL = 1", "\"C'\" = 1", "\"\" = 1"]);
    }
}
