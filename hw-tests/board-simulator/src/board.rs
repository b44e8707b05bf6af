//! A board: processor, bus and serial line on one clock.

mod guarded;

use std::cell::RefCell;

use super::bus::{BoardBus, BusAccess, RecordingBus};
use super::ctc::Ctc;
use super::guard::Guard;
use super::line::{SerialLine, corrupt_by_baud_mismatch};
use super::memory::{ChipKind, Memory, MemoryMap, RomChip};
use super::probe::Probe;
use super::uart::{Uart, UartModel};
use super::z180::Z180Revision;
use z80_core::{Bus, Cpu, Registers};

/// T-states between two polls of an idle line.
const IDLE_LINE_POLL_T_STATES: u64 = 10_000;
/// The reset button is pressed for 1 / 10 of a second.
const RESET_HOLD_DIVISOR: u64 = 10;
/// T-states from the EI of a program to the read of the character: the instruction after EI (up to
/// 23), the acknowledge cycle (19), the jump to the service (10) and its first instructions (62).
const SERVICE_T_STATES: u64 = 114;
/// A value that no 16-bit stack pointer has.
const NO_STACK_POINTER: u32 = 0x1_0000;

/// The specification of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardSpec {
    /// Processor clock in Hz.
    pub clock_hz: u64,
    /// Clock of the serial chip in Hz.
    pub uart_clock_hz: u64,
    /// Line speed in baud.
    pub baud: u32,
    /// The serial chip.
    pub uart: UartModel,
    /// The memory map.
    pub memory: MemoryMap,
    /// The chip in the ROM socket.
    pub chip: ChipKind,
    /// Whether the socket's write pin is connected.
    pub writable: bool,
    /// Whether there is a CTC at ports 88h to 8Bh, whose channel 0 clocks channel A of the SIO.
    pub ctc: bool,
    /// Whether the host's DTR is connected to /RESET. No stock board has that connection.
    pub dtr_resets: bool,
    /// Seed of the content of RAM after power-up.
    pub seed: u64,
    /// Whether the host stops sending while /RTS is high; if not, characters may be lost.
    pub host_obeys_rts: bool,
    /// A defective byte of RAM: its address, and the bits that are stuck at 1.
    pub stuck: Option<(u16, u8)>,
}

impl BoardSpec {
    /// Returns the processor clocks per clock of the serial chip.
    fn clock_period(&self) -> u32 {
        self.clock_hz.div_ceil(self.uart_clock_hz.max(1)) as u32
    }

    /// Returns the most T-states for which a program may turn interrupts off without losing a
    /// character that arrives meanwhile. The 68B50 keeps one character and receives the next in its
    /// shift register (Motorola MC6850 data sheet, "Receive"); the SIO keeps three (Zilog UM0081,
    /// "Receive Data FIFO"), the ASCI four or one by its revision, a 16C550 sixteen, of which three
    /// may be there without an interrupt. A character has ten bits.
    pub fn max_interrupt_latency(&self) -> u64 {
        let characters = match self.uart {
            UartModel::Acia => 1,
            UartModel::Sio => 3,
            UartModel::Asci(Z180Revision::N) => 4,
            UartModel::Asci(Z180Revision::K) => 1,
            UartModel::Ns550 => 13,
        };
        let character = 10 * self.clock_hz / u64::from(self.baud.max(1));
        (characters * character).saturating_sub(SERVICE_T_STATES)
    }

    /// Returns a chip for the ROM socket with `bytes` at its start, as far as they fit.
    pub fn programmed(&self, bytes: &[u8]) -> RomChip {
        let size = match &self.memory {
            MemoryMap::Plain { rom, .. } => rom.len(),
            MemoryMap::Banked | MemoryMap::Mmu => 0x8_0000,
        };
        let mut chip = RomChip::blank(self.chip, size, self.clock_hz);
        chip.load(0, bytes);
        chip
    }
}

/// The reason why [`BoardModel::run_for`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStop {
    /// The requested time has elapsed.
    TimeElapsed,
    /// The processor is halted, and no interrupt can occur until the host sends a character.
    Idle,
}

/// The outcome of a simulated step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// An instruction ran, or an interrupt was accepted.
    Executed,
    /// The processor waited, halted or in reset, until the next event of a device.
    Waited,
    /// The processor is halted, and no interrupt can occur until the host sends a character.
    Idle,
}

/// A simulated board with the far end of its serial line. It is deterministic: a clone behaves as
/// the original if it receives the same characters.
#[derive(Clone)]
pub struct BoardModel<L> {
    spec: BoardSpec,
    cpu: Cpu,
    bus: BoardBus,
    clock: u64,
    /// When the devices must be updated next.
    next_event: u64,
    interrupt: bool,
    /// Whether the host holds /RESET low.
    is_reset_held: bool,
    /// Whether a device is in service, until RETI.
    device_served: bool,
    /// The stack pointer before the interrupt that is being handled.
    service: Option<u16>,
    service_time: u64,
    halted_time: u64,
    probe: Option<Probe>,
    guard: Option<Box<Guard>>,
    line: L,
}

impl<L: SerialLine> BoardModel<L> {
    /// Powers up a board with these bytes in its ROM. Bytes beyond the end of the ROM are ignored.
    pub fn new(spec: BoardSpec, rom: &[u8], line: L) -> Self {
        let chip = spec.programmed(rom);
        Self::with_chip(spec, chip, line)
    }

    /// Powers up a board with this chip in its ROM socket.
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
        let is_z180 = matches!(spec.uart, UartModel::Asci(_));
        let cpu = if is_z180 { Cpu::z180() } else { Cpu::new() };
        Self {
            spec,
            cpu,
            bus,
            clock: 0,
            next_event: 0,
            interrupt: false,
            is_reset_held: false,
            service: None,
            service_time: 0,
            halted_time: 0,
            device_served: false,
            probe: None,
            guard: None,
            line,
        }
    }

    /// Presses the reset button for a tenth of a second; RAM and ROM are not affected.
    pub fn reset(&mut self) {
        self.pull_reset();
        self.clock += self.spec.clock_hz / RESET_HOLD_DIVISOR;
        self.next_event = self.clock;
    }

    fn pull_reset(&mut self) {
        self.cpu.reset();
        self.bus.reset();
        self.interrupt = false;
        self.service = None;
        self.device_served = false;
        if let Some(guard) = &mut self.guard {
            guard.reset();
        }
    }

    /// Returns the specification of the board.
    pub fn spec(&self) -> &BoardSpec {
        &self.spec
    }

    /// Returns a copy of the chip in the ROM socket as a power cut now would leave it.
    pub fn chip_after_power_cut(&self) -> RomChip {
        let mut chip = self.bus.chip().clone();
        chip.power_cut(self.clock);
        chip
    }

    /// Returns the attached probe.
    pub fn probe_mut(&mut self) -> Option<&mut Probe> {
        self.probe.as_mut()
    }

    /// Runs for at least `t_states`, to the end of an instruction; or until only a character from
    /// the host can wake the processor.
    pub fn run_for(&mut self, t_states: u64) -> RunStop {
        let end = self.clock + t_states;
        while self.clock < end {
            if self.clock >= self.next_event {
                self.serve_devices();
            }
            if !(self.is_reset_held || self.may_accept() || self.cpu.is_halted()) {
                self.run_until(end.min(self.next_event));
            } else if self.step_or_wait(Self::step) == StepOutcome::Idle {
                return RunStop::Idle;
            }
        }
        RunStop::TimeElapsed
    }

    /// Returns `true` if an interrupt is accepted before the next instruction, or the one after EI.
    fn may_accept(&self) -> bool {
        self.interrupt && self.cpu.enables_interrupts()
    }

    /// Runs instructions during which no interrupt can be accepted, until `end`, a device access or
    /// an address that the probe records.
    fn run_until(&mut self, end: u64) {
        self.observe_probe();
        let start = self.clock;
        self.bus.begin(start, end);
        if self.service.is_none()
            && let Some(guard) = self.guard.take()
        {
            self.guard = Some(self.run_with(guard));
            self.clock = self.bus.clock.now();
            return self.update_devices(self.cpu.sp(), false, self.clock - start);
        }
        let probe = self.probe.as_ref().filter(|_| self.service.is_none());
        let ends = probe.map_or(self.service, Probe::ends_call);
        let watched = probe.map_or(&[][..], Probe::watched);
        if ends.is_none() && watched.is_empty() {
            self.cpu.run(&mut self.bus, |_, bus, time| bus.clock.tick(time));
        } else {
            let ends = ends.map_or(NO_STACK_POINTER, u32::from);
            self.cpu.run(&mut self.bus, |cpu, bus, time| {
                bus.clock.tick(time)
                    && u32::from(cpu.sp()) != ends
                    && watched.get(usize::from(cpu.pc())).is_none_or(Option::is_none)
            });
        }
        self.clock = self.bus.clock.now();
        self.update_devices(self.cpu.sp(), false, self.clock - start);
    }

    /// Updates the devices and runs one instruction; or, while the processor waits, advances to the
    /// next event of a device.
    pub fn advance(&mut self) -> StepOutcome {
        self.step_or_wait(Self::step)
    }

    /// Updates the devices and runs one instruction; or, while the processor waits, advances to the
    /// next event of a device. Every access of the instruction goes to `accesses`, which is emptied
    /// before.
    pub fn step_recorded(&mut self, accesses: &RefCell<Vec<BusAccess>>) -> StepOutcome {
        accesses.borrow_mut().clear();
        self.step_or_wait(|board| {
            board.step_on(|cpu, bus, vector| cpu.step(&mut RecordingBus { bus, accesses }, vector));
        })
    }

    #[inline(always)]
    fn step_or_wait(&mut self, step: impl FnOnce(&mut Self)) -> StepOutcome {
        if self.clock >= self.next_event {
            self.serve_devices();
        }
        if self.is_reset_held {
            self.clock = self.next_event;
        } else if !self.cpu.is_halted() || self.may_accept() {
            step(self);
            return StepOutcome::Executed;
        } else if let Some(at) = self.next_device_event() {
            let time = self.cpu.wait(at.saturating_sub(self.clock));
            self.halted_time += time;
            self.clock += time;
            self.next_event = self.clock;
        } else {
            return StepOutcome::Idle;
        }
        StepOutcome::Waited
    }

    /// Completes the reception of a character at exactly `at` T-states, whatever the line does.
    pub fn receive_at(&mut self, value: u8, at: u64) {
        let uart = self.bus.uart.get_mut();
        uart.start_receiving(value, true, at.saturating_sub(uart.receive_time()));
        self.next_event = self.next_event.min(at);
    }

    /// Runs one instruction.
    pub fn step(&mut self) {
        if self.service.is_none()
            && let Some(guard) = self.guard.take()
        {
            return self.step_with(guard);
        }
        self.step_on(|cpu, bus, vector| cpu.step(bus, vector));
    }

    fn step_on(&mut self, execute: impl FnOnce(&mut Cpu, &mut BoardBus, Option<u8>) -> u32) {
        self.observe_probe();
        self.bus.clock.set(self.clock);
        let sp = self.cpu.sp();
        let vector = self.interrupt.then(|| self.bus.vector());
        let time = u64::from(execute(&mut self.cpu, &mut self.bus, vector));
        self.clock += time;
        self.update_devices(sp, self.cpu.accepted_interrupt(), time);
    }

    /// Passes the state before an instruction to the probe.
    fn observe_probe(&mut self) {
        if self.service.is_none()
            && let Some(probe) = &mut self.probe
        {
            let clock = self.clock - self.service_time;
            let registers = || self.cpu.registers();
            probe.observe(self.cpu.pc(), self.cpu.sp(), clock, registers, |at| self.bus.read(at));
        }
    }

    /// Reports to the devices what the processor did in the last `time` T-states. `sp` is the stack
    /// pointer before an interrupt was accepted.
    fn update_devices(&mut self, sp: u16, accepted: bool, time: u64) {
        let returned = self.bus.reti_executed.take();
        if accepted {
            self.bus.acknowledge();
            self.device_served = self.bus.in_service();
        } else if returned && self.device_served {
            self.bus.return_from_interrupt();
            self.device_served = self.bus.in_service();
        }
        self.count_service(sp, accepted, time);
        if self.bus.device_accessed.take() {
            self.next_event = self.clock;
        }
    }

    /// Returns the T-states since power-up.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Returns the T-states spent in interrupt handling.
    pub fn service_time(&self) -> u64 {
        self.service_time
    }

    /// Returns the T-states spent in HALT, without those in which only the host could end it.
    pub fn halted_time(&self) -> u64 {
        self.halted_time
    }

    /// Returns `true` if the last step accepted an interrupt instead of running an instruction.
    pub fn accepted_interrupt(&self) -> bool {
        self.cpu.accepted_interrupt()
    }

    /// Returns `true` while an interrupt is handled.
    pub fn in_service(&self) -> bool {
        self.service.is_some()
    }

    /// Returns the processor's registers.
    pub fn registers(&self) -> Registers {
        self.cpu.registers()
    }

    /// Sets the processor's registers.
    pub fn set_registers(&mut self, registers: &Registers) {
        self.cpu.set_registers(registers);
    }

    /// Returns memory and devices.
    pub fn bus(&self) -> &BoardBus {
        &self.bus
    }

    /// Returns memory and devices for changing.
    pub fn bus_mut(&mut self) -> &mut BoardBus {
        &mut self.bus
    }

    /// Returns the processor clock in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.spec.clock_hz
    }

    /// Returns the far end of the line.
    pub fn line(&self) -> &L {
        &self.line
    }

    /// Returns the far end of the line for changing.
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

    /// Returns when a device next changes its state, after polling the line.
    fn next_device_event(&mut self) -> Option<u64> {
        self.bus.next_event().or_else(|| {
            self.serve_devices();
            self.bus.next_event().or(self.may_accept().then_some(self.clock))
        })
    }

    /// Advances the devices to the clock, moves characters between serial chip and line, and sets
    /// the time of the next update.
    fn serve_devices(&mut self) {
        self.bus.clock.set(self.clock);
        if let Some(sent) = self.bus.advance(self.clock) {
            let received = self.as_received(sent);
            self.line.transmit(received);
        }
        let held = self.spec.dtr_resets && self.line.holds_reset();
        if held && !self.is_reset_held {
            self.pull_reset();
        }
        self.is_reset_held = held;
        self.receive();
        self.interrupt = self.bus.interrupt();
        self.next_event =
            self.bus.next_event().unwrap_or(u64::MAX).min(self.clock + IDLE_LINE_POLL_T_STATES);
    }

    /// Starts to receive the next character, if the receiver is free and the host sends one.
    fn receive(&mut self) {
        let uart = self.bus.uart.get_mut();
        if uart.can_receive()
            && !(uart.rts_high() && self.spec.host_obeys_rts && self.line.obeys_rts())
            && let Some(value) = self.line.receive()
        {
            let good = self.line.speed_matches();
            let value = self.as_received(value);
            self.bus.uart.get_mut().start_receiving(value, good, self.clock);
        }
    }

    /// Returns a character as the other side receives it.
    fn as_received(&self, value: u8) -> u8 {
        if self.line.speed_matches() { value } else { corrupt_by_baud_mismatch(value) }
    }
}
