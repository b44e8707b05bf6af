//! The command line: its commands, and which module runs each.

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
mod positions;
mod prizes;
mod relations;
mod residues;
mod run;
mod select;
mod simulator;
mod standin;
mod swap;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use program_kit::exit::conclude;
use program_kit::manual;
use program_kit::manual::{CompletionsArgs, ManArgs};

use boards::BoardArgs;
use files::read_program;
use inspect::Handed;

/// Runs Sargon's exchange evaluator on a board, simulated or real, and judges it by a host
/// reference.
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all right, 1 wrong residue or failed verify, 2 usage, 3 port, board or file failed,
4 nothing selected, 5 incomplete or flaky, 70 a bug of this program, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    /// Load the evaluator and compare board and reference over the corpus
    #[command(after_help = "\
Examples:
  hw-tests run                                          the simulated board, the whole corpus
  hw-tests run --port /dev/ttyUSB0                      a real RC2014 Classic
  hw-tests run 'byte.*' --tag document                  only cases of such names with this tag
  hw-tests run --shard 2/5 --results two.jsonl          the second fifth; --resume goes on with it
  hw-tests run --direct --faults 1 --count 10000        on a line that makes faults
  hw-tests run --for 8h --seed 1                        over and over, in changing order
  hw-tests run --report-dir report                      leaves a page with boards, JSON, Markdown and JUnit XML")]
    Run(Box<run::RunArgs>),
    /// Run two boards side by side and stop at the first thing in which they or the reference
    /// differ
    #[command(after_help = "\
Each board counts for itself: residues, arrays, statuses, pins, and T-states where both count them. Exit code 1 is a difference,
3 a board that does not answer.

Examples:
  hw-tests diff --board direct --board direct,profile=rc2014-zed
  hw-tests diff --board direct --board /dev/ttyUSB0 --tag play
  hw-tests diff --board direct --board direct,app=changed.hex 'byte.*'")]
    Diff(diff::DiffArgs),
    /// Examine the rig: port, permission, lock, flow control, baud, ROM, clock, line; and say what
    /// to do
    #[command(after_help = "\
It opens only the port that is named. The clock is measured by work whose T-states are known.

Examples:
  hw-tests doctor --port /dev/ttyUSB0
  hw-tests doctor --port bench --board rc2014-zed")]
    Doctor(doctor::DoctorArgs),
    /// Compare board and reference on every well-formed attackers array of a space
    #[command(after_help = "\
Examples:
  hw-tests exhaust                                      the core space, on the simulated board
  hw-tests exhaust --space two-queens --port /dev/ttyUSB0
  hw-tests exhaust --range 600000..857304 --crc 12345678")]
    Exhaust(exhaust::ExhaustArgs),
    /// Print the residues of positions as JSON, one line a position
    #[command(after_help = "\
Examples:
  hw-tests residues --fen 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  hw-tests residues positions.epd
  hw-tests residues < positions.epd")]
    Residues(residues::ResiduesArgs),
    /// Show how lines of positions are read: EPD with any operations, FEN, suites
    #[command(after_help = "\
Examples:
  hw-tests positions problems.epd
  hw-tests positions --json problems.epd                FEN, operations, moves in UCI, notes")]
    Positions(positions::ListArgs),
    /// List the legal captures of positions with their exchange values, in the order of a search
    #[command(after_help = "\
Swap: the least valuable attacker takes next, pins and checks aside. Swap_promo: the same, and a pawn that takes on the last
rank becomes a queen. Legal: minimax over the legal captures on the square (docs/EVALUATORS.md).

Examples:
  hw-tests captures '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  hw-tests captures --values units --json positions.epd
  hw-tests captures                                     statistics of the whole corpus")]
    Captures(captures::CapturesArgs),
    /// Evaluate moves by every form of Static Exchange Evaluation, or a suite of values
    #[command(after_help = "\
Any legal move is evaluated: captures, quiet moves, promotions, castling. A suite has `FEN; move; value` on each line; exit
code 1 is a value that differs.

Examples:
  hw-tests swap '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' Nxe5
  hw-tests swap --values units --json positions.epd     every legal move of each position
  hw-tests swap suite.epd                               the stated values beside ours")]
    Swap(swap::SwapArgs),
    /// Compare the exchange values of your own engine or script with swap, minimax and Sargon
    #[command(after_help = "\
The command reads lines and answers each with a line: a whole number, JSON with one as `value`, or none. Other lines are
passed over. It ends when its input ends. Exit code 1 is a value that differs from the definition of --by.

Examples:
  hw-tests compare-see './my-see' positions.epd         lines such as `FEN; e4d5`
  hw-tests compare-see --input json --values classic 'python3 see.py' positions.epd
  hw-tests compare-see --by legal --captures --list ./my-see '4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -'")]
    CompareSee(compare_see::CompareArgs),
    /// Compare residues with minimax and with the swap algorithm, and say why they differ
    #[command(after_help = "\
Residue: what Sargon says that the owner of a square loses. Minimax: the same attackers and defenders,
played out in full. Swap: as modern engines do it. A reason joined by + takes both rules to explain the
difference; by 'or', each would do.

Examples:
  hw-tests differences '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  hw-tests differences                                  counts over the whole corpus
  hw-tests differences --list positions.epd")]
    Differences(differences::DifferencesArgs),
    /// Show how the residue of one square comes about: the array, and the exchange step by step
    #[command(after_help = "\
The steps are the host's beside the board's own. Takes: the points at stake are booked. Calls for help: the attacker is
dearer than what it would take, but the guard is no cheaper, and whether it pays depends on who stands behind.

Examples:
  hw-tests explain '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5
  hw-tests explain --values 1,3,4,5,9,15 '8/2n5/3q4/2PP4/1B6/8/8/8 w - -' d6")]
    Explain(explain::ExplainArgs),
    /// List where the program of 1978 differs from the mended one, and which fault is behind it
    #[command(after_help = "\
Squares with another residue, and squares where a piece found no room in the array or a count promised
too much. The faults are told in sargon-src/README.md, \"As in 1978\".

Examples:
  hw-tests behaviours                                   the corpus that ships
  hw-tests behaviours positions.epd
  hw-tests behaviours 'r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -'")]
    Behaviours(behaviours::BehavioursArgs),
    /// Show what the program makes of residues: highest losses, and what is won by the second prize
    #[command(after_help = "\
Examples:
  hw-tests prizes --moved c7 'r3k3/2N5/8/8/2q5/8/8/4K3 b - -'
  hw-tests prizes                                       compare board and host over the corpus")]
    Prizes(prizes::PrizesArgs),
    /// Show where the T-states of the Z80 code go over positions, by routine and line
    #[command(after_help = "Example:\n  hw-tests profile --help", disable_help_flag = true)]
    Profile(Handed),
    /// Show which lines and branches of the Z80 code run over the corpus and all requests
    #[command(after_help = "Example:\n  hw-tests coverage --help", disable_help_flag = true)]
    Coverage(Handed),
    /// Find the first thing that is wrong in a wrong residue, and open the debugger there
    #[command(after_help = "Example:\n  hw-tests why byte.figure4", disable_help_flag = true)]
    Why(Handed),
    /// Serve gdb at the call that made a residue, or at a program's first instruction
    #[command(after_help = "Example:\n  hw-tests gdb prog.asm", disable_help_flag = true)]
    Gdb(Handed),
    /// Debug the evaluator at the call that made a residue, or any program, forward and back
    #[command(after_help = "Example:\n  hw-tests debug prog.asm", disable_help_flag = true)]
    Debug(Handed),
    /// Be the debug adapter of an editor: the Debug Adapter Protocol on standard input and output
    #[command(after_help = "Example:\n  hw-tests dap", disable_help_flag = true)]
    Dap(Handed),
    /// List discovered and transparent attacks, the second-order relations of the article's Table 4
    #[command(after_help = "\
W is the side of the piece that acts, whatever its colour.

Example:
  hw-tests relations '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'")]
    Relations(relations::RelationsArgs),
    /// Serve a simulated board on a pseudo-terminal until interrupted
    #[command(after_help = "\
Example:
  hw-tests sim
  (it prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --port /dev/pts/5

Enter presses its reset button.")]
    Sim(simulator::SimArgs),
    /// Play a stock monitor's part on a pseudo-terminal until interrupted, to try
    /// `rcflash write --via` on
    #[command(
        name = "standin",
        after_help = "\
Example:
  hw-tests standin scm
  (it prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --via scm --port /dev/pts/5 prog.hex"
    )]
    StandIn(standin::StandInArgs),
    /// Make positions by seeded legal play, as the corpus has them
    #[command(after_help = "\
Examples:
  hw-tests corpus > corpus.epd
  hw-tests corpus --seed 7 --count 100")]
    Corpus(corpus::CorpusArgs),
    /// Print a script that completes commands in a shell
    #[command(after_help = CompletionsArgs::examples("hw-tests"))]
    Completions(CompletionsArgs),
    /// Make manual pages
    #[command(after_help = ManArgs::examples("hw-tests"))]
    Man(ManArgs),
}

/// Parses the command line, runs its command, and returns the exit code.
pub(crate) fn main() -> ExitCode {
    let cli = match manual::parse::<Cli>(groups::grouped(Cli::command())) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Exhaust(args) => exhaust::exhaust(&args),
        Command::Residues(args) => residues::residues(&args),
        Command::Captures(args) => captures::captures(&args),
        Command::Differences(args) => differences::differences(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Behaviours(args) => behaviours::behaviours(&args),
        Command::Prizes(args) => prizes::prizes(&args),
        Command::Profile(args) => args.hand_over("profile"),
        Command::Why(args) => args.hand_over("why"),
        Command::Gdb(args) => args.hand_over("gdb"),
        Command::Debug(args) => args.hand_over("debug"),
        Command::Dap(args) => args.hand_over("dap"),
        Command::Coverage(args) => args.hand_over("coverage"),
        Command::Relations(args) => relations::relations_of(&args),
        Command::Swap(args) => swap::swap_of(&args),
        Command::CompareSee(args) => compare_see::compare(&args),
        Command::Positions(args) => positions::list(&args),
        Command::Sim(args) => simulator::serve(&args),
        Command::StandIn(args) => standin::serve(&args),
        Command::Corpus(args) => corpus::corpus(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Man(args) => manual::man(&args, Cli::command()),
    };
    conclude("hw-tests", outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(program_kit::manual::gaps(&Cli::command()), [""; 0]);
    }
}
