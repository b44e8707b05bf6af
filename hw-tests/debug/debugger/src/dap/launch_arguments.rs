//! The arguments of `launch` and `restart`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Arguments of `launch`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchArguments {
    /// The program: source, ELF or Intel HEX, or a test file.
    pub program: Option<String>,
    /// The name of a case of the test file.
    pub case: Option<String>,
    /// The board's profile.
    pub board: Option<String>,
    /// A real board with the debug kernel: its name in the rig file, a device or an address.
    pub port: Option<String>,
    /// The same, or a board without hardware: `direct`, `simulated`, `real-time`, `mame`,
    /// `mame:MACHINE` or `replay:FILE`.
    pub rig: Option<String>,
    /// The rig file.
    pub rig_file: Option<String>,
    /// A file to which the line traffic is recorded.
    pub record: Option<String>,
    /// The layout file for a program in source.
    pub layout: Option<String>,
    /// Symbols defined before its first line, `NAME` or `NAME=VALUE`.
    #[serde(default)]
    pub define: Vec<String>,
    /// Folders to search for inserted files.
    #[serde(default)]
    pub include: Vec<String>,
    /// A symbol file.
    pub symbols: Option<String>,
    /// Entry of the program: a label or a number.
    pub entry: Option<String>,
    /// Whether to stop before the first instruction of a program; defaults to `true`.
    pub stop_on_entry: Option<bool>,
    /// All other keys; see [`LaunchArguments::take`].
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

/// Keys of VS Code and of the protocol; those that begin with `__` are an editor's, too.
const EDITOR_KEYS: [&str; 14] = [
    "type",
    "request",
    "name",
    "noDebug",
    "cwd",
    "env",
    "console",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "suppressMultipleSessionWarning",
];

impl LaunchArguments {
    /// Removes and returns the value of another key, for sessions of another kind than a program's.
    /// Keys that nobody takes are reported to the client.
    ///
    /// # Errors
    /// Returns a message if the value has another type.
    pub fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, String> {
        let value = self.others.remove(key).map(serde_json::from_value).transpose();
        value.map_err(|error| format!("invalid \"{key}\": {error}"))
    }

    /// Returns the keys that are neither the adapter's nor an editor's.
    pub(super) fn unknown_keys(&self) -> Vec<&str> {
        let keys = self.others.keys().map(String::as_str);
        keys.filter(|key| !key.starts_with("__") && !EDITOR_KEYS.contains(key)).collect()
    }
}

/// Arguments of `restart`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct RestartArguments {
    /// The launch configuration as it is now.
    pub(super) arguments: Option<LaunchArguments>,
}
