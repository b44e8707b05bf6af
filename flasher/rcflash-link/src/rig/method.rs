//! How a board is reset. No stock board can be reset by the host, so most are reset by hand.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::labgrid::LabgridPlace;

/// The default length of a reset pulse: reset circuits extend it to 100 ms anyway.
pub(crate) const PULSE_MS: u64 = 200;

/// A method of resetting a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResetMethod {
    /// By hand, after a prompt.
    #[default]
    Ask,
    /// No reset.
    None,
    /// By the adapter's DTR.
    Dtr,
    /// By the adapter's RTS.
    Rts,
    /// By a long break on the line.
    Break,
    /// By the user's command.
    Command,
}

/// The state of DTR or RTS during reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActiveLevel {
    /// Active, which is the state after opening the port.
    #[default]
    On,
    /// Inactive.
    Off,
}

/// The reset method and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetConfig {
    /// The labgrid place of the board; its reset driver is tried before the user is prompted.
    pub labgrid: Option<LabgridPlace>,
    /// The method.
    pub method: ResetMethod,
    /// The shell command of [`ResetMethod::Command`].
    pub command: Option<String>,
    /// The state of the line during reset.
    pub active_level: ActiveLevel,
    /// The length of the reset pulse.
    pub pulse: Duration,
}

impl Default for ResetConfig {
    fn default() -> Self {
        let pulse = Duration::from_millis(PULSE_MS);
        Self {
            labgrid: None,
            method: ResetMethod::default(),
            command: None,
            active_level: ActiveLevel::default(),
            pulse,
        }
    }
}
