//! The command `sargon`: chess positions and their exchange values, on the host and on boards.

mod behaviours;
mod booking;
mod captures;
mod compare_see;
mod corpus;
mod differences;
mod exhaust;
mod explain;
mod positions;
mod prizes;
mod relations;
mod residues;
mod swap;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use cli_support::exit::CommandResult;
use cli_support::file_roles::ArgumentRole;
use cli_support::file_roles::FileRole::{Read, Write, WriteFolder};
use cli_support::manual::{self, CompletionsArgs, ManArgs};
use sargon_suite::args::file_roles as board_file_roles;

/// Evaluate exchanges in chess positions, as Sargon (1978) does and as modern engines do
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the commands do with the files that their arguments name.
fn file_roles() -> Vec<ArgumentRole> {
    let own = [
        ("", "positions", Read),
        ("differences", "html", Write),
        ("man", "folder", WriteFolder(&[])),
    ];
    [&board_file_roles()[..], &own].concat()
}

const EXIT_CODES: &str = "\
Other commands: completions and man.

Exit codes:
    0  success
    1  a value differs
    2  invalid command line
    3  a port, board, file or external command failed
    4  no such move, piece or array
   70  internal error
  130  interrupted";

#[derive(Subcommand)]
enum Command {
    /// Show how position files are parsed: EPD with any operations, FEN, suites
    #[command(after_help = "\
Examples:
  sargon positions problems.epd
  sargon positions --json problems.epd    FEN, operations, moves in UCI, notes")]
    Positions(positions::ListArgs),
    /// List the legal captures of positions with their exchange values, best first
    #[command(after_help = "\
swap        least valuable attacker captures next; pins and checks are ignored
swap_promo  the same; a pawn that captures on the last rank becomes a queen
swap_pins   as swap; a pinned piece captures only on the line of its pin
legal       minimax over the legal captures on the square (docs/EVALUATORS.md)

Examples:
  sargon captures '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  sargon captures --values units --json positions.epd
  sargon captures                         statistics of the whole corpus")]
    Captures(captures::CapturesArgs),
    /// Evaluate moves by every form of Static Exchange Evaluation, or a suite of values
    #[command(after_help = "\
Any legal move is evaluated: captures, quiet moves, promotions, castling; by swap, \
swap_promo, swap_pins and legal, as `sargon captures --help` defines them. \
A suite has `FEN; move; value` on each line; exit code 1: a value differs.

Examples:
  sargon swap '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' Nxe5
  sargon swap --values units --json positions.epd    every legal move
  sargon swap suite.epd                              stated and computed values")]
    Swap(swap::SwapArgs),
    /// Compare the exchange values of your own engine or script with swap, minimax and Sargon
    #[command(after_help = "\
The command reads lines and replies to each with one line: an integer, a JSON object \
with an integer `value`, or `none`. Other lines are ignored. It must exit at the end of \
its input. Exit code 1: a value differs from the definition chosen by --by: swap, \
swap_promo, swap_pins or legal, as `sargon captures --help` defines them, in the units \
of --values.

Examples:
  sargon compare-see './my-see' positions.epd    lines such as `FEN; e4d5`
  sargon compare-see --input json --values units 'python3 see.py' positions.epd
  sargon compare-see --by legal --captures --list ./my-see positions.epd")]
    CompareSee(compare_see::CompareArgs),
    /// Compare residues with minimax and with the swap algorithm, and explain differences
    #[command(after_help = "\
Residue: the points that the owner of a square loses, by Sargon. Minimax: the same \
attackers and defenders, played out in full. Swap: the algorithm of modern engines. \
Reasons joined by `+` explain a difference together; reasons joined by `or` explain it \
each alone.

Examples:
  sargon differences '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  sargon differences                      counts over the whole corpus
  sargon differences --list positions.epd")]
    Differences(differences::DifferencesArgs),
    /// List discovered and transparent attacks, as in Table 4 of the article
    #[command(after_help = "\
W is the side of the attacking piece, whatever its colour.

Example:
  sargon relations '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'")]
    Relations(relations::RelationsArgs),
    /// List squares where the original program differs from the corrected one, and the bug behind
    #[command(after_help = "\
Lists squares with another residue, with a piece that did not fit into the array, or \
with a wrong count. The bugs are described in sargon-src/README.md, \"The original\".

Examples:
  sargon behaviours                                   the built-in corpus
  sargon behaviours positions.epd
  sargon behaviours 'r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -'")]
    Behaviours(behaviours::BehavioursArgs),
    /// Explain the residue of one square: the attackers array and the exchange step by step
    #[command(after_help = "\
Prints the steps of the host beside those of the board. Takes: the points at stake are \
booked. Calls for help: the attacker is worth more than its target but not more than the \
defender, so the capture pays only with a second attacker.

Examples:
  sargon explain '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5
  sargon explain --values 1,3,4,5,9,15 '8/2n5/3q4/2PP4/1B6/8/8/8 w - -' d6")]
    Explain(explain::ExplainArgs),
    /// Print the residues of positions as JSON, one line per position
    #[command(after_help = "\
Examples:
  sargon residues --fen 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  sargon residues positions.epd
  sargon residues < positions.epd")]
    Residues(residues::ResiduesArgs),
    /// Show how residues are used: the highest losses, and the points won by the second prize
    #[command(after_help = "\
Examples:
  sargon prizes --moved c7 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  sargon prizes                  compare board and host over the corpus")]
    Prizes(prizes::PrizesArgs),
    /// Compare board and reference on every attackers array of a space
    #[command(after_help = "\
Examples:
  sargon exhaust                 core space, simulated board
  sargon exhaust --space two-queens --port /dev/ttyUSB0
  sargon exhaust --range 600000..857304 --crc 12345678")]
    Exhaust(exhaust::ExhaustArgs),
    /// Generate positions by seeded legal play, as in the corpus
    #[command(after_help = "\
Examples:
  sargon corpus > corpus.epd
  sargon corpus --seed 7 --count 100")]
    Corpus(corpus::CorpusArgs),
    /// Print a completion script for a shell
    #[command(after_help = CompletionsArgs::examples("sargon"), hide = true)]
    Completions(CompletionsArgs),
    /// Write manual pages
    #[command(after_help = ManArgs::examples("sargon"), hide = true)]
    Man(ManArgs),
}

fn main() -> ExitCode {
    manual::main(&file_roles(), run)
}

fn run(cli: Cli) -> CommandResult {
    match cli.command {
        Command::Positions(args) => positions::list(&args),
        Command::Captures(args) => captures::captures(&args),
        Command::Swap(args) => swap::swap_of(&args),
        Command::CompareSee(args) => compare_see::compare(&args),
        Command::Differences(args) => differences::differences(&args),
        Command::Relations(args) => relations::relations_of(&args),
        Command::Behaviours(args) => behaviours::behaviours(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Residues(args) => residues::residues(&args),
        Command::Prizes(args) => prizes::prizes(&args),
        Command::Exhaust(args) => exhaust::exhaust(&args),
        Command::Corpus(args) => corpus::corpus(&args),
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

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(manual::missing_help(&Cli::command()), [""; 0]);
    }
}
