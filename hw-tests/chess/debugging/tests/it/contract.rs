//! Contracts in the comments above Z80 routines, and measurements of the routines.

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

/// Parses the number at the start of a text.
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
    /// The measurements before the first call.
    pub(crate) const NONE: Self = Self { calls: 0, least: u64::MAX, most: 0, stack: 0 };

    /// Records the T-states of a call and the bytes of stack that it used.
    pub(crate) fn record(&mut self, t_states: u64, stack: u16) {
        self.calls += 1;
        self.least = self.least.min(t_states);
        self.most = self.most.max(t_states);
        self.stack = self.stack.max(stack);
    }
}
