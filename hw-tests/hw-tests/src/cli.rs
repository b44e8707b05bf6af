//! The command line and the dispatch of its subcommands.

mod behaviours;
mod boards;
mod captures;
mod compare_see;
mod corpus;
mod diff;
mod differences;
mod doctor;
mod exhaust;
mod explain;
mod files;
mod groups;
mod inspect;
mod new;
mod positions;
mod prizes;
mod relations;
mod residues;
mod run;
mod select;
mod simulator;
mod standin;
mod swap;
mod test;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use cli_support::exit::report_result;
use cli_support::manual;
use cli_support::manual::{CompletionsArgs, ManArgs};

use boards::BoardArgs;
use files::read_program;
use inspect::PassthroughArgs;

/// Run Sargon's exchange evaluator on a simulated or real board and compare it with a host
/// reference
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Headings of the help that options of several commands share.
const CASES: &str = "Cases";
const OUTPUT: &str = "Output";

const EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  wrong residue or failed verification
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
  hw-tests run --direct --faults 1 --count 10000   with injected faults
  hw-tests run --for 8h --seed 1                   soak test, shuffled
  hw-tests run --report-dir report                 HTML, JSON, Markdown, JUnit")]
    Run(Box<run::RunArgs>),
    /// Test your own Z80 routines by test files, on a simulated machine
    #[command(after_help = "\
A test file names sources, calls and what is expected of them (docs/TESTING-YOUR-CODE.md).

Examples:
  hw-tests test mul.test.toml
  hw-tests test tests --tag fast                        every *.test.toml of a folder
  hw-tests test mul.test.toml --filter wraps --seed 7
  hw-tests test --contracts mul.asm                     by the comments above its routines")]
    Test(test::TestArgs),
    /// Create a routine with its test file and a workflow, as a start for your own
    #[command(after_help = "\
Creates NAME.asm, NAME.test.toml and .github/workflows/test.yml, and overwrites nothing.

Example:
  hw-tests new mul
  hw-tests test mul.test.toml")]
    New(new::NewArgs),
    /// Run two boards side by side and stop at the first difference between them or the reference
    #[command(after_help = "\
Compared are residues, arrays, statuses, pins and, if both boards count them, T-states.
Exit code 1: a difference; 3: a board does not reply.

Examples:
  hw-tests diff --board direct --board direct,profile=rc2014-zed
  hw-tests diff --board direct --board /dev/ttyUSB0 --tag play
  hw-tests diff --board direct --board direct,app=changed.hex 'byte.*'")]
    Diff(diff::DiffArgs),
    /// Check the rig (port, permissions, lock, flow control, baud, ROM, clock, line), with advice
    #[command(after_help = "\
Opens only the given port. The clock is measured by code whose T-states are known.

Examples:
  hw-tests doctor --port /dev/ttyUSB0
  hw-tests doctor --port bench --board rc2014-zed")]
    Doctor(doctor::DoctorArgs),
    /// Compare board and reference on every attackers array of a space
    #[command(after_help = "\
Examples:
  hw-tests exhaust                                      core space, simulated board
  hw-tests exhaust --space two-queens --port /dev/ttyUSB0
  hw-tests exhaust --range 600000..857304 --crc 12345678")]
    Exhaust(exhaust::ExhaustArgs),
    /// Print the residues of positions as JSON, one line per position
    #[command(after_help = "\
Examples:
  hw-tests residues --fen 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  hw-tests residues positions.epd
  hw-tests residues < positions.epd")]
    Residues(residues::ResiduesArgs),
    /// Show how position files are parsed: EPD with any operations, FEN, suites
    #[command(after_help = "\
Examples:
  hw-tests positions problems.epd
  hw-tests positions --json problems.epd                FEN, operations, moves in UCI, notes")]
    Positions(positions::ListArgs),
    /// List the legal captures of positions with their exchange values, best first
    #[command(after_help = "\
swap        least valuable attacker captures next; pins and checks are ignored
swap_promo  the same; a pawn that captures on the last rank becomes a queen
legal       minimax over the legal captures on the square (docs/EVALUATORS.md)

Examples:
  hw-tests captures '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  hw-tests captures --values units --json positions.epd
  hw-tests captures                                     statistics of the whole corpus")]
    Captures(captures::CapturesArgs),
    /// Evaluate moves by every form of Static Exchange Evaluation, or a suite of values
    #[command(after_help = "\
Any legal move is evaluated: captures, quiet moves, promotions, castling.
A suite has `FEN; move; value` on each line; exit code 1: a value differs.

Examples:
  hw-tests swap '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' Nxe5
  hw-tests swap --values units --json positions.epd     every legal move of each position
  hw-tests swap suite.epd                               stated and computed values")]
    Swap(swap::SwapArgs),
    /// Compare the exchange values of your own engine or script with swap, minimax and Sargon
    #[command(after_help = "\
The command reads lines and replies to each with one line: an integer, a JSON object with
an integer `value`, or `none`. Other lines are ignored. It must exit at the end of its input.
Exit code 1: a value differs from the definition chosen by --by.

Examples:
  hw-tests compare-see './my-see' positions.epd         lines such as `FEN; e4d5`
  hw-tests compare-see --input json --values classic 'python3 see.py' positions.epd
  hw-tests compare-see --by legal --captures --list ./my-see '4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -'")]
    CompareSee(compare_see::CompareArgs),
    /// Compare residues with minimax and with the swap algorithm, and explain differences
    #[command(after_help = "\
Residue: the points that the owner of a square loses, by Sargon. Minimax: the same attackers
and defenders, played out in full. Swap: the algorithm of modern engines. Reasons joined by
`+` explain a difference together; reasons joined by `or` explain it each alone.

Examples:
  hw-tests differences '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  hw-tests differences                                  counts over the whole corpus
  hw-tests differences --list positions.epd")]
    Differences(differences::DifferencesArgs),
    /// Explain the residue of one square: the attackers array and the exchange step by step
    #[command(after_help = "\
Prints the steps of the host beside those of the board. Takes: the points at stake are
booked. Calls for help: the attacker is worth more than its target but not more than the
defender, so the capture pays only with a second attacker.

Examples:
  hw-tests explain '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5
  hw-tests explain --values 1,3,4,5,9,15 '8/2n5/3q4/2PP4/1B6/8/8/8 w - -' d6")]
    Explain(explain::ExplainArgs),
    /// List squares where the 1978 program differs from the corrected one, and the bug behind it
    #[command(after_help = "\
Lists squares with another residue, with a piece that did not fit into the array, or with a
wrong count. The bugs are described in sargon-src/README.md, \"As in 1978\".

Examples:
  hw-tests behaviours                                   the built-in corpus
  hw-tests behaviours positions.epd
  hw-tests behaviours 'r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -'")]
    Behaviours(behaviours::BehavioursArgs),
    /// Show how residues are used: the highest losses, and the points won by the second prize
    #[command(after_help = "\
Examples:
  hw-tests prizes --moved c7 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  hw-tests prizes                                       compare board and host over the corpus")]
    Prizes(prizes::PrizesArgs),
    /// Profile the Z80 code over positions: T-states by routine and line
    #[command(after_help = "Example:\n  hw-tests profile --help", disable_help_flag = true)]
    Profile(PassthroughArgs),
    /// Measure the line and branch coverage of the Z80 code over the corpus
    #[command(after_help = "Example:\n  hw-tests coverage --help", disable_help_flag = true)]
    Coverage(PassthroughArgs),
    /// Find the first wrong step of a wrong residue and open the debugger there
    #[command(after_help = "Example:\n  hw-tests why byte.figure4", disable_help_flag = true)]
    Why(PassthroughArgs),
    /// Serve gdb at the call that computes a residue, or at a program's first instruction
    #[command(after_help = "Example:\n  hw-tests gdb prog.asm", disable_help_flag = true)]
    Gdb(PassthroughArgs),
    /// Debug the evaluator, or any program, forward and backward
    #[command(after_help = "Example:\n  hw-tests debug prog.asm", disable_help_flag = true)]
    Debug(PassthroughArgs),
    /// Run a debug adapter (DAP) on stdin and stdout
    #[command(after_help = "Example:\n  hw-tests dap", disable_help_flag = true)]
    Dap(PassthroughArgs),
    /// List discovered and transparent attacks, as in Table 4 of the article
    #[command(after_help = "\
W is the side of the attacking piece, whatever its colour.

Example:
  hw-tests relations '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'")]
    Relations(relations::RelationsArgs),
    /// Serve a simulated board on a pseudo-terminal
    #[command(after_help = "\
Example:
  hw-tests sim
  (prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --port /dev/pts/5

Enter presses its reset button.")]
    Sim(simulator::SimArgs),
    /// Emulate a stock monitor on a pseudo-terminal, for `rcflash write --via`
    #[command(
        name = "standin",
        after_help = "\
Example:
  hw-tests standin scm
  (prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --via scm --port /dev/pts/5 prog.hex"
    )]
    StandIn(standin::StandInArgs),
    /// Generate positions by seeded legal play, as in the corpus
    #[command(after_help = "\
Examples:
  hw-tests corpus > corpus.epd
  hw-tests corpus --seed 7 --count 100")]
    Corpus(corpus::CorpusArgs),
    /// Print a completion script for a shell
    #[command(after_help = CompletionsArgs::examples("hw-tests"))]
    Completions(CompletionsArgs),
    /// Write manual pages
    #[command(after_help = ManArgs::examples("hw-tests"))]
    Man(ManArgs),
}

/// Parses the command line, runs its command, and returns the exit code.
pub(crate) fn main() -> ExitCode {
    let cli = match manual::parse_args::<Cli>(groups::grouped(Cli::command())) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Test(args) => test::test(&args),
        Command::New(args) => new::create(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Exhaust(args) => exhaust::exhaust(&args),
        Command::Residues(args) => residues::residues(&args),
        Command::Captures(args) => captures::captures(&args),
        Command::Differences(args) => differences::differences(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Behaviours(args) => behaviours::behaviours(&args),
        Command::Prizes(args) => prizes::prizes(&args),
        Command::Profile(args) => args.exec_hw_inspect("profile"),
        Command::Why(args) => args.exec_hw_inspect("why"),
        Command::Gdb(args) => args.exec_hw_inspect("gdb"),
        Command::Debug(args) => args.exec_hw_inspect("debug"),
        Command::Dap(args) => args.exec_hw_inspect("dap"),
        Command::Coverage(args) => args.exec_hw_inspect("coverage"),
        Command::Relations(args) => relations::relations_of(&args),
        Command::Swap(args) => swap::swap_of(&args),
        Command::CompareSee(args) => compare_see::compare(&args),
        Command::Positions(args) => positions::list(&args),
        Command::Sim(args) => simulator::serve(&args),
        Command::StandIn(args) => standin::serve(&args),
        Command::Corpus(args) => corpus::corpus(&args),
        Command::Completions(args) => manual::print_completions(&args, Cli::command()),
        Command::Man(args) => manual::write_or_print_pages(&args, Cli::command()),
    };
    report_result("hw-tests", outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(cli_support::manual::missing_help(&Cli::command()), [""; 0]);
    }
}
