//! A board: processor, bus and serial line on one clock.

mod guarded;
mod hardware;

use std::cell::RefCell;

use super::bus::{BoardBus, BusAccess};
use super::ctc::Ctc;
use super::line::SerialLine;
use super::memory::{ChipKind, Memory, MemoryMap, RomChip};
use super::probe::Probe;
use super::uart::{Uart, UartModel};
use super::violation::Violation;
use super::z180::Z180Revision;
use hardware::Hardware;
use z80_core::{Cpu, Registers};

/// The reset button is pressed for 1 / 10 of a second.
const RESET_HOLD_DIVISOR: u64 = 10;
/// T-states from the EI of a program to the read of the character: the instruction after EI (up to
/// 23), the acknowledge cycle (19), the jump to the service (10) and its first instructions (62).
const SERVICE_T_STATES: u64 = 114;

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
    hardware: Hardware,
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
        let hardware = Hardware {
            spec,
            cpu,
            bus,
            clock: 0,
            next_event: 0,
            interrupt: false,
            is_reset_held: false,
            sp_before_interrupt: None,
            service_time: 0,
            halted_time: 0,
            device_served: false,
            probe: None,
            guard: None,
        };
        Self { hardware, line }
    }

    /// Presses the reset button for a tenth of a second; RAM and ROM are not affected.
    pub fn reset(&mut self) {
        self.hardware.pull_reset();
        self.hardware.clock += self.hardware.spec.clock_hz / RESET_HOLD_DIVISOR;
        self.hardware.next_event = self.hardware.clock;
    }

    /// Returns the specification of the board.
    pub fn spec(&self) -> &BoardSpec {
        &self.hardware.spec
    }

    /// Returns a copy of the chip in the ROM socket as a power cut now would leave it.
    pub fn chip_after_power_cut(&self) -> RomChip {
        let mut chip = self.hardware.bus.chip().clone();
        chip.power_cut(self.hardware.clock);
        chip
    }

    /// Attaches a probe, and its guard if it has one.
    pub fn set_probe(&mut self, mut probe: Probe) {
        self.hardware.guard = probe.take_guard().map(Box::new);
        if let Some(guard) = &mut self.hardware.guard {
            guard.set_max_latency(self.hardware.spec.max_interrupt_latency());
            let watched = probe.watched();
            guard.set_probed(|at| watched.get(usize::from(at)).is_some_and(Option::is_some));
        }
        self.hardware.probe = Some(probe);
    }

    /// Takes the violations that the guard has recorded.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        self.hardware.guard.as_mut().map(|guard| guard.take()).unwrap_or_default()
    }

    /// Returns the attached probe.
    pub fn probe_mut(&mut self) -> Option<&mut Probe> {
        self.hardware.probe.as_mut()
    }

    /// Runs for at least `t_states`, to the end of an instruction; or until only a character from
    /// the host can wake the processor.
    pub fn run_for(&mut self, t_states: u64) -> RunStop {
        self.hardware.run_for(&mut self.line, t_states)
    }

    /// Runs one instruction.
    pub fn step(&mut self) {
        self.hardware.step();
    }

    /// Updates the devices and runs one instruction; or, while the processor waits, advances to the
    /// next event of a device.
    pub fn advance(&mut self) -> StepOutcome {
        self.hardware.advance(&mut self.line)
    }

    /// Updates the devices and runs one instruction; or, while the processor waits, advances to the
    /// next event of a device. Every access of the instruction goes to `accesses`, which is emptied
    /// before.
    pub fn step_recorded(&mut self, accesses: &RefCell<Vec<BusAccess>>) -> StepOutcome {
        accesses.borrow_mut().clear();
        self.hardware.step_recorded(&mut self.line, accesses)
    }

    /// Completes the reception of a character at exactly `at` T-states, whatever the line does.
    pub fn receive_at(&mut self, value: u8, at: u64) {
        let uart = self.hardware.bus.uart.get_mut();
        uart.start_receiving(value, true, at.saturating_sub(uart.receive_time()));
        self.hardware.next_event = self.hardware.next_event.min(at);
    }

    /// Returns the T-states since power-up.
    pub fn clock(&self) -> u64 {
        self.hardware.clock
    }

    /// Returns the T-states spent in interrupt handling.
    pub fn service_time(&self) -> u64 {
        self.hardware.service_time
    }

    /// Returns the T-states spent in HALT, without those in which only the host could end it.
    pub fn halted_time(&self) -> u64 {
        self.hardware.halted_time
    }

    /// Returns `true` if the last step accepted an interrupt instead of running an instruction.
    pub fn accepted_interrupt(&self) -> bool {
        self.hardware.cpu.accepted_interrupt()
    }

    /// Returns whether the processor accepts interrupts, at the latest after the instruction that
    /// follows EI, and the interrupt mode, 0 to 2.
    pub fn interrupt_state(&self) -> (bool, u8) {
        (self.hardware.cpu.enables_interrupts(), self.hardware.cpu.interrupt_vectoring().0)
    }

    /// Sets both interrupt flip-flops, and the interrupt mode.
    pub fn set_interrupt_state(&mut self, enabled: bool, mode: u8) {
        self.hardware.cpu.set_interrupt_state(enabled, mode);
    }

    /// Returns `true` while an interrupt is handled.
    pub fn in_service(&self) -> bool {
        self.hardware.sp_before_interrupt.is_some()
    }

    /// Returns the processor's registers.
    pub fn registers(&self) -> Registers {
        self.hardware.cpu.registers()
    }

    /// Sets the processor's registers.
    pub fn set_registers(&mut self, registers: &Registers) {
        self.hardware.cpu.set_registers(registers);
    }

    /// Returns memory and devices.
    pub fn bus(&self) -> &BoardBus {
        &self.hardware.bus
    }

    /// Returns memory and devices for changing.
    pub fn bus_mut(&mut self) -> &mut BoardBus {
        &mut self.hardware.bus
    }

    /// Returns the processor clock in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.hardware.spec.clock_hz
    }

    /// Returns the far end of the line.
    pub fn line(&self) -> &L {
        &self.line
    }

    /// Returns the far end of the line for changing.
    pub fn line_mut(&mut self) -> &mut L {
        &mut self.line
    }
}
