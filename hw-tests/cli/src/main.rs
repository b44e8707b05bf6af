//! The command `hw-tests`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli_support::manual::main(&cli::file_roles(), cli::run)
}
