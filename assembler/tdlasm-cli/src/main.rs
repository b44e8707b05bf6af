//! The command `tdlasm`.

mod cli;

fn main() -> std::process::ExitCode {
    cli_support::manual::main(cli::run)
}
