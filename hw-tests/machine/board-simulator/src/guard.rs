//! Detects what code under test must not do, while a board runs: writes outside its data, a stack
//! that grows, a wrong return, interrupts off, ports, HALT, execution outside the program.

use std::cell::Cell;
use std::ops::Range;

use super::bus::BoardBus;
use super::violation::{Violation, ViolationKind};
use z80_core::{Bus, Cpu, CpuEvent};

/// Violations kept until they are taken; later ones are discarded, since the first is the cause.
const MAX_VIOLATIONS: usize = 256;
/// Open calls of code under test and of the application's callbacks; more are not tracked.
const MAX_FRAMES: usize = 64;

/// Bits of [`Guard::flags`], by address.
mod flag {
    /// Code under test may write there.
    pub(super) const WRITABLE: u8 = 0x01;
    /// There is no code of the program.
    pub(super) const NOT_CODE: u8 = 0x02;
    /// A routine under test.
    pub(super) const ROUTINE: u8 = 0x04;
    /// A routine that is under test if the application calls it.
    pub(super) const LEAF: u8 = 0x08;
    /// A routine of the application that code under test calls by contract.
    pub(super) const CALLBACK: u8 = 0x10;
    /// The return address of an open call.
    pub(super) const RETURN: u8 = 0x20;
    /// The probe records something.
    pub(super) const PROBE: u8 = 0x40;
    /// A routine of the application that the interrupt service returns to.
    pub(super) const AFTER_SERVICE: u8 = 0x80;
}

/// Where a run of the application stops.
pub(super) const APPLICATION_STOPS: u8 = flag::ROUTINE | flag::LEAF | flag::PROBE;
/// Where a run of code under test stops.
pub(super) const UNDER_TEST_STOPS: u8 = flag::ROUTINE
    | flag::NOT_CODE
    | flag::CALLBACK
    | flag::RETURN
    | flag::PROBE
    | flag::AFTER_SERVICE;

/// What code under test may do. Ranges end at 10000H at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardConfig {
    /// The program's code, which it may execute.
    pub code: Vec<Range<u32>>,
    /// The data that it may write. Its own stack frame is not listed.
    pub data: Vec<Range<u32>>,
    /// The lowest address that its stack may reach.
    pub stack_floor: u16,
    /// The routines under test.
    pub routines: Vec<u16>,
    /// Routines that are under test if the application calls them. A call from code under test is
    /// not checked by itself, because these are called too often.
    pub leaf_routines: Vec<u16>,
    /// Routines of the application that routines under test call by contract; they may do anything.
    pub callbacks: Vec<u16>,
    /// Routines of the application to which the interrupt service returns instead of to the code
    /// that it interrupted, and which return there; they may do anything.
    pub after_service: Vec<u16>,
    /// The routine that is called once for each case of a request.
    pub case_routine: Option<u16>,
    /// The address of the sequence number of the current request.
    pub request_tag: u16,
    /// Bytes by which the program is recognized. With other bytes there, nothing is checked.
    pub identity: Option<(u16, [u8; 4])>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    routine: u16,
    is_under_test: bool,
    sp: u16,
    return_address: u16,
    interrupts: bool,
    vectoring: (u8, u8),
}

impl Frame {
    /// Returns the stack pointer after the return.
    fn returned_sp(&self) -> u16 {
        self.sp.wrapping_add(2)
    }
}

/// Checks code under test on a simulated board.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Bits of [`flag`] by address.
    flags: Box<[u8]>,
    stack_floor: u16,
    case_routine: Option<u16>,
    tag_address: u16,
    identity: Option<(u16, [u8; 4])>,
    /// The most T-states without interrupts.
    max_latency: u64,
    /// The innermost call last.
    frames: Vec<Frame>,
    request_tag: u8,
    /// Cases of the current request so far.
    cases: usize,
    /// Where and when code under test turned interrupts off.
    disabled: Option<(u16, u64)>,
    /// Where the last interrupt was accepted.
    interrupted: u16,
    violations: Vec<Violation>,
}

impl Guard {
    /// Creates a guard.
    pub fn new(config: &GuardConfig) -> Self {
        let mut flags = vec![flag::NOT_CODE; 0x1_0000].into_boxed_slice();
        let span = |range: &Range<u32>| {
            let end = (range.end as usize).min(0x1_0000);
            (range.start as usize).min(end)..end
        };
        for range in &config.code {
            flags[span(range)].iter_mut().for_each(|bits| *bits &= !flag::NOT_CODE);
        }
        for range in &config.data {
            flags[span(range)].iter_mut().for_each(|bits| *bits |= flag::WRITABLE);
        }
        let entries = [
            (&config.routines, flag::ROUTINE),
            (&config.leaf_routines, flag::LEAF),
            (&config.callbacks, flag::CALLBACK),
            (&config.after_service, flag::AFTER_SERVICE),
        ];
        for (addresses, bit) in entries {
            addresses.iter().for_each(|&at| flags[usize::from(at)] |= bit);
        }
        Self {
            flags,
            stack_floor: config.stack_floor,
            case_routine: config.case_routine,
            tag_address: config.request_tag,
            identity: config.identity,
            max_latency: u64::MAX,
            frames: Vec::new(),
            request_tag: 0,
            cases: 0,
            disabled: None,
            interrupted: 0,
            violations: Vec::new(),
        }
    }

    /// Sets how many T-states interrupts may be off.
    pub(super) fn set_max_latency(&mut self, t_states: u64) {
        self.max_latency = t_states;
    }

    /// Sets the addresses at which the probe records something.
    pub(super) fn set_probed(&mut self, is_probed: impl Fn(u16) -> bool) {
        for (at, bits) in (0..=u16::MAX).zip(&mut self.flags) {
            *bits = *bits & !flag::PROBE | if is_probed(at) { flag::PROBE } else { 0 };
        }
    }

    /// Takes the violations so far, in order.
    pub fn take(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.violations)
    }

    /// Forgets the open calls: the board was reset.
    pub(super) fn reset(&mut self) {
        for frame in std::mem::take(&mut self.frames) {
            self.flags[usize::from(frame.return_address)] &= !flag::RETURN;
        }
        self.disabled = None;
    }

    /// Returns `true` while code under test runs.
    #[inline]
    pub(super) fn is_under_test(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.is_under_test)
    }

    /// Returns the bits by address, and the stack pointer at which the innermost call returns.
    #[inline]
    pub(super) fn application_stops(&self) -> (&[u8], Option<u16>) {
        (&self.flags, self.frames.last().map(Frame::returned_sp))
    }

    /// Returns a bus that records accesses which are not allowed.
    #[inline]
    pub(super) fn guarded<'a>(&'a self, bus: &'a mut BoardBus) -> GuardedBus<'a> {
        let sp = self.frames.last().map_or(self.stack_floor, Frame::returned_sp);
        let stack_span = sp.wrapping_sub(self.stack_floor);
        GuardedBus {
            bus,
            flags: &self.flags,
            stack_floor: self.stack_floor,
            stack_span,
            seen: Seen::default(),
        }
    }

    /// Observes the processor before an instruction outside interrupt handling: opens a call.
    pub(super) fn observe(&mut self, cpu: &Cpu, bus: &BoardBus) {
        let bits = self.flags[usize::from(cpu.pc())];
        let is_under_test = self.is_under_test();
        let opens = match is_under_test {
            true => bits & (flag::ROUTINE | flag::CALLBACK | flag::AFTER_SERVICE),
            false => bits & (flag::ROUTINE | flag::LEAF),
        };
        if opens & flag::AFTER_SERVICE != 0 {
            // It pushes the return address itself.
            self.open_call(cpu, bus, cpu.sp().wrapping_sub(2), self.interrupted, false);
        } else if opens != 0 {
            let sp = cpu.sp();
            let address = u16::from_le_bytes([bus.peek(sp), bus.peek(sp.wrapping_add(1))]);
            self.open_call(cpu, bus, sp, address, opens & flag::CALLBACK == 0);
        }
    }

    /// Opens a call whose return address is at `sp`.
    fn open_call(
        &mut self,
        cpu: &Cpu,
        bus: &BoardBus,
        sp: u16,
        return_address: u16,
        is_under_test: bool,
    ) {
        let routine = cpu.pc();
        // An interrupt may have been accepted before the first instruction of an open call.
        let is_open = |frame: &Frame| frame.routine == routine && frame.sp == sp;
        if self.frames.last().is_some_and(is_open)
            || self.frames.len() >= MAX_FRAMES
            || !self.is_loaded(bus)
        {
            return;
        }
        self.count_case(routine, bus);
        self.flags[usize::from(return_address)] |= flag::RETURN;
        self.frames.push(Frame {
            routine,
            is_under_test,
            sp,
            return_address,
            interrupts: cpu.enables_interrupts(),
            vectoring: cpu.interrupt_vectoring(),
        });
    }

    fn is_loaded(&self, bus: &BoardBus) -> bool {
        let Some((address, bytes)) = self.identity.filter(|_| self.frames.is_empty()) else {
            return true;
        };
        (address..).zip(bytes).all(|(at, byte)| bus.peek(at) == byte)
    }

    fn count_case(&mut self, routine: u16, bus: &BoardBus) {
        if self.frames.is_empty() {
            let tag = bus.peek(self.tag_address);
            if std::mem::replace(&mut self.request_tag, tag) != tag {
                self.cases = 0;
            }
        }
        self.cases += usize::from(self.case_routine == Some(routine));
    }

    /// Checks the state after the instruction at `pc`, outside interrupt handling.
    pub(super) fn check(&mut self, pc: u16, cpu: &Cpu, bus: &BoardBus, seen: &Seen) {
        let now = bus.clock.now();
        if !self.is_under_test() {
            self.close_calls(pc, cpu, now);
            return;
        }
        self.check_latency(pc, now, seen);
        if self.close_calls(pc, cpu, now) {
            self.check_accesses(pc, now, seen);
            return;
        }
        let returns = is_return(pc, bus);
        let Some(frame) = self.frames.last().copied() else { return };
        if let Some(kind) = self.check_flow(frame, cpu, returns) {
            // An access that did not get through because of it is no second finding.
            if matches!(kind, ViolationKind::LeftCode { .. } | ViolationKind::Restart) {
                self.check_accesses(pc, now, seen);
            }
            self.add(kind, pc, now);
            return self.reset();
        }
        self.check_accesses(pc, now, seen);
    }

    /// Returns the violation by which code under test left its call, if it did.
    fn check_flow(&self, frame: Frame, cpu: &Cpu, returns: bool) -> Option<ViolationKind> {
        let (pc, sp, expected) = (cpu.pc(), cpu.sp(), frame.returned_sp());
        let depth = sp.wrapping_sub(self.stack_floor);
        let limit = expected.wrapping_sub(self.stack_floor);
        if returns && sp == expected && pc != frame.return_address {
            return Some(match pc {
                0 => ViolationKind::Restart,
                _ => ViolationKind::WrongReturn { address: pc, expected: frame.return_address },
            });
        }
        if returns && pc == frame.return_address && sp != expected {
            return Some(ViolationKind::StackNotRestored { sp, expected });
        }
        if depth > limit {
            return Some(ViolationKind::StackPointer { sp });
        }
        if pc == 0 {
            return Some(ViolationKind::Restart);
        }
        let left = self.flags[usize::from(pc)] & flag::NOT_CODE != 0;
        left.then_some(ViolationKind::LeftCode { address: pc })
    }

    /// Closes the calls that have returned. Returns `true` if there were any.
    fn close_calls(&mut self, pc: u16, cpu: &Cpu, now: u64) -> bool {
        let mut has_closed = false;
        let is_back =
            |frame: &mut Frame| cpu.sp() == frame.returned_sp() && cpu.pc() == frame.return_address;
        while let Some(frame) = self.frames.pop_if(is_back) {
            has_closed = true;
            if !self.frames.iter().any(|other| other.return_address == frame.return_address) {
                self.flags[usize::from(frame.return_address)] &= !flag::RETURN;
            }
            if frame.is_under_test {
                self.check_return(frame, pc, cpu, now);
            }
        }
        has_closed
    }

    fn check_return(&mut self, frame: Frame, pc: u16, cpu: &Cpu, now: u64) {
        let vectoring @ (mode, i) = cpu.interrupt_vectoring();
        let routine = frame.routine;
        if frame.vectoring != vectoring {
            self.add_of(routine, ViolationKind::InterruptVectoring { mode, i }, pc, now);
        }
        if frame.interrupts && !cpu.enables_interrupts() {
            let at = self.disabled.take().map_or(pc, |(at, _)| at);
            self.add_of(routine, ViolationKind::InterruptsOff, at, now);
        }
    }

    /// Checks the state in which an interrupt was accepted before the instruction at `pc`.
    pub(super) fn check_accepted(&mut self, pc: u16, cpu: &Cpu, now: u64) {
        self.interrupted = pc;
        let Some(frame) = self.frames.last().filter(|frame| frame.is_under_test) else { return };
        let vectoring @ (mode, i) = cpu.interrupt_vectoring();
        if frame.vectoring != vectoring {
            self.add(ViolationKind::InterruptVectoring { mode, i }, pc, now);
            self.reset();
        }
    }

    fn check_latency(&mut self, pc: u16, now: u64, seen: &Seen) {
        if let Some(at) = seen.disabled_at.get() {
            self.disabled.get_or_insert((pc, at));
        }
        let Some((at, since)) = self.disabled else { return };
        let enabled_at = seen.enabled_at.get();
        let t_states = enabled_at.unwrap_or(now).saturating_sub(since);
        if t_states > self.max_latency {
            self.add(ViolationKind::InterruptLatency { t_states, max: self.max_latency }, at, now);
        }
        if enabled_at.is_some() {
            self.disabled = None;
        }
    }

    fn check_accesses(&mut self, pc: u16, now: u64, seen: &Seen) {
        if let Some(kind) = seen.first.get() {
            self.add(kind, pc, now);
        }
    }

    fn add(&mut self, kind: ViolationKind, pc: u16, clock: u64) {
        let routine = self.frames.last().map_or(pc, |frame| frame.routine);
        self.add_of(routine, kind, pc, clock);
    }

    /// Records a violation, the first of a case only: the others follow from it.
    fn add_of(&mut self, routine: u16, kind: ViolationKind, pc: u16, clock: u64) {
        let (request_tag, case) = (self.request_tag, self.cases.saturating_sub(1));
        let is_known = |known: &Violation| (known.request_tag, known.case) == (request_tag, case);
        if self.violations.len() < MAX_VIOLATIONS && !self.violations.last().is_some_and(is_known) {
            self.violations.push(Violation { kind, routine, pc, clock, request_tag, case });
        }
    }
}

/// Returns `true` if the instruction is one of those that return: RET in all forms, and PCHL.
fn is_return(pc: u16, bus: &BoardBus) -> bool {
    match bus.peek(pc) {
        0xC9 | 0xE9 => true,
        0xED => matches!(bus.peek(pc.wrapping_add(1)), 0x45 | 0x4D),
        opcode => opcode & 0xC7 == 0xC0,
    }
}

/// What the last instructions of code under test did on the bus.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The first access that is not allowed.
    first: Cell<Option<ViolationKind>>,
    disabled_at: Cell<Option<u64>>,
    enabled_at: Cell<Option<u64>>,
}

/// A bus that records accesses which code under test must not make, and ends the run after one.
pub(super) struct GuardedBus<'a> {
    pub(super) bus: &'a mut BoardBus,
    pub(super) flags: &'a [u8],
    pub(super) stack_floor: u16,
    /// Bytes from there up to the end of the return address.
    pub(super) stack_span: u16,
    pub(super) seen: Seen,
}

impl GuardedBus<'_> {
    /// Returns `true` for addresses from the lowest of the stack up to the return address.
    #[inline(always)]
    fn is_in_frame(&self, address: u16) -> bool {
        address.wrapping_sub(self.stack_floor) < self.stack_span
    }

    /// Returns `true` if a run of code under test need not stop before the next instruction.
    #[inline(always)]
    pub(super) fn may_continue(&self, cpu: &Cpu) -> bool {
        self.is_in_frame(cpu.sp()) && self.flags[usize::from(cpu.pc())] & UNDER_TEST_STOPS == 0
    }

    #[inline(never)]
    fn note(&self, kind: ViolationKind) {
        if self.seen.first.get().is_none() {
            self.seen.first.set(Some(kind));
        }
        self.bus.clock.stop();
    }

    fn note_write(&self, address: u16, value: u8) {
        let is_code = self.flags[usize::from(address)] & flag::NOT_CODE == 0;
        self.note(match is_code {
            true => ViolationKind::CodeWrite { address, value },
            false => ViolationKind::Write { address, value },
        });
    }
}

impl Bus for GuardedBus<'_> {
    #[inline(always)]
    fn read(&self, address: u16) -> u8 {
        self.bus.read(address)
    }

    #[inline(always)]
    fn write(&mut self, address: u16, value: u8) {
        if !self.is_in_frame(address) && self.flags[usize::from(address)] & flag::WRITABLE == 0 {
            self.note_write(address, value);
        }
        self.bus.write(address, value);
    }

    fn input(&self, port: u16) -> u8 {
        self.note(ViolationKind::Input { port: port as u8 });
        self.bus.input(port)
    }

    fn output(&mut self, port: u16, value: u8) {
        self.note(ViolationKind::Output { port: port as u8, value });
        self.bus.output(port, value);
    }

    fn on_event(&mut self, event: CpuEvent) {
        let now = self.bus.clock.now();
        match event {
            CpuEvent::Halted => self.note(ViolationKind::Halt),
            CpuEvent::Disabled => {
                self.seen.disabled_at.set(Some(now));
                self.bus.clock.stop();
            }
            CpuEvent::Enabled => self.seen.enabled_at.set(Some(now)),
            CpuEvent::Returned | CpuEvent::Trapped { .. } => {}
        }
        self.bus.on_event(event);
    }
}
