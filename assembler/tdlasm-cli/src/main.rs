//! The command `tdlasm`.

mod cli;

use std::process::ExitCode;

use cli_support::exit::BUG;

fn main() -> ExitCode {
    // The panic has been reported already; only the exit code is set here.
    std::panic::catch_unwind(cli::run).unwrap_or(ExitCode::from(BUG))
}
