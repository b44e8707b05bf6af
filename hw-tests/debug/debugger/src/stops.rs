//! Breakpoints and watchpoints, with conditions and hit counts.

mod hits;
mod log;

use std::collections::{BTreeMap, HashMap};

use super::expression::{BoundExpression, LogMessage, MachineState};
use super::timeline::{Timeline, Touched};
use board_simulator::{AccessKind, BusAccess};
use hits::HitLog;
use log::Log;
use z80_core::{FLAGS, canonical_register_name, register_value};

pub(super) use hits::Moment;

/// The number of a breakpoint or watchpoint, unique within a session.
pub type StopId = u32;

/// Which hits of a breakpoint halt the board. A hit counts if the condition holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitCondition {
    /// Every hit.
    #[default]
    Every,
    /// This hit, numbered from 1, and all later ones.
    From(u32),
    /// Only this hit.
    Only(u32),
    /// Every hit whose number is a multiple of this.
    EveryNth(u32),
}

impl HitCondition {
    /// Parses `5`, `>= 5`, `== 5` or `% 5`.
    ///
    /// # Errors
    /// Returns a message that shows the forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = text.trim_start_matches(['>', '=', '%']);
        let sign = &text[..text.len() - number.len()];
        match (sign, number.trim().parse()) {
            (">=" | "", Ok(number @ 1..)) => Ok(Self::From(number)),
            ("==", Ok(number @ 1..)) => Ok(Self::Only(number)),
            ("%", Ok(number @ 1..)) => Ok(Self::EveryNth(number)),
            _ => Err(format!("invalid hit count '{text}': expected N, >= N, == N or % N")),
        }
    }

    fn matches(self, hit: u32) -> bool {
        match self {
            Self::Every => true,
            Self::From(first) => hit >= first,
            Self::Only(number) => hit == number,
            Self::EveryNth(step) => hit.is_multiple_of(step.max(1)),
        }
    }
}

/// A breakpoint or a watchpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What is a hit.
    pub kind: StopKind,
    /// The condition for a hit to count; that of a watchpoint is evaluated after the instruction.
    pub condition: Option<BoundExpression>,
    /// Which hits halt the board.
    pub hits: HitCondition,
    /// A message to log at a hit of a breakpoint, instead of a halt.
    pub log: Option<LogMessage>,
    /// Commands to execute after a halt at a hit of a breakpoint, separated by `;`.
    pub commands: Option<String>,
    /// `if X`, `hits N`, `log TEXT` and `do COMMANDS` as the user has written them.
    pub written: String,
}

/// What is a hit of a [`Stop`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// PC is at this address: the board halts before the instruction.
    Breakpoint(u16),
    /// The last instruction has accessed this.
    Watchpoint(Watchpoint),
}

impl StopKind {
    /// The address of a breakpoint.
    pub(super) fn address(self) -> Option<u16> {
        if let Self::Breakpoint(address) = self { Some(address) } else { None }
    }
}

impl Stop {
    /// Creates a breakpoint or watchpoint that halts the board at every hit.
    pub fn new(kind: StopKind) -> Self {
        let (hits, written) = (HitCondition::Every, String::new());
        Self { kind, condition: None, hits, log: None, commands: None, written }
    }

    /// Creates a breakpoint that halts the board at every hit.
    pub fn at(address: u16) -> Self {
        Self::new(StopKind::Breakpoint(address))
    }

    fn condition_holds(&self, state: &dyn MachineState) -> bool {
        self.condition.as_ref().is_none_or(|condition| condition.value(state) != 0)
    }

    /// Returns `true` for a breakpoint at PC whose condition holds.
    fn is_reached(&self, pc: u16, state: &dyn MachineState) -> bool {
        self.kind == StopKind::Breakpoint(pc) && self.condition_holds(state)
    }

    /// Returns what the last step, whose bus cycles were recorded, has done to a watchpoint whose
    /// condition holds.
    fn trigger(&self, timeline: &Timeline) -> Option<WatchTrigger> {
        let StopKind::Watchpoint(watch) = &self.kind else { return None };
        watch.trigger(timeline).filter(|_| self.condition_holds(timeline))
    }
}

/// What a watchpoint watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchTarget {
    /// Memory.
    Memory,
    /// Ports, by the low byte of their address.
    Ports,
    /// A register or a flag, by its canonical name.
    Register(&'static str),
}

/// A watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchpoint {
    /// What is watched.
    pub target: WatchTarget,
    /// The first address or port.
    pub first: u16,
    /// The number of bytes or ports, at least 1.
    pub count: u16,
    /// Whether reads halt the board; reads of a register can't be observed.
    pub reads: bool,
    /// Whether writes halt the board; for a register, changes of its value.
    pub writes: bool,
}

impl Watchpoint {
    /// Creates a watchpoint for changes of a register or a flag; `None` if the name is unknown.
    pub fn register(name: &str) -> Option<Self> {
        let flag = FLAGS.iter().map(|(flag, _)| *flag).find(|flag| flag.eq_ignore_ascii_case(name));
        let what = WatchTarget::Register(flag.or_else(|| canonical_register_name(name))?);
        Some(Self { target: what, first: 0, count: 1, reads: false, writes: true })
    }

    fn trigger(&self, timeline: &Timeline) -> Option<WatchTrigger> {
        let WatchTarget::Register(name) = self.target else {
            let accesses = timeline.accesses();
            let access = accesses.iter().find(|access| self.matches(access))?;
            return Some(WatchTrigger::Access(*access));
        };
        let before = register_value(&timeline.before.registers, name)?;
        let after = register_value(&timeline.registers(), name)?;
        (before != after).then_some(WatchTrigger::Register { name, before, after })
    }

    fn matches(&self, access: &BusAccess) -> bool {
        let is_write = matches!(access.kind, AccessKind::Write | AccessKind::Out);
        let (target, address) = match access.kind {
            AccessKind::Read | AccessKind::Write => (WatchTarget::Memory, access.address),
            // Devices decode only the low byte of a port address.
            AccessKind::In | AccessKind::Out => (WatchTarget::Ports, access.address & 0xFF),
        };
        let is_wanted = if is_write { self.writes } else { self.reads };
        target == self.target && is_wanted && address.wrapping_sub(self.first) < self.count
    }
}

/// A hit of a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchHit {
    /// The watchpoint; 0 for a temporary one.
    pub id: StopId,
    /// The access or change that was the hit.
    pub trigger: WatchTrigger,
}

/// The cause of a watchpoint hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchTrigger {
    /// A bus cycle.
    Access(BusAccess),
    /// The value of a register changed.
    Register {
        /// The canonical name.
        name: &'static str,
        /// The value before the instruction.
        before: u16,
        /// The value after the instruction.
        after: u16,
    },
}

/// Breakpoints and watchpoints without their hits: what a search in the past looks for.
#[derive(Debug, Clone, Default)]
pub(super) struct StopSet(BTreeMap<StopId, Stop>);

/// All breakpoints and watchpoints of a session, and the expressions shown at each halt.
#[derive(Debug, Default)]
pub struct StopPoints {
    pub(super) set: StopSet,
    hits: HashMap<StopId, HitLog>,
    /// The breakpoints that halted the board, if one did.
    halting: Vec<StopId>,
    /// Whether the commands of `halting` have yet to be executed; the board has not moved since.
    pub(super) has_postponed: bool,
    displays: BTreeMap<u32, String>,
    next: u32,
    /// What breakpoints have logged.
    pub(super) log: Log,
}

impl StopPoints {
    /// Adds a breakpoint or watchpoint.
    pub fn add(&mut self, stop: Stop) -> StopId {
        self.next += 1;
        self.set.0.insert(self.next, stop);
        self.next
    }

    /// Removes a breakpoint, a watchpoint or an expression shown at each halt; returns `false` if
    /// there is none with this number.
    pub fn remove(&mut self, id: u32) -> bool {
        self.hits.remove(&id);
        self.set.0.remove(&id).is_some() || self.displays.remove(&id).is_some()
    }

    pub(super) fn get(&self, id: StopId) -> Option<&Stop> {
        self.set.0.get(&id)
    }

    /// Replaces a breakpoint or watchpoint, and forgets its hits.
    pub(super) fn replace(&mut self, id: StopId, stop: Stop) {
        self.hits.remove(&id);
        self.set.0.insert(id, stop);
    }

    /// Removes all breakpoints, watchpoints and displayed expressions.
    pub fn clear(&mut self) {
        self.set = StopSet::default();
        self.displays.clear();
    }

    /// Returns `true` if there is a breakpoint at an address.
    pub fn has_breakpoint(&self, address: u16) -> bool {
        self.addresses().any(|breakpoint| breakpoint == address)
    }

    /// The breakpoints and watchpoints, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (StopId, &Stop)> {
        self.set.0.iter().map(|(id, stop)| (*id, stop))
    }

    /// The addresses of the breakpoints.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u16> {
        self.set.0.values().filter_map(|stop| stop.kind.address())
    }

    /// Adds an expression to be shown at each halt; returns its number.
    pub(super) fn add_display(&mut self, expression: &str) -> u32 {
        self.next += 1;
        self.displays.insert(self.next, expression.to_owned());
        self.next
    }

    /// The expressions shown at each halt.
    pub(super) fn displays(&self) -> impl Iterator<Item = (u32, &str)> {
        self.displays.iter().map(|(id, text)| (*id, text.as_str()))
    }

    /// The breakpoints that halted the board when it last halted at one.
    pub(super) fn halting(&self) -> impl Iterator<Item = (StopId, &Stop)> {
        self.halting.iter().filter_map(|id| Some((*id, self.set.0.get(id)?)))
    }

    /// Records that a search ended at these breakpoints.
    pub(super) fn set_halting(&mut self, halting: Vec<StopId>) {
        self.halting = halting;
        self.has_postponed = false;
    }

    /// Forgets all hits: the board is where it began.
    pub(super) fn restart(&mut self) {
        self.set_halting(Vec::new());
        self.hits.clear();
    }

    /// The hits of a breakpoint or watchpoint up to a moment: those observed since it was set or
    /// the board was restarted.
    pub(super) fn hit_count(&self, id: StopId, moment: Moment) -> u32 {
        self.hits.get(&id).map_or(0, |hits| hits.count(moment))
    }

    /// Forgets the hits after a step, which is followed by another future now.
    pub(super) fn forget_hits_after(&mut self, step: u64) {
        self.hits.values_mut().for_each(|hits| hits.forget_after(step));
    }

    /// Counts a hit of each breakpoint at PC, and logs their messages; returns `true` if one of
    /// them halts the board.
    pub(super) fn record_arrival(&mut self, moment: Moment, state: &dyn MachineState) -> bool {
        self.halting.clear();
        let pc = state.registers().pc;
        for (id, stop) in self.set.0.iter().filter(|(_, stop)| stop.is_reached(pc, state)) {
            let is_hit = stop.hits.matches(self.hits.entry(*id).or_default().record(moment));
            match &stop.log {
                Some(message) if is_hit => self.log.push(message.format(state)),
                None if is_hit => self.halting.push(*id),
                _ => {}
            }
        }
        !self.halting.is_empty()
    }

    /// Counts the hits of the watchpoints that the last step accessed; returns the first that halts
    /// the board.
    pub(super) fn record_watch_hit(&mut self, timeline: &Timeline) -> Option<WatchHit> {
        let moment = Moment::Step(timeline.step_count());
        let mut halting = None;
        for (id, stop) in &self.set.0 {
            let Some(trigger) = stop.trigger(timeline) else { continue };
            let halts = stop.hits.matches(self.hits.entry(*id).or_default().record(moment));
            halting = halting.or(halts.then_some(WatchHit { id: *id, trigger }));
        }
        halting
    }
}

impl StopSet {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_watchpoints(&self) -> bool {
        self.0.values().any(|stop| matches!(stop.kind, StopKind::Watchpoint(_)))
    }

    /// Returns `true` if steps that have touched these addresses may have hit one.
    pub(super) fn may_be_hit_by(&self, touched: &Touched) -> bool {
        self.0.values().any(|stop| match stop.kind {
            StopKind::Breakpoint(address) => touched.executed.contains(address),
            StopKind::Watchpoint(watch) => {
                let mut addresses = (0..watch.count).map(|at| watch.first.wrapping_add(at));
                watch.reads
                    || watch.target != WatchTarget::Memory
                    || addresses.any(|address| touched.written.contains(address))
            }
        })
    }

    /// The breakpoints at PC that halt a search and whose condition holds. Hits are not counted:
    /// in the past, the number of a hit that was not observed is unknown.
    pub(super) fn reached(&self, state: &dyn MachineState) -> impl Iterator<Item = StopId> {
        let pc = state.registers().pc;
        let is_reached = move |stop: &Stop| stop.log.is_none() && stop.is_reached(pc, state);
        self.0.iter().filter(move |(_, stop)| is_reached(stop)).map(|(id, _)| *id)
    }

    /// The first watchpoint that the last step accessed and whose condition holds, whatever its
    /// hits.
    pub(super) fn watch_hit(&self, timeline: &Timeline) -> Option<WatchHit> {
        let hit = |(id, stop): (&StopId, &Stop)| {
            Some(WatchHit { id: *id, trigger: stop.trigger(timeline)? })
        };
        self.0.iter().find_map(hit)
    }
}
