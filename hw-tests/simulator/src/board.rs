//! A board: processor, bus and line on one clock.

use std::cell::RefCell;

use super::bus::{Access, BoardBus, Watched};
use super::ctc::Ctc;
use super::line::{Line, garble};
use super::memory::{ChipKind, Memory, MemoryMap, RomChip};
use super::probe::Probe;
use super::uart::{Uart, UartModel};
use z80_core::{Bus, Cpu, Registers};

/// The time the receiver looks away, in T-states, after it has found the line quiet.
const QUIET_POLL: u64 = 10_000;
/// The least part of a second, as its divisor, for which a finger holds the reset button.
const RESET_HOLD: u64 = 10;
/// A stack pointer that none is.
const NOWHERE: u32 = 0x1_0000;

/// The parts of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardSpec {
    /// Processor clock in Hz.
    pub clock_hz: u64,
    /// Clock of the serial chip in Hz.
    pub uart_clock_hz: u64,
    /// Line speed in baud, which follows from the chip's clock divided by 64.
    pub baud: u32,
    /// The serial chip.
    pub uart: UartModel,
    /// Layout of memory.
    pub memory: MemoryMap,
    /// The chip in the ROM socket.
    pub chip: ChipKind,
    /// Whether the socket's write pin is connected.
    pub writable: bool,
    /// Whether there is a CTC at 88h to 8Bh, whose first output clocks channel A of the SIO.
    pub ctc: bool,
    /// Whether the host's DTR pulls /RESET, which no stock board has.
    pub dtr_resets: bool,
    /// Chooses what RAM holds after power-up.
    pub seed: u64,
    /// Whether the host obeys /RTS. Without, characters are lost when the board is slow.
    pub host_obeys_rts: bool,
    /// A byte of RAM with bits that are stuck at 1: its address and the bits.
    pub stuck: Option<(u16, u8)>,
}

impl BoardSpec {
    /// Processor clocks in a clock of the serial chip.
    fn clock_period(&self) -> u32 {
        self.clock_hz.div_ceil(self.uart_clock_hz.max(1)) as u32
    }

    /// A chip for the ROM socket with these bytes at its start; those for which there is no room
    /// are left out.
    #[must_use]
    pub fn programmed(&self, bytes: &[u8]) -> RomChip {
        let size = match &self.memory {
            MemoryMap::Plain { rom, .. } => rom.len(),
            MemoryMap::Banked => 0x8_0000,
        };
        let mut chip = RomChip::blank(self.chip, size, self.clock_hz);
        chip.load(0, bytes);
        chip
    }
}

/// Reason for which a run returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The time is over.
    Time,
    /// The processor waits in HALT, and nothing is on its way that could wake it.
    Idle,
}

/// The outcome of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// An instruction ran, or an interrupt was accepted.
    Ran,
    /// Time passed, and the processor waited.
    Waited,
    /// The processor waits in HALT, and nothing is on its way that could wake it.
    Idle,
}

/// A running board. A clone goes on as the original does if it hears the same.
#[derive(Clone)]
pub struct SimBoard<L> {
    spec: BoardSpec,
    cpu: Cpu,
    bus: BoardBus,
    clock: u64,
    /// When something outside the processor next happens.
    next_event: u64,
    interrupt: bool,
    /// The host holds /RESET low.
    held: bool,
    /// A device waits for RETI.
    device_served: bool,
    /// The stack pointer before an interrupt was accepted, while it is served.
    service: Option<u16>,
    service_time: u64,
    halted_time: u64,
    probe: Option<Probe>,
    line: L,
}

impl<L: Line> SimBoard<L> {
    /// A board just powered up with these bytes in its ROM; those for which there is no room are
    /// left out.
    #[must_use]
    pub fn new(spec: BoardSpec, rom: &[u8], line: L) -> Self {
        let chip = spec.programmed(rom);
        Self::with_chip(spec, chip, line)
    }

    /// A board just powered up with this chip in its ROM socket.
    #[must_use]
    pub fn with_chip(spec: BoardSpec, chip: RomChip, line: L) -> Self {
        let period = spec.clock_period();
        let mut memory = Memory::new(&spec.memory, chip, spec.writable, spec.seed);
        if let Some((address, bits)) = spec.stuck {
            memory.stick(address, bits);
        }
        let ctc = spec.ctc.then(|| {
            let mut ctc = Ctc::new();
            ctc.connect(0, period.into());
            ctc
        });
        let bus = BoardBus::new(memory, Uart::new(spec.uart, period), ctc);
        Self {
            spec,
            cpu: Cpu::new(),
            bus,
            clock: 0,
            next_event: 0,
            interrupt: false,
            held: false,
            service: None,
            service_time: 0,
            halted_time: 0,
            device_served: false,
            probe: None,
            line,
        }
    }

    /// The reset button, held for a tenth of a second. RAM and the chip in the ROM socket know
    /// nothing of it.
    pub fn reset(&mut self) {
        self.pull_reset();
        self.clock += self.spec.clock_hz / RESET_HOLD;
        self.next_event = self.clock;
    }

    fn pull_reset(&mut self) {
        self.cpu.reset();
        self.bus.reset();
        self.interrupt = false;
        self.service = None;
        self.device_served = false;
    }

    /// The profile of the board.
    #[must_use]
    pub fn spec(&self) -> &BoardSpec {
        &self.spec
    }

    /// The chip in the ROM socket as a power cut would leave it now.
    #[must_use]
    pub fn chip_after_cut(&self) -> RomChip {
        let mut chip = self.bus.chip().clone();
        chip.power_cut(self.clock);
        chip
    }

    /// Starts to measure.
    pub fn set_probe(&mut self, probe: Probe) {
        self.probe = Some(probe);
    }

    /// Returns the measurements.
    pub fn probe_mut(&mut self) -> Option<&mut Probe> {
        self.probe.as_mut()
    }

    /// Runs for about `t_states`: until the first instruction that ends after them, or until
    /// nothing can happen any more without the host.
    pub fn run_for(&mut self, t_states: u64) -> Stop {
        let end = self.clock + t_states;
        while self.clock < end {
            if self.clock >= self.next_event {
                self.serve_devices();
            }
            if !(self.held || self.may_accept() || self.cpu.is_halted()) {
                self.run_until(end.min(self.next_event));
            } else if self.turn(Self::step) == Turn::Idle {
                return Stop::Idle;
            }
        }
        Stop::Time
    }

    /// Whether an interrupt is accepted before the next instruction, or the one after EI.
    fn may_accept(&self) -> bool {
        self.interrupt && self.cpu.enables_interrupts()
    }

    /// Runs instructions for which no interrupt can be accepted, until the clock says so or there
    /// is something to look at.
    fn run_until(&mut self, end: u64) {
        self.observe();
        let begun = self.clock;
        self.bus.begin(begun, end);
        let probe = self.probe.as_ref().filter(|_| self.service.is_none());
        let ends = probe.map_or(self.service, Probe::ends_call);
        let watched = probe.map_or(&[][..], Probe::watched);
        if ends.is_none() && watched.is_empty() {
            self.cpu.run(&mut self.bus, |_, bus, time| bus.clock.tick(time));
        } else {
            let ends = ends.map_or(NOWHERE, u32::from);
            self.cpu.run(&mut self.bus, |cpu, bus, time| {
                bus.clock.tick(time)
                    && u32::from(cpu.sp()) != ends
                    && watched.get(usize::from(cpu.pc())).is_none_or(Option::is_none)
            });
        }
        self.clock = self.bus.clock.now();
        self.settle(self.cpu.sp(), false, self.clock - begun);
    }

    /// Runs one instruction, and whatever devices do before it; or lets time pass while the
    /// processor waits.
    pub fn advance(&mut self) -> Turn {
        self.turn(Self::step)
    }

    /// Runs one instruction, and whatever devices do before it; or lets time pass while the
    /// processor waits. Every access of the instruction goes to `seen`, which is emptied before.
    pub fn watched_turn(&mut self, seen: &RefCell<Vec<Access>>) -> Turn {
        seen.borrow_mut().clear();
        self.turn(|board| {
            board.step_on(|cpu, bus, vector| cpu.step(&mut Watched { bus, seen }, vector));
        })
    }

    #[inline(always)]
    fn turn(&mut self, step: impl FnOnce(&mut Self)) -> Turn {
        if self.clock >= self.next_event {
            self.serve_devices();
        }
        if self.held {
            self.clock = self.next_event;
        } else if !self.cpu.is_halted() || self.may_accept() {
            step(self);
            return Turn::Ran;
        } else if let Some(at) = self.something_to_come() {
            let time = self.cpu.wait(at.saturating_sub(self.clock));
            self.halted_time += time;
            self.clock += time;
            self.next_event = self.clock;
        } else {
            return Turn::Idle;
        }
        Turn::Waited
    }

    /// Has a character complete in the serial chip when the clock says `at`, to the T-state,
    /// whatever the line does.
    pub fn receive_at(&mut self, value: u8, at: u64) {
        let uart = self.bus.uart.get_mut();
        uart.start_receiving(value, true, at.saturating_sub(uart.receive_time()));
        self.next_event = self.next_event.min(at);
    }

    /// Runs one instruction.
    pub fn step(&mut self) {
        self.step_on(|cpu, bus, vector| cpu.step(bus, vector));
    }

    fn step_on(&mut self, execute: impl FnOnce(&mut Cpu, &mut BoardBus, Option<u8>) -> u32) {
        self.observe();
        self.bus.clock.set(self.clock);
        let sp = self.cpu.sp();
        let vector = self.interrupt.then(|| self.bus.vector());
        let time = u64::from(execute(&mut self.cpu, &mut self.bus, vector));
        self.clock += time;
        self.settle(sp, self.cpu.accepted_interrupt(), time);
    }

    /// Has the probe look at the processor before an instruction.
    fn observe(&mut self) {
        if self.service.is_none()
            && let Some(probe) = &mut self.probe
        {
            let clock = self.clock - self.service_time;
            let registers = || self.cpu.registers();
            probe.observe(self.cpu.pc(), self.cpu.sp(), clock, registers, |at| self.bus.read(at));
        }
    }

    /// Tells the devices what the processor has done in the last `time`; `sp` was the stack pointer
    /// before an interrupt was accepted.
    fn settle(&mut self, sp: u16, accepted: bool, time: u64) {
        let returned = self.bus.returned.take();
        if accepted {
            self.bus.acknowledge();
            self.device_served = self.bus.in_service();
        } else if returned && self.device_served {
            self.bus.return_from_interrupt();
            self.device_served = self.bus.in_service();
        }
        self.count_service(sp, accepted, time);
        if self.bus.touched.take() {
            self.next_event = self.clock;
        }
    }

    /// T-states since power came on.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// T-states that went into interrupt service.
    #[must_use]
    pub fn service_time(&self) -> u64 {
        self.service_time
    }

    /// T-states for which the processor has waited in HALT; those are left out in which nothing
    /// could wake it.
    #[must_use]
    pub fn halted_time(&self) -> u64 {
        self.halted_time
    }

    /// Whether the last turn accepted an interrupt instead of running an instruction.
    #[must_use]
    pub fn accepted_interrupt(&self) -> bool {
        self.cpu.accepted_interrupt()
    }

    /// Whether an interrupt is being served.
    #[must_use]
    pub fn in_service(&self) -> bool {
        self.service.is_some()
    }

    /// The processor's registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.cpu.registers()
    }

    /// Sets the processor's registers.
    pub fn set_registers(&mut self, registers: &Registers) {
        self.cpu.set_registers(registers);
    }

    /// Memory and devices.
    pub fn bus(&self) -> &BoardBus {
        &self.bus
    }

    /// Memory and devices, to change them.
    pub fn bus_mut(&mut self) -> &mut BoardBus {
        &mut self.bus
    }

    /// Processor clock in Hz.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        self.spec.clock_hz
    }

    /// The far end of the line.
    pub fn line(&self) -> &L {
        &self.line
    }

    /// The far end of the line, to change it.
    pub fn line_mut(&mut self) -> &mut L {
        &mut self.line
    }

    fn count_service(&mut self, sp: u16, accepted: bool, time: u64) {
        if accepted && self.service.is_none() {
            self.service = Some(sp);
        }
        if let Some(before) = self.service {
            self.service_time += time;
            if self.cpu.sp() == before {
                self.service = None;
            }
        }
    }

    /// When a device next changes by itself, after a look at the line.
    fn something_to_come(&mut self) -> Option<u64> {
        self.bus.next_event().or_else(|| {
            self.serve_devices();
            self.bus.next_event().or(self.may_accept().then_some(self.clock))
        })
    }

    /// Lets the devices catch up, moves characters between the serial chip and the line, and finds
    /// out when to look again.
    fn serve_devices(&mut self) {
        self.bus.clock.set(self.clock);
        if let Some(sent) = self.bus.advance(self.clock) {
            let heard = self.across(sent);
            self.line.transmit(heard);
        }
        let held = self.spec.dtr_resets && self.line.holds_reset();
        if held && !self.held {
            self.pull_reset();
        }
        self.held = held;
        self.receive();
        self.interrupt = self.bus.interrupt();
        self.next_event = self.bus.next_event().unwrap_or(u64::MAX).min(self.clock + QUIET_POLL);
    }

    /// Starts the next character on the line, if the receiver can take one and the host sends.
    fn receive(&mut self) {
        let uart = self.bus.uart.get_mut();
        if uart.can_receive()
            && !(uart.rts_high() && self.spec.host_obeys_rts && self.line.obeys_rts())
            && let Some(value) = self.line.receive()
        {
            let good = self.line.speed_matches();
            let value = self.across(value);
            self.bus.uart.get_mut().start_receiving(value, good, self.clock);
        }
    }

    /// Returns the character as the other side receives it.
    fn across(&self, value: u8) -> u8 {
        if self.line.speed_matches() { value } else { garble(value) }
    }
}
