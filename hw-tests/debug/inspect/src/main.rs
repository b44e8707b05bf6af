//! The command `hw-inspect`: debugger, profiler and coverage of Z80 code. A program of its own, since
//! building it takes as long as building all that runs the corpus.

mod coverage;
mod dap;
mod debug;
mod gdb;
mod profile;
mod sampling;
mod session;
mod target;
mod why;
mod workload;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use cli_support::exit::{CommandError, CommandResult};
use cli_support::file_roles::ArgumentRole;
use cli_support::file_roles::FileRole::{Read, ReadAfter, ReadFolder, Search, Write, WriteFolder};
use cli_support::manual::{self, CompletionsArgs, ManArgs};

/// A result, or an error with an exit code.
type ExitResult<T> = Result<T, CommandError>;

/// Debugger, profiler and coverage for Z80 code on a simulated or real board.
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the commands do with the files that these arguments name.
const FILE_ROLES: &[ArgumentRole] = &[
    ("", "sargon_dir", ReadFolder(".asm")),
    ("", "layout", Read),
    ("", "include", Search),
    ("", "symbols", Read),
    ("", "target", Read),
    ("", "program", Read),
    ("", "rig_file", Read),
    ("", "rig", ReadAfter("replay:")),
    ("", "record", Write),
    ("profile", "flame", Write),
    ("profile", "speedscope", Write),
    ("profile", "callgrind", Write),
    ("coverage", "lcov", Write),
    ("why", "corpus", Read),
    ("debug", "script", Read),
    ("man", "folder", WriteFolder(&[])),
];

const EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  wrong residue, or too little coverage
    2  invalid command line
    3  a port, board or file failed
    4  nothing selected
   70  internal error
  130  interrupted";

#[derive(Subcommand)]
enum Command {
    /// Profile Z80 code: T-states by routine and line
    #[command(after_help = "\
Time in HALT and in interrupt handlers is listed as the board's own. The lines of an expanded \
macro count as the line of its call. A routine that is entered by a jump or by running into it \
counts as a callee of the one before it, in \"with callees\".

Examples:
  hw-inspect profile                                the corpus that ships
  hw-inspect profile --annotate xchng.asm           with T-states and runs
  hw-inspect profile --flame flame.svg positions.epd
  hw-inspect profile --program prog.asm --run 2s    a program of your own")]
    Profile(profile::ProfileArgs),
    /// Measure the line and branch coverage of Z80 code: of a program, or of the evaluator by positions
    #[command(after_help = "\
A line is covered if each of its instructions has run on some board; a conditional instruction has \
two branches.

Examples:
  hw-inspect coverage                                  the corpus that ships
  hw-inspect coverage --program prog.asm --least 90    a program of your own
  hw-inspect coverage --lcov cover.info positions.epd  for genhtml and editors")]
    Coverage(coverage::CoverageArgs),
    /// Find the first fault that leads to a wrong residue, and open the debugger there
    #[command(after_help = "\
The case runs on a simulated board and in the reference: the first entry of the attackers array, \
booking or residue that differs is shown with the instruction that wrote it.

Examples:
  hw-inspect why byte.figure4
  hw-inspect why --behaviour original '2k5/8/2n5/8/3p4/8/3R4/2R4K w - -'")]
    Why(why::WhyArgs),
    /// Run a gdb server at the call that computed a residue, or at a program's first instruction
    #[command(after_help = "\
For a gdb that knows the Z80: gdb-multiarch of Debian 13 or later, or one built with \
--target=z80-unknown-elf. Reverse stepping and execution work; `monitor COMMAND` runs the \
debugger's own commands (`monitor ?` lists them).

Example:
  hw-inspect gdb --listen 127.0.0.1:3333 prog.elf
  (in another terminal:)
  z80-unknown-elf-gdb prog.elf -ex 'target remote 127.0.0.1:3333'")]
    Gdb(gdb::GdbArgs),
    /// Debug the evaluator at the call that computed a residue, or any program, forward and back
    #[command(after_help = "\
Lower-case letters go forward, upper-case ones back: s and S by instruction, n and N by line, c \
and C to breakpoints; ? lists keys and commands. Ctrl-C or Esc stops the board, q quits.

Examples:
  hw-inspect debug prog.asm                   assembled and loaded
  hw-inspect debug mul.test.toml 'limit'      at a call of this case
  hw-inspect debug --break 'LOOP if A == 0' prog.elf
  hw-inspect debug '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5")]
    Debug(debug::DebugArgs),
    /// Run the debug adapter (DAP) on standard input and output
    #[command(after_help = "\
Arguments of `launch`: fen and square, or program; and board, behaviour, sargonDir and others, \
like the options of the other commands (docs/DEBUG-EDITORS.md).

Example:
  hw-inspect dap              started by VS Code, Neovim or Emacs")]
    Dap,
    /// Print a shell completion script
    #[command(after_help = CompletionsArgs::examples("hw-inspect"))]
    Completions(CompletionsArgs),
    /// Make manual pages
    #[command(after_help = ManArgs::examples("hw-inspect"))]
    Man(ManArgs),
}

fn main() -> ExitCode {
    manual::main(FILE_ROLES, run)
}

fn run(cli: Cli) -> CommandResult {
    match cli.command {
        Command::Profile(args) => profile::profile(&args),
        Command::Coverage(args) => coverage::coverage(&args),
        Command::Why(args) => why::run(&args),
        Command::Gdb(args) => gdb::gdb(&args),
        Command::Debug(args) => debug::debug(&args),
        Command::Dap => dap::serve(),
        Command::Completions(args) => manual::print_completions(&args, Cli::command()),
        Command::Man(args) => manual::write_or_print_pages(&args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_that_names_a_file_has_a_role() {
        assert_eq!(
            cli_support::file_roles::roles_that_differ(&Cli::command(), FILE_ROLES),
            [""; 0]
        );
    }

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(cli_support::manual::missing_help(&Cli::command()), [""; 0]);
    }
}
