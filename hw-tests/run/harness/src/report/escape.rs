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

/// Writes control characters in the strings of JSON as escapes.
struct EscapedControls;

impl Formatter for EscapedControls {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(escape_json(fragment).as_bytes())
    }
}

/// Writes a value as JSON, with control characters in escapes.
pub(super) fn write_json(out: &mut dyn io::Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, EscapedControls))?)
}

/// Returns JSON with the same value, in which no string ends a script element.
pub(super) fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_value_and_cannot_end_a_script() {
        let value = ["</script>\u{9B}\u{202E}\"\n", "é"];
        let mut written = Vec::new();
        write_json(&mut written, &value).expect("to memory");
        let file = String::from_utf8(written).expect("text");
        assert_eq!(file, "[\"</script>\\u009b\\u202e\\\"\\n\",\"é\"]");
        let script = in_script(&file);
        assert_eq!(script, "[\"\\u003c/script>\\u009b\\u202e\\\"\\n\",\"é\"]");
        for json in [file, script] {
            assert_eq!(serde_json::from_str::<[String; 2]>(&json).expect("JSON"), value);
        }
    }
}
