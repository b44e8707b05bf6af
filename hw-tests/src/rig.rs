//! A board ready to be questioned, with the application loaded, verified and running.

mod ask;
mod watch;

pub use ask::{Counted, Observation, Traced};
pub use watch::BookedThere;

use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::evaluator::{Behaviour as Built, Evaluator};
use firmware::profile::{self, Profile};
use firmware::wire::{Identity, Role, capability, status};
use rcflash::exit::{Failure, RIG};
use rcflash::link::{Link, LinkError, LinkStats};
use rcflash::loader::{self, LoadError};

use crate::board::{Board, BoardError, Choice, Outfit};
use crate::compare::Standard;
use crate::encode;
use crate::reference::Behaviour;
use crate::sim::{BoardSpec, ChipKind, MemoryMap, Pace, SstModel, UartModel};
use watch::Watch;

/// What to prepare.
pub struct Plan {
    /// What the board is made of.
    pub profile: Profile,
    /// Which board it is.
    pub board: Choice,
    /// The evaluator in the application.
    pub evaluator: Evaluator,
    /// The application to load, if not the one built here: its address and bytes.
    pub application: Option<(u16, Vec<u8>)>,
    /// Whether a monitor of another build will do.
    pub any_monitor: bool,
}

impl Plan {
    /// The simulated board with what is built here.
    #[must_use]
    pub fn simulated(profile: Profile) -> Self {
        let board = Choice::Simulated { rom: None, pace: Pace::Free };
        let evaluator = Evaluator::default();
        Self { profile, board, evaluator, application: None, any_monitor: false }
    }
}

/// Why no board is ready.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// The images could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The board can't be reached.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The application is not on the board.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Another monitor than the one of this program is in the ROM.
    #[error(
        "the ROM holds another monitor ({0}) than this program's (build {1:08X}); put the current one into \
         the ROM (`rcflash image`), or accept any with --any-monitor"
    )]
    StaleMonitor(Box<Identity>, u32),
    /// Something else than what was loaded answers.
    #[error("{0} answers instead of the application that was loaded")]
    WrongApplication(Box<Identity>),
    /// It behaves in another way than the reference that was asked for.
    #[error("{0} behaves in the way of --behaviour {1}; say so, that the reference does the same")]
    OtherBehaviour(Box<Identity>, Built),
}

impl From<RigError> for Failure {
    fn from(error: RigError) -> Self {
        match error {
            RigError::Build(error) => error.into(),
            RigError::Load(error) => error.into(),
            other => Self::new(RIG, other),
        }
    }
}

/// A board that answers.
pub struct Rig {
    link: Link,
    clock_hz: u64,
    /// What runs on it.
    pub application: Identity,
    /// The routines of the user's own in it.
    pub own: Vec<&'static str>,
    behaviour: Behaviour,
    watch: Watch,
    /// Dropped last: the line goes before the board does.
    board: Box<dyn Board>,
}

impl Rig {
    /// Builds the programs, reaches the board, loads the application and starts it.
    ///
    /// # Errors
    /// What kept the board from being ready.
    pub fn prepare(plan: &Plan) -> Result<Self, RigError> {
        let profile = &plan.profile;
        let monitor = build(profile, ProgramKind::Monitor)?;
        let application = build_with(profile, ProgramKind::Application, &plan.evaluator)?;
        let watch = Watch::new(&application.program);
        let outfit = Outfit { profile, monitor: &monitor.bytes, probe: watch.probe() };
        let mut board = plan.board.power_up(outfit)?;
        let mut link = Link::new(board.open()?, profile.uart.baud);
        let running = start_application(plan, &mut link, &monitor, &application)?;
        if let Some(instruments) = board.instruments() {
            let _ = instruments.take_records();
        }
        Ok(Self {
            link,
            clock_hz: profile.clock_hz,
            application: running,
            own: application.own,
            behaviour: encode::behaviour(plan.evaluator.behaviour),
            watch,
            board,
        })
    }

    /// How the evaluator on the board behaves.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        self.behaviour
    }

    /// What its word is held against. A status bit counts only if all routines that set it are ours.
    #[must_use]
    pub fn standard(&self) -> Standard {
        let are_ours = |routines: [&str; 2]| !self.own.iter().any(|own| routines.contains(own));
        let short = if are_ours(["XCHNG", "NEXTAD"]) { status::SHORT } else { 0 };
        let overflow = if are_ours(["ATTACK", "ATKSAV"]) { status::OVERFLOW } else { 0 };
        Standard { behaviour: self.behaviour, status: short | overflow }
    }

    /// What passed over the line.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    /// What the board is called.
    #[must_use]
    pub fn board(&self) -> &str {
        self.board.name()
    }

    /// Whether the board still answers.
    pub fn answers(&mut self) -> bool {
        loader::identify(&mut self.link).is_ok()
    }

    /// How long the board has been at work since power came on, where its T-states can be counted.
    #[must_use]
    pub fn board_time(&self) -> Option<Duration> {
        let clock = self.board.instruments()?.clock();
        Some(Duration::from_secs_f64(clock as f64 / self.clock_hz.max(1) as f64))
    }
}

fn start_application(
    plan: &Plan,
    link: &mut Link,
    monitor: &BuiltImage,
    built: &BuiltImage,
) -> Result<Identity, RigError> {
    let found = loader::reach_monitor(link)?;
    if found.build != monitor.build && !plan.any_monitor {
        return Err(RigError::StaleMonitor(Box::new(found), monitor.build));
    }
    let (address, bytes) = match &plan.application {
        Some((address, bytes)) => (*address, bytes),
        None => (built.address, &built.bytes),
    };
    loader::load(link, &found, address, bytes, |_| {})?;
    let running = loader::run(link, address)?;
    let is_ours = plan.application.is_some() || running.build == built.build;
    if running.role != Role::Application || !is_ours {
        return Err(RigError::WrongApplication(Box::new(running)));
    }
    let faulty = running.capabilities & capability::AS_IN_1978 != 0;
    let behaviour = if faulty { Built::AsIn1978 } else { Built::Mended };
    if behaviour != plan.evaluator.behaviour {
        return Err(RigError::OtherBehaviour(Box::new(running), behaviour));
    }
    Ok(running)
}

/// The simulated board of a profile.
#[must_use]
pub fn board_spec(profile: &Profile) -> BoardSpec {
    BoardSpec {
        clock_hz: profile.clock_hz,
        uart_clock_hz: profile.uart.clock_hz,
        baud: profile.uart.baud,
        uart: match profile.uart.kind {
            profile::UartKind::Acia => UartModel::Acia,
            profile::UartKind::Sio => UartModel::Sio,
        },
        memory: match profile.banks {
            Some(_) => MemoryMap::Banked,
            None => MemoryMap::Plain { rom: profile.rom.addresses(), ram: profile.ram.addresses() },
        },
        chip: match profile.chip.kind {
            profile::ChipKind::Eprom27c512 => ChipKind::Eprom,
            profile::ChipKind::Sst39sf040 => ChipKind::Sst(SstModel::Sf040),
        },
        writable: profile.chip.writable,
        ctc: false,
        dtr_resets: false,
        seed: 1,
        host_obeys_rts: true,
    }
}
