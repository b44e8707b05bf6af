//! How values are escaped in templates, by the extension of the file that a template writes
//! (`askama.toml`). Hidden characters are made visible in all of them.

use std::fmt::{self, Write};

use askama::filters::Escaper;
use cli_support::text::escape_controls;

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
