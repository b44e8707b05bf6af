//! A Zed in the test's thread, on a line without real-time waits: time is the board's.

use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use board_simulator::board_spec;
use board_simulator::{BoardModel, BoardSpec, QueueLine, RomChip, RunStop};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;
use firmware_wire::Identity;
use rcflash_link::Link;
use rcflash_transport::Transport;

/// T-states between two polls of the board's output.
const SLICE: u64 = 500;
const BAUD: u32 = 115_200;

pub(crate) fn zed() -> BoardProfile {
    BoardProfile::named("rc2014-zed").expect("it ships")
}

pub(crate) fn spec() -> BoardSpec {
    static SPEC: LazyLock<BoardSpec> = LazyLock::new(|| board_spec(&zed()));
    SPEC.clone()
}

pub(crate) fn image(kind: ProgramKind) -> BuiltImage {
    build(&zed(), kind).unwrap_or_else(|error| panic!("{error}"))
}

/// A chip as it comes from the programmer: with the monitor, blank otherwise.
pub(crate) fn programmed() -> RomChip {
    spec().programmed(&image(ProgramKind::Monitor).bytes)
}

/// The board and its time, shared by line and test.
#[derive(Clone)]
pub(crate) struct BoardNearby(Arc<Mutex<World>>);

pub(crate) struct World {
    pub(crate) board: BoardModel<QueueLine>,
    began: Instant,
    /// T-states for which the host has polled an idle board.
    idle: u64,
    /// Moments at which power is cut, as T-states of the board, the last one first.
    cuts: Vec<u64>,
    /// The content that each cut would leave at the chip's start.
    left: Vec<Vec<u8>>,
}

impl BoardNearby {
    /// Powers a board up with this chip.
    pub(crate) fn new(spec: BoardSpec, chip: RomChip) -> Self {
        let board = BoardModel::with_chip(spec, chip, QueueLine::default());
        let cuts = Vec::new();
        let left = Vec::new();
        Self(Arc::new(Mutex::new(World { board, began: Instant::now(), idle: 0, cuts, left })))
    }

    /// From now on, records the content that power cuts at these T-states, in order, would leave.
    pub(crate) fn note_cuts(&self, mut at: Vec<u64>) {
        at.reverse();
        self.world().cuts = at;
    }

    /// Returns the recorded contents of the chip's start; all after it must be blank.
    pub(crate) fn take_left(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.world().left)
    }

    pub(crate) fn clock(&self) -> u64 {
        self.world().board.clock()
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("not poisoned")
    }

    pub(crate) fn link(&self) -> Link {
        Link::new(Box::new(self.clone()), BAUD)
    }

    /// A link to the board, and the monitor's identity.
    pub(crate) fn monitor(&self) -> (Link, Identity) {
        let mut link = self.link();
        let monitor =
            rcflash_link::loader::enter_monitor(&mut link).unwrap_or_else(|e| panic!("{e}"));
        (link, monitor)
    }

    /// The first `count` bytes of the chip.
    pub(crate) fn cells(&self, count: usize) -> Vec<u8> {
        self.world().board.bus().chip().as_sst().expect("a flash chip").cells()[..count].to_vec()
    }
}

/// Bytes that are examined after a cut.
pub(crate) const START: usize = 0x4000;

impl World {
    fn time(&self) -> u64 {
        self.board.clock() + self.idle
    }

    fn now(&self) -> Instant {
        let clock_hz = u128::from(spec().clock_hz);
        self.began
            + Duration::from_nanos((u128::from(self.time()) * 1_000_000_000 / clock_hz) as u64)
    }

    /// Runs the board until it has sent a byte or this number of T-states has passed.
    fn listen(&mut self, t_states: u64) {
        let end = self.time() + t_states;
        while self.board.line_mut().from_board.is_empty() && self.time() < end {
            let clock = self.board.clock();
            let next = self.cuts.last().map_or(u64::MAX, |cut| cut.saturating_sub(clock));
            if next == 0 {
                self.note_cut();
                continue;
            }
            let slice = SLICE.min(end - self.time()).min(next);
            let is_idle = self.board.run_for(slice) == RunStop::Idle;
            if is_idle && self.board.line_mut().from_board.is_empty() {
                self.idle += end.saturating_sub(self.time());
            }
        }
    }

    fn note_cut(&mut self) {
        self.cuts.pop();
        let chip = self.board.chip_after_power_cut();
        let cells = chip.as_sst().expect("a flash chip").cells();
        assert!(cells[START..].iter().all(|cell| *cell == 0xFF), "the rest is not touched");
        self.left.push(cells[..START].to_vec());
    }
}

impl Transport for BoardNearby {
    fn name(&self) -> &str {
        "a board near by"
    }

    fn now(&self) -> Instant {
        self.world().now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut world = self.world();
        let t_states = timeout.as_nanos() * u128::from(spec().clock_hz) / 1_000_000_000 + 1;
        world.listen(t_states as u64);
        let from_board = &mut world.board.line_mut().from_board;
        let count = from_board.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(from_board.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.world().board.line_mut().to_board.extend(bytes);
        Ok(())
    }
}
