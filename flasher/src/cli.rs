//! The command line: what is asked for, what is printed, and the exit code.

mod image;
mod ports;
mod terminal;
mod write;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use firmware::profile::Profile;
use rcflash::exit::{Failure, conclude};

/// Puts programs on Z80 boards of the RC2014 family over a serial line, and knows that they are there.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_CODES)]
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
    Ports(ports::PortsArgs),
    /// Upload a program into the board's RAM, verify it there, and start it
    #[command(after_help = "\
Examples:
  rcflash write --port /dev/ttyUSB0                     the built-in exchange evaluator
  rcflash write --port /dev/ttyUSB0 prog.hex            a program of your own
  rcflash write --port /dev/ttyUSB0 prog.bin --address 9000 --no-run")]
    Write(write::WriteArgs),
    /// Talk to the board; Ctrl-] leaves
    Monitor(terminal::TerminalArgs),
    /// Write the boot monitor as a file for an EPROM programmer
    #[command(after_help = "\
Examples:
  rcflash image -o monitor.bin                          64 KiB for a 27C512: the 8 KiB page eight times
  rcflash image -o monitor.bin --size 32                for a 27C256 or 28C256")]
    Image(image::ImageArgs),
}

/// Which board, and where.
#[derive(Args)]
struct BoardArgs {
    /// The serial port
    #[arg(long, value_name = "DEVICE")]
    port: String,
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
}

impl BoardArgs {
    fn profile(&self) -> Result<Profile, Failure> {
        Ok(Profile::named(&self.board)?)
    }
}

/// Parses the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Ports(args) => ports::ports(&args),
        Command::Write(args) => write::write(&args),
        Command::Monitor(args) => terminal::monitor(&args),
        Command::Image(args) => image::image(&args),
    };
    conclude("rcflash", outcome)
}
