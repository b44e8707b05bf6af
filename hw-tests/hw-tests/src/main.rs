//! The command `hw-tests`.

mod cli;

use std::process::ExitCode;

use cli_support::exit::BUG;

fn main() -> ExitCode {
    // The panic has been reported by then; only the exit code is ours to choose.
    std::panic::catch_unwind(cli::main).unwrap_or(ExitCode::from(BUG))
}
