//! The machine that calls routines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firmware::code_map::MappedProgram;
use firmware::program_areas::ProgramAreas;
use tdlasm::image::{Image, ImageRun};
use z80_core::{Cpu, Registers, set_register};

use super::memory::{MOCK, Memory, OPEN_BUS, PROGRAM, UNWRITTEN};
use super::{Call, CallEnd, Entry, Mock, Outcome};
use crate::profiling::StepCounter;
use crate::violation::ViolationKind;

/// The highest address to which routines may return.
const RETURN_ADDRESS: u16 = 0xFFF0;
/// The maximum of T-states with interrupts off: at 7.3728 MHz and 115,200 baud a 68B50 loses a
/// character after two of 640 T-states.
const MAX_LATENCY: u64 = 1280;
const RETI: [u8; 2] = [0xED, 0x4D];
const RETN: [u8; 2] = [0xED, 0x45];

/// Instructions between two looks at the stop flag: well below a millisecond.
const STOP_CHECK_STEPS: u32 = 16_384;

/// Error returned if the flag was set that ends calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// A processor with 64 KiB of RAM and a program, whose routines it calls.
pub struct RoutineMachine {
    /// Counts the instructions of calls.
    pub counter: Option<StepCounter>,
    /// Ends calls with an error once it is set.
    pub stop: Arc<AtomicBool>,
    /// The processor after a reload, with interrupts on in mode 0.
    fresh: Cpu,
    /// The processor before a call: it keeps the interrupt mode and I of the previous one.
    template: Cpu,
    loaded: Vec<u8>,
    return_address: u16,
    bus: Memory,
}

impl RoutineMachine {
    /// Creates a machine with a program in memory.
    pub fn new(program: &MappedProgram, areas: &ProgramAreas) -> Self {
        let bus = Memory::new(program, areas);
        let mut fresh = Cpu::new();
        fresh.set_interrupt_state(true, 0);
        Self {
            counter: None,
            stop: Arc::default(),
            template: fresh.clone(),
            fresh,
            loaded: bus.bytes.clone(),
            return_address: return_address(&program.image),
            bus,
        }
    }

    /// Returns memory as the last call has left it.
    pub fn read(&self, address: u16, length: usize) -> Vec<u8> {
        self.bus.load(address, length)
    }

    /// Writes memory. What is written so may be read, but not written by routines.
    pub fn write(&mut self, block: &ImageRun) {
        self.bus.store(block);
    }

    fn check_stop(&self) -> Result<(), Interrupted> {
        if self.stop.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }

    /// Prepares memory for a call, and returns the processor at its first instruction.
    pub fn enter(&mut self, call: &Call) -> Cpu {
        if call.reload {
            self.bus.reload(&self.loaded);
            self.template.clone_from(&self.fresh);
        }
        self.bus.prepare(call);
        let mut cpu = self.template.clone();
        let before = cpu.registers();
        let (i, r) = (call.i.unwrap_or(before.i), call.r.unwrap_or(before.r));
        cpu.set_registers(&Registers { pc: self.return_address, i, r, ..call.registers });
        match call.entry {
            Entry::Call => {
                let sp = call.registers.sp.wrapping_sub(2);
                let bytes = self.return_address.to_le_bytes().to_vec();
                self.bus.store(&ImageRun { address: sp, bytes });
                cpu.set_registers(&Registers { sp, ..cpu.registers() });
            }
            Entry::Interrupt => _ = cpu.step(&mut self.bus, Some(OPEN_BUS)),
            Entry::NonMaskable => _ = cpu.non_maskable_interrupt(&mut self.bus),
            Entry::Until(_) => {}
        }
        cpu.set_registers(&Registers { pc: call.address, ..cpu.registers() });
        // The vector of an interrupt that `call.address` replaces is not the routine's to set.
        self.bus.violations.borrow_mut().clear();
        cpu
    }

    /// Calls a routine.
    ///
    /// # Errors
    /// Returns `Interrupted` if [`Self::stop`] is set.
    pub fn call(&mut self, call: &Call) -> Result<Outcome, Interrupted> {
        self.check_stop()?;
        let mut running = Running::new(self.enter(call), call);
        if let Some(counter) = &mut self.counter {
            counter.start_call(&running.cpu.registers());
        }
        self.mark_mocks(&call.mocks, true);
        let end = self.run_to_end(&mut running);
        self.mark_mocks(&call.mocks, false);
        Ok(self.outcome(end?, running))
    }

    fn mark_mocks(&mut self, mocks: &[Mock], set: bool) {
        for mock in mocks {
            let mark = &mut self.bus.marks[usize::from(mock.address)];
            *mark = if set { *mark | MOCK } else { *mark & !MOCK };
        }
    }

    fn run_to_end(&mut self, running: &mut Running) -> Result<CallEnd, Interrupted> {
        let call = running.call;
        let end = self.end_address(call);
        // A range may end where it begins.
        let mut has_begun = call.address != end;
        let mut steps: u32 = 0;
        loop {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(STOP_CHECK_STEPS) {
                self.check_stop()?;
            }
            let pc = running.cpu.pc();
            if pc == end && has_begun {
                running.last.get_or_insert(self.bus.pc);
            }
            if running.t_states > call.timeout {
                return Ok(CallEnd::TimedOut(Some(pc)));
            }
            match running.acceptable() {
                Some(index) => running.accept(index, &mut self.bus),
                None if pc == end && has_begun => return Ok(CallEnd::Returned),
                None if !self.is_executable(pc) => {
                    return Ok(CallEnd::Left(pc, self.bus.pc));
                }
                None => {
                    let previous = std::mem::replace(&mut self.bus.pc, pc);
                    has_begun |= pc == call.address;
                    if self.bus.has_mark(pc, MOCK) {
                        self.return_from_mock(running);
                        continue;
                    }
                    self.bus.check_execution(previous);
                    running.t_states += self.step(&mut running.cpu);
                }
            }
            if running.cpu.is_halted() && running.requests.iter().all(Option::is_none) {
                return Ok(CallEnd::Halted(pc));
            }
            self.check_stack(running);
            self.check_latency(running);
        }
    }

    /// Returns `true` for the program, and for what was written elsewhere if that may be executed.
    fn is_executable(&self, pc: u16) -> bool {
        let is_written = || self.bus.allowed.data && !self.bus.has_mark(pc, UNWRITTEN);
        self.bus.has_mark(pc, PROGRAM | MOCK) || is_written()
    }

    /// Executes an instruction and returns its T-states.
    fn step(&mut self, cpu: &mut Cpu) -> u64 {
        let Self { bus, counter, .. } = self;
        if let Some(counter) = counter {
            counter.start_step(&cpu.registers(), |address| bus.bytes[usize::from(address)]);
        }
        let t_states = cpu.step(bus, None).into();
        if let Some(counter) = counter {
            counter.end_step(&cpu.registers(), t_states);
        }
        t_states
    }

    /// Reports the first time that SP is not within the stack of the call.
    fn check_stack(&mut self, running: &mut Running) {
        let sp = running.cpu.sp();
        running.lowest = running.lowest.min(sp);
        let is_below = running.lowest < running.deepest;
        if (is_below || sp > running.call.final_sp()) && !running.has_left_stack {
            running.has_left_stack = true;
            self.bus.report(match is_below {
                true => {
                    ViolationKind::StackOverflow { size: running.call.stack_size, sp: Some(sp) }
                }
                false => ViolationKind::StackPointer { sp },
            });
        }
    }

    /// Reports interrupts that were off for too long when they are on again.
    fn check_latency(&mut self, running: &mut Running) {
        if !running.cpu.enables_interrupts() {
            running.disabled.get_or_insert(running.t_states);
        } else if let Some(since) = running.disabled.take() {
            let t_states = running.t_states - since;
            if t_states > MAX_LATENCY {
                self.bus.report(ViolationKind::InterruptLatency { t_states, max: MAX_LATENCY });
            }
        }
    }

    /// Does what a mock does instead of its routine: it sets registers and memory, and returns.
    fn return_from_mock(&mut self, running: &mut Running) {
        let pc = running.cpu.pc();
        let mut registers = running.cpu.registers();
        registers.pc = u16::from_le_bytes(self.bus.two_bytes(registers.sp));
        registers.sp = registers.sp.wrapping_add(2);
        let mocks = running.call.mocks.iter().zip(&mut running.outcome.mock_calls);
        for (mock, calls) in mocks.filter(|(mock, _)| mock.address == pc) {
            let returns = mock.returns.get(*calls as usize).or(mock.returns.last());
            *calls += 1;
            if let Some(returned) = returns {
                for (name, value) in &returned.registers {
                    set_register(&mut registers, name, *value);
                }
                registers.af = returned.flags.apply(registers.af);
                returned.memory.iter().for_each(|block| self.bus.store(block));
            }
        }
        running.cpu.set_registers(&registers);
        // Of RET, so that a loop around a mock times out.
        running.t_states += 10;
    }

    /// Returns the address at which a call ends.
    pub fn end_address(&self, call: &Call) -> u16 {
        match call.entry {
            Entry::Until(end) => end,
            _ => self.return_address,
        }
    }

    /// Checks the stack and interrupts after a return.
    fn check_return(&mut self, running: &Running) {
        let Running { cpu, call, .. } = running;
        let (sp, expected) = (cpu.sp(), call.final_sp());
        let (mode, i) = cpu.interrupt_vectoring();
        let is_vectored = (mode, i) == running.vectoring;
        let returned = [
            (sp == expected, ViolationKind::StackNotRestored { sp, expected }),
            (cpu.enables_interrupts(), ViolationKind::InterruptsOff),
            (is_vectored, ViolationKind::InterruptVectoring { mode, i }),
        ];
        for (_, kind) in returned.into_iter().filter(|(is_right, _)| !is_right) {
            self.bus.report_at(kind, None);
        }
        if (mode, i) != self.template.interrupt_vectoring() {
            self.template = cpu.clone();
            self.template.set_interrupt_state(true, mode);
        }
        let (bytes, expected) = match call.entry {
            Entry::Interrupt => (RETI, "RETI"),
            Entry::NonMaskable => (RETN, "RETN"),
            Entry::Call | Entry::Until(_) => return,
        };
        let pc = running.last.unwrap_or_default();
        if self.bus.load(pc, 2) != bytes {
            self.bus.report_at(ViolationKind::PlainReturn { expected }, Some(pc));
        }
    }

    fn outcome(&mut self, end: CallEnd, running: Running) -> Outcome {
        if end == CallEnd::Returned {
            self.check_return(&running);
        }
        let Running { cpu, call, t_states, lowest, outcome, .. } = running;
        let first = match call.entry {
            Entry::Until(_) => call.registers.sp,
            _ => call.registers.sp.wrapping_sub(2),
        };
        Outcome {
            end,
            registers: cpu.registers(),
            memory: call.read.iter().map(|(at, length)| self.bus.load(*at, *length)).collect(),
            t_states: Some(t_states),
            stack: Some(first.wrapping_sub(lowest)),
            violations: self.bus.violations.take(),
            outputs: std::mem::take(&mut self.bus.outputs),
            reads: self.bus.watched_reads.take(),
            writes: std::mem::take(&mut self.bus.watched_writes),
            ..outcome
        }
    }
}

/// Returns an address without a byte of the program, to which calls return.
fn return_address(image: &Image) -> u16 {
    let is_free = |address: &u16| image.byte(*address).is_none();
    (0..=RETURN_ADDRESS).rev().find(is_free).unwrap_or(RETURN_ADDRESS)
}

/// A call in progress.
struct Running<'c> {
    cpu: Cpu,
    call: &'c Call,
    /// The interrupt mode and I before the call.
    vectoring: (u8, u8),
    t_states: u64,
    /// The lowest value of SP, and the lowest permitted one.
    lowest: u16,
    deepest: u16,
    has_left_stack: bool,
    /// The address of the instruction that returned.
    last: Option<u16>,
    /// When interrupts were turned off.
    disabled: Option<u64>,
    /// The T-states of the next request of each interrupt.
    requests: Vec<Option<u64>>,
    /// Mocks and interrupts so far.
    outcome: Outcome,
}

impl<'c> Running<'c> {
    fn new(cpu: Cpu, call: &'c Call) -> Self {
        Self {
            lowest: cpu.sp(),
            deepest: cpu.sp().wrapping_sub(call.stack_size),
            has_left_stack: false,
            last: None,
            disabled: call.entry.is_interrupt().then_some(0),
            requests: call.interrupts.iter().map(|interrupt| Some(interrupt.at)).collect(),
            outcome: Outcome {
                mock_calls: vec![0; call.mocks.len()],
                latest_equal: vec![None; call.interrupts.len()],
                accepted: vec![0; call.interrupts.len()],
                ..Outcome::default()
            },
            vectoring: cpu.interrupt_vectoring(),
            t_states: 0,
            cpu,
            call,
        }
    }

    /// Returns the index of the interrupt that the processor accepts now.
    fn acceptable(&self) -> Option<usize> {
        let is_due = |index: &usize| self.requests[*index].is_some_and(|at| at <= self.t_states);
        let is_non_maskable = |index: &usize| self.call.interrupts[*index].non_maskable;
        let due = (0..self.requests.len()).filter(is_due).max_by_key(is_non_maskable)?;
        (is_non_maskable(&due) || self.cpu.accepts_interrupt()).then_some(due)
    }

    /// Accepts an interrupt, by its index.
    fn accept(&mut self, index: usize, bus: &mut Memory) {
        let interrupt = &self.call.interrupts[index];
        let request = self.requests[index].unwrap_or(self.t_states);
        // All requests move with `at`. While a request waits, it changes nothing: the processor
        // accepts neither it nor one that it takes precedence over.
        let latest = interrupt.at + (self.t_states - request);
        let Outcome { latest_equal, accepted, .. } = &mut self.outcome;
        let before = latest_equal[index].unwrap_or(latest);
        latest_equal[index] = Some(latest.min(before));
        accepted[index] += 1;
        let has_more = interrupt.count.is_none_or(|count| accepted[index] < count);
        self.requests[index] = interrupt.period.filter(|_| has_more).map(|period| request + period);
        self.t_states += u64::from(match interrupt.non_maskable {
            true => self.cpu.non_maskable_interrupt(bus),
            false => self.cpu.step(bus, Some(interrupt.bus)),
        });
        if let Some(pc) = interrupt.handler {
            self.cpu.set_registers(&Registers { pc, ..self.cpu.registers() });
        }
    }
}
