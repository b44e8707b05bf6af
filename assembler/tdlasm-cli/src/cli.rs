//! The command line: arguments, files in and out, exit codes.

mod asm;
mod convert;
mod disasm;
mod files;
mod fmt;
mod json;
mod link;
mod lsp;
mod new;
mod project;
mod sarif;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use cli_support::exit::{self, CommandResult};
use cli_support::file_roles::ArgumentRole;
use cli_support::file_roles::FileRole::{Read, Search, Write, WriteFolder};
use cli_support::manual::{self, CompletionsArgs, ManArgs};
use tdlasm::diag::{DiagnosticCode, Severity};

/// Assembles, links and disassembles Z80 programs in the TDL dialect.
#[derive(Debug, Parser)]
#[command(
    name = "tdlasm",
    version = env!("PROGRAM_VERSION"),
    about,
    after_help = EXIT_CODES,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    /// Explain a message by its code, such as U01
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    explain: Option<DiagnosticCode>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What the commands do with the files that these arguments name.
pub(crate) const FILE_ROLES: &[ArgumentRole] = &[
    ("", "include", Search),
    ("", "layout", Read),
    ("", "symbols", Read),
    ("", "output", Write),
    ("asm", "files", Read),
    ("asm", "listing", Write),
    ("asm", "depfile", Write),
    ("asm", "sarif", Write),
    ("convert", "file", Read),
    ("disasm", "file", Read),
    ("fmt", "files", Write),
    ("link", "objects", Read),
    ("link", "library", Read),
    ("link", "map", Write),
    ("link", "symbols", Write),
    ("new", "name", WriteFolder(&[])),
    ("man", "folder", WriteFolder(&[])),
];

const EXIT_CODES: &str = "\
Exit codes:
  0   success
  1   errors: nothing is written; or `fmt --check` found unformatted files
  2   invalid command line
  3   a file cannot be read or written
  5   `convert` left statements unconverted
  70  a bug in this program

Examples:
  tdlasm asm monitor.asm -o monitor.hex --listing monitor.lst
  tdlasm --explain U01";

// Deferred: clap builds the arguments of the selected command only, which shortens the start.
// The structures of arguments have no doc comments: those would replace the descriptions here.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Write a first program, which prints HELLO on a board
    #[command(after_help = "\
Examples:
  tdlasm new hello")]
    New(new::Arguments),
    /// Assemble source files into one program
    #[command(after_help = "\
Examples:
  tdlasm asm monitor.asm -o monitor.hex --listing monitor.lst
  tdlasm asm main.asm -I include --define DEBUG=1 -o main.o
  tdlasm asm rom.asm --layout rom.toml -o rom.bin -W error=all
  tdlasm asm                              # the programs of tdl.toml")]
    Asm(Box<asm::Arguments>),
    /// Link objects into a program
    #[command(after_help = "\
Examples:
  tdlasm link main.o tables.o --layout rom.toml -o rom.bin
  tdlasm link main.o maths.a --library period.rel -o main.bin --map main.map")]
    Link(link::Arguments),
    /// Disassemble a program, whatever its format
    #[command(after_help = "\
Examples:
  tdlasm disasm rom.bin --origin 0x100
  tdlasm disasm prog.hex --symbols prog.sym -o prog.asm")]
    Disasm(disasm::Arguments),
    /// Convert source between the mnemonics of TDL and Zilog
    Convert(convert::Arguments),
    /// Format source files: labels, operators, operands and comments in columns
    Fmt(fmt::Arguments),
    /// Run the language server (LSP) on standard input and output
    Lsp(lsp::Arguments),
    /// Print a shell completion script
    #[command(after_help = CompletionsArgs::examples("tdlasm"))]
    Completions(CompletionsArgs),
    /// Make manual pages
    #[command(after_help = ManArgs::examples("tdlasm"))]
    Man(ManArgs),
}

/// Selects JSON for all messages before the command line is parsed, since that can fail.
pub(crate) fn select_json_messages(arguments: impl Iterator<Item = OsString>) {
    let words: Vec<OsString> = arguments.take_while(|word| word != "--").collect();
    let is_pair = |pair: &[OsString]| pair[0] == "--message-format" && pair[1] == "json";
    if words.windows(2).any(is_pair) || words.iter().any(|word| word == "--message-format=json") {
        cli_support::text::set_json_messages(json::message);
    }
}

/// An error whose message has been printed already, as its exit code.
type ReportedError = u8;

pub(crate) fn run(arguments: Arguments) -> CommandResult {
    let result = match (arguments.explain, arguments.command) {
        (Some(code), _) => explain(code),
        (None, Some(Command::New(arguments))) => new::run(&arguments),
        (None, Some(Command::Asm(arguments))) => asm::run(&arguments),
        (None, Some(Command::Link(arguments))) => link::run(&arguments),
        (None, Some(Command::Disasm(arguments))) => disasm::run(&arguments),
        (None, Some(Command::Convert(arguments))) => convert::run(&arguments),
        (None, Some(Command::Fmt(arguments))) => fmt::run(&arguments),
        (None, Some(Command::Lsp(arguments))) => lsp::run(&arguments),
        (None, Some(Command::Completions(arguments))) => {
            return manual::print_completions(&arguments, Arguments::command());
        }
        (None, Some(Command::Man(arguments))) => {
            return manual::write_or_print_pages(&arguments, Arguments::command());
        }
        (None, None) => Err(exit::USAGE),
    };
    Ok(result.err().unwrap_or(0))
}

fn parse_code(text: &str) -> Result<DiagnosticCode, String> {
    let found = DiagnosticCode::ALL
        .iter()
        .find(|code| code.id().eq_ignore_ascii_case(text) || code.group() == text);
    found.copied().ok_or_else(|| {
        let ids: Vec<&str> = DiagnosticCode::ALL.iter().map(|code| code.id()).collect();
        format!("expected one of {}", ids.join(" "))
    })
}

fn explain(code: DiagnosticCode) -> Result<(), ReportedError> {
    let severity = match code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let text = format!("{} ({}, {severity})\n\n{}\n", code.id(), code.group(), code.explain());
    files::write("-".as_ref(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_that_names_a_file_has_a_role() {
        assert_eq!(
            cli_support::file_roles::roles_that_differ(&Arguments::command(), FILE_ROLES),
            [""; 0]
        );
    }

    #[test]
    fn every_command_has_help_and_an_example() {
        Arguments::command().debug_assert();
        assert_eq!(cli_support::manual::missing_help(&Arguments::command()), [""; 0]);
    }
}
