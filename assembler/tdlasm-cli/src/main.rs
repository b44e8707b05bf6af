//! The command `tdlasm`.

mod cli;

use std::process::ExitCode;

use cli_support::exit::BUG;

fn main() -> ExitCode {
    // The panic has been reported by then; only the exit code is ours to choose.
    std::panic::catch_unwind(cli::run).unwrap_or(ExitCode::from(BUG))
}
