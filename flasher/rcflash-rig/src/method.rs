//! The ways to reset a board. No stock board has one, so most are reset by a person.

use std::time::Duration;

use serde::Deserialize;

use crate::labgrid::Place;

/// The time for which a reset line is held: more than the 100 ms for which usual reset circuits
/// hold /RESET anyway.
pub(crate) const PULSE_MS: u64 = 200;

/// The method by which a board is reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResetBy {
    /// By a person, who is asked to.
    #[default]
    Ask,
    /// Not at all.
    None,
    /// By the adapter's DTR.
    Dtr,
    /// By its RTS.
    Rts,
    /// By a long break on the line.
    Break,
    /// By a command of the user's.
    Command,
}

/// The state of DTR or RTS in which the board is held in reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActiveLevel {
    /// While it is active, as it is from opening the port on.
    #[default]
    On,
    /// While it is not.
    Off,
}

/// The method by which a board is reset, with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The place of labgrid that the board is, if it is one: its driver comes before a person.
    pub place: Option<Place>,
    /// The method.
    pub by: ResetBy,
    /// The command for the shell, with [`ResetBy::Command`].
    pub command: Option<String>,
    /// The line's state in reset.
    pub level: ActiveLevel,
    /// The time for which the line is held.
    pub pulse: Duration,
}

impl Default for Reset {
    fn default() -> Self {
        let pulse = Duration::from_millis(PULSE_MS);
        Self {
            place: None,
            by: ResetBy::default(),
            command: None,
            level: ActiveLevel::default(),
            pulse,
        }
    }
}
