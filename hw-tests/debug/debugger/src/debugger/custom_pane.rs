//! Panes that a program adds to the debugger.

use super::Debugger;

/// A pane that a program adds to the debugger. The command of its name shows it, and editors list
/// its variables as a scope.
pub trait CustomPane: Send {
    /// The name, without spaces.
    fn name(&self) -> &str;

    /// The one-character abbreviation of the command; empty if there is none.
    fn short(&self) -> &str {
        ""
    }

    /// The heading.
    fn title(&self) -> &str {
        self.name()
    }

    /// The number of lines for which a terminal leaves room.
    fn rows(&self) -> usize;

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

    /// Adds panes, after those before them.
    #[must_use]
    pub fn with_panes(mut self, panes: Vec<impl CustomPane + 'static>) -> Self {
        panes.into_iter().for_each(|pane| self.add_pane(pane));
        self
    }

    /// The panes that the program has added.
    pub fn panes(&self) -> impl Iterator<Item = &dyn CustomPane> {
        self.panes.iter().map(AsRef::as_ref)
    }

    /// The pane that a command shows, by its name or its abbreviation.
    pub(crate) fn find_pane(&self, command: &str) -> Option<&dyn CustomPane> {
        let has = |pane: &&dyn CustomPane| pane.name() == command || pane.short() == command;
        self.panes().find(has)
    }
}
