//! Breakpoints with conditions and hit counts, and watchpoints on memory, ports and registers.

mod hits;
mod log;

use std::cell::Ref;
use std::collections::{BTreeMap, HashMap};

use super::expression::{BoundExpression, LogMessage};
use super::timeline::Timeline;
use board_simulator::{AccessKind, BusAccess, Registers};
use hits::HitLog;
use log::Log;
use z80_core::{FLAGS, canonical_register_name, register_value};

pub(super) use hits::Moment;

/// The number of a breakpoint, unique within a session.
pub type BreakpointId = u32;
/// The number of a watchpoint, unique within a session.
pub type WatchpointId = u32;

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
        let signed = text.strip_prefix(">=").map(|number| (number, Self::From as fn(u32) -> Self));
        let signed = signed.or_else(|| Some((text.strip_prefix("==")?, Self::Only)));
        let signed = signed.or_else(|| Some((text.strip_prefix('%')?, Self::EveryNth)));
        let (number, kind) = signed.unwrap_or((text, Self::From));
        let number = number.trim().parse().ok().filter(|number| *number > 0);
        number
            .map(kind)
            .ok_or_else(|| format!("invalid hit count '{text}': expected N, >= N, == N or % N"))
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

/// A breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// The address before whose instruction the board halts.
    pub address: u16,
    /// The condition for a hit to count.
    pub condition: Option<BoundExpression>,
    /// Which hits halt the board.
    pub hits: HitCondition,
    /// A message to log at a hit, instead of a halt.
    pub log: Option<LogMessage>,
    /// Commands to execute after a halt at a hit, separated by `;`.
    pub commands: Option<String>,
}

impl Breakpoint {
    /// Creates a breakpoint that halts at every hit.
    pub fn at(address: u16) -> Self {
        Self { address, condition: None, hits: HitCondition::Every, log: None, commands: None }
    }

    fn holds(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> bool {
        let condition = self.condition.as_ref();
        self.address == registers.pc
            && condition.is_none_or(|condition| condition.value(registers, read) != 0)
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
    /// Creates a watchpoint for writes to memory.
    pub fn writes(first: u16, count: u16) -> Self {
        Self { target: WatchTarget::Memory, first, count, reads: false, writes: true }
    }

    /// Creates a watchpoint for changes of a register or a flag; `None` if the name is unknown.
    pub fn register(name: &str) -> Option<Self> {
        let flags = FLAGS.iter().map(|(flag, _)| *flag);
        let flag = flags.into_iter().find(|flag| flag.eq_ignore_ascii_case(name));
        let what = WatchTarget::Register(flag.or_else(|| canonical_register_name(name))?);
        Some(Self { target: what, first: 0, count: 1, reads: false, writes: true })
    }

    fn matches(&self, access: &BusAccess) -> bool {
        let (kind, writes) = match access.kind {
            AccessKind::Read => (WatchTarget::Memory, false),
            AccessKind::Write => (WatchTarget::Memory, true),
            AccessKind::In => (WatchTarget::Ports, false),
            AccessKind::Out => (WatchTarget::Ports, true),
        };
        // Devices decode only the low byte of a port address.
        let is_port = kind == WatchTarget::Ports;
        let address = if is_port { access.address & 0xFF } else { access.address };
        let wanted = if writes { self.writes } else { self.reads };
        kind == self.target && wanted && address.wrapping_sub(self.first) < self.count
    }
}

/// A hit of a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchHit {
    /// The watchpoint; 0 for a temporary one.
    pub id: WatchpointId,
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

/// The bus cycles of one instruction and the registers before and after it, for watchpoints.
pub(super) struct StepTrace<'a> {
    pub(super) accesses: Ref<'a, Vec<BusAccess>>,
    pub(super) before: Registers,
    pub(super) after: Registers,
}

impl<'a> StepTrace<'a> {
    /// The last step of a timeline, which recorded its bus cycles.
    pub(super) fn of(timeline: &'a Timeline) -> Self {
        let before = timeline.before().registers;
        Self { accesses: timeline.accesses(), before, after: timeline.registers() }
    }
}

/// A watchpoint with the condition for a hit to count, and the hits that halt the board.
#[derive(Debug, Clone)]
struct WatchEntry {
    watch: Watchpoint,
    condition: Option<BoundExpression>,
    hits: HitCondition,
}

/// Breakpoints and watchpoints without their hits: what a search in the past looks for.
#[derive(Debug, Clone, Default)]
pub(super) struct StopSet {
    breaks: BTreeMap<BreakpointId, Breakpoint>,
    watches: BTreeMap<WatchpointId, WatchEntry>,
}

/// All breakpoints and watchpoints of a session, and the expressions shown at each halt.
#[derive(Debug, Default)]
pub struct StopPoints {
    set: StopSet,
    hits: HashMap<u32, HitLog>,
    /// The breakpoints that halted the board, if one did.
    halting: Vec<BreakpointId>,
    /// Whether the commands of `halting` have yet to be executed.
    has_postponed: bool,
    displays: BTreeMap<u32, String>,
    /// `if X`, `hits N`, `log TEXT` and `do COMMANDS` of each `break` and `watch` command,
    /// verbatim, for saved sessions.
    command_suffixes: BTreeMap<u32, String>,
    next: u32,
    log: Log,
}

impl StopPoints {
    /// Adds a breakpoint.
    pub fn add_breakpoint(&mut self, breakpoint: Breakpoint) -> BreakpointId {
        self.next += 1;
        self.set.breaks.insert(self.next, breakpoint);
        self.next
    }

    /// Removes a breakpoint, a watchpoint or an expression shown at each halt; returns `false` if
    /// there is none with this number.
    pub fn remove(&mut self, id: u32) -> bool {
        self.hits.remove(&id);
        self.command_suffixes.remove(&id);
        self.set.breaks.remove(&id).is_some()
            || self.set.watches.remove(&id).is_some()
            || self.displays.remove(&id).is_some()
    }

    /// Removes the breakpoints at an address.
    pub fn remove_breakpoints_at(&mut self, address: u16) {
        self.set.breaks.retain(|_, breakpoint| breakpoint.address != address);
    }

    /// Returns `true` if there is a breakpoint at an address.
    pub fn has_breakpoint(&self, address: u16) -> bool {
        self.set.breaks.values().any(|breakpoint| breakpoint.address == address)
    }

    /// The breakpoints, in the order in which they were set.
    pub fn breakpoints(&self) -> impl Iterator<Item = (BreakpointId, &Breakpoint)> {
        self.set.breaks.iter().map(|(id, breakpoint)| (*id, breakpoint))
    }

    /// Adds a watchpoint.
    pub fn add_watchpoint(&mut self, watch: Watchpoint) -> WatchpointId {
        self.add_watchpoint_if(watch, None, HitCondition::Every)
    }

    /// Adds a watchpoint with a condition, evaluated after the instruction, and a hit count.
    pub fn add_watchpoint_if(
        &mut self,
        watch: Watchpoint,
        condition: Option<BoundExpression>,
        hits: HitCondition,
    ) -> WatchpointId {
        self.next += 1;
        self.set.watches.insert(self.next, WatchEntry { watch, condition, hits });
        self.next
    }

    /// Stores the text after the location in the command that set a breakpoint or watchpoint.
    pub(super) fn set_command_suffix(&mut self, id: u32, suffix: &str) {
        self.command_suffixes.insert(id, suffix.trim().to_owned());
    }

    /// Returns the text after the location with a space before it, or an empty string.
    pub(super) fn command_suffix(&self, id: u32) -> String {
        let suffix = self.command_suffixes.get(&id).filter(|suffix| !suffix.is_empty());
        suffix.map(|suffix| format!(" {suffix}")).unwrap_or_default()
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

    /// The breakpoints and watchpoints, to be copied for a search.
    pub(super) fn set(&self) -> &StopSet {
        &self.set
    }

    /// Returns the messages logged since the last call.
    pub(super) fn take_log(&mut self) -> Vec<String> {
        self.log.take()
    }

    pub(super) fn log(&mut self, line: String) {
        self.log.push(line);
    }

    /// The breakpoints that halted the board when it last halted at one.
    pub(super) fn halting(&self) -> impl Iterator<Item = (BreakpointId, &Breakpoint)> {
        self.halting.iter().filter_map(|id| Some((*id, self.set.breaks.get(id)?)))
    }

    /// Records that a search ended at these breakpoints.
    pub(super) fn set_halting(&mut self, halting: Vec<BreakpointId>) {
        self.halting = halting;
        self.has_postponed = false;
    }

    /// Records that the commands of the breakpoints that halted the board are executed later.
    pub(super) fn postpone_commands(&mut self) {
        self.has_postponed = true;
    }

    /// Returns `true` if commands were postponed, and the board has not moved since.
    pub(super) fn take_postponed(&mut self) -> bool {
        std::mem::take(&mut self.has_postponed)
    }

    /// The hits of a breakpoint or watchpoint up to a moment: those observed since it was set or
    /// the board was restarted.
    pub(super) fn hit_count(&self, id: u32, moment: Moment) -> u32 {
        self.hits.get(&id).map_or(0, |hits| hits.count(moment))
    }

    /// Forgets the hits after a step, which is followed by another future now.
    pub(super) fn forget_hits_after(&mut self, step: u64) {
        self.hits.values_mut().for_each(|hits| hits.forget_after(step));
    }

    /// The watchpoints, in the order in which they were set.
    pub fn watchpoints(&self) -> impl Iterator<Item = (WatchpointId, &Watchpoint)> {
        self.set.watches.iter().map(|(id, entry)| (*id, &entry.watch))
    }

    /// Removes all breakpoints, watchpoints and displayed expressions.
    pub fn clear(&mut self) {
        self.set = StopSet::default();
        self.displays.clear();
    }

    /// Resets all hit counts to 0.
    pub(super) fn reset_hit_counts(&mut self) {
        self.hits.clear();
    }

    /// Counts a hit of each breakpoint at PC, and logs their messages; returns `true` if one of
    /// them halts the board.
    pub(super) fn record_arrival(
        &mut self,
        moment: Moment,
        registers: &Registers,
        read: &dyn Fn(u16) -> u8,
    ) -> bool {
        self.halting.clear();
        for (id, breakpoint) in &self.set.breaks {
            if !breakpoint.holds(registers, read) {
                continue;
            }
            let hit = self.hits.entry(*id).or_default().record(moment);
            let is_hit = breakpoint.hits.matches(hit);
            match &breakpoint.log {
                Some(message) if is_hit => self.log.push(message.format(registers, read)),
                None if is_hit => self.halting.push(*id),
                _ => {}
            }
        }
        !self.halting.is_empty()
    }

    /// Counts the hits of the watchpoints that the step accessed; returns the first that halts the
    /// board.
    pub(super) fn record_watch_hit(
        &mut self,
        moment: Moment,
        step: &StepTrace<'_>,
        read: &dyn Fn(u16) -> u8,
    ) -> Option<WatchHit> {
        let mut halting = None;
        for (id, entry) in &self.set.watches {
            let Some(hit) = entry.hit(*id, step, read) else { continue };
            let number = self.hits.entry(*id).or_default().record(moment);
            halting = halting.or(entry.hits.matches(number).then_some(hit));
        }
        halting
    }
}

impl StopSet {
    pub(super) fn is_empty(&self) -> bool {
        self.breaks.is_empty() && self.watches.is_empty()
    }

    pub(super) fn has_watchpoints(&self) -> bool {
        !self.watches.is_empty()
    }

    /// The breakpoints at PC that halt a search and whose condition holds. Hits are not counted:
    /// in the past, the number of a hit that was not observed is unknown.
    pub(super) fn breakpoints_held(
        &self,
        registers: &Registers,
        read: &dyn Fn(u16) -> u8,
    ) -> impl Iterator<Item = BreakpointId> {
        let held = self.breaks.iter().filter(move |(_, breakpoint)| {
            breakpoint.log.is_none() && breakpoint.holds(registers, read)
        });
        held.map(|(id, _)| *id)
    }

    /// The first watchpoint that the step accessed and whose condition holds, whatever its hits.
    pub(super) fn watch_hit(
        &self,
        step: &StepTrace<'_>,
        read: &dyn Fn(u16) -> u8,
    ) -> Option<WatchHit> {
        self.watches.iter().find_map(|(id, entry)| entry.hit(*id, step, read))
    }
}

impl WatchEntry {
    fn hit(
        &self,
        id: WatchpointId,
        step: &StepTrace<'_>,
        read: &dyn Fn(u16) -> u8,
    ) -> Option<WatchHit> {
        let trigger = match self.watch.target {
            WatchTarget::Register(name) => register_change(name, step)?,
            _ => {
                let access = step.accesses.iter().find(|access| self.watch.matches(access))?;
                WatchTrigger::Access(*access)
            }
        };
        let holds =
            self.condition.as_ref().is_none_or(|condition| condition.value(&step.after, read) != 0);
        holds.then_some(WatchHit { id, trigger })
    }
}

fn register_change(name: &'static str, step: &StepTrace<'_>) -> Option<WatchTrigger> {
    let before = register_value(&step.before, name)?;
    let after = register_value(&step.after, name)?;
    (before != after).then_some(WatchTrigger::Register { name, before, after })
}
