//! The command `rcflash`.

mod cli;

use std::process::ExitCode;

use program_kit::exit::BUG;

fn main() -> ExitCode {
    // The panic has been reported by then; only the exit code is ours to choose.
    std::panic::catch_unwind(cli::main).unwrap_or(ExitCode::from(BUG))
}
