//! A board on which an evaluator runs.
//!
//! [`SargonBoard::prepare`] builds the programs, powers the board up and starts the application.
//! The methods in `requests` send single requests; a run keeps several in flight, by
//! `SargonBoard::submit` and `SargonBoard::next_reply`.

mod damage;
mod pipeline;
mod requests;

pub(crate) use damage::{Finding, StatusFinding};
pub(crate) use pipeline::{CaseReply, Response};
pub(crate) use requests::CasePlan;

use std::sync::Arc;

use board_simulator::{CallRecord, Guard, Probe, Violation};
use firmware::ProgramKind;
use firmware::build::{BuildError, build_with};
use firmware::evaluator::{Behaviour as Built, Evaluator, ROUTINES};
use firmware_wire::{Frame, Identity, REPLY_BIT, SQUARE_RECORD_BYTES, capability, kind, status};
use hil_harness::board::Board;
use hil_harness::file_system::{FileSystem, OsFileSystem};
use hil_harness::live::{BoardConfig, LiveBoard, Programs, Recovery, SetupError};
use sargon_corpus::encode;

use crate::compare::Criteria;
use crate::guard;
use crate::probe::EvaluatorProbe;
use crate::suite::STATUS_BITS;
use damage::StatusBaseline;

/// The application in RAM, in flash, and beside a stock monitor.
const APPLICATION_KINDS: [ProgramKind; 3] =
    [ProgramKind::Application, ProgramKind::FlashApplication, ProgramKind::HostedApplication];

/// Which board to prepare, with which evaluator.
#[derive(Debug, Clone)]
pub struct SargonConfig {
    /// The board.
    pub board: BoardConfig,
    /// The evaluator to build into the application.
    pub evaluator: Evaluator,
    /// Records each call of NEXTAD by XCHNG, on a simulated board.
    pub record_exchange_calls: bool,
}

impl From<BoardConfig> for SargonConfig {
    fn from(board: BoardConfig) -> Self {
        Self { board, evaluator: Evaluator::default(), record_exchange_calls: false }
    }
}

impl SargonConfig {
    /// Builds the programs.
    ///
    /// # Errors
    /// Returns an error if assembly or linking failed.
    pub fn programs(&self) -> Result<Programs, BuildError> {
        Programs::build(&self.board, APPLICATION_KINDS, |profile, kind| {
            build_with(profile, kind, &self.evaluator)
        })
    }

    /// Returns the probe for a simulated board with these programs: it measures routines of the
    /// evaluator, and guards them.
    pub fn probe(&self, programs: &Programs) -> Probe {
        let application = &programs.application;
        let probe = EvaluatorProbe::new(application).probe(self.record_exchange_calls);
        probe.with_guard(Guard::new(&guard::guard(application)))
    }

    /// Returns an error if the application is one of another behaviour than the reference.
    fn check_behaviour(&self, application: &Identity) -> Result<(), SetupError> {
        let behaviour = built_behaviour(application);
        // An identity has the original behaviour as a flag, but not which corrected variant runs.
        if encode::behaviour(behaviour) == encode::behaviour(self.evaluator.behaviour) {
            return Ok(());
        }
        Err(SetupError::UntestedApplication(format!(
            "{application} implements --behaviour {behaviour}: pass that option, so that the \
             reference matches"
        )))
    }
}

/// A board on which an evaluator runs.
pub struct SargonBoard {
    /// The connection to the board.
    pub live: LiveBoard,
    pub(crate) probe: EvaluatorProbe,
    /// The criteria for the board's replies.
    pub criteria: Criteria,
    /// Labels of the evaluator's routines that the user has overridden.
    pub(crate) own: Vec<&'static str>,
    /// Measured calls of requests whose replies have not been received.
    records: Vec<CallRecord>,
    /// Violations of requests whose replies have not been received.
    violations: Vec<Violation>,
    /// The last good status; `None` if the application has none, or it could not be read.
    pub(crate) status: Option<StatusBaseline>,
}

impl SargonBoard {
    /// Builds the programs, connects to the board, loads the application and starts it.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare(config: &SargonConfig) -> Result<Self, SetupError> {
        config.board.with_either_chip(|board| {
            let mut config = SargonConfig { board: board.clone(), ..config.clone() };
            let mut programs = config.programs()?;
            config.board.set_build_id(&mut programs.application);
            Self::prepare_with(&config, Arc::new(programs), &OsFileSystem, |board| board)
        })
    }

    /// Like [`Self::prepare`], with given programs and file system. `wrap` may replace the board,
    /// for example by a test double around it.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare_with(
        config: &SargonConfig,
        programs: Arc<Programs>,
        disk: &dyn FileSystem,
        wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
    ) -> Result<Self, SetupError> {
        let probe = config.probe(&programs);
        let board = wrap(config.board.power_up(&programs.monitor.bytes, probe)?);
        let board = config.board.inject_faults(board, result_byte);
        let live = LiveBoard::start(&config.board, board, programs, disk)?;
        config.check_behaviour(&live.identity)?;
        let is_own = |routine: &&str| live.own_routines.iter().any(|own| own == routine);
        let own: Vec<_> = ROUTINES.map(|(routine, _)| routine).into_iter().filter(is_own).collect();
        let mut board = Self {
            probe: EvaluatorProbe::new(&live.programs.application),
            criteria: criteria(&live.identity, &own),
            own,
            records: Vec::new(),
            violations: Vec::new(),
            status: None,
            live,
        };
        board.record_status();
        Ok(board)
    }

    /// Returns the names of the status bits that are not judged, because the user's routines need
    /// not set them.
    pub fn not_judged(&self) -> Vec<&'static str> {
        let judged = self.criteria.status_mask;
        let not_judged = STATUS_BITS.iter().filter(|(bit, _)| judged & bit == 0);
        not_judged.map(|(_, name)| *name).collect()
    }

    /// Cancels all requests in flight, and restarts the application unless it still replies. One
    /// that hangs, for this reason, is reset at once.
    ///
    /// # Errors
    /// As [`LiveBoard::recover`].
    pub(crate) fn recover(&mut self, hang: Option<String>) -> Result<Recovery, SetupError> {
        self.records.clear();
        let recovery = self.live.recover(hang)?;
        if recovery != Recovery::Unchanged {
            self.record_status();
        }
        Ok(recovery)
    }

    /// Loads and starts the application again, and discards the requests in flight.
    ///
    /// # Errors
    /// As [`LiveBoard::reload`].
    pub(crate) fn reload(&mut self) -> Result<(), SetupError> {
        self.records.clear();
        self.live.reload()?;
        self.record_status();
        Ok(())
    }
}

/// All status bits of the built-in evaluator are compared, also those that it never sets. If
/// routines are overridden, only bits are compared that none of them sets.
fn criteria(identity: &Identity, own: &[&str]) -> Criteria {
    let are_built_in = |routines: [&str; 2]| !own.iter().any(|own| routines.contains(own));
    let short = if are_built_in(["XCHNG", "NEXTAD"]) { status::SHORT } else { 0 };
    let overflow = if are_built_in(["ATTACK", "ATKSAV"]) { status::OVERFLOW } else { 0 };
    let status_mask = if own.is_empty() { u8::MAX } else { short | overflow };
    Criteria { behaviour: encode::behaviour(built_behaviour(identity)), status_mask }
}

fn built_behaviour(application: &Identity) -> Built {
    let is_original = application.capabilities & capability::ORIGINAL != 0;
    if is_original { Built::Original } else { Built::Corrected }
}

/// Returns the index of a byte in the payload of a reply whose change makes a result wrong; `None`
/// for replies without results.
fn result_byte(reply: &Frame) -> Option<usize> {
    const SQUARES: u8 = kind::POSITION + REPLY_BIT;
    const RESIDUE: u8 = kind::EXCHANGE + REPLY_BIT;
    match reply.kind {
        // Part, count, and the first record: square, piece, status, residue.
        SQUARES if reply.payload.len() >= 2 + SQUARE_RECORD_BYTES => Some(2 + 3),
        RESIDUE => Some(0),
        _ => None,
    }
}
