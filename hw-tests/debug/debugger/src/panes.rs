//! Panes of expressions, which the project file or a test file lists.

use tdlasm::project::{Pane, PaneFormat, PaneRow};

use super::commands::{Command, short_value};
use super::debugger::Debugger;
use super::location;
use super::render::characters;

pub use super::debugger::{CustomPane, PaneVariable};

/// A pane of a project file or a test file.
#[derive(Debug, Clone)]
pub struct ExpressionPane(Pane);

impl ExpressionPane {
    /// Creates the pane.
    ///
    /// # Errors
    /// Returns a message if a command has its name.
    pub fn new(pane: Pane) -> Result<Self, String> {
        if Command::find(&pane.name).is_some() {
            let name = &pane.name;
            return Err(format!("pane '{name}': a command of the debugger has this name"));
        }
        Ok(Self(pane))
    }
}

impl CustomPane for ExpressionPane {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn title(&self) -> &str {
        self.0.title.as_ref().unwrap_or(&self.0.name)
    }

    fn rows(&self) -> usize {
        self.0.rows.len()
    }

    fn variables(&self, debugger: &Debugger) -> Vec<PaneVariable> {
        self.0.rows.iter().map(|row| variable(debugger, row)).collect()
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
