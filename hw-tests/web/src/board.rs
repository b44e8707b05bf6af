//! Simulated boards that answer requests, kept from one question to the next.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::ProgramKind;
use firmware::build::{BuiltImage, build, build_replacing};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hil_harness::board::{Board, Choice};
use hil_harness::disk::SystemDisk;
use hil_harness::live::{LiveBoard, Plan, Programs};
use rcflash_rig::DEFAULT_BOARD;
use serde::Deserialize;

use crate::fault::Fault;

/// Boards that are kept: one for each evaluator, and two with sources of the user's.
const KEPT: usize = 5;

/// A source as the page has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(crate) struct SourceFile {
    /// Name without folders.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// An evaluator: ours, with other texts for some of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edition {
    pub(crate) behaviour: Behaviour,
    pub(crate) files: Vec<SourceFile>,
}

impl Edition {
    /// Reads the behaviour's word.
    pub(crate) fn new(behaviour: &str, files: Option<Vec<SourceFile>>) -> Result<Self, Fault> {
        let behaviour = behaviour.parse().map_err(Fault::new)?;
        Ok(Self { behaviour, files: files.unwrap_or_default() })
    }

    /// The evaluator as the builder takes it.
    pub(crate) fn evaluator(&self) -> Evaluator {
        Evaluator { behaviour: self.behaviour, own: None }
    }

    /// Builds a program with this evaluator.
    pub(crate) fn build(
        &self,
        profile: &Profile,
        kind: ProgramKind,
    ) -> Result<BuiltImage, firmware::build::BuildError> {
        let files: Vec<_> =
            self.files.iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
        build_replacing(profile, kind, &self.evaluator(), &files)
    }

    /// Builds what a board needs.
    pub(crate) fn programs(&self, profile: &Profile, kind: ProgramKind) -> Result<Programs, Fault> {
        let monitor = build(profile, ProgramKind::Monitor)?;
        let application = self.build(profile, kind)?;
        Ok(Programs { monitor, application })
    }
}

/// The profile of a name, or the usual one.
pub(crate) fn profile(name: Option<&str>) -> Result<Profile, Fault> {
    let name = name.unwrap_or(DEFAULT_BOARD);
    Profile::named(name).map_err(Fault::new)
}

/// A plan for a board that is simulated in this program, in a time of its own.
pub(crate) fn plan(profile: Profile, edition: &Edition) -> Plan {
    let board = Choice::Direct { rom: None };
    Plan { board, evaluator: edition.evaluator(), ..Plan::simulated(profile) }
}

/// Powers a board up, loads the application and starts it; `wrap` may put another in its place.
pub(crate) fn start(
    plan: &Plan,
    programs: Programs,
    wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
) -> Result<LiveBoard, Fault> {
    Ok(LiveBoard::prepare_with(plan, Arc::new(programs), &SystemDisk, wrap)?)
}

/// A board in this program with this evaluator; `stop` ends its waits.
pub(crate) fn simulated(edition: &Edition, stop: &Arc<AtomicBool>) -> Result<LiveBoard, Fault> {
    let profile = profile(None)?;
    let programs = edition.programs(&profile, ProgramKind::Application)?;
    let plan = Plan { stop: Some(Arc::clone(stop)), ..plan(profile, edition) };
    start(&plan, programs, |board| board)
}

/// A board as the page lists it.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BoardInfo {
    name: String,
    title: String,
    clock_hz: u64,
    ram: [u16; 2],
    baud: u32,
}

/// The boards that programs can be assembled for.
pub(crate) fn list() -> Result<Vec<BoardInfo>, Fault> {
    let info = |name: &str| -> Result<BoardInfo, Fault> {
        let profile = profile(Some(name))?;
        Ok(BoardInfo {
            name: profile.name,
            title: profile.title,
            clock_hz: profile.clock_hz,
            ram: [profile.ram.start, profile.ram.end],
            baud: profile.uart.baud,
        })
    };
    Profile::names().map(info).collect()
}

/// Boards by their evaluators, the last one used at the end.
#[derive(Default)]
pub(crate) struct Boards {
    kept: Vec<(Edition, LiveBoard)>,
}

impl Boards {
    /// A board with this evaluator that waits for requests.
    pub(crate) fn with(&mut self, edition: &Edition) -> Result<&mut LiveBoard, Fault> {
        let known = self.kept.iter().position(|(kept, _)| kept == edition);
        let entry = match known {
            Some(at) => self.kept.remove(at),
            None => (edition.clone(), simulated(edition, &Arc::default())?),
        };
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push(entry);
        let (_, live) = self.kept.last_mut().ok_or_else(|| Fault::new("no board is kept"))?;
        Ok(live)
    }

    /// Forgets a board that did not answer.
    pub(crate) fn forget(&mut self, edition: &Edition) {
        self.kept.retain(|(kept, _)| kept != edition);
    }
}
