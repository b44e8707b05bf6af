//! Follow-up commands for failed cases, on the same board and program as in the run.

use serde::{Deserialize, Serialize};

use cli_support::text::escape_controls;

use super::{CaseResult, Suite, Verdict};

/// Options that make follow-up commands use the run's board and program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowUpOptions {
    /// Options of commands that take any board.
    pub board: Vec<String>,
    /// Options of commands that simulate a board; `None` if this program did not build the
    /// application.
    pub simulated: Option<Vec<String>>,
}

/// A failed case, and the commands to investigate it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// The case's name.
    pub case: String,
    /// Command lines as a shell takes them.
    pub commands: Vec<String>,
    /// Whether they show a wrong value, and not only the whole case.
    #[serde(skip)]
    pub is_precise: bool,
}

impl FollowUp {
    /// Returns the commands for a failed case; `None` if it did not fail or there are none.
    #[must_use]
    pub fn for_case<S: Suite>(result: &CaseResult<S>, options: &FollowUpOptions) -> Option<Self> {
        if result.verdict != Verdict::Fail {
            return None;
        }
        S::follow_up(result, options)
    }
}

/// Returns a command line, quoted for a shell.
#[must_use]
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", escape_controls(word).replace('\'', "'\\''"))
        }
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}
