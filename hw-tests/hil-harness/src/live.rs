//! A board ready to be questioned, with the application loaded, verified and running.

mod ask;
mod hosted;
mod load;
mod programs;
mod recover;
mod under_way;
mod watch;

pub use hosted::top;
pub use load::{Limit, LineLoad, Load};
pub use recover::Recovery;
pub use under_way::CaseReply;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cli_support::exit::{Failure, RIG, USAGE};
use firmware::build::BuildError;
use firmware::evaluator::{self, Behaviour as Built, Evaluator};
use firmware::profile::{Profile, UartKind};
use firmware_wire::{Identity, status};
use rcflash_link::flash::FlashError;
use rcflash_link::loader::LoadError;
use rcflash_link::{Link, LinkError, LinkStats};
use rcflash_monitors::LoaderError;
use rcflash_transport::time::{Duration, Instant};
use tdlasm::link::LinkedLine;

use crate::board::{
    Board, BoardError, Choice, FaultCounts, FaultyBoard, Outfit, Ready, RecordedBoard, Recording,
};
use crate::compare::Standard;
use crate::disk::{Disk, SystemDisk};
use board_simulator::{Pace, Probe};
use firmware::code::CodeMap;
use load::Mark;
pub use programs::Programs;
pub use rcflash_monitors::Host;
use sargon_corpus::encode;
use sargon_reference::Behaviour;
use watch::Watch;

/// The time for which a simulated board's line is looked for.
const RECONNECT: Duration = Duration::from_secs(3);

/// A plan for a board.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The profile of the board.
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
    /// The monitor through which the application gets to a board that keeps it.
    pub host: Option<Host>,
    /// The time to wait for a port that has gone to come back.
    pub reconnect: Duration,
    /// Shows a person what happens meanwhile.
    pub note: fn(&str),
    /// The place to write down all that passes over the line.
    pub recording: Option<Recording>,
    /// The seed of faults to be made on the line.
    pub faults: Option<u64>,
    /// Whether every byte is asked for, also of positions whose checks would do.
    pub full: bool,
    /// Whether XCHNG is watched from call to call, where the board can be looked into.
    pub watch_exchanges: bool,
    /// Ends every wait when set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Plan {
    /// Whether there may be several boards of this plan at once: they are simulated, at no speed of
    /// their own, and nothing is noted or disturbed on their lines.
    fn is_repeatable(&self) -> bool {
        let is_free = matches!(
            self.board,
            Choice::Direct { .. } | Choice::Simulated { pace: Pace::Free, .. }
        );
        is_free && self.recording.is_none() && self.faults.is_none()
    }

    fn power_up(&self, programs: &Programs, watch: &Watch) -> Result<Box<dyn Board>, BoardError> {
        let profile = &self.profile;
        let probe = watch.probe(self.watch_exchanges);
        self.board.power_up(Outfit { profile, monitor: &programs.monitor.bytes, probe })
    }

    /// The board on a line with faults and a transcript, where these are wanted. What is recorded
    /// is what the faults leave, so that a replay needs none.
    fn disturbed_and_recorded(
        &self,
        mut board: Box<dyn Board>,
        disk: &dyn Disk,
    ) -> Result<Box<dyn Board>, BoardError> {
        if let Some(seed) = self.faults {
            board = Box::new(FaultyBoard::new(board, seed));
        }
        if let Some(recording) = &self.recording {
            let heading = recording.heading(board.name(), &self.profile.name, self.full);
            board = Box::new(RecordedBoard::new(board, disk, recording, &heading)?);
        }
        Ok(board)
    }

    fn link(&self, board: &mut dyn Board) -> Result<Link, BoardError> {
        let mut link = Link::new(board.open()?, self.profile.uart.baud);
        link.set_timeout_scale(board.slowness());
        if let Some(stop) = &self.stop {
            link.set_stop(Arc::clone(stop));
        }
        Ok(link)
    }

    /// Reaches the board, on a line with a transcript where one is wanted, and leaves alone what
    /// runs there. The link is to be dropped first.
    ///
    /// # Errors
    /// The board can't be reached.
    pub fn reach(&self, monitor: &[u8]) -> Result<(Box<dyn Board>, Link), BoardError> {
        let outfit = Outfit { profile: &self.profile, monitor, probe: Probe::default() };
        let board = self.board.power_up(outfit)?;
        let mut board = self.disturbed_and_recorded(board, &SystemDisk)?;
        let link = self.link(&mut *board)?;
        Ok((board, link))
    }

    /// The same plan for a board with the other serial chip.
    fn with_other_chip(&self) -> Self {
        let mut plan = self.clone();
        plan.profile.uart.kind = match plan.profile.uart.kind {
            UartKind::Acia => UartKind::Sio,
            UartKind::Sio => UartKind::Acia,
        };
        plan
    }

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
            host: None,
            reconnect: RECONNECT,
            note: |_| {},
            recording: None,
            faults: None,
            full: false,
            watch_exchanges: false,
            stop: None,
        }
    }
}

/// Error returned when no board is ready.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
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
    /// The board's own monitor did not take or start the application.
    #[error(transparent)]
    Host(#[from] LoaderError),
    /// This project's monitor is in the ROM of a board that was to have another one.
    #[error("{0} is in this board's ROM: leave --via out")]
    OwnMonitor(Box<Identity>),
    /// Another monitor is in the ROM than this project's.
    #[error(
        "{port}: {who} answers, not this project's monitor; {first}`hw-tests run --via {host} --port {port}` loads the \
         evaluator through it"
    )]
    StockMonitor {
        /// The board as the user named it.
        port: String,
        /// The monitor's name and version.
        who: String,
        /// The name for --via.
        host: &'static str,
        /// The step that comes before it.
        first: &'static str,
    },
    /// The application was started and says nothing.
    #[error(
        "the application was started, but does not answer, neither with the driver of the 68B50 nor with the SIO's: \
         press reset there, and see that the serial chip has the ports of a profile (--board)"
    )]
    Mute,
    /// The monitor did not come back after the application had left.
    #[error("the board's own monitor ({0}) does not come back: press reset there")]
    Gone(&'static str),
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

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Build(error) => error.into(),
            SetupError::Load(error) => error.into(),
            SetupError::Flash(error) => error.into(),
            SetupError::Board(
                error @ (BoardError::NoMachine(..) | BoardError::NoTranscript(_)),
            ) => Self::new(USAGE, error),
            SetupError::Link(error) => error.into(),
            SetupError::Host(error) => error.into(),
            other => Self::new(RIG, other),
        }
    }
}

/// A board that answers.
pub struct LiveBoard {
    link: Link,
    clock_hz: u64,
    /// The program that runs on it.
    pub application: Identity,
    /// The routines of the user's own in it.
    pub own: Vec<&'static str>,
    behaviour: Behaviour,
    watch: Watch,
    began: Mark,
    /// The count of the board's waits when it was last asked.
    waits: Option<u32>,
    plan: Plan,
    programs: Arc<Programs>,
    /// Dropped last: the line goes before the board does.
    board: Box<dyn Board>,
}

impl LiveBoard {
    /// Builds the programs, reaches the board, loads the application and starts it.
    ///
    /// # Errors
    /// The step that failed.
    pub fn prepare(plan: &Plan) -> Result<Self, SetupError> {
        let prepare = |plan: &Plan| {
            let programs = Arc::new(Programs::build(plan)?);
            Self::prepare_with(plan, programs, &SystemDisk, |board| board)
        };
        match prepare(plan) {
            // Kits with a stock monitor have either chip at the same ports.
            Err(SetupError::Mute) => {
                let other = plan.with_other_chip();
                let chip = other.profile.uart.kind;
                (plan.note)(&format!("no answer; trying the driver of the {chip}"));
                prepare(&other)
            }
            other => other,
        }
    }

    /// Prepares up to `most` boards that are alike, or one if there can't be several of the plan.
    ///
    /// # Errors
    /// The step that failed.
    pub fn prepare_several(plan: &Plan, most: usize) -> Result<Vec<Self>, SetupError> {
        let first = Self::prepare(plan)?;
        let more = if plan.is_repeatable() { most.saturating_sub(1) } else { 0 };
        let programs = Arc::clone(&first.programs);
        let another = |_| Self::prepare_with(plan, Arc::clone(&programs), &SystemDisk, |it| it);
        std::iter::once(Ok(first)).chain((0..more).map(another)).collect()
    }

    /// The same with programs that are built, with files on this disk, and with a line that `wrap`
    /// may stand in.
    ///
    /// # Errors
    /// The step that failed.
    pub fn prepare_with(
        plan: &Plan,
        programs: Arc<Programs>,
        disk: &dyn Disk,
        wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
    ) -> Result<Self, SetupError> {
        let watch = Watch::new(&programs.application.program);
        let board = wrap(plan.power_up(&programs, &watch)?);
        let mut board = plan.disturbed_and_recorded(board, disk)?;
        let mut link = plan.link(&mut *board)?;
        let ready = programs.make_ready(plan, &mut *board, &mut link)?;
        link.set_seq(ready.seq);
        link.set_window(ready.application.window);
        Ok(Self::over(board, link, ready, watch, programs, plan))
    }

    fn over(
        board: Box<dyn Board>,
        link: Link,
        ready: Ready,
        watch: Watch,
        programs: Arc<Programs>,
        plan: &Plan,
    ) -> Self {
        let is_own = |routine: &&str| ready.own.iter().any(|own| own == routine);
        let own = evaluator::ROUTINES.map(|(routine, _)| routine).into_iter().filter(is_own);
        let mut live = Self {
            link,
            clock_hz: plan.profile.clock_hz,
            own: own.collect(),
            behaviour: encode::behaviour(programs::behaviour(&ready.application)),
            application: ready.application,
            watch,
            began: Mark::default(),
            waits: None,
            plan: plan.clone(),
            programs,
            board,
        };
        live.note_waits();
        live.began = live.mark();
        live
    }

    /// Returns the behaviour of the evaluator on the board.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        self.behaviour
    }

    /// Returns the standard for its replies. Of an evaluator that is all ours every status bit
    /// counts, also those that it never sets. Beside routines of the user's own only a bit counts
    /// that ours alone set.
    #[must_use]
    pub fn standard(&self) -> Standard {
        if self.own.is_empty() {
            return Standard { behaviour: self.behaviour, status: u8::MAX };
        }
        let are_ours = |routines: [&str; 2]| !self.own.iter().any(|own| routines.contains(own));
        let short = if are_ours(["XCHNG", "NEXTAD"]) { status::SHORT } else { 0 };
        let overflow = if are_ours(["ATTACK", "ATKSAV"]) { status::OVERFLOW } else { 0 };
        Standard { behaviour: self.behaviour, status: short | overflow }
    }

    /// The traffic of the line.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    /// Returns the board's program counter, by its own word or by its instruments, told by
    /// the symbols of the programs built here.
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

    /// Returns the board's name.
    #[must_use]
    pub fn board(&self) -> &str {
        self.board.name()
    }

    /// Returns the board's time at work since power came on, where its T-states can be
    /// counted.
    #[must_use]
    pub fn board_time(&self) -> Option<Duration> {
        let clock = self.board.instruments()?.clock();
        Some(Duration::from_secs_f64(clock as f64 / self.clock_hz.max(1) as f64))
    }
}
