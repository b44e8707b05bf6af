//! The command line and the dispatch of its subcommands.

mod boards;
mod erase;
mod flash;
mod image;
mod monitor;
mod ports;
mod probe;
mod program;
mod program_file;
mod read;
mod reset;
mod run;
mod serve;
mod setup;
mod target;
mod verify;
mod via;
mod write;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use clap::{Args, CommandFactory, Parser, Subcommand};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED};
use cli_support::file_roles::ArgumentRole;
use cli_support::file_roles::FileRole::{Read, ReadAfter, ReadFolder, Write, WriteFolder};
use cli_support::manual;
use cli_support::manual::{CompletionsArgs, ManArgs};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;

/// Load programs onto RC2014-family Z80 boards over a serial line, and verify them
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the commands do with the files that these arguments name.
pub(crate) const FILE_ROLES: &[ArgumentRole] = &[
    ("", "rig_file", Read),
    ("setup", "rig_file", Write),
    ("", "file", Read),
    ("", "sargon_dir", ReadFolder(".asm")),
    ("", "via", Read),
    ("read", "output", Write),
    ("image", "output", Write),
    ("image", "elf", Write),
    ("image", "bank", ReadAfter("=")),
    ("monitor", "log", Write),
    ("monitor", "send", Read),
    ("monitor", "script", Read),
    ("run", "files", Read),
    ("run", "layout", Read),
    ("man", "folder", WriteFolder(&[])),
];

const EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  failed verification, or a program that did not start
    2  invalid command line
    3  a port, board or file failed
    4  no port found
   70  internal error
  130  interrupted";

#[derive(Subcommand)]
enum Command {
    /// List the serial ports, without opening any
    #[command(after_help = "\
Examples:
  rcflash ports            device, USB ids, serial number, path by id, rig names
  rcflash ports --json     the same as JSON, one object per line")]
    Ports(ports::PortsArgs),
    /// List the board profiles for --board, and what each was tested on
    #[command(after_help = "\
Prints a line per board: profile, board, and `simulation`, `MAME`, `hardware` or \
`untried`.

Example:
  rcflash boards")]
    Boards,
    /// Set up a new board: port, program, profile, rig file, first ten cases
    #[command(after_help = "\
Probes the only USB adapter, or asks which, names what replies, writes the board into \
the rig file as `bench`, runs ten cases by `hw-tests run`, and shows what to do next.

Examples:
  rcflash setup
  rcflash setup --port /dev/ttyUSB0 --board rc2014-zed --name attic
  rcflash setup --port /dev/ttyUSB0 --json --no-run")]
    Setup(setup::SetupArgs),
    /// Identify the program on the board and the speed of the line
    ///
    /// Known are this project's programs, stock monitors, and CP/M.
    #[command(after_help = "\
Sends carriage returns, to which stock monitors reply with their prompt; a BASIC at its \
start dialogue takes one as the default. If no known program replies, the other speeds \
of the board's profile are tried.

Examples:
  rcflash probe --port /dev/ttyUSB0
  rcflash probe --port /dev/ttyUSB0 --baud 9600")]
    Probe(probe::ProbeArgs),
    /// Load a program into the board's RAM or flash, verify it, and start it
    #[command(after_help = "\
Examples:
  rcflash write --port /dev/ttyUSB0             the built-in exchange evaluator
  rcflash write --port bench                    on this board of the rig file
  rcflash write --port bench prog.hex           a program of your own
  rcflash write --port bench prog.bin --address 9000 --no-run
  rcflash write --port bench --flash --autostart
  rcflash write --port bench --via scm prog.hex through the stock monitor")]
    Write(write::WriteArgs),
    /// Assemble a program, load it, start it, and show its output
    #[command(after_help = "\
Sources are assembled and linked as by tdlasm; sections without an address go to the \
memory that the monitor loads programs into. The output of the program goes to standard \
output, until there is none for two seconds (--idle-exit).

Examples:
  rcflash run --port /dev/ttyUSB0 hello.asm
  rcflash run --port /dev/ttyUSB0 --via scm hello.asm    through a stock monitor
  rcflash run --port /dev/ttyUSB0 game.hex --idle-exit never    until Ctrl-C")]
    Run(run::RunArgs),
    /// Compare a program with the board's memory or flash
    ///
    /// A running application is reset to the monitor first.
    #[command(after_help = "\
Examples:
  rcflash verify --port /dev/ttyUSB0    is the built-in evaluator in RAM?
  rcflash verify --port /dev/ttyUSB0 prog.hex
  rcflash verify --port bench --flash --boot-sector
  rcflash verify --port bench --flash chip.bin --address 0")]
    Verify(verify::VerifyArgs),
    /// Read memory or flash into a file
    ///
    /// A running application is reset to the monitor first.
    #[command(after_help = "\
Examples:
  rcflash read --port /dev/ttyUSB0 --range 8000-EFFF -o ram.bin
  rcflash read --port /dev/ttyUSB0 --range 0000-1FFF -o rom.hex
  rcflash read --port /dev/ttyUSB0 --flash -o chip.bin     the whole chip
  rcflash read --port /dev/ttyUSB0 --flash --range 1000-1FFF -o sector.bin")]
    Read(read::ReadArgs),
    /// Erase sectors of the board's flash
    #[command(after_help = "\
Examples:
  rcflash erase --port bench --range 1000-5FFF    five sectors
  rcflash erase --port bench --all                all but the monitor
  rcflash erase --port bench --all --dry-run      list used sectors")]
    Erase(erase::EraseArgs),
    /// Reset the board and wait for its monitor
    ///
    /// The rig file names the method; without one, press the reset button when prompted.
    #[command(after_help = "\
The monitor stays at its prompt: a program in flash with autostart is not started.

Examples:
  rcflash reset --port /dev/ttyUSB0    press the button when prompted
  rcflash reset --port bench           as the rig file says (docs/RIG.md)
  rcflash reset --port bench --patience 2m")]
    Reset(reset::ResetArgs),
    /// Open a terminal on the board; Ctrl-] exits
    #[command(after_help = "\
Examples:
  rcflash monitor --port /dev/ttyUSB0
  rcflash monitor --port bench --log session.txt --hex
  rcflash monitor --port bench --send program.bas --pace 2,20    in ms
  printf 'HELP\\n' | rcflash monitor --port bench    one command, and its reply

Keys: Ctrl-] exits; Ctrl-\\ prompts for a file to send, or cancels one that is being \
sent. All others, including Ctrl-C, go to the board.")]
    Monitor(monitor::MonitorArgs),
    /// Share a board over the network, for --port rfc2217://host:port on other computers
    #[command(after_help = "\
Serves one client at a time; the port is open only while one is connected. There is no \
encryption and no authentication, so other computers are served with --unprotected only \
(docs/NETWORK.md). The address for clients goes to standard output.

Examples:
  rcflash serve --port /dev/ttyUSB0
  rcflash serve --port bench --listen 0.0.0.0:2217 --unprotected
  rcflash serve --port bench --listen 3000 --raw    for tcp://host:3000")]
    Serve(serve::ServeArgs),
    /// Write an image file for an EPROM programmer, and program the chip with minipro
    #[command(after_help = "\
Examples:
  rcflash image -o monitor.bin                     the monitor, for a 27C512
  rcflash image -o rom.bin --chip 28c256 --program written by minipro, compared
  rcflash image -o rom.bin --board rc2014-zed      512 KiB for an SST39SF040
  rcflash image -o rom.hex --bank 1=basic.rom      BASIC beside the monitor
  rcflash image scm.bin -o rom.bin --bank 4        from bank 4, the others blank
  rcflash image -o app.hex --application           what `rcflash write` loads
  rcflash image --list-chips

The command for minipro goes to standard output, everything else to standard error.")]
    Image(image::ImageArgs),
    /// Print a completion script for a shell
    #[command(after_help = CompletionsArgs::examples("rcflash"))]
    Completions(CompletionsArgs),
    /// Write manual pages
    #[command(after_help = ManArgs::examples("rcflash"))]
    Man(ManArgs),
}

/// Heading of the help.
const EVALUATOR: &str = "Evaluator";

/// Options that choose the exchange evaluator to build.
#[derive(Args)]
struct EvaluatorArgs {
    /// Treatment of the bugs of the original program
    #[arg(long, value_name = "corrected|original|fast", default_value_t, help_heading = EVALUATOR)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder instead of the built-in ones
    ///
    /// The routines that can be replaced are described in sargon-src/README.md.
    #[arg(long, value_name = "DIR", help_heading = EVALUATOR, hide_short_help = true)]
    sargon_dir: Option<PathBuf>,
}

impl EvaluatorArgs {
    fn is_default(&self) -> bool {
        self.behaviour == Behaviour::Corrected && self.sargon_dir.is_none()
    }

    /// Builds the application, and prints which routines are overridden.
    fn build(&self, profile: &BoardProfile, kind: ProgramKind) -> Result<BuiltImage, CommandError> {
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let image = build_with(profile, kind, &evaluator)?;
        if !image.overridden.is_empty() {
            cli_support::eprint_message!(
                "with routines of your own: {}",
                image.overridden.join(", ")
            );
        }
        Ok(image)
    }
}

/// Returns a flag that the first Ctrl-C sets, for loaders to finish; the second one exits.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, CommandError> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    let seen = Arc::clone(&stop);
    let handler = move || {
        if seen.swap(true, Ordering::Relaxed) {
            crate::terminal::restore();
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't watch for Ctrl-C: {error}"))
    })?;
    Ok(stop)
}

pub(crate) fn run(cli: Cli) -> CommandResult {
    match cli.command {
        Command::Ports(args) => ports::ports(&args),
        Command::Boards => boards::boards(),
        Command::Setup(args) => setup::setup(&args),
        Command::Probe(args) => probe::probe(&args),
        Command::Write(args) => write::write(&args),
        Command::Run(args) => run::run(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Read(args) => read::read(&args),
        Command::Erase(args) => erase::erase(&args),
        Command::Reset(args) => reset::reset(&args),
        Command::Monitor(args) => monitor::monitor(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Image(args) => image::image(&args),
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
