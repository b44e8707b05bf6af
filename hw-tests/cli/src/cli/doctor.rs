//! `hw-tests doctor`: checks a rig step by step, from the port to the board's clock, and advises on
//! each problem.

use std::fmt::Display;
use std::time::Duration;

use board_simulator::{Pace, Probe};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::output::print;
use hil_harness::board::{Board, BoardError, BoardKind};
use hil_harness::live::{BoardConfig, SetupError};
use rcflash_link::rig::{ResetConfig, ResetMethod, reset};
use rcflash_link::{Link, LinkError, RecentTraffic, RequestSpec, loader};
use rcflash_transport::port::OpenError;
use sargon_suite::args::SargonBoardArgs;
use sargon_suite::{SargonBoard, SargonConfig};

/// Allowed relative deviation from the profile's clock. Crystals are better; the margin covers the
/// latency of adapters.
const CLOCK_TOLERANCE: f64 = 0.02;

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    board: SargonBoardArgs,
}

pub(super) fn doctor(args: &DoctorArgs) -> CommandResult {
    let config = args.board.plan()?;
    let mut checks = Checks { has_problem: false, printed: Ok(()) };
    check_rig(&config, &mut checks);
    checks.printed?;
    Ok(if checks.has_problem { ENVIRONMENT } else { 0 })
}

/// Prints the results of checks.
struct Checks {
    has_problem: bool,
    printed: Result<(), CommandError>,
}

impl Checks {
    /// Reports a check without a problem.
    fn good(&mut self, name: &str, message: impl Display) {
        self.print("ok", name, &message);
    }

    /// Reports a problem, and what to do.
    fn bad(&mut self, name: &str, message: impl Display) {
        self.has_problem = true;
        self.print("BAD", name, &message);
    }

    /// Reports a check that is not applicable, or not possible on this board.
    fn unknown(&mut self, name: &str, message: impl Display) {
        self.print("-", name, &message);
    }

    fn print(&mut self, word: &str, name: &str, message: &dyn Display) {
        if self.printed.is_ok() {
            self.printed = print(&format!("{word:<4}{name:<13}{message}\n"));
        }
    }
}

/// Checks the rig of a config. Checks that depend on a failed one are left out.
fn check_rig(config: &SargonConfig, checks: &mut Checks) {
    if !check_connection(&config.board, checks) {
        return;
    }
    match SargonBoard::prepare(config) {
        Ok(mut board) => {
            checks.good("ROM", "the monitor is of this program's build");
            let identity = &board.live.identity;
            checks.good("application", format!("{identity} was loaded, verified and started"));
            check_clock(config, &mut board, checks);
            check_line(&board, checks);
        }
        Err(error @ SetupError::StaleMonitor(..)) => checks.bad("ROM", error),
        Err(error) => checks.bad("application", error),
    }
}

/// Opens the port and identifies the program on the board. Returns `false` if that failed.
fn check_connection(config: &BoardConfig, checks: &mut Checks) -> bool {
    let profile = &config.profile;
    // The simulated boards are powered up with their monitor when the rig is prepared.
    let BoardKind::Serial(rig) = &config.board else {
        checks.unknown("port", "not applicable: not a serial board");
        return true;
    };
    let board = config.power_up(&[], Probe::default());
    let opened = board.and_then(|mut board: Box<dyn Board>| board.open());
    let line = match opened {
        Ok(line) => line,
        Err(error) => {
            checks.bad(check_of_open_error(&error), error);
            return false;
        }
    };
    checks.good("port", line.name());
    checks.good("permission", "this user may open it");
    checks.good("lock", "no other process uses it");
    if line.capabilities().flow_control {
        let message = "the host stops when the board releases RTS; whether the cable has that \
                       wire shows only under load";
        checks.good("flow control", message);
    } else {
        let message = "no RTS/CTS on this line; the window protocol limits what the host sends";
        checks.unknown("flow control", message);
    }
    let mut link = Link::new(line, profile.uart.baud);
    let replies = check_baud(&mut link, profile.uart.baud, checks);
    if replies {
        check_reset(&mut link, &rig.reset, checks);
    }
    replies
}

/// Resets the board by the method of the rig file.
fn check_reset(link: &mut Link, reset: &ResetConfig, checks: &mut Checks) {
    if reset.method == ResetMethod::None {
        return checks.unknown("reset", "the rig file excludes it");
    }
    match reset::works(link, reset) {
        Ok(Some(true)) => checks.good("reset", "the monitor has started again"),
        Ok(Some(false)) => {
            let message = "the method of the rig file does not reset the board: is it wired? \
                           `rcflash setup` tries the others";
            checks.bad("reset", message);
        }
        Ok(None) => checks.unknown("reset", "by a person; `rcflash setup` tries DTR and a break"),
        Err(error) => checks.bad("reset", error),
    }
}

/// Returns the check that an error on opening the port fails.
fn check_of_open_error(error: &BoardError) -> &'static str {
    match error {
        BoardError::Open(OpenError::PermissionDenied(_)) => "permission",
        BoardError::Open(OpenError::Busy(..) | OpenError::Locked(..)) => "lock",
        _ => "port",
    }
}

/// Returns `true` if a frame is received at the profile's baud rate.
fn check_baud(link: &mut Link, baud: u32, checks: &mut Checks) -> bool {
    match loader::identify(link) {
        Ok(identity) => {
            checks.good("baud", format!("{baud}: {identity} replied"));
            return true;
        }
        Err(
            LinkError::Timeout { recent_traffic: traffic, .. }
            | LinkError::Corrupted { recent_traffic: traffic, .. },
        ) => checks.bad("baud", advice(&traffic, baud)),
        Err(error) => checks.bad("baud", error),
    }
    false
}

/// Returns advice for a board that does not reply.
fn advice(traffic: &RecentTraffic, baud: u32) -> String {
    if traffic.received.is_empty() {
        return "nothing was received: check that the board has power, that TX and RX are not swapped, \
                and that this project's monitor is in its ROM (`rcflash image`); then press its reset button"
            .to_owned();
    }
    format!(
        "bytes were received at {baud} baud, but no frame: another program may be in the ROM \
         (`rcflash monitor` shows it, `rcflash write --via` loads through it), or the board has \
         another baud rate; {traffic}"
    )
}

/// Measures the clock by a request whose T-states are known from the simulated board.
fn check_clock(config: &SargonConfig, board: &mut SargonBoard, checks: &mut Checks) {
    let is_free = matches!(config.board.board, BoardKind::Simulated(Pace::Free));
    let Some(request) = board.clock_test().filter(|_| !is_free) else {
        return checks.unknown("clock", "not applicable: no fixed clock, or not measurable");
    };
    let model = BoardConfig {
        board: BoardKind::InProcess,
        rom: None,
        recording: None,
        fault_seed: None,
        stock_monitor: None,
        ..board.live.config.clone()
    };
    let model = SargonConfig { board: model, ..config.clone() };
    let expected = SargonBoard::prepare(&model)
        .and_then(|mut model| Ok(measure(&mut model, &request)?))
        .map_err(CommandError::from);
    let measured = measure(board, &request).map_err(CommandError::from);
    let (expected, measured) = match (expected, measured) {
        (Ok(expected), Ok(measured)) => (expected, measured),
        (Err(error), _) | (_, Err(error)) => return checks.bad("clock", error.message),
    };
    let profile = board.live.config.profile.clock_hz as f64;
    let hertz = profile * expected.as_secs_f64() / measured.as_secs_f64();
    let message = format!("{:.3} MHz; {:.4} in the profile", hertz / 1e6, profile / 1e6);
    if (hertz / profile - 1.0).abs() <= CLOCK_TOLERANCE {
        return checks.good("clock", message);
    }
    let advice = "choose the profile of the board by --board, or change its clock_hz";
    checks.bad("clock", format!("{message}: {advice}"));
}

/// Returns the duration of a request, by the clock of the line.
fn measure(board: &mut SargonBoard, request: &RequestSpec) -> Result<Duration, LinkError> {
    let link = &mut board.live.link;
    let started = link.now();
    link.request_all(request)?;
    Ok(link.now().saturating_duration_since(started))
}

/// Reports the retries of all checks.
fn check_line(board: &SargonBoard, checks: &mut Checks) {
    let stats = board.live.link.stats();
    let message = format!("{} requests, {} retries", stats.requests, stats.total_retries());
    if stats.total_retries() == 0 {
        return checks.good("line", message);
    }
    let advice = "use a shorter cable, a common ground, or a lower baud rate";
    checks.bad("line", format!("{message}: {advice}"));
}
