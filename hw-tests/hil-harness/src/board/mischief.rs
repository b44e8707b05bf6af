//! Which faults a line makes, and when: a seed decides.

use std::fmt;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// Faults between host and board, and on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A character is lost.
    Drop,
    /// A bit of a character is changed.
    Flip,
    /// A character comes twice.
    Duplicate,
    /// The bytes under way come late.
    Delay,
    /// Characters come that nobody sent.
    Insert,
    /// Characters in a row are lost, as by a receiver that nobody emptied.
    Overrun,
    /// The line to the board is held low.
    Break,
    /// The device is gone, and comes back when it is opened again.
    Disconnect,
    /// Somebody presses the reset button.
    Reset,
    /// The board hears nothing and says nothing until it is reset.
    Stuck,
    /// Another application runs on the board: it says other residues, and tells another build.
    WrongFirmware,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Drop,
        Self::Flip,
        Self::Duplicate,
        Self::Delay,
        Self::Insert,
        Self::Overrun,
        Self::Break,
        Self::Disconnect,
        Self::Reset,
        Self::Stuck,
        Self::WrongFirmware,
    ];
    /// The number of them that only spoil characters.
    const LIGHT: usize = 7;

    /// Whether the board must be got back after it.
    pub(super) fn is_heavy(self) -> bool {
        self as usize >= Self::LIGHT
    }

    /// Returns its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Flip => "flip",
            Self::Duplicate => "duplicate",
            Self::Delay => "delay",
            Self::Insert => "insert",
            Self::Overrun => "overrun",
            Self::Break => "break",
            Self::Disconnect => "disconnect",
            Self::Reset => "reset",
            Self::Stuck => "stuck",
            Self::WrongFirmware => "wrong firmware",
        }
    }
}

/// The number of times each fault was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// The seed that chose them.
    pub seed: u64,
    counts: [u64; Fault::ALL.len()],
}

impl FaultCounts {
    /// Returns the count of this one.
    #[must_use]
    pub fn of(&self, fault: Fault) -> u64 {
        self.counts[fault as usize]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |fault: Fault| format!("{} {}", self.of(fault), fault.word());
        let all = Fault::ALL.map(one).join(", ");
        write!(f, "{} made by seed {}: {all}", self.total(), self.seed)
    }
}

/// When faults happen, counted in requests sent.
pub(super) struct Mischief {
    random: ChaCha8Rng,
    pub(super) counts: FaultCounts,
    state: State,
}

/// The state of the board, and what may happen to it now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing: it has not been ready yet.
    Untouched,
    /// Anything.
    Ready,
    /// It is being got back: characters may be spoilt, but seldom.
    BeingRecovered,
}

/// Of so many requests one is disturbed, while cases run and while the board is got back.
const RUNNING: u64 = 3;
const RECOVERING: u64 = 20;
/// Of so many faults while cases run one is such that the board must be got back.
const HEAVY: u64 = 16;

impl Mischief {
    pub(super) fn new(seed: u64) -> Self {
        let counts = FaultCounts { seed, ..FaultCounts::default() };
        Self { random: ChaCha8Rng::seed_from_u64(seed), counts, state: State::Untouched }
    }

    /// Whether and by what the next request is disturbed.
    pub(super) fn draw(&mut self, has_button: bool) -> Option<Fault> {
        let one_of = match self.state {
            State::Untouched => return None,
            State::Ready => RUNNING,
            State::BeingRecovered => RECOVERING,
        };
        if self.below(one_of) != 0 {
            return None;
        }
        let is_heavy = self.state == State::Ready && self.below(HEAVY) == 0;
        let kinds = if is_heavy { Fault::LIGHT..Fault::ALL.len() } else { 0..Fault::LIGHT };
        let fault = Fault::ALL[kinds.start + self.below(kinds.len() as u64) as usize];
        let needs_button = matches!(fault, Fault::Reset | Fault::Stuck);
        let fault = if needs_button && !has_button { Fault::Disconnect } else { fault };
        self.counts.counts[fault as usize] += 1;
        Some(fault)
    }

    /// A number from 0 to `limit` - 1.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }

    /// The board is ready to be questioned.
    pub(super) fn note_ready(&mut self) {
        self.state = State::Ready;
    }

    /// The board must be got back.
    pub(super) fn note_lost(&mut self) {
        self.state = State::BeingRecovered;
    }
}
