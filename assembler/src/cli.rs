//! The command line: arguments, files in and out, exit codes.

mod asm;
mod files;
mod link;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Assembles, links and takes apart Z80 programs in the TDL dialect.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  all right
  1  the source or the link has errors; nothing is written
  2  the command line is wrong
  3  a file cannot be read or written

Examples:
  tdlasm asm monitor.asm -o monitor.hex --listing monitor.lst
  tdlasm asm main.asm -I include --define DEBUG=1 --layout rom.toml -o rom.bin";

#[derive(Debug, Subcommand)]
enum Command {
    /// Assemble source files, together one program
    Asm(asm::Arguments),
}

/// How a command failed; what there is to say has been said to stderr.
enum Failed {
    /// The source is wrong.
    Source,
    /// The arguments contradict each other.
    Usage,
    /// A file cannot be read or written.
    File,
}

impl From<Failed> for ExitCode {
    fn from(failed: Failed) -> Self {
        ExitCode::from(match failed {
            Failed::Source => 1,
            Failed::Usage => 2,
            Failed::File => 3,
        })
    }
}

/// Runs the command that the arguments ask for.
pub(crate) fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Asm(arguments) => asm::run(&arguments),
    };
    result.map_or_else(ExitCode::from, |()| ExitCode::SUCCESS)
}
