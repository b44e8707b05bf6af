//! The command `rcflash`.

mod cli;
mod programmer;
mod terminal;

fn main() -> std::process::ExitCode {
    cli_support::manual::main(cli::FILE_ROLES, cli::run)
}
