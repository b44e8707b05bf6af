//! Checks a rig step by step, from the port to the board's clock, and advises on each problem.

use std::time::Duration;

use rcflash_link::loader;
use rcflash_link::{Link, LinkError, RecentTraffic, RequestSpec};
use rcflash_transport::port::OpenError;

use crate::board::{Board, BoardError, BoardKind, PowerUpConfig};
use crate::live::{BoardConfig, LiveBoard, SetupError};
use board_simulator::{Pace, Probe};

/// Allowed relative deviation from the profile's clock. Crystals are better; the margin covers the
/// latency of adapters.
const CLOCK_TOLERANCE: f64 = 0.02;

/// The status of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStatus {
    /// No problem.
    Good,
    /// A problem.
    Bad,
    /// Not applicable, or not measurable on this board.
    Unknown,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// Name of the check.
    pub name: &'static str,
    /// The status.
    pub status: CheckStatus,
    /// What was found; for a problem, also what to do.
    pub message: String,
}

struct CheckReporter<'a>(&'a mut dyn FnMut(CheckResult));

impl CheckReporter<'_> {
    fn report(&mut self, name: &'static str, status: CheckStatus, message: impl ToString) {
        (self.0)(CheckResult { name, status, message: message.to_string() });
    }
}

/// Prepares a board, and returns a request that takes about two seconds of T-states that do not
/// depend on the line, by which the clock is measured; `None` if the program has none.
pub type Prepare<'p> =
    &'p dyn Fn(&BoardConfig) -> Result<(LiveBoard, Option<RequestSpec>), SetupError>;

/// Checks the rig of a config, and calls `on_result` after each check. Checks that depend on a
/// failed one are left out.
pub fn check_rig(config: &BoardConfig, prepare: Prepare, on_result: &mut dyn FnMut(CheckResult)) {
    let mut reporter = CheckReporter(on_result);
    if !check_connection(config, &mut reporter) {
        return;
    }
    match prepare(config) {
        Ok((mut live, clock_test)) => {
            reporter.report("ROM", CheckStatus::Good, "the monitor is of this program's build");
            let message = format!("{} was loaded, verified and started", live.identity());
            reporter.report("application", CheckStatus::Good, message);
            check_clock(&mut live, clock_test, prepare, &mut reporter);
            check_line(&live, &mut reporter);
        }
        Err(error @ SetupError::StaleMonitor(..)) => {
            reporter.report("ROM", CheckStatus::Bad, error)
        }
        Err(error) => reporter.report("application", CheckStatus::Bad, error),
    }
}

/// Opens the port and identifies the program on the board. Returns `false` if that failed.
fn check_connection(config: &BoardConfig, reporter: &mut CheckReporter) -> bool {
    let profile = &config.profile;
    let power_up = PowerUpConfig { profile, monitor: &[], probe: Probe::default() };
    // The simulated boards are powered up with their monitor when the rig is prepared.
    if !matches!(config.board, BoardKind::Serial(_)) {
        reporter.report("port", CheckStatus::Unknown, "not applicable: not a serial board");
        return true;
    }
    let opened = config.board.power_up(power_up).and_then(|mut board: Box<dyn Board>| board.open());
    let line = match opened {
        Ok(line) => line,
        Err(error) => {
            report_open_error(error, reporter);
            return false;
        }
    };
    reporter.report("port", CheckStatus::Good, line.name());
    reporter.report("permission", CheckStatus::Good, "this user may open it");
    reporter.report("lock", CheckStatus::Good, "no other process uses it");
    if line.capabilities().flow_control {
        let message = "the host stops when the board releases RTS; whether the cable has that \
                       wire shows only under load";
        reporter.report("flow control", CheckStatus::Good, message);
    } else {
        let message = "no RTS/CTS on this line; the window protocol limits what the host sends";
        reporter.report("flow control", CheckStatus::Unknown, message);
    }
    check_baud(Link::new(line, profile.uart.baud), profile.uart.baud, reporter)
}

/// Reports an error on opening the port under the check that it fails.
fn report_open_error(error: BoardError, reporter: &mut CheckReporter) {
    let name = match &error {
        BoardError::Open(OpenError::PermissionDenied(_)) => "permission",
        BoardError::Open(OpenError::Busy(..) | OpenError::Locked(..)) => "lock",
        _ => "port",
    };
    reporter.report(name, CheckStatus::Bad, error);
}

/// Returns `true` if a frame is received at the profile's baud rate.
fn check_baud(mut link: Link, baud: u32, reporter: &mut CheckReporter) -> bool {
    match loader::identify(&mut link) {
        Ok(identity) => {
            reporter.report("baud", CheckStatus::Good, format!("{baud}: {identity} replied"));
            true
        }
        Err(
            LinkError::Timeout { recent_traffic: traffic, .. }
            | LinkError::Corrupted { recent_traffic: traffic, .. },
        ) => {
            reporter.report("baud", CheckStatus::Bad, advice(&traffic, baud));
            false
        }
        Err(error) => {
            reporter.report("baud", CheckStatus::Bad, error);
            false
        }
    }
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
fn check_clock(
    live: &mut LiveBoard,
    clock_test: Option<RequestSpec>,
    prepare: Prepare,
    reporter: &mut CheckReporter,
) {
    let config = live.config().clone();
    let is_free = matches!(config.board, BoardKind::Simulated { pace: Pace::Free, .. });
    let Some(request) = clock_test.filter(|_| !is_free) else {
        return reporter.report(
            "clock",
            CheckStatus::Unknown,
            "not applicable: no fixed clock, or not measurable",
        );
    };
    let in_process = BoardKind::InProcess { rom: None };
    let model = BoardConfig {
        board: in_process,
        recording: None,
        fault_seed: None,
        stock_monitor: None,
        ..config
    };
    let expected = prepare(&model).and_then(|(mut model, _)| Ok(measure(&mut model, &request)?));
    let (expected, measured) = match (expected, measure(live, &request)) {
        (Ok(expected), Ok(measured)) => (expected, measured),
        (Err(error), _) => return reporter.report("clock", CheckStatus::Bad, error),
        (_, Err(error)) => return reporter.report("clock", CheckStatus::Bad, error),
    };
    let profile = live.profile().clock_hz as f64;
    let hertz = profile * expected.as_secs_f64() / measured.as_secs_f64();
    let message = format!("{:.3} MHz; {:.4} in the profile", hertz / 1e6, profile / 1e6);
    if (hertz / profile - 1.0).abs() <= CLOCK_TOLERANCE {
        return reporter.report("clock", CheckStatus::Good, message);
    }
    let advice =
        format!("{message}: choose the profile of the board by --board, or change its clock_hz");
    reporter.report("clock", CheckStatus::Bad, advice);
}

/// Returns the duration of a request, by the clock of the line.
fn measure(live: &mut LiveBoard, request: &RequestSpec) -> Result<Duration, LinkError> {
    let started = live.now();
    live.link.request_all(request)?;
    Ok(live.now().saturating_duration_since(started))
}

/// Reports the retries of all checks.
fn check_line(live: &LiveBoard, reporter: &mut CheckReporter) {
    let stats = live.stats();
    let message = format!("{} requests, {} retries", stats.requests, stats.total_retries());
    if stats.total_retries() == 0 {
        return reporter.report("line", CheckStatus::Good, message);
    }
    let message = format!("{message}: use a shorter cable, a common ground, or a lower baud rate");
    reporter.report("line", CheckStatus::Bad, message);
}
