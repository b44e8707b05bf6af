//! Panes that a program adds to the debugger.

use super::Debugger;

/// A pane that a program adds to the debugger. The command of its name shows it, and editors list
/// its variables as a scope.
pub trait CustomPane: Send {
    /// The names of the pane, and its size.
    fn heading(&self) -> PaneHeading<'_>;

    /// The variables in the present state.
    fn variables(&self, debugger: &Debugger) -> Vec<PaneVariable>;

    /// The lines on a terminal, by default the variables.
    fn lines(&self, debugger: &Debugger) -> Vec<String> {
        let variables = self.variables(debugger);
        let width = variables.iter().map(|variable| variable.name.chars().count()).max();
        let width = width.unwrap_or_default();
        let line =
            |variable: PaneVariable| format!("{:<width$}  {}", variable.name, variable.value);
        variables.into_iter().map(line).collect()
    }
}

/// The names of a pane, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneHeading<'p> {
    /// The command that shows the pane, without spaces.
    pub name: &'p str,
    /// The one-character abbreviation of the command; empty if there is none.
    pub short: &'p str,
    /// The title.
    pub title: &'p str,
    /// The number of lines for which a terminal leaves room.
    pub rows: usize,
}

/// A row of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneVariable {
    /// The name, unique within the pane.
    pub name: String,
    /// The value, as text.
    pub value: String,
    /// The expression that has the value; `None` for a value that can't be set or watched.
    pub expression: Option<String>,
}

impl PaneVariable {
    /// Creates a variable that can't be set or watched.
    pub fn read_only(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, expression: None }
    }
}

impl Debugger {
    /// Adds a pane, after those before it.
    pub fn add_pane(&mut self, pane: impl CustomPane + 'static) {
        self.panes.push(Box::new(pane));
    }

    /// The panes that the program has added.
    pub fn panes(&self) -> impl Iterator<Item = &dyn CustomPane> {
        self.panes.iter().map(AsRef::as_ref)
    }

    /// The pane that a command shows, by its name or its abbreviation.
    pub(crate) fn find_pane(&self, command: &str) -> Option<&dyn CustomPane> {
        self.panes().find(|pane| {
            let PaneHeading { name, short, .. } = pane.heading();
            [name, short].contains(&command)
        })
    }
}
