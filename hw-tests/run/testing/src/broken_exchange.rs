//! Evaluators that do something else first: damage to the board while their values are right.

/// Returns the source of XCHNG with this code at its start.
///
/// # Panics
/// Panics if the built-in source has no such label.
pub fn exchange_with(code: &str) -> String {
    const LABEL: &str = "XCHNG:  ";
    let source = firmware::source("xchng.asm").unwrap_or_default();
    let broken = source.replacen(LABEL, &format!("{LABEL}{code}\n        "), 1);
    assert_ne!(broken, source, "xchng.asm has no label {LABEL}");
    broken
}
