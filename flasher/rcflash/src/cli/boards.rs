//! `rcflash boards`.

use std::io::Write;

use cli_support::exit::{Failure, Outcome};
use firmware::profile::Profile;

/// Prints a line for each board: its profile, its name, and what was tried.
pub(super) fn boards() -> Outcome {
    let mut out = std::io::stdout().lock();
    for profile in Profile::names().map(Profile::named) {
        let profile = profile.map_err(Failure::from)?;
        for kit in &profile.boards {
            let line = format!("{:16} {:28} {}", profile.name, kit.name, kit.tried());
            if writeln!(out, "{line}").is_err() {
                return Ok(0); // whoever reads it has had enough
            }
        }
    }
    Ok(0)
}
