//! `rcflash boards`.

use std::io::Write;

use cli_support::exit::{CommandError, CommandResult};
use firmware::profile::BoardProfile;

/// Prints a line for each board: its profile, its name, and what it was tested on.
pub(super) fn boards() -> CommandResult {
    let mut out = std::io::stdout().lock();
    for profile in BoardProfile::names().map(BoardProfile::named) {
        let profile = profile.map_err(CommandError::from)?;
        for kit in &profile.boards {
            let line = format!("{:16} {:28} {}", profile.name, kit.name, kit.tried());
            if writeln!(out, "{line}").is_err() {
                return Ok(0); // standard output is closed
            }
        }
    }
    Ok(0)
}
