//! Panes of expressions, which the project file or a test file lists.

use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use tdlasm::project::ProjectError;
use tdlasm::source::read_file;

use super::commands::{Command, short_value};
use super::render::characters;
use crate::{Debugger, location};

pub use super::debugger::{CustomPane, PaneHeading, PaneVariable};

/// A pane of a project file or a test file: expressions of a program, with names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressionPane {
    /// The command that shows the pane.
    #[serde(deserialize_with = "pane_name")]
    name: String,
    /// The heading; by default the name.
    title: Option<String>,
    rows: Vec<PaneRow>,
}

/// A row of an [`ExpressionPane`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaneRow {
    /// The name; by default the expression.
    pub name: Option<String>,
    /// An expression in the debugger's syntax.
    pub value: String,
    /// How the value is shown; by default as the command `display` shows it.
    pub format: Option<PaneFormat>,
}

/// How a [`PaneRow`] shows its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaneFormat {
    /// Hexadecimal: two digits for a value below 100H, else four.
    Hex,
    /// Decimal.
    Decimal,
    /// Binary: eight digits for a value below 100H, else sixteen.
    Binary,
    /// The character of the low byte.
    Character,
}

fn pane_name<'de, D: Deserializer<'de>>(written: D) -> Result<String, D::Error> {
    let name = String::deserialize(written)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(Error::custom("invalid name of a pane: expected letters, digits, - and _"));
    }
    if Command::find(&name).is_some() {
        let message = format!("pane '{name}': a command of the debugger has this name");
        return Err(Error::custom(message));
    }
    Ok(name)
}

/// Reads the panes of a project file or a test file.
///
/// # Errors
/// Returns [`ProjectError`] if the file can't be read, or a `[[pane]]` is invalid.
pub fn read_panes(path: &Path) -> Result<Vec<ExpressionPane>, ProjectError> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        pane: Vec<ExpressionPane>,
    }
    let unreadable = |error| ProjectError::Unreadable(path.to_owned(), error);
    let invalid = |error: toml::de::Error| {
        ProjectError::Syntax(path.to_owned(), error.to_string().trim_end().to_owned())
    };
    let text = String::from_utf8_lossy(&read_file(path).map_err(unreadable)?).into_owned();
    let file: File = toml::from_str(&text).map_err(invalid)?;
    Ok(file.pane)
}

impl CustomPane for ExpressionPane {
    fn heading(&self) -> PaneHeading<'_> {
        let Self { name, title, rows } = self;
        PaneHeading { name, short: "", title: title.as_ref().unwrap_or(name), rows: rows.len() }
    }

    fn variables(&self, debugger: &Debugger) -> Vec<PaneVariable> {
        self.rows.iter().map(|row| variable(debugger, row)).collect()
    }
}

/// Evaluates a row; an expression that is invalid in this program has its problem as value.
pub fn variable(debugger: &Debugger, row: &PaneRow) -> PaneVariable {
    let shown = match row.format {
        None => short_value(debugger, &row.value),
        Some(format) => {
            location::evaluate_signed(debugger, &row.value).map(|value| format_as(format, value))
        }
    };
    PaneVariable {
        name: row.name.as_ref().unwrap_or(&row.value).clone(),
        value: shown.unwrap_or_else(|problem| problem),
        expression: Some(row.value.clone()),
    }
}

fn format_as(format: PaneFormat, value: i64) -> String {
    match format {
        PaneFormat::Decimal => value.to_string(),
        PaneFormat::Hex => format!("{:0width$X}H", value as u16, width = width(value, 2, 4)),
        PaneFormat::Binary => format!("{:0width$b}", value as u16, width = width(value, 8, 16)),
        PaneFormat::Character => characters(&[value as u8]),
    }
}

/// Returns the number of digits for a byte or for a word.
fn width(value: i64, byte: usize, word: usize) -> usize {
    if (0..0x100).contains(&value) { byte } else { word }
}
