//! `rcflash boards`.

use cli_support::exit::CommandResult;
use cli_support::output::print;
use firmware::profile::BoardProfile;

/// Prints a line for each board: its profile, its name, and what it was tested on.
pub(super) fn boards() -> CommandResult {
    for profile in BoardProfile::names().map(BoardProfile::named) {
        let profile = profile?;
        for kit in &profile.boards {
            print(&format!("{:16} {:28} {}\n", profile.name, kit.name, kit.tried()))?;
        }
    }
    Ok(0)
}
