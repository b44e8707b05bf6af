//! A board ready to be questioned: simulated or real, with the application loaded, verified and running.

use std::io;
use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::evaluator::{Behaviour as Built, Evaluator};
use firmware::profile::Profile;
use firmware::wire::{
    ExhaustRequest, Identity, PointsReply, PositionEnd, Reply, Request, Role, SquareRecord,
    StepRecord, Tally, capability, status,
};
use rcflash::exit::{Failure, RIG};
use rcflash::link::{Link, LinkError, LinkStats};
use rcflash::loader::{self, LoadError};
use rcflash::port::{OpenError, Port};

use crate::compare::Standard;
use crate::encode;
use crate::reference::{AttackersArray, Behaviour, Colour, Piece, Position, Square};
use crate::sim::{
    BoardSpec, CallRecord, ChipKind, MemoryMap, Pace, Probe, Registers, ServerOptions, SimServer,
    UartModel,
};

/// T-states that the board may take for any position; 64 squares with every line full take half of it.
const POSITION_BUDGET: u64 = 3_000_000;
/// T-states that it may take for one exchange.
const EXCHANGE_BUDGET: u64 = 20_000;
/// T-states that it may take for an array of EXHAUST, by three times what it takes on average.
const ARRAY_BUDGET: u64 = 5_000;
/// T-states that it may take to make the sections of a space.
const SECTIONS_BUDGET: u64 = 1_000_000;
/// Where XCHNG has just booked points, with the residue in E; an XCHNG that is not ours may lack them.
const BOOKINGS: [&str; 4] = ["XCADD", "XCSUB", "XCADDX", "XCSUBX"];
/// Most frames of a reply to POSITION: 64 squares, 13 a frame, and the last.
const POSITION_FRAMES: u32 = 6;
/// How often a position is asked for when frames of its reply are missing.
const POSITION_ATTEMPTS: u32 = 3;

/// What to prepare.
pub struct Plan {
    /// The board.
    pub profile: Profile,
    /// The device of a real board; the board is simulated without.
    pub port: Option<String>,
    /// What is in the ROM socket of the simulated board, if not the monitor built here.
    pub rom: Option<Vec<u8>>,
    /// The evaluator in the application.
    pub evaluator: Evaluator,
    /// The application to load, if not the one built here: its address and bytes.
    pub application: Option<(u16, Vec<u8>)>,
    /// Whether a monitor of another build will do.
    pub any_monitor: bool,
    /// How fast the simulated board runs.
    pub pace: Pace,
}

/// Why no board is ready.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// The images could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The port could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There was no pseudo-terminal to be had.
    #[error("can't start the simulated board: {0}")]
    Simulator(io::Error),
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

/// What the board says of a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The occupied squares, a1 to h1 first.
    pub squares: Vec<SquareRecord>,
    /// The rest.
    pub end: PositionEnd,
    /// T-states of ATTACK and XCHNG for each square, where the board can count them.
    pub t_states: Option<Vec<u64>>,
}

/// What the board says of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Points that the owner of the square loses.
    pub residue: u8,
    /// Bits of [`firmware::wire::status`].
    pub status: u8,
    /// What XCHNG booked, where the board can be watched.
    pub bookings: Option<Vec<BookedThere>>,
}

/// A booking of points as XCHNG made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookedThere {
    /// What was captured.
    pub stake: u8,
    /// What captured it.
    pub attacker: u8,
    /// What the owner of the square had lost after it; below 0 only when XCHNG is wrong.
    pub residue: i8,
}

/// What the board says of some consecutive arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// What it counted.
    pub tally: Tally,
    /// T-states of XCHNG for each array, where the board can count them.
    pub t_states: Option<Vec<u64>>,
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
    simulator: Option<Simulator>,
}

/// The simulated board, and what its times are measured by.
struct Simulator {
    server: SimServer,
    pin_finder: u16,
    exchange: u16,
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
        let simulator = match &plan.port {
            Some(_) => None,
            None => Some(Simulator::start(plan, &monitor, &application)?),
        };
        let path = match (&plan.port, &simulator) {
            (Some(port), _) => port.clone(),
            (None, Some(simulator)) => simulator.server.path().to_string_lossy().into_owned(),
            (None, None) => String::new(),
        };
        let port = Port::open(&path, profile.uart.baud)?;
        let mut link = Link::new(Box::new(port), profile.uart.baud);
        let running = start_application(plan, &mut link, &monitor, &application)?;
        if let Some(simulator) = &simulator {
            let _ = simulator.server.take_records();
        }
        Ok(Self {
            link,
            clock_hz: profile.clock_hz,
            application: running,
            own: application.own,
            behaviour: encode::behaviour(plan.evaluator.behaviour),
            simulator,
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

    /// What the line is called.
    #[must_use]
    pub fn line(&self) -> &str {
        self.link.name()
    }

    /// Whether the board still answers.
    pub fn answers(&mut self) -> bool {
        loader::identify(&mut self.link).is_ok()
    }

    /// Has the board play out an exchange: residue and status.
    ///
    /// # Errors
    /// The link failed.
    pub fn exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<(u8, u8), LinkError> {
        let request = Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() };
        let work = self.work(EXCHANGE_BUDGET);
        let what = "playing out an exchange";
        match self.link.ask(what, &request, work)? {
            Reply::Residue { residue, status } => Ok((residue, status)),
            other => Err(nonsense(what, &other)),
        }
    }

    /// Has the board play out an exchange and watches it.
    ///
    /// # Errors
    /// The link failed.
    pub fn trace(&mut self, piece: Piece, array: &AttackersArray) -> Result<Traced, LinkError> {
        let passages = |rig: &Self| rig.simulator.as_ref().map(|sim| sim.server.take_passages());
        let _ = passages(self);
        let (residue, status) = self.exchange(piece, array)?;
        let bookings = passages(self).map(|at| at.iter().map(booked).collect());
        Ok(Traced { residue, status, bookings })
    }

    /// Has the board play out the exchanges of consecutive arrays.
    ///
    /// # Errors
    /// The link failed.
    pub fn exhaust(&mut self, request: ExhaustRequest) -> Result<Counted, LinkError> {
        let work = self.work(SECTIONS_BUDGET + u64::from(request.count) * ARRAY_BUDGET);
        let what = "counting through arrays";
        let tally = match self.link.ask(what, &Request::Exhaust(request), work)? {
            Reply::Tally(tally) => tally,
            other => return Err(nonsense(what, &other)),
        };
        let t_states = self.simulator.as_ref().map(|simulator| {
            let calls = simulator.server.take_records();
            let exchanges = calls.iter().filter(|call| call.routine == simulator.exchange);
            exchanges.map(|call| call.t_states).collect()
        });
        // A program that was not built here may have XCHNG elsewhere.
        let t_states = t_states.filter(|times: &Vec<_>| times.len() == usize::from(tally.count));
        Ok(Counted { tally, t_states })
    }

    /// How long the simulated board has been at work since power came on, by its own clock.
    #[must_use]
    pub fn board_time(&self) -> Option<Duration> {
        let clock = self.simulator.as_ref()?.server.clock();
        Some(Duration::from_secs_f64(clock as f64 / self.clock_hz.max(1) as f64))
    }

    /// Has the board examine a position.
    ///
    /// # Errors
    /// The link failed.
    pub fn position(&mut self, position: &Position) -> Result<Observation, LinkError> {
        let request = Request::Position { squares: encode::squares(position) };
        let work = self.work(POSITION_BUDGET);
        for _ in 0..POSITION_ATTEMPTS {
            let ended = |replies: &[Reply]| matches!(replies.last(), Some(Reply::PositionEnd(_)));
            let what = "examining a position";
            let replies = self.link.ask_until(what, &request, work, POSITION_FRAMES, ended)?;
            let times = self.simulator.as_ref().map(Simulator::times);
            if let Some((squares, end)) = assemble(replies) {
                let t_states = times.map(|times| per_square(&squares, &times));
                return Ok(Observation { squares, end, t_states });
            }
        }
        Err(LinkError::Nonsense {
            what: "examining a position",
            why: format!("parts of it were missing {POSITION_ATTEMPTS} times"),
        })
    }

    /// Has the board play out an exchange step by step: XCHNG's residue, the status, and the steps.
    ///
    /// # Errors
    /// The link failed.
    pub fn steps(
        &mut self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> Result<(u8, u8, Vec<StepRecord>), LinkError> {
        let (piece, array) = (encode::piece(piece), array.to_bytes());
        let (what, work) = ("tracing an exchange", self.work(2 * EXCHANGE_BUDGET));
        match self.link.ask(what, &Request::Trace { piece, stake, array }, work)? {
            Reply::Trace { residue, status, steps } => Ok((residue, status, steps)),
            other => Err(nonsense(what, &other)),
        }
    }

    /// Has the board find what the side that has just moved stands to lose and to win.
    ///
    /// # Errors
    /// The link failed.
    pub fn points(
        &mut self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> Result<PointsReply, LinkError> {
        let request = Request::Points {
            squares: encode::squares(position),
            mover: encode::colour(mover),
            moved: moved.map_or(0, encode::square),
        };
        let what = "gathering the highest residues";
        match self.link.ask(what, &request, self.work(POSITION_BUDGET))? {
            Reply::Points(found) => Ok(found),
            other => Err(nonsense(what, &other)),
        }
    }

    fn work(&self, t_states: u64) -> Duration {
        Duration::from_micros(t_states * 1_000_000 / self.clock_hz.max(1))
    }
}

/// The squares and the end, if no part is missing.
fn assemble(replies: Vec<Reply>) -> Option<(Vec<SquareRecord>, PositionEnd)> {
    let mut squares = Vec::new();
    let mut parts = 0;
    for reply in replies {
        match reply {
            Reply::Squares { part, records } if part == parts => {
                squares.extend(records);
                parts += 1;
            }
            Reply::PositionEnd(end) => {
                let complete = end.parts == parts && usize::from(end.squares) == squares.len();
                return complete.then_some((squares, end));
            }
            _ => return None,
        }
    }
    None
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

impl Simulator {
    fn start(
        plan: &Plan,
        monitor: &BuiltImage,
        application: &BuiltImage,
    ) -> Result<Self, RigError> {
        let symbol = |name| application.program.symbol(name).unwrap_or(0);
        let (pin_finder, exchange) = (symbol("PINFND"), symbol("XCHNG"));
        let probe = Probe::new([pin_finder, symbol("ATTACK"), exchange], symbol("M3"));
        let bookings = BOOKINGS.iter().filter_map(|name| application.program.symbol(name));
        let probe = Some(probe.with_places(bookings));
        let options = ServerOptions { pace: plan.pace, probe };
        let rom = plan.rom.as_deref().unwrap_or(&monitor.bytes);
        let server = SimServer::start(board_spec(&plan.profile), rom, options)
            .map_err(RigError::Simulator)?;
        Ok(Self { server, pin_finder, exchange })
    }

    /// The calls since the last time, those within the pin finder left out.
    fn times(&self) -> Vec<CallRecord> {
        let records = self.server.take_records();
        let after = records.iter().rposition(|record| record.routine == self.pin_finder);
        records[after.map_or(0, |index| index + 1)..].to_vec()
    }
}

/// The registers at one of [`BOOKINGS`]: points at stake in B, the attacker in L, the residue in E (xchng.asm).
fn booked(at: &Registers) -> BookedThere {
    let (stake, attacker, residue) = ((at.bc >> 8) as u8, at.hl as u8, at.de as i8);
    BookedThere { stake, attacker, residue }
}

fn per_square(squares: &[SquareRecord], times: &[CallRecord]) -> Vec<u64> {
    let of = |square: u8| times.iter().filter(|r| r.tag == square).map(|r| r.t_states).sum();
    squares.iter().map(|record| of(record.square)).collect()
}

/// The simulated board of a profile.
#[must_use]
pub fn board_spec(profile: &Profile) -> BoardSpec {
    BoardSpec {
        clock_hz: profile.clock_hz,
        uart_clock_hz: profile.uart.clock_hz,
        baud: profile.uart.baud,
        uart: UartModel::Acia,
        memory: MemoryMap::Plain { rom: profile.rom.addresses(), ram: profile.ram.addresses() },
        chip: ChipKind::Eprom,
        writable: false,
        ctc: false,
        dtr_resets: false,
        seed: 1,
        host_obeys_rts: true,
    }
}

fn nonsense(what: &'static str, reply: &Reply) -> LinkError {
    LinkError::Nonsense { what, why: format!("{reply:?}") }
}
