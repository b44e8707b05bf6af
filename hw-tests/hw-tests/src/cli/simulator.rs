//! `hw-tests sim`.

use cli_support::text::Show;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use board_simulator::board_spec;
use board_simulator::{BoardServer, Pace, ServerOptions, UsbPacketing};
use clap::Args;
use cli_support::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use hil_harness::live::SetupError;
use rcflash_transport::network::listen_at;

use cli_support::files::read_input as read;
use cli_support::interrupt::interruption;
use cli_support::output::print;

/// The time between two looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(super) struct SimArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// The content of the ROM socket instead of the built-in monitor
    #[arg(long, value_name = "FILE")]
    rom: Option<PathBuf>,
    /// Run as fast as this computer can instead of at the board's clock
    #[arg(long)]
    free: bool,
    /// Hand characters over as FTDI's USB adapters do: 62 at a time, or what there is after 16 ms
    #[arg(long)]
    usb: bool,
    /// The host does not obey RTS, so that a slow board loses characters
    #[arg(long)]
    ignore_rts: bool,
    /// A bit of RAM is stuck at 1: address in hexadecimal, and its number, as 8123:0
    #[arg(long, value_name = "ADDRESS:BIT", value_parser = stuck_bit)]
    stuck: Option<(u16, u8)>,
    /// Wait for the host at a TCP port instead of a pseudo-terminal: its number, 0 for any, or
    /// with the address of this computer at which other computers may reach it
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen_at, conflicts_with = "usb")]
    listen: Option<SocketAddr>,
}

pub(super) fn serve(args: &SimArgs) -> Outcome {
    let profile = Profile::named(&args.board).map_err(|error| Failure::new(USAGE, error))?;
    let rom = match &args.rom {
        Some(path) => read(path)?,
        None => build(&profile, ProgramKind::Monitor).map_err(SetupError::from)?.bytes,
    };
    let interrupted = interruption()?;
    let mut spec = board_spec(&profile);
    spec.host_obeys_rts = !args.ignore_rts;
    spec.stuck = args.stuck;
    let pace = if args.free { Pace::Free } else { Pace::RealTime };
    let packets = if args.usb { UsbPacketing::Usb } else { UsbPacketing::None };
    let options = ServerOptions { pace, packets, ..ServerOptions::default() };
    let server = match args.listen {
        Some(at) => BoardServer::listen(at, spec, &rom, options),
        None => BoardServer::start(spec, &rom, options),
    };
    let server = server
        .map_err(|error| Failure::new(RIG, format!("can't start the simulated board: {error}")))?;
    print(&format!("{}\n", server.path().shown()))?;
    let title = &profile.title;
    cli_support::tell!("{title} on {}; Enter resets it, Ctrl-C ends it", server.path().shown());
    let pressed = button();
    while !interrupted.load(Ordering::Relaxed) {
        match pressed.recv_timeout(TICK) {
            Ok(()) => {
                server.reset();
                cli_support::tell!("reset");
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
        }
    }
    Ok(INTERRUPTED)
}

/// An address and a bit, as a byte in which only that bit is set.
fn stuck_bit(text: &str) -> Result<(u16, u8), String> {
    let wrong = || format!("'{text}' is not ADDRESS:BIT, as 8123:0");
    let (address, bit) = text.split_once(':').ok_or_else(wrong)?;
    let address = u16::from_str_radix(address, 16).map_err(|_| wrong())?;
    let bit = bit.parse::<u8>().ok().filter(|bit| *bit < 8).ok_or_else(wrong)?;
    Ok((address, 1 << bit))
}

/// The reset button: a message for each line at standard input.
fn button() -> Receiver<()> {
    let (press, pressed) = channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines();
        lines.map_while(Result::ok).all(|_| press.send(()).is_ok())
    });
    pressed
}
