//! The command `hw-tests`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args_os().skip(1).find(|argument| argument != "help");
    match command.as_deref().and_then(cli::moved_error) {
        Some(error) => cli_support::exit::report_result("hw-tests", Err(error)),
        None => cli_support::manual::main(&cli::file_roles(), cli::run),
    }
}
