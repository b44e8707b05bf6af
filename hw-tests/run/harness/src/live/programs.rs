//! Builds the programs of a board, and loads and starts them.

use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_id};
use firmware_wire::{Identity, Role};
use rcflash_link::flash::{self, FlashError, FlashImage};
use rcflash_link::loader::{self, LoadError};
use rcflash_link::{Link, LinkError};
use rcflash_monitors::HostedProgram;

use super::BoardSuite;
use super::{BoardConfig, SetupError};
use crate::board::{Board, RunningApplication};

/// Time until a program answers after its start.
pub(super) const START_TIMEOUT: Duration = Duration::from_millis(500);

/// Monitor and application, built for a [`BoardConfig`].
pub struct Programs {
    /// The monitor for the ROM.
    pub monitor: BuiltImage,
    /// The application with the code under test.
    pub application: BuiltImage,
}

impl Programs {
    /// Builds the programs of a config.
    ///
    /// # Errors
    /// Returns an error if assembly or linking failed.
    pub fn build<S: BoardSuite>(config: &BoardConfig<S>) -> Result<Self, BuildError> {
        let monitor = build(&config.profile, ProgramKind::Monitor)?;
        let kind = match config {
            BoardConfig { stock_monitor: Some(_), .. } => ProgramKind::HostedApplication,
            BoardConfig { in_flash: true, .. } => ProgramKind::FlashApplication,
            _ => ProgramKind::Application,
        };
        let application = config.suite.build_application(&config.profile, kind)?;
        Ok(Self { monitor, application })
    }

    /// Loads and starts the application, unless the board has it already, as in a replay.
    pub(super) fn prepare_board<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        board: &mut dyn Board,
        link: &mut Link,
    ) -> Result<RunningApplication, SetupError> {
        let ready = match board.take_preloaded() {
            Some(ready) => ready,
            None => self.load_and_start(config, link)?,
        };
        board.on_ready(&ready);
        // Calls recorded during the set-up belong to no request.
        if let Some(instruments) = board.instrumentation() {
            let _ = (instruments.take_records(), instruments.take_violations());
        }
        Ok(ready)
    }

    /// Loads the application through the monitor in ROM, starts it, and verifies its identity.
    pub(super) fn load_and_start<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        link: &mut Link,
    ) -> Result<RunningApplication, SetupError> {
        let user_routines =
            self.application.overridden.iter().map(|&routine| routine.to_owned()).collect();
        if let Some(loader) = config.stock_loader() {
            let (image, entry, top) = self.hosted_program(config);
            let program = HostedProgram { image: &image, entry, top };
            let check = |identity: &Identity| self.verify_identity(config, identity);
            let application = loader.load_and_start(link, program, &check)?;
            return Ok(RunningApplication { application, user_routines, seq: link.seq() });
        }
        let found = config.enter_monitor(link, self.monitor.build)?;
        let built = &self.application;
        let (address, bytes) = match &config.application {
            Some((address, bytes)) => (*address, bytes),
            None => (built.address, &built.bytes),
        };
        if config.in_flash {
            write_to_flash(link, &found, address, bytes)?;
        } else {
            loader::upload_all(link, &found, address, bytes, |_| {})?;
        }
        let application = loader::run(link, address)?;
        self.verify_identity(config, &application)?;
        Ok(RunningApplication { application, user_routines, seq: link.seq() })
    }

    /// Returns an error unless this is the loaded application, and the suite tests it.
    pub(super) fn verify_identity<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        running: &Identity,
    ) -> Result<(), SetupError> {
        let is_expected =
            config.application.is_some() || running.build_id == self.application.build;
        if running.role != Role::Application || !is_expected {
            return Err(SetupError::WrongApplication(Box::new(running.clone())));
        }
        config.suite.check_application(running).map_err(SetupError::UntestedApplication)
    }
}

impl<S: Clone> BoardConfig<S> {
    /// Returns the config with the build id of its bytes in a patched copy of `built`, which has
    /// that of the original. `built` gets the id too.
    pub(super) fn with_build_id(&self, built: &mut BuiltImage) -> Self {
        let mut config = self.clone();
        if let Some((address, bytes)) = &mut config.application
            && let Some(at) = built.program.symbol("BUILD").and_then(|at| at.checked_sub(*address))
            && bytes.get(at.into()..usize::from(at) + 4) == Some(&built.build.to_le_bytes())
        {
            let at = usize::from(at);
            built.build = build_id(bytes, at);
            bytes[at..at + 4].copy_from_slice(&built.build.to_le_bytes());
        }
        config
    }

    /// Returns to this project's monitor, and returns its identity.
    ///
    /// # Errors
    /// Returns [`SetupError::StaleMonitor`] if it is of another build, unless that is accepted, and
    /// [`SetupError::StockMonitor`] if a stock monitor replies.
    pub fn enter_monitor(&self, link: &mut Link, build: u32) -> Result<Identity, SetupError> {
        let found = match loader::enter_monitor(link) {
            Err(LoadError::Link(error @ LinkError::Timeout { .. })) => {
                return Err(self.unknown_peer_error(link, error));
            }
            other => other?,
        };
        if found.build_id != build && !self.any_monitor {
            return Err(SetupError::StaleMonitor(Box::new(found), build));
        }
        Ok(found)
    }
}

/// Writes a program to flash, unless it is there already, with or without the autostart flag.
///
/// # Errors
/// Returns [`FlashError`] if the board has no flash for it, or writing fails.
pub fn write_to_flash(
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
