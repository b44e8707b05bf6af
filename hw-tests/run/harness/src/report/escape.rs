//! How values are escaped in templates, by the extension of the file that a template writes
//! (`askama.toml`). Hidden characters are made visible in all of them.

use std::fmt::{self, Write};
use std::io;

use askama::filters::Escaper;
use cli_support::text::{escape_controls, escape_json};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Escapes text for HTML and XML, including attributes.
#[derive(Clone, Copy)]
pub(crate) struct Markup;

/// Escapes text for Markdown of GitHub and GitLab, so that it ends no table cell, code or element.
#[derive(Clone, Copy)]
pub(crate) struct Markdown;

/// Escapes text for a terminal.
#[derive(Clone, Copy)]
pub(crate) struct Terminal;

impl Escaper for Terminal {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        out.write_str(&escape_controls(text))
    }
}

impl Escaper for Markup {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        out.write_str(&quick_xml::escape::escape(escape_controls(text)))
    }
}

impl Escaper for Markdown {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for letter in escape_controls(text).chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => write!(out, "\\{letter}")?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// Where JSON is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// A file of its own.
    File,
    /// A script element of HTML, which a string with `<` could end.
    ScriptElement,
}

impl Formatter for Container {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let safe = escape_json(fragment);
        match self {
            Self::ScriptElement if safe.contains('<') => {
                out.write_all(safe.replace('<', "\\u003c").as_bytes())
            }
            _ => out.write_all(safe.as_bytes()),
        }
    }
}

/// Writes a value as JSON, with control characters in escapes.
pub(super) fn write_json(
    out: &mut dyn io::Write,
    value: &impl Serialize,
    container: Container,
) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, container))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_value_and_cannot_end_a_script() {
        let value = ["</script>\u{9B}\u{202E}\"\n", "é"];
        for (container, expected) in [
            (Container::File, "[\"</script>\\u009b\\u202e\\\"\\n\",\"é\"]"),
            (Container::ScriptElement, "[\"\\u003c/script>\\u009b\\u202e\\\"\\n\",\"é\"]"),
        ] {
            let mut written = Vec::new();
            write_json(&mut written, &value, container).expect("to memory");
            assert_eq!(String::from_utf8_lossy(&written), expected);
            assert_eq!(serde_json::from_slice::<[String; 2]>(&written).expect("JSON"), value);
        }
    }
}
