//! The command line: what is asked for, what is printed, and the exit code.

mod behaviours;
mod captures;
mod corpus;
mod coverage;
mod dap;
mod debug;
mod diff;
mod differences;
mod doctor;
mod exhaust;
mod explain;
mod gdb;
mod positions;
mod prizes;
mod profile;
mod relations;
mod reports;
mod residues;
mod results;
mod run;
mod select;
mod session;
mod simulator;
mod standin;
mod swap;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, CommandFactory, Parser, Subcommand};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hw_tests::board::Choice;
use hw_tests::reference::Square;
use hw_tests::rig::{Plan, Recording};
use hw_tests::sim::Pace;
use rcflash::exit::{BUG, Failure, INTERRUPTED, RIG, conclude};
use rcflash::manual;
use rcflash::rig::{DEFAULT_BOARD, RigFile};
use serde::Serialize;
use tdlasm::manual::{CompletionsArgs, ManArgs};

/// Runs Sargon's exchange evaluator on a board, simulated or real, and judges it by a host reference.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_CODES)]
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
    Run(run::RunArgs),
    /// Run two boards side by side and stop at the first thing in which they or the reference differ
    #[command(after_help = "\
Each board counts for itself: residues, arrays, statuses, pins, and T-states where both count them. Exit code 1 is a difference,
3 a board that does not answer.

Examples:
  hw-tests diff --board direct --board direct,profile=rc2014-zed
  hw-tests diff --board direct --board /dev/ttyUSB0 --tag play
  hw-tests diff --board direct --board direct,app=changed.hex 'byte.*'")]
    Diff(diff::DiffArgs),
    /// Examine the rig: port, permission, lock, flow control, baud, ROM, clock, line; and say what to do
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
    /// Order and prune the captures of positions by what a modern exchange evaluation says of them
    #[command(after_help = "\
Examples:
  hw-tests captures '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'
  hw-tests captures --values sargon positions.epd
  hw-tests captures                                     statistics of the whole corpus")]
    Captures(captures::CapturesArgs),
    /// Evaluate one capture by every modern form, with the list of gains
    #[command(after_help = "\
Example:
  hw-tests swap '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' d3e5")]
    Swap(swap::SwapArgs),
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
    #[command(after_help = "\
Time in HALT and interrupt service that nobody called are the board's own. A line that a macro call makes is the call.

Examples:
  hw-tests profile                                      the corpus that ships
  hw-tests profile --annotate xchng.asm                 the listing with T-states and runs
  hw-tests profile --flame flame.svg '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -'")]
    Profile(profile::ProfileArgs),
    /// Show which lines and branches of the Z80 code run over the corpus, all requests, and what is refused
    #[command(after_help = "\
Boards that ship, mended and as in 1978, from RAM and from flash. A line has run when all its instructions have, be it in
one of the builds; an instruction on condition has two ways out.

Examples:
  hw-tests coverage
  hw-tests coverage --every 20 --board rc2014-classic   a quick look")]
    Coverage(coverage::CoverageArgs),
    /// Serve gdb at the call that made a residue, on a simulated board
    #[command(after_help = "\
For a gdb built with --target=z80-unknown-elf; Debian's gdb-multiarch knows no Z80. Stepping back and running back work.

Example:
  hw-tests gdb --listen 127.0.0.1:3333 '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5
  (in another terminal:)
  z80-unknown-elf-gdb -ex 'target remote 127.0.0.1:3333'")]
    Gdb(gdb::GdbArgs),
    /// Look into the board at the call that made a residue: source, registers, steps forward and back
    #[command(after_help = "\
Small letters go forward, capitals back: s and S by instruction, n and N by line, c and C to breakpoints. The bottom
row of the screen has them all.

Example:
  hw-tests debug '1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -' e5")]
    Debug(debug::DebugArgs),
    /// Be the debug adapter of an editor: the Debug Adapter Protocol on standard input and output
    #[command(after_help = "\
Arguments of `launch`: fen, square; and board, behaviour, sargonDir as the options of other commands (docs/DEBUGGING.md).

Example:
  hw-tests dap                                          started by VS Code, Neovim or Emacs")]
    Dap(dap::DapArgs),
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
    /// Play a stock monitor's part on a pseudo-terminal until interrupted, to try `rcflash write --via` on
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

/// Which board, and what goes onto it.
#[derive(Args)]
struct BoardArgs {
    /// The board's profile; rc2014-classic if nothing names another
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD")]
    board: Option<String>,
    /// A real board: its name in the rig file, or its serial device; without it the board is simulated
    #[arg(long, group = "way", value_name = "NAME|DEVICE")]
    port: Option<String>,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for settings
    #[arg(long, value_name = "FILE", requires = "port")]
    rig: Option<PathBuf>,
    /// How the evaluator treats the faults of the program of 1978, on the board and in the reference
    #[arg(long, value_name = "mended|1978", default_value_t)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR", conflicts_with = "app")]
    sargon_dir: Option<PathBuf>,
    /// Load this application instead of the built-in one (.hex, or .bin for the built-in one's address)
    #[arg(long, value_name = "FILE")]
    app: Option<PathBuf>,
    /// Put the application into the board's flash and run it from there; what is there already is not written again
    #[arg(long, conflicts_with_all = ["app", "replay"])]
    flash: bool,
    /// What is in the simulated board's ROM socket instead of the built-in monitor
    #[arg(long, value_name = "FILE", conflicts_with = "port")]
    rom: Option<PathBuf>,
    /// Accept a monitor of another build in the ROM
    #[arg(long)]
    any_monitor: bool,
    /// Hold the simulated board to its own clock
    #[arg(long, conflicts_with = "way")]
    real_time: bool,
    /// Run the simulated board within this program: no wait takes time, and each run is like the one before
    #[arg(long, group = "way")]
    direct: bool,
    /// Take a board that MAME emulates: rc2014mini, rc2014, rc2014cl2, rc2014zedp
    #[arg(long, group = "way", value_name = "MACHINE", num_args = 0..=1, require_equals = true)]
    mame: Option<Option<String>>,
    /// Write down all that passes over the line, to be replayed without the board
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Make faults on the line and on the board, which this number decides (docs/TESTING.md)
    #[arg(long, value_name = "SEED", conflicts_with = "replay")]
    faults: Option<u64>,
    /// Replay what was recorded; no board is needed
    #[arg(long, group = "way", value_name = "FILE", conflicts_with = "rom")]
    replay: Option<PathBuf>,
}

/// Parses the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
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
        Command::Profile(args) => profile::profile(&args),
        Command::Gdb(args) => gdb::gdb(&args),
        Command::Debug(args) => debug::debug(&args),
        Command::Dap(args) => dap::serve(&args),
        Command::Coverage(args) => coverage::coverage(&args),
        Command::Relations(args) => relations::relations_of(&args),
        Command::Swap(args) => swap::swap_of(&args),
        Command::Sim(args) => simulator::serve(&args),
        Command::StandIn(args) => standin::serve(&args),
        Command::Corpus(args) => corpus::corpus(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Man(args) => manual::man(&args, Cli::command()),
    };
    conclude("hw-tests", outcome)
}

impl BoardArgs {
    /// What to call the board until it is reached.
    fn described(&self) -> String {
        match (&self.port, &self.replay, &self.mame) {
            (Some(port), _, _) => port.clone(),
            (_, Some(file), _) => format!("replay of {}", file.display()),
            (_, _, Some(_)) => "MAME".to_owned(),
            _ => "simulated".to_owned(),
        }
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let find = |port: &String| RigFile::read(self.rig.as_deref())?.find(port);
        let rig = self.port.as_ref().map(find).transpose()?;
        let named = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        let profile = Profile::named(self.board.as_deref().unwrap_or(named))?;
        let rom = self.rom.as_deref().map(read).transpose()?;
        let application = self.app.as_deref().map(read_program).transpose()?;
        let pace = if self.real_time { Pace::RealTime } else { Pace::Free };
        let board = match (rig, &self.replay, &self.mame) {
            (Some(rig), _, _) => Choice::Serial(rig),
            (_, Some(file), _) => Choice::Replay(file.clone()),
            (_, _, Some(machine)) => Choice::Mame { machine: machine.clone(), rom },
            _ if self.direct => Choice::Direct { rom },
            _ => Choice::Simulated { rom, pace },
        };
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let recording = self.record.clone().map(|file| Recording { file, cases: Vec::new() });
        let (in_flash, any_monitor) = (self.flash, self.any_monitor);
        Ok(Plan {
            profile,
            board,
            evaluator,
            application,
            in_flash,
            any_monitor,
            recording,
            faults: self.faults,
            stop: None,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::new(RIG, format!("can't read {}: {error}", path.display())))
}

/// A program and its address.
fn read_program(path: &Path) -> Result<(u16, Vec<u8>), Failure> {
    let bytes = read(path)?;
    let wrong = |problem: String| Failure::new(RIG, format!("{}: {problem}", path.display()));
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex")) {
        let text = String::from_utf8_lossy(&bytes);
        let (image, _) =
            tdlasm::image::parse_intel_hex(&text).map_err(|error| wrong(error.to_string()))?;
        let (first, _) = image.bounds().ok_or_else(|| wrong("it holds no bytes".to_owned()))?;
        return Ok((first, image.flat(0xFF)));
    }
    Ok((APPLICATION_ADDRESS, bytes))
}

/// Where applications for RAM are linked.
const APPLICATION_ADDRESS: u16 = 0x8000;

/// Prints data. A reader that has had enough is no failure of ours.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(RIG, format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Reads the name of a square.
fn square_name(text: &str) -> Result<Square, String> {
    Square::named(text).ok_or_else(|| "a square is a letter a to h and a digit 1 to 8".to_owned())
}

/// A number and what it counts.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Ends a list of findings with their counts: a last line of JSON, or a summary for people.
fn print_total<C: Serialize>(
    json: bool,
    counts: &C,
    summary: impl FnOnce(&C) -> String,
) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Total<'a, C> {
        counts: &'a C,
    }
    if json { print(&json_line(&Total { counts })?) } else { print(&summary(counts)) }
}

/// A value as one line of JSON.
fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map(|json| json + "\n").map_err(|error| Failure::new(BUG, error))
}

/// Notices Ctrl-C instead of ending at once; a second one ends at once.
fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let stop = move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(stop)
        .map_err(|error| Failure::new(RIG, format!("can't watch for Ctrl-C: {error}")))?;
    Ok(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(tdlasm::manual::gaps(&Cli::command()), [""; 0]);
    }
}
