//! The command `hw-tests`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
