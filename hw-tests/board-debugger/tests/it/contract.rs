//! The text of a contract above a Z80 routine, and what is measured of the routine.

/// A field of the contract of a routine: the text after `; Field:` up to the end of the line.
pub(crate) fn field(source: &str, name: &str, field: &str) -> String {
    let start =
        source.find(&format!("\n; {name} - ")).unwrap_or_else(|| panic!("{name}: no contract"));
    let contract = &source[start..];
    let at =
        contract.find(&format!(";   {field}:")).unwrap_or_else(|| panic!("{name}: no {field}"));
    let line = contract[at..].lines().next().and_then(|line| line.split_once(':'));
    line.expect("a field").1.trim().to_owned()
}

/// The number with which a text begins, if it does.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The measurements of a routine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) calls: u64,
    pub(crate) least: u64,
    pub(crate) most: u64,
    pub(crate) stack: u16,
}

impl Measured {
    /// No call yet.
    pub(crate) const NONE: Self = Self { calls: 0, least: u64::MAX, most: 0, stack: 0 };

    /// Takes in a call: its T-states, and the bytes of stack that it took.
    pub(crate) fn take(&mut self, t_states: u64, stack: u16) {
        self.calls += 1;
        self.least = self.least.min(t_states);
        self.most = self.most.max(t_states);
        self.stack = self.stack.max(stack);
    }
}
