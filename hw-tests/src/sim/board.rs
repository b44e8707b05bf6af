//! A board: processor, bus and line on one clock.

use std::ops::RangeInclusive;

use super::bus::{BoardBus, FLOATING};
use super::cpu::{Bus, Cpu, Registers};
use super::line::Line;
use super::probe::Probe;

/// How long the receiver looks away, in T-states, after it has found the line quiet.
const QUIET_POLL: u64 = 10_000;
/// The opcode DI, the one instruction that turns interrupts off as accepting one does.
const DI: u8 = 0xF3;

/// What a board is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardSpec {
    /// Processor clock in Hz.
    pub clock_hz: u64,
    /// Clock of the serial chip in Hz.
    pub uart_clock_hz: u64,
    /// Line speed in baud, which follows from the chip's clock divided by 64.
    pub baud: u32,
    /// Addresses of the ROM.
    pub rom: RangeInclusive<u16>,
    /// Addresses of the RAM.
    pub ram: RangeInclusive<u16>,
    /// Chooses what RAM holds after power-up.
    pub seed: u64,
    /// Whether the host obeys /RTS. Without, characters are lost when the board is slow.
    pub host_obeys_rts: bool,
}

/// Why a run came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The time is over.
    Time,
    /// The processor waits in HALT, and nothing is on its way that could wake it.
    Idle,
}

/// A running board.
pub struct SimBoard<L> {
    spec: BoardSpec,
    cpu: Cpu,
    bus: BoardBus,
    clock: u64,
    /// When something outside the processor next happens.
    next_event: u64,
    interrupt: bool,
    /// The stack pointer before an interrupt was accepted, while it is served.
    service: Option<u16>,
    service_time: u64,
    probe: Option<Probe>,
    line: L,
}

impl<L: Line> SimBoard<L> {
    /// A board just powered up with this ROM in its socket; what the ROM's range does not hold is left out.
    #[must_use]
    pub fn new(spec: BoardSpec, rom: &[u8], line: L) -> Self {
        let ratio = spec.clock_hz.div_ceil(spec.uart_clock_hz.max(1)) as u32;
        let mut bus = BoardBus::new(spec.ram.clone(), spec.seed, ratio);
        let size = usize::from(*spec.rom.end() - *spec.rom.start()) + 1;
        bus.load(*spec.rom.start(), &rom[..rom.len().min(size)]);
        Self {
            spec,
            cpu: Cpu::new(),
            bus,
            clock: 0,
            next_event: 0,
            interrupt: false,
            service: None,
            service_time: 0,
            probe: None,
            line,
        }
    }

    /// The reset button. RAM keeps its content, and the 6850 has no reset pin.
    pub fn reset(&mut self) {
        self.cpu.reset();
        self.service = None;
        self.next_event = self.clock;
    }

    /// Starts to measure.
    pub fn set_probe(&mut self, probe: Probe) {
        self.probe = Some(probe);
    }

    /// What is measured.
    pub fn probe_mut(&mut self) -> Option<&mut Probe> {
        self.probe.as_mut()
    }

    /// Runs for about `t_states`: until the first instruction that ends after them, or until nothing can
    /// happen any more without the host.
    pub fn run_for(&mut self, t_states: u64) -> Stop {
        let end = self.clock + t_states;
        while self.clock < end {
            if self.clock >= self.next_event {
                self.serve_devices();
            }
            if !self.cpu.is_halted() || self.interrupt {
                self.step();
            } else if let Some(at) = self.something_to_come() {
                self.clock = at.max(self.clock);
                self.next_event = self.clock;
            } else {
                return Stop::Idle;
            }
        }
        Stop::Time
    }

    /// Has a character complete in the serial chip when the clock says `at`, to the T-state, whatever the line does.
    pub fn receive_at(&mut self, value: u8, at: u64) {
        let acia = self.bus.acia.get_mut();
        acia.start_receiving(value, true, at.saturating_sub(acia.character_time()));
        self.next_event = self.next_event.min(at);
    }

    /// Runs one instruction.
    pub fn step(&mut self) {
        let pc = self.cpu.pc();
        if self.service.is_none()
            && let Some(probe) = &mut self.probe
        {
            let clock = self.clock - self.service_time;
            let registers = || self.cpu.registers();
            probe.observe(pc, self.cpu.sp(), clock, registers, |at| self.bus.read(at));
        }
        self.bus.now.set(self.clock);
        let (sp, on) = (self.cpu.sp(), self.cpu.interrupts_on());
        let time = u64::from(self.cpu.step(&mut self.bus, self.interrupt.then_some(FLOATING)));
        self.clock += time;
        self.count_service(sp, on && !self.cpu.interrupts_on() && self.bus.read(pc) != DI, time);
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

    /// The far end of the line.
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

    /// When the serial chip next changes by itself, after a look at the line.
    fn something_to_come(&mut self) -> Option<u64> {
        let pending = |board: &mut Self| board.bus.acia.get_mut().next_event();
        pending(self).or_else(|| {
            self.serve_devices();
            pending(self).or(self.interrupt.then_some(self.clock))
        })
    }

    /// Lets the serial chip catch up, moves characters between it and the line, and finds out when to look again.
    fn serve_devices(&mut self) {
        let acia = self.bus.acia.get_mut();
        if let Some(sent) = acia.advance(self.clock) {
            self.line.transmit(sent);
        }
        if acia.can_receive()
            && !(self.spec.host_obeys_rts && acia.rts_high())
            && let Some(value) = self.line.receive()
        {
            let good = self.line.speed_matches();
            let value = if good { value } else { value.reverse_bits() ^ 0x5A };
            acia.start_receiving(value, good, self.clock);
        }
        self.interrupt = acia.interrupt();
        self.next_event = acia.next_event().unwrap_or(u64::MAX).min(self.clock + QUIET_POLL);
    }
}
