//! Simulated boards that answer requests, cached between requests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::ProgramKind;
use firmware::build::{BuiltImage, build, build_with_sources};
use firmware::evaluator::{Behaviour, Evaluator, ROUTINES};
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardKind};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, Programs};
use rcflash_link::rig::DEFAULT_BOARD;
use sargon_suite::{SargonBoard, SargonConfig};
use serde::Deserialize;

use crate::error::PageError;

/// Maximum cached boards: one for each evaluator, and two with edited sources.
const MAX_CACHED_BOARDS: usize = 5;

/// The fast evaluator's files that replace several routines.
const FAST_FILES: [(&str, &[&str]); 2] =
    [("xchfst.asm", &["XCHNG", "NEXTAD"]), ("spread.asm", &["ATTACK", "ATKSAV"])];

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A built-in evaluator with other texts for some of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EvaluatorSources {
    pub(crate) behaviour: Behaviour,
    pub(crate) files: Vec<SourceFile>,
}

impl EvaluatorSources {
    /// Reads the behaviour's word.
    pub(crate) fn new(behaviour: &str, files: Option<Vec<SourceFile>>) -> Result<Self, PageError> {
        let behaviour = behaviour.parse().map_err(PageError::new)?;
        Ok(Self { behaviour, files: files.unwrap_or_default() })
    }

    /// Returns the built-in evaluator, without the changed files.
    pub(crate) fn built_in(&self) -> Evaluator {
        Evaluator { behaviour: self.behaviour, own: None }
    }

    pub(crate) fn build(
        &self,
        profile: &BoardProfile,
        kind: ProgramKind,
    ) -> Result<BuiltImage, firmware::build::BuildError> {
        let files: Vec<_> =
            self.files.iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
        build_with_sources(profile, kind, &self.built_in(), &files)
    }

    /// Builds what a board needs.
    pub(crate) fn programs(
        &self,
        profile: &BoardProfile,
        kind: ProgramKind,
    ) -> Result<Programs, PageError> {
        let monitor = build(profile, ProgramKind::Monitor)?;
        let mut application = self.build(profile, kind)?;
        application.overridden = self.overridden_routines();
        Ok(Programs { monitor, application })
    }

    /// The routines in files that were changed: status bits that only the built-in ones set are not
    /// expected of them, as with `hw-tests run --sargon-dir`.
    fn overridden_routines(&self) -> Vec<&'static str> {
        let is_changed = |file: &&SourceFile| firmware::source(&file.name) != Some(&file.text);
        let changed: Vec<_> = self.files.iter().filter(is_changed).collect();
        let is_in = |name: &str| changed.iter().any(|file| file.name == name);
        let is_own = |(routine, name): &(&'static str, &str)| {
            is_in(name) || FAST_FILES.iter().any(|(file, its)| is_in(file) && its.contains(routine))
        };
        ROUTINES.into_iter().filter(is_own).map(|(routine, _)| routine).collect()
    }
}

pub(crate) fn profile(name: Option<&str>) -> Result<BoardProfile, PageError> {
    let name = name.unwrap_or(DEFAULT_BOARD);
    BoardProfile::named(name).map_err(PageError::new)
}

/// A plan for a board that is simulated in this program, in a time of its own.
pub(crate) fn plan(profile: BoardProfile, evaluator: &EvaluatorSources) -> SargonConfig {
    let board = BoardKind::InProcess;
    let board = BoardConfig { board, ..BoardConfig::simulated(profile) };
    SargonConfig { evaluator: evaluator.built_in(), ..board.into() }
}

/// Powers a board up, loads the application and starts it; `wrap` may put another in its place.
pub(crate) fn start(
    plan: &SargonConfig,
    programs: Programs,
    wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
) -> Result<SargonBoard, PageError> {
    Ok(SargonBoard::prepare_with(plan, Arc::new(programs), &OsFileSystem, wrap)?)
}

/// A board in this program with this evaluator; `stop` ends its waits.
pub(crate) fn simulated(
    evaluator: &EvaluatorSources,
    stop: &Arc<AtomicBool>,
) -> Result<SargonBoard, PageError> {
    let profile = profile(None)?;
    let programs = evaluator.programs(&profile, ProgramKind::Application)?;
    let mut plan = plan(profile, evaluator);
    plan.board.cancel = Some(Arc::clone(stop));
    start(&plan, programs, |board| board)
}

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
pub(crate) fn list() -> Result<Vec<BoardInfo>, PageError> {
    let info = |name: &str| -> Result<BoardInfo, PageError> {
        let profile = profile(Some(name))?;
        Ok(BoardInfo {
            name: profile.name,
            title: profile.title,
            clock_hz: profile.clock_hz,
            ram: [profile.ram.start, profile.ram.end],
            baud: profile.uart.baud,
        })
    };
    BoardProfile::names().map(info).collect()
}

#[derive(Default)]
pub(crate) struct Boards {
    kept: Vec<(EvaluatorSources, SargonBoard)>,
}

impl Boards {
    /// A board with this evaluator that waits for requests.
    pub(crate) fn with(
        &mut self,
        evaluator: &EvaluatorSources,
    ) -> Result<&mut SargonBoard, PageError> {
        let known = self.kept.iter().position(|(kept, _)| kept == evaluator);
        let entry = match known {
            Some(at) => self.kept.remove(at),
            None => (evaluator.clone(), simulated(evaluator, &Arc::default())?),
        };
        if self.kept.len() == MAX_CACHED_BOARDS {
            self.kept.remove(0);
        }
        self.kept.push(entry);
        let last = self.kept.last_mut();
        let (_, live) = last.ok_or_else(|| PageError::new("no simulated board available"))?;
        Ok(live)
    }

    /// Forgets a board that did not answer.
    pub(crate) fn forget(&mut self, evaluator: &EvaluatorSources) {
        self.kept.retain(|(kept, _)| kept != evaluator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_routine_is_the_users_own_if_its_file_is_changed() {
        let own = |files: &[(&str, &str)]| {
            let file = |&(name, more): &(&str, &str)| {
                let text = firmware::source(name).expect("we have it").to_owned() + more;
                SourceFile { name: name.to_owned(), text }
            };
            let files = files.iter().map(file).collect();
            EvaluatorSources::new("corrected", Some(files)).expect("its name").overridden_routines()
        };
        assert!(own(&[("xchng.asm", ""), ("data.asm", "; mine\n")]).is_empty());
        assert_eq!(own(&[("xchng.asm", "; mine\n"), ("attack.asm", "")]), ["XCHNG"]);
        assert_eq!(own(&[("spread.asm", "; mine\n")]), ["ATTACK", "ATKSAV"]);
    }
}
