//! The programs for a board, and how they get onto it.

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::evaluator::Behaviour;
use firmware::wire::{Identity, Role, capability};
use rcflash::flash::{self, Content, FlashError};
use rcflash::link::Link;
use rcflash::loader;

use super::{Plan, RigError};
use crate::board::Ready;

/// Monitor and application as they are built here.
pub(super) struct Programs {
    pub(super) monitor: BuiltImage,
    pub(super) application: BuiltImage,
}

impl Programs {
    pub(super) fn build(plan: &Plan) -> Result<Self, BuildError> {
        let monitor = build(&plan.profile, ProgramKind::Monitor)?;
        let kind =
            if plan.in_flash { ProgramKind::FlashApplication } else { ProgramKind::Application };
        let application = build_with(&plan.profile, kind, &plan.evaluator)?;
        Ok(Self { monitor, application })
    }

    /// Reaches the monitor, loads the application, starts it, and makes sure that it is the one that answers.
    pub(super) fn bring_up(&self, plan: &Plan, link: &mut Link) -> Result<Ready, RigError> {
        let found = loader::reach_monitor(link)?;
        if found.build != self.monitor.build && !plan.any_monitor {
            return Err(RigError::StaleMonitor(Box::new(found), self.monitor.build));
        }
        let built = &self.application;
        let (address, bytes) = match &plan.application {
            Some((address, bytes)) => (*address, bytes),
            None => (built.address, &built.bytes),
        };
        if plan.in_flash {
            put_into_flash(link, &found, address, bytes)?;
        } else {
            loader::load(link, &found, address, bytes, |_| {})?;
        }
        let application = loader::run(link, address)?;
        self.check(plan, &application)?;
        let own = built.own.iter().map(|&routine| routine.to_owned()).collect();
        Ok(Ready { application, own, seq: link.seq() })
    }

    /// Whether this is the application that was loaded.
    pub(super) fn check(&self, plan: &Plan, running: &Identity) -> Result<(), RigError> {
        let is_ours = plan.application.is_some() || running.build == self.application.build;
        if running.role != Role::Application || !is_ours {
            return Err(RigError::WrongApplication(Box::new(running.clone())));
        }
        let behaviour = behaviour(running);
        if behaviour != plan.evaluator.behaviour {
            return Err(RigError::OtherBehaviour(Box::new(running.clone()), behaviour));
        }
        Ok(())
    }
}

/// Makes flash hold a program, whether it is to be started after a reset or not; what is there already is left alone.
fn put_into_flash(
    link: &mut Link,
    monitor: &Identity,
    entry: u16,
    bytes: &[u8],
) -> Result<(), FlashError> {
    let chip = flash::chip(link, monitor)?;
    let mut compare = |autostart| {
        let content = Content::program(bytes, entry, autostart)?;
        flash::compare(link, &chip, &content, false, |_| {})
    };
    let sectors = compare(false)?;
    if sectors.is_empty() || compare(true)?.is_empty() {
        return Ok(());
    }
    flash::write(link, &sectors, |_| {})?;
    Ok(())
}

/// How an application says that it behaves.
pub(super) fn behaviour(application: &Identity) -> Behaviour {
    let faulty = application.capabilities & capability::AS_IN_1978 != 0;
    if faulty { Behaviour::AsIn1978 } else { Behaviour::Mended }
}
