//! Stops of a debugger: breakpoints with conditions and counts, and watchpoints on
//! memory, ports and registers.

use std::collections::BTreeMap;

use super::condition::Condition;
use super::names::{register, spelled};
use board_simulator::{Access, AccessKind, Registers};

/// Numbers a breakpoint.
pub type BreakId = u32;
/// Numbers a watchpoint.
pub type WatchId = u32;

/// Which passages of a breakpoint count, of those for which its condition holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hits {
    /// Each one.
    #[default]
    Every,
    /// From this one on.
    From(u32),
    /// This one alone.
    Only(u32),
    /// Each one whose number this divides.
    EveryNth(u32),
}

impl Hits {
    /// Reads `5` or `>= 5`, `== 5`, `% 5`.
    ///
    /// # Errors
    /// A message that shows the forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (kind, number): (fn(u32) -> Self, &str) = match text {
            _ if text.starts_with(">=") => (Self::From, &text[2..]),
            _ if text.starts_with("==") => (Self::Only, &text[2..]),
            _ if text.starts_with('%') => (Self::EveryNth, &text[1..]),
            _ => (Self::From, text),
        };
        let number = number.trim().parse().ok().filter(|number| *number > 0);
        number
            .map(kind)
            .ok_or_else(|| format!("'{text}' is no hit count; it is like 5, >= 5, == 5 or % 5"))
    }

    fn counts(self, passage: u32) -> bool {
        match self {
            Self::Every => true,
            Self::From(first) => passage >= first,
            Self::Only(one) => passage == one,
            Self::EveryNth(step) => passage.is_multiple_of(step.max(1)),
        }
    }
}

/// A breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The instruction before which the board stops.
    pub address: u16,
    /// The condition for the passage to count.
    pub condition: Option<Condition>,
    /// Which passages count.
    pub hits: Hits,
    /// The number of its passages with the condition holding, since it was set or the board
    /// was restarted.
    pub passages: u32,
}

impl Break {
    /// A breakpoint for each passage of an address.
    #[must_use]
    pub fn at(address: u16) -> Self {
        Self { address, condition: None, hits: Hits::Every, passages: 0 }
    }

    fn holds(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> bool {
        let condition = self.condition.as_ref();
        self.address == registers.pc && condition.is_none_or(|one| one.value(registers, read) != 0)
    }
}

/// The address that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// Memory.
    Memory,
    /// Ports, told apart by the low byte of their address.
    Ports,
    /// A register, by the name that [`register`] takes.
    Register(&'static str),
}

/// A watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// Which kind of thing is watched.
    pub what: Watched,
    /// First address or port.
    pub first: u16,
    /// Bytes or ports, at least 1.
    pub count: u16,
    /// Whether reading counts; a register's is not seen.
    pub reads: bool,
    /// Whether writing counts; of a register, another value.
    pub writes: bool,
}

impl Watch {
    /// A watchpoint for writes to memory.
    #[must_use]
    pub fn writes(first: u16, count: u16) -> Self {
        Self { what: Watched::Memory, first, count, reads: false, writes: true }
    }

    /// A watchpoint for another value of a register; `None` if there is none of that name.
    #[must_use]
    pub fn register(name: &str) -> Option<Self> {
        let what = Watched::Register(spelled(name)?);
        Some(Self { what, first: 0, count: 1, reads: false, writes: true })
    }

    fn matches(&self, access: &Access) -> bool {
        let (kind, writes) = match access.kind {
            AccessKind::Read => (Watched::Memory, false),
            AccessKind::Write => (Watched::Memory, true),
            AccessKind::In => (Watched::Ports, false),
            AccessKind::Out => (Watched::Ports, true),
        };
        // What answers at a port is told by the low byte; the high one is whatever was on the bus.
        let is_port = kind == Watched::Ports;
        let address = if is_port { access.address & 0xFF } else { access.address };
        let wanted = if writes { self.writes } else { self.reads };
        kind == self.what && wanted && address.wrapping_sub(self.first) < self.count
    }
}

/// The access that touched a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchHit {
    /// The watchpoint; 0 for none that was set.
    pub id: WatchId,
    /// The event.
    pub event: WatchEvent,
}

/// The access to something that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEvent {
    /// A bus cycle.
    Access(Access),
    /// A register has another value.
    Register {
        /// Its name.
        name: &'static str,
        /// Its value before the instruction.
        before: u16,
        /// Its value after the instruction.
        after: u16,
    },
}

/// The accesses of an instruction, for watchpoints.
pub(super) struct Seen<'a> {
    pub(super) accesses: &'a [Access],
    pub(super) before: &'a Registers,
    pub(super) after: &'a Registers,
}

/// All breakpoints and watchpoints of a session.
#[derive(Debug, Clone, Default)]
pub struct Stops {
    breaks: BTreeMap<BreakId, Break>,
    watches: BTreeMap<WatchId, Watch>,
    next: u32,
}

impl Stops {
    /// Stops before the instruction at an address, if the condition holds and the passage counts.
    pub fn add_break(&mut self, one: Break) -> BreakId {
        self.next += 1;
        self.breaks.insert(self.next, one);
        self.next
    }

    /// Forgets a breakpoint; returns whether there was one.
    pub fn remove_break(&mut self, id: BreakId) -> bool {
        self.breaks.remove(&id).is_some()
    }

    /// Forgets the breakpoints of an address.
    pub fn remove_breaks_at(&mut self, address: u16) {
        self.breaks.retain(|_, one| one.address != address);
    }

    /// Whether there is a breakpoint at an address.
    #[must_use]
    pub fn has_break(&self, address: u16) -> bool {
        self.breaks.values().any(|one| one.address == address)
    }

    /// The breakpoints, in the order in which they were set.
    pub fn breaks(&self) -> impl Iterator<Item = (BreakId, &Break)> {
        self.breaks.iter().map(|(id, one)| (*id, one))
    }

    /// Stops after the instruction that touches something.
    pub fn add_watch(&mut self, watch: Watch) -> WatchId {
        self.next += 1;
        self.watches.insert(self.next, watch);
        self.next
    }

    /// Forgets a watchpoint; returns whether there was one.
    pub fn remove_watch(&mut self, id: WatchId) -> bool {
        self.watches.remove(&id).is_some()
    }

    /// Forgets all watchpoints on the same thing.
    pub fn remove_watches_like(&mut self, watch: &Watch) {
        self.watches.retain(|_, one| one != watch);
    }

    /// The watchpoints, in the order in which they were set.
    pub fn watches(&self) -> impl Iterator<Item = (WatchId, &Watch)> {
        self.watches.iter().map(|(id, one)| (*id, one))
    }

    /// Forgets all breakpoints and watchpoints.
    pub fn clear(&mut self) {
        self.breaks.clear();
        self.watches.clear();
    }

    /// Begins to count passages anew.
    pub(super) fn forget_hits(&mut self) {
        for one in self.breaks.values_mut() {
            one.passages = 0;
        }
    }

    /// Counts the arrival at the instruction at PC; returns whether to stop before it.
    pub(super) fn arrives(&mut self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> bool {
        let mut stops = false;
        for one in self.breaks.values_mut().filter(|one| one.holds(registers, read)) {
            one.passages = one.passages.saturating_add(1);
            stops |= one.hits.counts(one.passages);
        }
        stops
    }

    /// Whether a breakpoint's condition holds at PC. Its passages are not counted: the number of
    /// one that lies in the past is not known.
    pub(super) fn holds(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> bool {
        self.breaks.values().any(|one| one.holds(registers, read))
    }

    /// The first thing that is watched and was touched.
    pub(super) fn touched(&self, seen: &Seen<'_>) -> Option<WatchHit> {
        self.watches.iter().find_map(|(id, watch)| {
            let event = match watch.what {
                Watched::Register(name) => changed(name, seen)?,
                _ => {
                    let access = seen.accesses.iter().find(|access| watch.matches(access))?;
                    WatchEvent::Access(*access)
                }
            };
            Some(WatchHit { id: *id, event })
        })
    }
}

fn changed(name: &'static str, seen: &Seen<'_>) -> Option<WatchEvent> {
    let before = register(seen.before, name)?;
    let after = register(seen.after, name)?;
    (before != after).then_some(WatchEvent::Register { name, before, after })
}
