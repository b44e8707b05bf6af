//! Loads and starts the caller on a board: in RAM, in flash, or through a stock monitor.

use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;
use firmware_wire::{Identity, Role};
use hil_harness::board::Board;
use hil_harness::live::{
    BoardConfig, HostedProgram, SetupError, StockLoader, end_address, write_to_flash,
};
use rcflash_link::Link;
use rcflash_link::caller::{Caller, CallerError};
use rcflash_link::loader;

use super::{BoardMachine, BoardMachineError};
use crate::board::loaded::LoadedProgram;

/// How the caller gets to a board.
pub(super) enum CallerLoader {
    /// Into RAM, by this project's monitor.
    Ram,
    /// Into flash, by this project's monitor.
    Flash,
    /// Into RAM, by a stock monitor.
    Stock(Box<StockLoader>),
}

impl CallerLoader {
    fn new<S>(config: &BoardConfig<S>) -> Self {
        match config.stock_loader() {
            Some(loader) => Self::Stock(Box::new(loader)),
            None if config.in_flash => Self::Flash,
            None => Self::Ram,
        }
    }

    fn kind(&self) -> ProgramKind {
        match self {
            Self::Ram => ProgramKind::Caller,
            Self::Flash => ProgramKind::FlashCaller,
            Self::Stock(_) => ProgramKind::HostedCaller,
        }
    }

    /// Loads and starts the caller.
    pub(super) fn load(
        &self,
        link: &mut Link,
        image: &BuiltImage,
    ) -> Result<Caller, BoardMachineError> {
        let BuiltImage { address: entry, bytes, build, program, .. } = image;
        match self {
            Self::Ram => return Ok(Caller::load(link, *entry, bytes, *build)?),
            Self::Flash => {
                let monitor = loader::enter_monitor(link).map_err(CallerError::from)?;
                write_to_flash(link, &monitor, *entry, bytes).map_err(SetupError::from)?;
                loader::run_build(link, *entry, *build).map_err(CallerError::from)?;
            }
            Self::Stock(loader) => {
                let top = end_address(program);
                let hosted = HostedProgram { image: &program.image, entry: *entry, top };
                loader.load_and_start(link, hosted, &|identity| check(identity, *build))?;
            }
        }
        Ok(Caller::attach(link)?)
    }
}

fn check(identity: &Identity, build: u32) -> Result<(), SetupError> {
    if identity.role == Role::Caller && identity.build_id == build {
        return Ok(());
    }
    Err(SetupError::WrongApplication(Box::new(identity.clone())))
}

impl BoardMachine {
    /// Connects to a board, and loads and starts the caller on it. [`Self::load`] must follow.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare<S: Clone>(config: &BoardConfig<S>) -> Result<Self, SetupError> {
        config.with_either_chip(|config| {
            let loader = CallerLoader::new(config);
            let monitor = build(&config.profile, ProgramKind::Monitor)?;
            let (board, mut link) = config.connect(&monitor.bytes)?;
            if !matches!(loader, CallerLoader::Stock(_)) {
                config.enter_monitor(&mut link, monitor.build)?;
            }
            Ok(Self::start_by(loader, board, link, &config.profile)?)
        })
    }

    /// Loads and starts the caller on a board with this project's monitor, whatever runs on it.
    /// [`Self::load`] must follow.
    ///
    /// # Errors
    /// Returns [`BoardMachineError`] if the caller can't be built, loaded or started.
    pub fn start(
        board: Box<dyn Board>,
        link: Link,
        profile: &BoardProfile,
    ) -> Result<Self, BoardMachineError> {
        Self::start_by(CallerLoader::Ram, board, link, profile)
    }

    fn start_by(
        loader: CallerLoader,
        board: Box<dyn Board>,
        mut link: Link,
        profile: &BoardProfile,
    ) -> Result<Self, BoardMachineError> {
        let image = build(profile, loader.kind()).map_err(SetupError::from)?;
        let caller = loader.load(&mut link, &image)?;
        Ok(Self {
            name: board.name().to_owned(),
            profile: profile.clone(),
            loader,
            image,
            caller,
            link,
            board,
            loaded: LoadedProgram::default(),
            is_lost: false,
            restarts: 0,
            batch: 1,
        })
    }
}

impl Drop for BoardMachine {
    fn drop(&mut self) {
        let CallerLoader::Stock(loader) = &self.loader else { return };
        if let Err(error) = loader.leave(&mut self.link, &self.name) {
            loader.notify(&error.to_string());
        }
    }
}

impl From<BoardMachineError> for SetupError {
    fn from(error: BoardMachineError) -> Self {
        match error {
            BoardMachineError::Setup(error) => error,
            BoardMachineError::Board(error) => error.into(),
            BoardMachineError::Link(error)
            | BoardMachineError::Caller(CallerError::Link(error)) => error.into(),
            BoardMachineError::Caller(CallerError::Load(error)) => error.into(),
            other => Self::UntestedApplication(other.to_string()),
        }
    }
}
