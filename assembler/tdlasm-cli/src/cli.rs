//! The command line: arguments, files in and out, exit codes.

mod asm;
mod convert;
mod disasm;
mod files;
mod fmt;
mod link;
mod lsp;
mod memory;
mod project;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use cli_support::exit;
use cli_support::manual::{CompletionsArgs, ManArgs};
use tdlasm::diag::{Code, Severity};

/// Assembles, links and takes apart Z80 programs in the TDL dialect.
#[derive(Debug, Parser)]
#[command(
    name = "tdlasm",
    version = env!("PROGRAM_VERSION"),
    about,
    after_help = EXIT_CODES,
    arg_required_else_help = true
)]
struct Arguments {
    /// Say what a message means, such as U01
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    explain: Option<Code>,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   all right
  1   the source or the link has errors, nothing is written; `fmt --check` found files to lay out
  2   the command line is wrong
  3   a file cannot be read or written
  5   statements without counterpart were not converted
  70  a bug of this program

Examples:
  tdlasm asm monitor.asm -o monitor.hex --listing monitor.lst
  tdlasm --explain U01";

// The arguments of one command only are made, which is most of what starting takes of our own time.
// Their structures have no doc comments: those would take the place of the descriptions here.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Assemble source files, together one program
    #[command(after_help = "\
Examples:
  tdlasm asm monitor.asm -o monitor.hex --listing monitor.lst
  tdlasm asm main.asm -I include --define DEBUG=1 -o main.o
  tdlasm asm rom.asm --layout rom.toml -o rom.bin -W error=all
  tdlasm asm                              # the programs of tdl.toml")]
    Asm(asm::Arguments),
    /// Link objects into a program
    #[command(after_help = "\
Examples:
  tdlasm link main.o tables.o --layout rom.toml -o rom.bin
  tdlasm link main.o maths.a --library period.rel -o main.bin --map main.map")]
    Link(link::Arguments),
    /// Turn a binary or HEX file back into source
    #[command(after_help = "\
Examples:
  tdlasm disasm rom.bin --origin 0x100
  tdlasm disasm prog.hex --symbols prog.sym -o prog.asm")]
    Disasm(disasm::Arguments),
    /// Convert source between the mnemonics of TDL and Zilog
    Convert(convert::Arguments),
    /// Put labels, operators, operands and comments of sources into columns
    Fmt(fmt::Arguments),
    /// Serve an editor: messages as you type, definitions, references, renaming and more
    Lsp(lsp::Arguments),
    /// Print a script that completes commands in a shell
    #[command(after_help = CompletionsArgs::examples("tdlasm"))]
    Completions(CompletionsArgs),
    /// Make manual pages
    #[command(after_help = ManArgs::examples("tdlasm"))]
    Man(ManArgs),
}

/// The kind of a failure whose message has been printed.
enum Failed {
    /// The source is wrong.
    Source,
    /// The arguments contradict each other.
    Usage,
    /// A file cannot be read or written.
    File,
    /// Something was left to be done by hand.
    Incomplete,
}

impl From<Failed> for ExitCode {
    fn from(failed: Failed) -> Self {
        ExitCode::from(match failed {
            Failed::Source => exit::WRONG,
            Failed::Usage => exit::USAGE,
            Failed::File => exit::RIG,
            Failed::Incomplete => exit::INCOMPLETE,
        })
    }
}

/// Runs the command that the arguments ask for.
pub(crate) fn run() -> ExitCode {
    let arguments = match cli_support::manual::parse::<Arguments>(Arguments::command()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let result = match (arguments.explain, arguments.command) {
        (Some(code), _) => explain(code),
        (None, Some(Command::Asm(arguments))) => asm::run(&arguments),
        (None, Some(Command::Link(arguments))) => link::run(&arguments),
        (None, Some(Command::Disasm(arguments))) => disasm::run(&arguments),
        (None, Some(Command::Convert(arguments))) => convert::run(&arguments),
        (None, Some(Command::Fmt(arguments))) => fmt::run(&arguments),
        (None, Some(Command::Lsp(arguments))) => lsp::run(&arguments),
        (None, Some(Command::Completions(arguments))) => {
            files::write("-".as_ref(), &arguments.script(Arguments::command()))
        }
        (None, Some(Command::Man(arguments))) => man(&arguments),
        (None, None) => Err(Failed::Usage),
    };
    result.map_or_else(ExitCode::from, |()| ExitCode::SUCCESS)
}

fn parse_code(text: &str) -> Result<Code, String> {
    let found =
        Code::ALL.iter().find(|code| code.id().eq_ignore_ascii_case(text) || code.group() == text);
    found.copied().ok_or_else(|| {
        let ids: Vec<&str> = Code::ALL.iter().map(|code| code.id()).collect();
        format!("the codes are {}", ids.join(" "))
    })
}

fn explain(code: Code) -> Result<(), Failed> {
    let severity = match code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let text = format!("{} ({}, {severity})\n\n{}\n", code.id(), code.group(), code.explain());
    files::write("-".as_ref(), text.as_bytes())
}

fn man(arguments: &ManArgs) -> Result<(), Failed> {
    let mut text = Vec::new();
    let said = arguments.make(Arguments::command(), &mut text).map_err(|error| {
        cli_support::tell!("error: the manual pages cannot be written: {error}");
        Failed::File
    })?;
    match said {
        Some(said) => cli_support::tell!("{said}"),
        None => files::write("-".as_ref(), &text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_an_example() {
        Arguments::command().debug_assert();
        assert_eq!(cli_support::manual::gaps(&Arguments::command()), [""; 0]);
    }
}
