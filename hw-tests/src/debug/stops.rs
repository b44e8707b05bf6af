//! Where a debugger stops: breakpoints with conditions, and watchpoints on memory and ports.

use std::collections::BTreeMap;

use super::condition::Condition;
use crate::sim::{Access, AccessKind, Registers};

/// Numbers a breakpoint.
pub type BreakId = u32;
/// Numbers a watchpoint.
pub type WatchId = u32;

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// Memory, or a port.
    pub is_port: bool,
    /// First address, or the port's low byte.
    pub first: u16,
    /// Bytes or ports, at least 1.
    pub count: u16,
    /// Whether reading counts.
    pub reads: bool,
    /// Whether writing counts.
    pub writes: bool,
}

impl Watch {
    fn matches(&self, access: &Access) -> bool {
        let (is_port, writes) = match access.kind {
            AccessKind::Read => (false, false),
            AccessKind::Write => (false, true),
            AccessKind::In => (true, false),
            AccessKind::Out => (true, true),
        };
        // What answers at a port is told by the low byte; the high one is whatever was on the bus.
        let address = if is_port { access.address & 0xFF } else { access.address };
        let wanted = if writes { self.writes } else { self.reads };
        is_port == self.is_port && wanted && address.wrapping_sub(self.first) < self.count
    }
}

/// All breakpoints and watchpoints of a session.
#[derive(Debug, Clone, Default)]
pub struct Stops {
    breaks: BTreeMap<BreakId, (u16, Option<Condition>)>,
    watches: BTreeMap<WatchId, Watch>,
    next: u32,
}

impl Stops {
    /// Stops before the instruction at an address, if the condition holds.
    pub fn add_break(&mut self, address: u16, condition: Option<Condition>) -> BreakId {
        self.next += 1;
        self.breaks.insert(self.next, (address, condition));
        self.next
    }

    /// Forgets a breakpoint.
    pub fn remove_break(&mut self, id: BreakId) {
        self.breaks.remove(&id);
    }

    /// Forgets the breakpoints of an address.
    pub fn remove_breaks_at(&mut self, address: u16) {
        self.breaks.retain(|_, (at, _)| *at != address);
    }

    /// Whether there is a breakpoint at an address.
    #[must_use]
    pub fn has_break(&self, address: u16) -> bool {
        self.breaks.values().any(|(at, _)| *at == address)
    }

    /// Stops after the instruction that touches something.
    pub fn add_watch(&mut self, watch: Watch) -> WatchId {
        self.next += 1;
        self.watches.insert(self.next, watch);
        self.next
    }

    /// Forgets a watchpoint.
    pub fn remove_watch(&mut self, id: WatchId) {
        self.watches.remove(&id);
    }

    /// Forgets all watchpoints on the same thing.
    pub fn remove_watches_like(&mut self, watch: &Watch) {
        self.watches.retain(|_, one| one != watch);
    }

    /// Whether to stop before the instruction at PC.
    pub(super) fn breaks(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> bool {
        self.breaks.values().any(|(at, condition)| {
            *at == registers.pc
                && condition.as_ref().is_none_or(|one| one.value(registers, read) != 0)
        })
    }

    /// The first access that is watched.
    pub(super) fn touched(&self, seen: &[Access]) -> Option<(WatchId, Access)> {
        if self.watches.is_empty() {
            return None;
        }
        seen.iter().find_map(|access| {
            let watch = self.watches.iter().find(|(_, watch)| watch.matches(access));
            watch.map(|(id, _)| (*id, *access))
        })
    }
}
