//! `hw-tests simulate board`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use board_simulator::{BoardServer, Pace, ServerOptions, board_spec};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED, USAGE};
use cli_support::files::read_input as read;
use cli_support::interrupt::install_handler;
use cli_support::listen::ListenProtection;
use cli_support::output::print;
use cli_support::text::Escape;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::live::SetupError;
use rcflash_transport::network::parse_listen_address;

/// How often Ctrl-C is checked.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(in crate::cli) struct BoardArgs {
    /// Board profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// ROM image, instead of the built-in monitor
    #[arg(long, value_name = "FILE")]
    rom: Option<PathBuf>,
    /// Run as fast as possible instead of at the board's clock
    #[arg(long)]
    free: bool,
    /// Ignore RTS, so that a slow board loses characters
    #[arg(long)]
    ignore_rts: bool,
    /// Stuck-at-1 bit of RAM: address in hexadecimal, or symbol of the evaluator, and bit number,
    /// as in WACT:0
    #[arg(long, value_name = "ADDRESS|SYMBOL:BIT", value_parser = parse_stuck_bit)]
    stuck: Option<StuckBit>,
    /// Listen at a TCP port instead of a pseudo-terminal; 0 selects a free port
    ///
    /// Other computers can connect only to an address of this computer, with --unprotected.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_listen_address)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    protection: ListenProtection,
}

pub(in crate::cli) fn serve(args: &BoardArgs) -> CommandResult {
    if let Some(address) = args.listen {
        args.protection.check(address)?;
    }
    let profile =
        BoardProfile::named(&args.board).map_err(|error| CommandError::new(USAGE, error))?;
    let rom = match &args.rom {
        Some(path) => read(path)?,
        None => build(&profile, ProgramKind::Monitor).map_err(SetupError::from)?.bytes,
    };
    let interrupted = install_handler()?;
    let mut spec = board_spec(&profile);
    spec.host_obeys_rts = !args.ignore_rts;
    spec.stuck = args.stuck.as_ref().map(|bit| bit.resolve(&profile)).transpose()?;
    let pace = if args.free { Pace::Free } else { Pace::RealTime };
    let options = ServerOptions { pace, ..ServerOptions::default() };
    let server = match args.listen {
        Some(at) => BoardServer::listen(at, spec, &rom, options),
        None => BoardServer::start(spec, &rom, options),
    };
    let server = server.map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't start the simulated board: {error}"))
    })?;
    print(&format!("{}\n", server.path().escaped()))?;
    let title = &profile.title;
    cli_support::eprint_message!(
        "{title} on {}; press Enter to reset it, Ctrl-C to stop",
        server.path().escaped()
    );
    let pressed = reset_button();
    while !interrupted.load(Ordering::Relaxed) {
        match pressed.recv_timeout(INTERRUPT_POLL_INTERVAL) {
            Ok(()) => {
                server.reset();
                cli_support::eprint_message!("reset");
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(INTERRUPT_POLL_INTERVAL),
        }
    }
    Ok(INTERRUPTED)
}

/// A stuck bit of RAM, at an address in hexadecimal or a symbol.
#[derive(Debug, Clone)]
struct StuckBit {
    place: String,
    mask: u8,
}

impl StuckBit {
    /// Returns the address and the mask. Symbols are those of the built-in evaluator.
    fn resolve(&self, profile: &BoardProfile) -> Result<(u16, u8), CommandError> {
        let place = &self.place;
        if place.starts_with(|c: char| c.is_ascii_digit()) {
            return match u16::from_str_radix(place, 16) {
                Ok(address) => Ok((address, self.mask)),
                Err(_) => Err(CommandError::new(USAGE, format!("invalid address '{place}'"))),
            };
        }
        let evaluator = build(profile, ProgramKind::Application).map_err(SetupError::from)?;
        let address = evaluator.program.symbol(&place.to_ascii_uppercase());
        let address = address.or_else(|| u16::from_str_radix(place, 16).ok()).ok_or_else(|| {
            CommandError::new(USAGE, format!("the evaluator has no symbol '{place}'"))
        })?;
        Ok((address, self.mask))
    }
}

/// Parses a place and a bit number.
fn parse_stuck_bit(text: &str) -> Result<StuckBit, String> {
    let wrong =
        || format!("invalid bit '{text}': expected ADDRESS:BIT or SYMBOL:BIT, as in WACT:0");
    let (place, bit) = text.split_once(':').ok_or_else(wrong)?;
    let is_name = !place.is_empty() && place.chars().all(|c| c.is_ascii_alphanumeric());
    let bit = bit.parse::<u8>().ok().filter(|bit| *bit < 8 && is_name).ok_or_else(wrong)?;
    Ok(StuckBit { place: place.to_owned(), mask: 1 << bit })
}

/// Returns a channel with a message for each line on standard input.
fn reset_button() -> Receiver<()> {
    let (press, pressed) = channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines();
        lines.map_while(Result::ok).all(|_| press.send(()).is_ok())
    });
    pressed
}
