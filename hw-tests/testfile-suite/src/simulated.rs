//! A machine of a Z80 and 64 KiB of RAM, exact to the T-state.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use z80_core::{Bus, Cpu, Registers, set_register};
use z80_profiler::StepCounter;

use crate::machine::{Block, Call, CallEnd, Machine, MachineError, Mock, Outcome, Violation};
use crate::program::Program;

/// The content of memory that is not part of the program. Not 0, so that a routine that needs
/// cleared memory is found.
pub(crate) const FILL: u8 = 0xA5;
/// The maximum of T-states with interrupts off: at 7.3728 MHz and 115,200 baud a 68B50 loses a
/// character after two of 640 T-states.
const MAX_LATENCY: u64 = 1280;
/// What a port returns for which a call has no values: that of an open bus.
const OPEN_BUS: u8 = 0xFF;
/// Violations that are kept for a call.
const MAX_VIOLATIONS: usize = 8;
/// Writes that are remembered one by one; after more, all of memory is restored.
const MAX_WRITTEN: usize = 4096;
/// Marks of addresses: a byte of the program, code, a mock, data or reserved space.
const PROGRAM: u8 = 1;
const CODE: u8 = 2;
const MOCK: u8 = 4;
const SECTION: u8 = 8;
/// EI.
const ENABLE_INTERRUPTS: u8 = 0xFB;

/// A simulated machine with a program.
pub struct SimulatedMachine {
    /// A processor with interrupts on.
    template: Cpu,
    loaded: Vec<u8>,
    return_address: u16,
    bus: Memory,
    counter: Option<StepCounter>,
}

/// Memory and ports, with the guards for writes.
struct Memory {
    bytes: Vec<u8>,
    marks: Vec<u8>,
    /// The address of the current instruction.
    pc: u16,
    writes: Option<Vec<RangeInclusive<u16>>>,
    /// Memory that calls since the last reload name.
    named: Vec<RangeInclusive<u16>>,
    stack: RangeInclusive<u16>,
    violations: RefCell<Vec<Violation>>,
    inputs: BTreeMap<u8, (Vec<u8>, Cell<usize>)>,
    outputs: BTreeMap<u8, Vec<u8>>,
    /// The addresses written since the program was loaded, up to a limit.
    written: Vec<u16>,
}

impl Memory {
    fn set(&mut self, address: u16, value: u8) {
        if self.written.len() <= MAX_WRITTEN {
            self.written.push(address);
        }
        self.bytes[usize::from(address)] = value;
    }

    /// Restores all memory; only what was written, if that is known.
    fn reload(&mut self, loaded: &[u8]) {
        self.named.clear();
        if self.written.len() > MAX_WRITTEN {
            self.bytes.copy_from_slice(loaded);
        }
        for address in self.written.drain(..) {
            self.bytes[usize::from(address)] = loaded[usize::from(address)];
        }
    }

    fn report(&self, violation: Violation) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < MAX_VIOLATIONS {
            violations.push(violation);
        }
    }

    fn store(&mut self, block: &Block) {
        for (index, byte) in block.bytes.iter().enumerate() {
            self.set(block.address.wrapping_add(index as u16), *byte);
        }
    }

    fn load(&self, address: u16, length: usize) -> Vec<u8> {
        let at = |index| usize::from(address.wrapping_add(index as u16));
        (0..length).map(|index| self.bytes[at(index)]).collect()
    }

    fn has_mark(&self, address: u16, mark: u8) -> bool {
        self.marks[usize::from(address)] & mark != 0
    }

    /// Notes the memory that a call names, in order that it may be written.
    fn name_blocks(&mut self, call: &Call) {
        let blocks = call.memory.iter().map(|block| (block.address, block.bytes.len()));
        for (first, length) in blocks.chain(call.read.iter().copied()) {
            let Some(last) = length.checked_sub(1) else { continue };
            let range = first..=first.saturating_add(last.min(0xFFFF) as u16);
            if !self.named.contains(&range) {
                self.named.push(range);
            }
        }
    }

    /// Returns the violation of a write, if it is one.
    fn check_write(&self, address: u16, value: u8) -> Option<Violation> {
        let pc = self.pc;
        if self.has_mark(address, CODE) {
            return Some(Violation::CodeWritten { address, value, pc });
        }
        let is_named = |ranges: &[RangeInclusive<u16>]| {
            self.stack.contains(&address) || ranges.iter().any(|range| range.contains(&address))
        };
        match &self.writes {
            Some(writes) if !is_named(writes) => {
                Some(Violation::WriteOutside { address, value, pc })
            }
            None if !self.has_mark(address, PROGRAM | SECTION) && !is_named(&self.named) => {
                Some(Violation::StrayWrite { address, value, pc })
            }
            _ => None,
        }
    }

    fn prepare(&mut self, call: &Call) {
        self.name_blocks(call);
        call.memory.iter().for_each(|block| self.store(block));
        let feed = |(port, values): (&u8, &Vec<u8>)| (*port, (values.clone(), Cell::new(0)));
        self.inputs = call.ports.iter().map(feed).collect();
        self.outputs.clear();
        self.violations.borrow_mut().clear();
        self.writes.clone_from(&call.writes);
        let top = call.registers.sp;
        // Two more bytes hold the return address.
        self.stack = top.wrapping_sub(call.stack_size + 2)..=top.wrapping_sub(1);
    }
}

impl Bus for Memory {
    fn read(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        if let Some(violation) = self.check_write(address, value) {
            self.report(violation);
        }
        self.set(address, value);
    }

    fn input(&self, port: u16) -> u8 {
        let port = port as u8;
        let Some((values, next)) = self.inputs.get(&port) else {
            self.report(Violation::PortRead { port, pc: self.pc });
            return OPEN_BUS;
        };
        let index = next.replace(next.get() + 1);
        values.get(index).copied().unwrap_or_else(|| {
            self.report(Violation::InputExhausted { port, pc: self.pc });
            OPEN_BUS
        })
    }

    fn output(&mut self, port: u16, value: u8) {
        let port = port as u8;
        if !self.inputs.contains_key(&port) {
            self.report(Violation::PortWritten { port, value, pc: self.pc });
        }
        self.outputs.entry(port).or_default().push(value);
    }
}

/// A call in progress.
struct Running<'c> {
    cpu: Cpu,
    call: &'c Call,
    t_states: u64,
    lowest: u16,
    /// When interrupts were turned off.
    disabled: Option<u64>,
    mock_calls: Vec<u32>,
}

impl SimulatedMachine {
    /// Creates a machine with a program in memory.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut bytes = vec![FILL; 0x1_0000];
        let mut marks = vec![0; 0x1_0000];
        for run in program.image.runs() {
            let at = usize::from(run.address);
            bytes[at..at + run.bytes.len()].copy_from_slice(&run.bytes);
            marks[at..at + run.bytes.len()].fill(PROGRAM);
        }
        for range in &program.sections {
            let bytes = &mut marks[range.start as usize..range.end as usize];
            bytes.iter_mut().for_each(|mark| *mark |= SECTION);
        }
        for range in &program.code {
            marks[range.start as usize..range.end as usize].fill(PROGRAM | CODE);
        }
        let bus = Memory {
            bytes: bytes.clone(),
            marks,
            pc: 0,
            writes: None,
            named: Vec::new(),
            stack: 0..=0,
            violations: RefCell::default(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            written: Vec::new(),
        };
        let mut machine = Self {
            template: Cpu::new(),
            loaded: bytes,
            return_address: program.return_address(),
            bus,
            counter: None,
        };
        machine.bus.bytes[0] = ENABLE_INTERRUPTS;
        machine.template.step(&mut machine.bus, None);
        machine.bus.bytes[0] = machine.loaded[0];
        machine
    }

    /// Counts the instructions of further calls.
    #[must_use]
    pub fn with_counter(self, counter: StepCounter) -> Self {
        Self { counter: Some(counter), ..self }
    }

    /// Returns the counts of all calls; `None` without a counter.
    #[must_use]
    pub fn counter(&self) -> Option<&StepCounter> {
        self.counter.as_ref()
    }

    /// Prepares memory for a call, and returns the registers at its first instruction.
    pub(crate) fn enter(&mut self, call: &Call) -> Registers {
        if call.reload {
            self.bus.reload(&self.loaded);
        }
        self.bus.prepare(call);
        let sp = call.registers.sp.wrapping_sub(2);
        let bytes = self.return_address.to_le_bytes().to_vec();
        self.bus.store(&Block { address: sp, bytes });
        Registers { pc: call.address, sp, ..call.registers }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let registers = self.enter(call);
        let mut cpu = self.template.clone();
        cpu.set_registers(&registers);
        if let Some(counter) = &mut self.counter {
            counter.start_call(&registers);
        }
        let (lowest, mock_calls) = (registers.sp, vec![0; call.mocks.len()]);
        let mut running = Running { cpu, call, t_states: 0, lowest, disabled: None, mock_calls };
        self.mark_mocks(&call.mocks, true);
        let end = self.run_to_end(&mut running);
        self.mark_mocks(&call.mocks, false);
        self.outcome(end, running)
    }

    fn mark_mocks(&mut self, mocks: &[Mock], set: bool) {
        for mock in mocks {
            let mark = &mut self.bus.marks[usize::from(mock.address)];
            *mark = if set { *mark | MOCK } else { *mark & !MOCK };
        }
    }

    fn run_to_end(&mut self, running: &mut Running) -> CallEnd {
        let deepest = running.lowest.wrapping_sub(running.call.stack_size);
        let mut has_left_stack = false;
        loop {
            let pc = running.cpu.pc();
            if pc == self.return_address {
                return CallEnd::Returned;
            }
            if running.t_states > running.call.timeout {
                return CallEnd::TimedOut(Some(pc));
            }
            if !self.bus.has_mark(pc, PROGRAM | MOCK) {
                return CallEnd::Left(pc, self.bus.pc);
            }
            self.bus.pc = pc;
            if self.bus.has_mark(pc, MOCK) {
                self.return_from_mock(running);
                continue;
            }
            running.t_states += self.step(&mut running.cpu);
            if running.cpu.is_halted() {
                return CallEnd::Halted(pc);
            }
            running.lowest = running.lowest.min(running.cpu.sp());
            self.check_latency(running);
            let sp = running.cpu.sp();
            let is_below = running.lowest < deepest;
            if (is_below || sp > running.call.registers.sp) && !has_left_stack {
                has_left_stack = true;
                self.bus.report(match is_below {
                    true => Violation::StackOverflow { sp, pc },
                    false => Violation::StackPointer { sp, pc },
                });
            }
        }
    }

    /// Executes an instruction and returns its T-states.
    fn step(&mut self, cpu: &mut Cpu) -> u64 {
        let Self { bus, counter, .. } = self;
        if let Some(counter) = counter {
            counter.start_step(&cpu.registers(), |address| bus.read(address));
        }
        let t_states = cpu.step(bus, None).into();
        if let Some(counter) = counter {
            counter.end_step(&cpu.registers(), t_states);
        }
        t_states
    }

    /// Reports interrupts that were off for too long when they are on again.
    fn check_latency(&mut self, running: &mut Running) {
        if !running.cpu.enables_interrupts() {
            running.disabled.get_or_insert(running.t_states);
        } else if let Some(since) = running.disabled.take() {
            let t_states = running.t_states - since;
            if t_states > MAX_LATENCY {
                self.bus.report(Violation::InterruptLatency { t_states, pc: self.bus.pc });
            }
        }
    }

    /// Does what a mock does instead of its routine: it sets registers and memory, and returns.
    fn return_from_mock(&mut self, running: &mut Running) {
        let pc = running.cpu.pc();
        let mut registers = running.cpu.registers();
        let [low, high] = [0, 1].map(|at| self.bus.read(registers.sp.wrapping_add(at)));
        registers.pc = u16::from_le_bytes([low, high]);
        registers.sp = registers.sp.wrapping_add(2);
        let mocks = running.call.mocks.iter().zip(&mut running.mock_calls);
        for (mock, calls) in mocks.filter(|(mock, _)| mock.address == pc) {
            let returns = mock.returns.get(*calls as usize).or(mock.returns.last());
            *calls += 1;
            if let Some(returned) = returns {
                for (name, value) in &returned.registers {
                    set_register(&mut registers, name, *value);
                }
                returned.memory.iter().for_each(|block| self.bus.store(block));
            }
        }
        running.cpu.set_registers(&registers);
        // Of RET, so that a loop around a mock times out.
        running.t_states += 10;
    }

    fn outcome(&mut self, end: CallEnd, running: Running) -> Outcome {
        let Running { cpu, call, t_states, lowest, mock_calls, .. } = running;
        let expected = call.registers.sp;
        if end == CallEnd::Returned {
            if cpu.sp() != expected {
                self.bus.report(Violation::StackMoved { sp: cpu.sp(), expected });
            }
            if !cpu.enables_interrupts() {
                self.bus.report(Violation::InterruptsOff);
            }
            let (mode, _) = self.template.interrupt_vectoring();
            if cpu.interrupt_vectoring() != (mode, call.registers.i) {
                self.bus.report(Violation::InterruptMode);
            }
        }
        Outcome {
            end,
            registers: cpu.registers(),
            memory: call.read.iter().map(|(at, length)| self.bus.load(*at, *length)).collect(),
            t_states: Some(t_states),
            stack: Some(expected.wrapping_sub(2).wrapping_sub(lowest)),
            violations: self.bus.violations.take(),
            outputs: std::mem::take(&mut self.bus.outputs),
            mock_calls,
        }
    }
}

impl Machine for SimulatedMachine {
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
        Ok(calls.iter().map(|call| self.call(call)).collect())
    }

    fn read(&mut self, address: u16, length: usize) -> Result<Vec<u8>, MachineError> {
        Ok(self.bus.load(address, length))
    }

    fn name(&self) -> &str {
        "simulated"
    }

    fn observes_accesses(&self) -> bool {
        true
    }
}
