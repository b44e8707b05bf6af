//! The programs for a board, and how they get onto it.

use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::evaluator::Behaviour;
use firmware_wire::{Identity, Role, capability};
use rcflash_link::flash::{self, FlashError, FlashImage};
use rcflash_link::loader::{self, LoadError};
use rcflash_link::{Link, LinkError};
use sargon_corpus::encode;

use super::watch::Watch;
use super::{Plan, SetupError};
use crate::board::{Board, Ready};
use board_simulator::Probe;

/// The time that a program may take until it answers after its start.
pub(super) const START: Duration = Duration::from_millis(500);

/// Monitor and application as they are built here.
pub struct Programs {
    /// The program in the ROM.
    pub monitor: BuiltImage,
    /// The program under test.
    pub application: BuiltImage,
}

impl Programs {
    /// Builds the programs for a plan.
    ///
    /// # Errors
    /// Assembly or linking failed.
    pub fn build(plan: &Plan) -> Result<Self, BuildError> {
        let monitor = build(&plan.profile, ProgramKind::Monitor)?;
        let kind = match plan {
            Plan { host: Some(_), .. } => ProgramKind::HostedApplication,
            Plan { in_flash: true, .. } => ProgramKind::FlashApplication,
            _ => ProgramKind::Application,
        };
        let application = build_with(&plan.profile, kind, &plan.evaluator)?;
        Ok(Self { monitor, application })
    }

    /// Returns the instruments for the evaluator on a board that can be looked into.
    #[must_use]
    pub fn probe(&self) -> Probe {
        Watch::new(&self.application.program).probe(false)
    }

    /// Makes the board ready to be questioned, unless it is so without our doing, as a replayed
    /// one.
    pub(super) fn make_ready(
        &self,
        plan: &Plan,
        board: &mut dyn Board,
        link: &mut Link,
    ) -> Result<Ready, SetupError> {
        let ready = match board.take_ready() {
            Some(ready) => ready,
            None => self.bring_up(plan, link)?,
        };
        board.note_ready(&ready);
        // What the probe measured during the set-up belongs to no question.
        if let Some(instruments) = board.instruments() {
            let _ = instruments.take_records();
        }
        Ok(ready)
    }

    /// Reaches the monitor, this project's or the board's own, loads the application, starts it,
    /// and makes sure that it is the one that answers.
    pub(super) fn bring_up(&self, plan: &Plan, link: &mut Link) -> Result<Ready, SetupError> {
        if let Some(host) = plan.host {
            return self.bring_up_hosted(plan, host, link);
        }
        let found = match loader::enter_monitor(link) {
            Err(LoadError::Link(error @ LinkError::Timeout { .. })) => {
                return Err(Self::stranger(plan, link, error));
            }
            other => other?,
        };
        if found.build != self.monitor.build && !plan.any_monitor {
            return Err(SetupError::StaleMonitor(Box::new(found), self.monitor.build));
        }
        let built = &self.application;
        let (address, bytes) = match &plan.application {
            Some((address, bytes)) => (*address, bytes),
            None => (built.address, &built.bytes),
        };
        if plan.in_flash {
            put_into_flash(link, &found, address, bytes)?;
        } else {
            loader::upload_all(link, &found, address, bytes, |_| {})?;
        }
        let application = loader::run(link, address)?;
        self.check(plan, &application)?;
        let own = built.own.iter().map(|&routine| routine.to_owned()).collect();
        Ok(Ready { application, own, seq: link.seq() })
    }

    /// Whether this is the application that was loaded.
    pub(super) fn check(&self, plan: &Plan, running: &Identity) -> Result<(), SetupError> {
        let is_ours = plan.application.is_some() || running.build == self.application.build;
        if running.role != Role::Application || !is_ours {
            return Err(SetupError::WrongApplication(Box::new(running.clone())));
        }
        let behaviour = behaviour(running);
        // An identity tells the faults of 1978, not how fast their absence is.
        if encode::behaviour(behaviour) != encode::behaviour(plan.evaluator.behaviour) {
            return Err(SetupError::OtherBehaviour(Box::new(running.clone()), behaviour));
        }
        Ok(())
    }
}

/// Makes flash hold a program, whether it is to be started after a reset or not; what is there
/// already is left alone.
fn put_into_flash(
    link: &mut Link,
    monitor: &Identity,
    entry: u16,
    bytes: &[u8],
) -> Result<(), FlashError> {
    let chip = flash::chip(link, monitor)?;
    let mut compare = |autostart| {
        let content = FlashImage::program(bytes, entry, autostart)?;
        flash::changed_sectors(link, &chip, &content, false, |_| {})
    };
    let sectors = compare(false)?;
    if sectors.is_empty() || compare(true)?.is_empty() {
        return Ok(());
    }
    flash::write(link, &sectors, |_| {})?;
    Ok(())
}

/// Returns the behaviour that an application states.
pub(super) fn behaviour(application: &Identity) -> Behaviour {
    let faulty = application.capabilities & capability::AS_IN_1978 != 0;
    if faulty { Behaviour::AsIn1978 } else { Behaviour::Mended }
}
