//! Examines a rig step by step, from the port to the board's clock, and says what to do about what
//! is wrong.

use std::time::Duration;

use firmware_wire::{ExhaustRequest, capability};
use rcflash_link::loader;
use rcflash_link::{Link, LinkError, RecentTraffic};
use rcflash_transport::port::OpenError;

use crate::board::{Board, BoardError, Choice, Outfit};
use crate::live::{LiveBoard, Plan, SetupError};
use board_simulator::{Pace, Probe};

/// The extent to which the clock may be from the profile's: crystals are better, but adapters take
/// time.
const CLOCK_TOLERANCE: f64 = 0.02;
/// Some two seconds of work whose T-states do not depend on the line.
const WORK: ExhaustRequest =
    ExhaustRequest { space: 0, attackers: 20, defenders: 0, piece: 0x02, count: 4000, crc: 0 };

/// State in which an item was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Good,
    /// Not so.
    Bad,
    /// It can't be known from here.
    Unknown,
}

/// The finding about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The item checked.
    pub what: &'static str,
    /// The state.
    pub state: State,
    /// The observation; of a bad one, also what to do.
    pub told: String,
}

/// Gathers findings.
struct Chart<'a>(&'a mut dyn FnMut(Finding));

impl Chart<'_> {
    fn note(&mut self, what: &'static str, state: State, told: impl ToString) {
        (self.0)(Finding { what, state, told: told.to_string() });
    }
}

/// Examines the rig of a plan, and gives each finding to `tell` as soon as it is known. What rests
/// on something bad is left out.
pub fn examine(plan: &Plan, tell: &mut dyn FnMut(Finding)) {
    let mut chart = Chart(tell);
    if !greet(plan, &mut chart) {
        return;
    }
    match LiveBoard::prepare(plan) {
        Ok(mut live) => {
            chart.note("ROM", State::Good, "the monitor is of this program's build");
            let told = format!("{} was loaded, checked and started", live.application);
            chart.note("application", State::Good, told);
            clock(plan, &mut live, &mut chart);
            line(&live, &mut chart);
        }
        Err(error @ SetupError::StaleMonitor(..)) => chart.note("ROM", State::Bad, error),
        Err(error) => chart.note("application", State::Bad, error),
    }
}

/// Opens the line and asks who is there.
fn greet(plan: &Plan, chart: &mut Chart) -> bool {
    let profile = &plan.profile;
    let outfit = Outfit { profile, monitor: &[], probe: Probe::default() };
    // The simulated boards are powered up with their monitor when the rig is prepared.
    if !matches!(plan.board, Choice::Serial(_)) {
        chart.note("port", State::Unknown, "this board has none of its own");
        return true;
    }
    let opened = plan.board.power_up(outfit).and_then(|mut board: Box<dyn Board>| board.open());
    let line = match opened {
        Ok(line) => line,
        Err(error) => {
            blame(error, chart);
            return false;
        }
    };
    chart.note("port", State::Good, line.name());
    chart.note("permission", State::Good, "this user may open it");
    chart.note("lock", State::Good, "nobody else uses it");
    if line.capabilities().flow_control {
        let told = "the host stops when the board says so by RTS; whether the cable has that wire shows under load";
        chart.note("flow control", State::Good, told);
    } else {
        let told =
            "the line has no such wires; the host never sends more than the board has room for";
        chart.note("flow control", State::Unknown, told);
    }
    answers(Link::new(line, profile.uart.baud), profile.uart.baud, chart)
}

/// Says which of the first three things keeps a line from being opened.
fn blame(error: BoardError, chart: &mut Chart) {
    let what = match &error {
        BoardError::Open(OpenError::Permission(_)) => "permission",
        BoardError::Open(OpenError::Busy(..) | OpenError::Locked(..)) => "lock",
        _ => "port",
    };
    chart.note(what, State::Bad, error);
}

/// Whether a frame comes back at the profile's speed.
fn answers(mut link: Link, baud: u32, chart: &mut Chart) -> bool {
    match loader::identify(&mut link) {
        Ok(identity) => {
            chart.note("baud", State::Good, format!("{baud}: {identity} answers"));
            true
        }
        Err(
            LinkError::Timeout { recent_traffic: overheard, .. }
            | LinkError::Corrupted { recent_traffic: overheard, .. },
        ) => {
            chart.note("baud", State::Bad, advice(&overheard, baud));
            false
        }
        Err(error) => {
            chart.note("baud", State::Bad, error);
            false
        }
    }
}

/// Returns advice for a board that does not answer.
fn advice(overheard: &RecentTraffic, baud: u32) -> String {
    if overheard.received.is_empty() {
        return "nothing comes back: see that the board has power, that TX and RX are not swapped, and that \
                our monitor is in its ROM (`rcflash image`); then press its reset button"
            .to_owned();
    }
    format!(
        "something comes back at {baud} baud, but no frame: another program may be in the ROM (`rcflash monitor` \
         shows it, `rcflash write --via` loads through it), or the board's speed is another; {overheard}"
    )
}

/// Measures the clock by work whose T-states are known from the simulated board.
fn clock(plan: &Plan, live: &mut LiveBoard, chart: &mut Chart) {
    let is_free = matches!(plan.board, Choice::Simulated { pace: Pace::Free, .. });
    if is_free || live.application.capabilities & capability::EXHAUST == 0 {
        return chart.note(
            "clock",
            State::Unknown,
            "this board is held to none, or can't be measured",
        );
    }
    let direct = Choice::Direct { rom: None };
    let model = Plan { board: direct, recording: None, faults: None, host: None, ..plan.clone() };
    let expected = LiveBoard::prepare(&model).and_then(|mut model| Ok(time_of(&mut model)?));
    let (expected, measured) = match (expected, time_of(live)) {
        (Ok(expected), Ok(measured)) => (expected, measured),
        (Err(error), _) => return chart.note("clock", State::Bad, error),
        (_, Err(error)) => return chart.note("clock", State::Bad, error),
    };
    let profile = plan.profile.clock_hz as f64;
    let hertz = profile * expected.as_secs_f64() / measured.as_secs_f64();
    let told = format!("{:.3} MHz; the profile says {:.4}", hertz / 1e6, profile / 1e6);
    if (hertz / profile - 1.0).abs() <= CLOCK_TOLERANCE {
        return chart.note("clock", State::Good, told);
    }
    let advice =
        format!("{told}: choose the profile of the board by --board, or change its clock_hz");
    chart.note("clock", State::Bad, advice);
}

/// Returns the board's time for the work, by the clock of the line.
fn time_of(live: &mut LiveBoard) -> Result<Duration, LinkError> {
    let began = live.now();
    live.exhaust(WORK)?;
    Ok(live.now().saturating_duration_since(began))
}

/// Statistics of the line meanwhile.
fn line(live: &LiveBoard, chart: &mut Chart) {
    let stats = live.stats();
    let told = format!("{} requests, {} repeated", stats.requests, stats.total_retries());
    if stats.total_retries() == 0 {
        return chart.note("line", State::Good, told);
    }
    let told = format!("{told}: a shorter cable and a common ground help, or a slower line");
    chart.note("line", State::Bad, told);
}
