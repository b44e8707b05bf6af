//! Builds the programs of a board, and loads and starts them.

use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_id};
use firmware::profile::BoardProfile;
use firmware_wire::{Identity, Role};
use rcflash_link::flash::{self, FlashError, FlashImage};
use rcflash_link::loader::{self, LoadError};
use rcflash_link::{Link, LinkError};

use super::{BoardConfig, SetupError, choose_kind};

/// Time until a program answers after its start.
pub(super) const START_TIMEOUT: Duration = Duration::from_millis(500);

/// Monitor and application, built for a [`BoardConfig`].
pub struct Programs {
    /// The monitor for the ROM.
    pub monitor: BuiltImage,
    /// The application: the code under test, or what calls it.
    pub application: BuiltImage,
}

impl Programs {
    /// Builds the monitor, and by `build_application` the application of the kind that the board
    /// needs: in RAM, in flash, or beside a stock monitor.
    ///
    /// # Errors
    /// Returns an error if assembly or linking failed.
    pub fn build(
        config: &BoardConfig,
        kinds: [ProgramKind; 3],
        build_application: impl Fn(&BoardProfile, ProgramKind) -> Result<BuiltImage, BuildError>,
    ) -> Result<Self, BuildError> {
        let monitor = build(&config.profile, ProgramKind::Monitor)?;
        let kind = choose_kind(kinds, config.in_flash, config.stock_monitor.is_some());
        let application = build_application(&config.profile, kind)?;
        Ok(Self { monitor, application })
    }

    /// Loads the application through the monitor in ROM, starts it, and verifies its identity.
    pub(super) fn load_and_start(
        &self,
        config: &BoardConfig,
        link: &mut Link,
    ) -> Result<Identity, SetupError> {
        if let Some(monitor) = &config.stock_monitor {
            return self.load_through(monitor, config, link);
        }
        let found = config.enter_monitor(link, self.monitor.build)?;
        let (address, bytes) = match &config.application {
            Some((address, bytes)) => (*address, bytes),
            None => (self.application.address, &self.application.bytes),
        };
        if config.in_flash {
            write_to_flash(link, &found, address, bytes)?;
        } else {
            loader::upload_missing(link, &found, address, bytes, |_| {})?;
        }
        let running = loader::run(link, address)?;
        self.verify_identity(config, running)
    }

    /// Returns the identity of a program if it is the one that was loaded.
    pub(super) fn verify_identity(
        &self,
        config: &BoardConfig,
        running: Identity,
    ) -> Result<Identity, SetupError> {
        let is_loaded = match config.application {
            Some(_) => running.role == Role::Application,
            None => running.build_id == self.application.build,
        };
        if is_loaded { Ok(running) } else { Err(SetupError::WrongApplication(Box::new(running))) }
    }
}

impl BoardConfig {
    /// Gives a patched copy of `built`, which has the build id of the original, that of its bytes.
    /// `built` gets the id too.
    pub fn set_build_id(&mut self, built: &mut BuiltImage) {
        if let Some((address, bytes)) = &mut self.application
            && let Some(at) = built.program.symbol("BUILD").and_then(|at| at.checked_sub(*address))
            && bytes.get(at.into()..usize::from(at) + 4) == Some(&built.build.to_le_bytes())
        {
            let at = usize::from(at);
            built.build = build_id(bytes, at);
            bytes[at..at + 4].copy_from_slice(&built.build.to_le_bytes());
        }
    }

    /// Returns to this project's monitor, and returns its identity.
    pub(super) fn enter_monitor(
        &self,
        link: &mut Link,
        build: u32,
    ) -> Result<Identity, SetupError> {
        let found = match loader::enter_monitor(link) {
            Err(LoadError::Link(error @ LinkError::Timeout { .. })) => {
                return Err(match &self.rom {
                    Some(rom) => SetupError::NoMonitorInRom(rom.len(), rom.first().copied()),
                    None => self.unknown_peer_error(link, error),
                });
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
fn write_to_flash(
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
