//! The command `tdlasm`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::select_json_messages(std::env::args_os().skip(1));
    cli_support::manual::main(cli::FILE_ROLES, cli::run)
}
