//! The command `rcflash`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
