//! What calls may do though it is usually a mistake.

/// What a call may do on a simulated machine though it is usually a mistake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Reads memory that neither the program nor the test nor code has written.
    pub unwritten: bool,
    /// Executes data, and what was written outside of the program.
    pub data: bool,
    /// Executes bytes that are no instruction.
    pub no_instruction: bool,
    /// Executes instructions that begin within others.
    pub overlap: bool,
    /// Writes to code; also on a board.
    pub code_writes: bool,
}

impl Allowed {
    /// What can be allowed, by the words of test files.
    pub(crate) const WORDS: [(&str, Selector); 5] = [
        ("unwritten", |allowed| &mut allowed.unwritten),
        ("data", |allowed| &mut allowed.data),
        ("no-instruction", |allowed| &mut allowed.no_instruction),
        ("overlap", |allowed| &mut allowed.overlap),
        ("code-writes", |allowed| &mut allowed.code_writes),
    ];
}

/// Selects one of the mistakes.
type Selector = fn(&mut Allowed) -> &mut bool;
