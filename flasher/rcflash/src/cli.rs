//! The command line: what is asked for, what is printed, and the exit code.

mod boards;
mod contents;
mod erase;
mod flash;
mod image;
mod monitor;
mod ports;
mod probe;
mod program;
mod read;
mod reset;
mod run;
mod serve;
mod target;
mod verify;
mod via;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use clap::{Args, CommandFactory, Parser, Subcommand};
use cli_support::exit::{Failure, INTERRUPTED, RIG, conclude};
use cli_support::manual;
use cli_support::manual::{CompletionsArgs, ManArgs};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;

/// Puts programs on Z80 boards of the RC2014 family over a serial line, and knows that they are
/// there.
#[derive(Parser)]
#[command(version = env!("PROGRAM_VERSION"), arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all right, 1 verify failed, 2 usage, 3 port, board or file failed, 4 no port found,
70 a bug of this program, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    /// List the serial ports, without opening any
    #[command(after_help = "\
Examples:
  rcflash ports            device, USB ids, serial number, lasting name, and the rig file's names
  rcflash ports --json     the same, an object a line")]
    Ports(ports::PortsArgs),
    /// List the boards that have a profile for --board, and what each was tried on
    #[command(after_help = "\
One line a board: profile, board, and `simulation`, `MAME`, `hardware` or `untried`.

Example:
  rcflash boards")]
    Boards,
    /// Find out what is at the other end: this project's monitor, a stock one, CP/M, another speed,
    /// nobody
    #[command(after_help = "\
Sends carriage returns, which stock monitors answer with their prompt; a BASIC that asks how it \
shall start takes one
for its answer. When nobody known answers, the other speeds of the board's profile are tried.

Examples:
  rcflash probe --port /dev/ttyUSB0
  rcflash probe --port /dev/ttyUSB0 --baud 9600")]
    Probe(probe::ProbeArgs),
    /// Upload a program into the board's RAM or flash, verify it there, and start it
    #[command(after_help = "\
Examples:
  rcflash write --port /dev/ttyUSB0                     the built-in exchange evaluator
  rcflash write --port bench                            on the board of this name in the rig file
  rcflash write --port /dev/ttyUSB0 --behaviour 1978    the same, with the faults of 1978
  rcflash write --port /dev/ttyUSB0 prog.hex            a program of your own
  rcflash write --port /dev/ttyUSB0 prog.bin --address 9000 --no-run
  rcflash write --port /dev/ttyUSB0 --board rc2014-zed --flash --autostart
  rcflash write --port /dev/ttyUSB0 --via scm prog.hex  through the Small Computer Monitor \
  (docs/LOADERS.md)")]
    Write(write::WriteArgs),
    /// Assemble a program of your own, load it, start it, and show what it says
    #[command(after_help = "\
Sources are assembled and linked as by tdlasm; sections without an address go where the board \
takes programs. What the
program says goes to standard output, until it has said nothing for two seconds (--quiet).

Examples:
  rcflash run --port /dev/ttyUSB0 hello.asm
  rcflash run --port /dev/ttyUSB0 --via scm hello.asm    on a board that keeps its ROM
  rcflash run --port /dev/ttyUSB0 game.hex --quiet 0     until Ctrl-C")]
    Run(run::RunArgs),
    /// Compare a program with what the board holds; a running application goes back to the monitor
    /// first
    #[command(after_help = "\
Examples:
  rcflash verify --port /dev/ttyUSB0                    is the built-in exchange evaluator still \
  in RAM?
  rcflash verify --port /dev/ttyUSB0 prog.hex
  rcflash verify --port /dev/ttyUSB0 --board rc2014-zed --flash --boot-sector
  rcflash verify --port /dev/ttyUSB0 --board rc2014-zed --flash chip.bin --address 0")]
    Verify(verify::VerifyArgs),
    /// Read memory or flash into a file; a running application goes back to the monitor first
    #[command(after_help = "\
Examples:
  rcflash read --port /dev/ttyUSB0 --range 8000-EFFF -o ram.bin
  rcflash read --port /dev/ttyUSB0 --range 0000-1FFF -o rom.hex
  rcflash read --port /dev/ttyUSB0 --flash -o chip.bin                  the whole chip
  rcflash read --port /dev/ttyUSB0 --flash --range 1000-1FFF -o sector.bin")]
    Read(read::ReadArgs),
    /// Erase sectors of the board's flash
    #[command(after_help = "\
Examples:
  rcflash erase --port /dev/ttyUSB0 --board rc2014-zed --range 1000-5FFF    five sectors: the \
  program, for example
  rcflash erase --port /dev/ttyUSB0 --board rc2014-zed --all                everything but the \
  monitor
  rcflash erase --port /dev/ttyUSB0 --board rc2014-zed --all --dry-run      which sectors hold \
  something?")]
    Erase(erase::EraseArgs),
    /// Reset the board as its rig file says, or ask for the button to be pressed, until its monitor
    /// answers
    #[command(after_help = "\
The monitor stays at its prompt: a program in flash that is started by itself after a reset is not.

Examples:
  rcflash reset --port /dev/ttyUSB0                     press the button when asked to
  rcflash reset --port bench                            by the method of the rig file \
  (docs/BOARDS.md)
  rcflash reset --port bench --patience 120")]
    Reset(reset::ResetArgs),
    /// Talk to the board; Ctrl-] leaves
    #[command(after_help = "\
Examples:
  rcflash monitor --port /dev/ttyUSB0
  rcflash monitor --port bench --log session.txt --hex
  rcflash monitor --port bench --send program.bas --pace 2,20    2 ms a character, 20 ms more a line
  printf 'HELP\\n' | rcflash monitor --port bench                one command, and what comes back

Keys: Ctrl-] leaves; Ctrl-\\ asks for a file to send, or stops one that is being sent; all \
others, Ctrl-C
among them, go to the board.")]
    Monitor(monitor::TerminalArgs),
    /// Share a board over the network, for --port rfc2217://host:port of other computers
    #[command(after_help = "\
One client at a time has the port; it is open only while one is connected. Only programs of this \
computer are
served unless --unprotected is given: nothing is encrypted, and nobody is asked for a password \
(docs/NETWORK.md).
The address that clients name goes to standard output.

Examples:
  rcflash serve --port /dev/ttyUSB0
  rcflash serve --port bench --listen 0.0.0.0:2217 --unprotected
  rcflash serve --port bench --listen 3000 --raw        bytes only, for tcp://host:3000")]
    Serve(serve::ServeArgs),
    /// Write a file for an EPROM programmer, the boot monitor or a file of yours, and have the chip
    /// written
    #[command(after_help = "\
Examples:
  rcflash image -o monitor.bin                      64 KiB for a 27C512: the 8 KiB page eight times
  rcflash image -o monitor.bin --chip 28c256 --run  written by minipro, read back and compared
  rcflash image -o monitor.bin --board rc2014-zed   512 KiB for an SST39SF040
  rcflash image -o rom.hex --bank 1=basic.rom       BASIC in bank 1, the monitor in the others
  rcflash image scm.bin -o rom.bin --bank 4         two pages from bank 4 on, the others blank
  rcflash image -o app.hex --application            what `rcflash write` loads into RAM
  rcflash image --list-chips

The command for minipro goes to standard output, everything else to standard error.")]
    Image(image::ImageArgs),
    /// Print a script that completes commands in a shell
    #[command(after_help = CompletionsArgs::examples("rcflash"))]
    Completions(CompletionsArgs),
    /// Make manual pages
    #[command(after_help = ManArgs::examples("rcflash"))]
    Man(ManArgs),
}

/// Which exchange evaluator is built.
#[derive(Args)]
struct EvaluatorArgs {
    /// The way the evaluator treats the faults of the program of 1978
    #[arg(long, value_name = "mended|1978|fast", default_value_t)]
    behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR")]
    sargon_dir: Option<PathBuf>,
}

impl EvaluatorArgs {
    fn is_default(&self) -> bool {
        self.behaviour == Behaviour::Mended && self.sargon_dir.is_none()
    }

    /// Builds the application with it, and says which routines are the user's own.
    fn build(&self, profile: &Profile, kind: ProgramKind) -> Result<BuiltImage, Failure> {
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let image = build_with(profile, kind, &evaluator)?;
        if !image.own.is_empty() {
            cli_support::tell!("with routines of your own: {}", image.own.join(", "));
        }
        Ok(image)
    }
}

/// The first Ctrl-C asks the loader to end well, the second ends at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
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
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::new(RIG, format!("can't watch for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Parses the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let cli = match manual::parse::<Cli>(Cli::command()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let outcome = match cli.command {
        Command::Ports(args) => ports::ports(&args),
        Command::Boards => boards::boards(),
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
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Man(args) => manual::man(&args, Cli::command()),
    };
    conclude("rcflash", outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_an_example() {
        Cli::command().debug_assert();
        assert_eq!(cli_support::manual::gaps(&Cli::command()), [""; 0]);
    }
}
