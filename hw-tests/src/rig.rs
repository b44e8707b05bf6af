//! A board ready to be questioned, with the application loaded, verified and running.

mod ask;
mod load;
mod programs;
mod recover;
mod under_way;
mod watch;

pub use ask::{Counted, Observation, Traced};
pub use load::Load;
pub use recover::Recovery;
pub use under_way::{Said, Word};
pub use watch::BookedThere;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use firmware::build::BuildError;
use firmware::evaluator::{self, Behaviour as Built, Evaluator};
use firmware::profile::{self, Profile};
use firmware::wire::{Identity, status};
use rcflash::exit::{Failure, RIG, USAGE};
use rcflash::flash::FlashError;
use rcflash::link::{Link, LinkError, LinkStats};
use rcflash::loader::LoadError;
use tdlasm::link::LinkedLine;

use crate::board::{
    Board, BoardError, Choice, FORMAT, FaultCounts, FaultyBoard, Heading, Outfit, RecordedBoard,
};
use crate::compare::Standard;
use crate::debug::CodeMap;
use crate::encode;
use crate::reference::Behaviour;
use crate::sim::{BoardSpec, ChipKind, MemoryMap, Pace, SstModel, UartModel};
use load::Mark;
use programs::Programs;
use watch::Watch;

/// What to prepare.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What the board is made of.
    pub profile: Profile,
    /// Which board it is.
    pub board: Choice,
    /// The evaluator in the application.
    pub evaluator: Evaluator,
    /// The application to load, if not the one built here: its address and bytes.
    pub application: Option<(u16, Vec<u8>)>,
    /// Whether the application goes to flash instead of RAM.
    pub in_flash: bool,
    /// Whether a monitor of another build will do.
    pub any_monitor: bool,
    /// Where to write down all that passes over the line.
    pub recording: Option<Recording>,
    /// The seed of faults to be made on the line.
    pub faults: Option<u64>,
    /// Ends every wait when set.
    pub stop: Option<Arc<AtomicBool>>,
}

/// A transcript to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Where it goes.
    pub file: PathBuf,
    /// The cases that the board will be asked for.
    pub cases: Vec<String>,
}

impl Recording {
    fn heading(&self, board: &str, profile: &str) -> Heading {
        Heading {
            transcript: FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            board: board.to_owned(),
            profile: profile.to_owned(),
            cases: self.cases.clone(),
        }
    }
}

impl Plan {
    /// The simulated board with what is built here.
    #[must_use]
    pub fn simulated(profile: Profile) -> Self {
        let board = Choice::Simulated { rom: None, pace: Pace::Free };
        let evaluator = Evaluator::default();
        Self {
            profile,
            board,
            evaluator,
            application: None,
            in_flash: false,
            any_monitor: false,
            recording: None,
            faults: None,
            stop: None,
        }
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
    /// It is not in the board's flash.
    #[error(transparent)]
    Flash(#[from] FlashError),
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
            RigError::Flash(error) => error.into(),
            RigError::Board(error @ BoardError::NoMachine(..)) => Self::new(USAGE, error),
            RigError::Link(error) => error.into(),
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
    began: Mark,
    plan: Plan,
    programs: Programs,
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
        let programs = Programs::build(plan)?;
        let watch = Watch::new(&programs.application.program);
        let outfit = Outfit { profile, monitor: &programs.monitor.bytes, probe: watch.probe() };
        let mut board = plan.board.power_up(outfit)?;
        if let Some(seed) = plan.faults {
            board = Box::new(FaultyBoard::new(board, seed));
        }
        if let Some(recording) = &plan.recording {
            let heading = recording.heading(board.name(), &profile.name);
            board = Box::new(RecordedBoard::new(board, &recording.file, &heading)?);
        }
        let mut link = Link::new(board.open()?, profile.uart.baud);
        link.set_slowness(board.slowness());
        if let Some(stop) = &plan.stop {
            link.set_stop(Arc::clone(stop));
        }
        let ready = match board.take_ready() {
            Some(ready) => ready,
            None => programs.bring_up(plan, &mut link)?,
        };
        board.note_ready(&ready);
        link.set_seq(ready.seq);
        link.set_window(ready.application.window);
        if let Some(instruments) = board.instruments() {
            let _ = instruments.take_records();
        }
        let is_own = |routine: &&str| ready.own.iter().any(|own| own == routine);
        let own = evaluator::ROUTINES.map(|(routine, _)| routine).into_iter().filter(is_own);
        let mut rig = Self {
            link,
            clock_hz: profile.clock_hz,
            own: own.collect(),
            behaviour: encode::behaviour(programs::behaviour(&ready.application)),
            application: ready.application,
            watch,
            began: Mark::default(),
            plan: plan.clone(),
            programs,
            board,
        };
        rig.began = rig.mark();
        Ok(rig)
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

    /// Where the board's program counter is, by its own word or by its instruments, told by the symbols of the programs
    /// built here.
    pub fn whereabouts(&mut self) -> String {
        let told = self.link.locate().ok().flatten();
        let seen = || self.board.instruments().map(|board| board.program_counter());
        let silent = told.map_or("; it takes no interrupts", |_| "");
        match told.or_else(seen) {
            Some(at) => format!("the program counter was at {}{silent}", self.place(at)),
            None => "asked where its program is, it says nothing: it takes no interrupts, or it hears nothing"
                .to_owned(),
        }
    }

    /// An address with its label and line.
    fn place(&self, at: u16) -> String {
        let code = CodeMap::new(&[&self.programs.application, &self.programs.monitor]);
        let place = |line: &LinkedLine| format!(" ({}:{})", line.place.file, line.place.line);
        let line = code.line_at(at).map_or(String::new(), place);
        format!("{at:04X}H, {}{line}", code.name_of(at))
    }

    /// The faults made on the line so far, where some are made.
    #[must_use]
    pub fn faults(&self) -> Option<FaultCounts> {
        self.board.faults()
    }

    /// The time by the clock of the line.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.link.now()
    }

    /// What the board is called.
    #[must_use]
    pub fn board(&self) -> &str {
        self.board.name()
    }

    /// How long the board has been at work since power came on, where its T-states can be counted.
    #[must_use]
    pub fn board_time(&self) -> Option<Duration> {
        let clock = self.board.instruments()?.clock();
        Some(Duration::from_secs_f64(clock as f64 / self.clock_hz.max(1) as f64))
    }
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
