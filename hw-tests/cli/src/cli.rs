//! The command line and the dispatch of its subcommands.

mod batch;
mod call;
mod doctor;
mod execution;
mod new;
mod report;
mod run;
mod select;
mod simulate;
mod test;

use clap::{CommandFactory, Parser, Subcommand};
use cli_support::exit::CommandResult;
use cli_support::file_roles::ArgumentRole;
use cli_support::file_roles::FileRole::{Read, ReadBefore, Write, WriteFolder};
use cli_support::manual;
use cli_support::manual::{CompletionsArgs, ManArgs};
use hil_harness::report::{HISTORY_FILES, REPORT_FILES};

use sargon_suite::args::file_roles as board_file_roles;

/// Test Z80 code on simulated and real boards: your own routines by test files, and Sargon's
/// exchange evaluator by a host reference
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The heading of options that select cases.
const CASES: &str = "Cases";

/// What the commands do with the files that their arguments name.
pub(crate) fn file_roles() -> Vec<ArgumentRole> {
    [&board_file_roles()[..], &FILE_ROLES].concat()
}

/// The roles of arguments of this program.
const FILE_ROLES: [ArgumentRole; 21] = [
    ("", "baseline", ReadBefore("report_dir")),
    ("", "results", Write),
    ("", "report_dir", WriteFolder(&REPORT_FILES)),
    ("", "corpus", Read),
    ("batch", "programs", Read),
    ("test", "files", Read),
    ("test", "contracts", Read),
    ("test", "coverage", Write),
    ("test", "profile", Write),
    ("test", "cycles", Write),
    ("call", "files", Read),
    ("call", "symbols", Read),
    ("new", "program", Read),
    ("new", "symbols", Read),
    ("new", "dir", WriteFolder(&[])),
    ("report history", "reports", Read),
    ("report history", "report_dir", WriteFolder(&HISTORY_FILES)),
    ("report merge", "reports", Read),
    ("report diff", "before", Read),
    ("report diff", "after", Read),
    ("man", "folder", WriteFolder(&[])),
];

const AFTER_HELP: &str = "\
Other commands: completions and man. The program `hw-inspect` debugs and profiles Z80 \
code, and measures its coverage; `sargon` evaluates chess positions.

Exit codes:
    0  success
    1  a case fails, as by a wrong residue
    2  invalid command line
    3  a port, board or file failed
    4  no case selected
    5  incomplete or flaky
   70  internal error
  130  interrupted";

#[derive(Subcommand)]
enum Command {
    /// Run the corpus on a board and compare every result with the reference
    #[command(after_help = "\
Examples:
  hw-tests run                                     simulated board, whole corpus
  hw-tests run --port /dev/ttyUSB0                 a real RC2014 Classic
  hw-tests run 'byte.*' --tag document             by name and tag
  hw-tests run --shard 2/5 --results two.jsonl     continue with --resume
  hw-tests run --rig direct --faults 1             with injected faults
  hw-tests run --for 8h --shuffle 1                soak test, shuffled
  hw-tests run --report-dir report                 HTML, JSON, Markdown, JUnit")]
    Run(Box<run::RunArgs>),
    /// Test your own Z80 routines by test files, on a simulated machine or a board
    #[command(after_help = "\
A test file names sources, calls and what is expected of them (docs/TESTING-YOUR-CODE.md).

Examples:
  hw-tests test mul.test.toml
  hw-tests test tests --tag fast                     a folder's *.test.toml
  hw-tests test mul.test.toml --case 'wraps*' --seed 7
  hw-tests test mul.test.toml --port /dev/ttyUSB0    on a real board
  hw-tests test tests --rig bench --rig attic        on two boards (docs/LAB.md)
  hw-tests test --contracts mul.asm                  by comments above routines
  hw-tests test . --coverage cover.info              for genhtml and editors")]
    Test(Box<test::TestArgs>),
    /// Run whole programs one after the other, and judge each by its output or exit code
    #[command(after_help = "\
The board is reset between programs if that needs no person. docs/BATCH.md has a \
start-up for C by which a program sends its exit code.

Examples:
  hw-tests batch build                               a folder, simulated
  hw-tests batch build --pass 'Tests ok' --fail FAIL
  hw-tests batch build --via cpm                     *.com, simulated CP/M
  hw-tests batch build --port /dev/ttyUSB0 --via scm --report-dir out
  hw-tests batch build --port bench --results r.jsonl    continue with --resume")]
    Batch(Box<batch::BatchArgs>),
    /// Call Z80 routines by lines of JSON, from any test framework
    #[command(after_help = "\
Replies to each line of standard input by a line, until its end: load, call, \
read, write, reset, symbols (docs/call.schema.json). docs/examples has programs \
for pytest and a shell.

Examples:
  echo '{\"call\": \"MUL16\", \"in\": {\"BC\": 3, \"DE\": 7}}' | hw-tests call mul16.asm
  hw-tests call mul16.asm --port /dev/ttyUSB0    on a real board")]
    Call(call::CallArgs),
    /// Create a routine with its test file, or a test file for a program of any assembler or compiler
    #[command(after_help = "\
Creates NAME.asm, NAME.test.toml and .github/workflows/test.yml, and overwrites \
nothing. With --for, the source is in that tool's dialect, and the test file has \
the command that builds it. If the program or its source is there, only the test \
file is created, with a case that passes (docs/FOREIGN-CODE.md).

Examples:
  hw-tests new mul                        mul.asm and its tests
  hw-tests test mul.test.toml
  hw-tests new mul --for sdcc             mul.c and its tests
  hw-tests new game --for sjasmplus       tests of game.asm, which is there
  hw-tests new game --program build/game.hex --build 'make -s'")]
    New(new::NewArgs),
    /// Follow many runs, join the shards of one, or compare two, by their reports (docs/REPORTS.md)
    #[command(after_help = "Example:\n  hw-tests report history archive --report-dir history")]
    Report(report::ReportArgs),
    /// Check the rig (port, permissions, lock, flow control, baud, ROM, clock, line), with advice
    #[command(after_help = "\
Opens only the given port. The clock is measured by code whose T-states are known.

Examples:
  hw-tests doctor --port /dev/ttyUSB0
  hw-tests doctor --port bench --board rc2014-zed")]
    Doctor(doctor::DoctorArgs),
    /// Serve a simulated board, or emulate a stock monitor, on a pseudo-terminal
    #[command(after_help = "Example:\n  hw-tests simulate board")]
    Simulate(simulate::SimulateArgs),
    /// Print a completion script for a shell
    #[command(after_help = CompletionsArgs::examples("hw-tests"), hide = true)]
    Completions(CompletionsArgs),
    /// Write manual pages
    #[command(after_help = ManArgs::examples("hw-tests"), hide = true)]
    Man(ManArgs),
}

pub(crate) fn run(cli: Cli) -> CommandResult {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Test(args) => test::test(&args),
        Command::Batch(args) => batch::batch(&args),
        Command::Call(args) => call::serve(&args),
        Command::New(args) => new::create(&args),
        Command::Report(args) => report::report(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Simulate(args) => simulate::serve(&args),
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
            cli_support::file_roles::roles_that_differ(&Cli::command(), &file_roles()),
            [""; 0]
        );
    }

    /// More options than fit on a screen are not read: one that another option can express must go.
    #[test]
    fn the_main_commands_have_few_options() {
        let mut program = Cli::command();
        program.build();
        for (name, most) in [("run", 34), ("test", 35)] {
            let command = program.find_subcommand(name).expect("a subcommand");
            let is_shown =
                |option: &&clap::Arg| option.get_long().is_some() && !option.is_hide_set();
            let count = command.get_arguments().filter(is_shown).count();
            assert!(count <= most, "{name}: {count} options");
        }
    }

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(cli_support::manual::missing_help(&Cli::command()), [""; 0]);
    }
}
