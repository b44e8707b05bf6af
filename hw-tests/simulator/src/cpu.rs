//! The Z80 behind a narrow interface of ours, so that the core can be exchanged.
//!
//! The core is the crate `zilog_z80`: it passes ZEXALL and counts T-states exactly. It splits a DD
//! or FD prefix in front of an instruction that has no indexed form into a step of its own, as the
//! chip does.

use zilog_z80::bus::Bus as CoreBus;
use zilog_z80::cpu::CPU as Core;

/// The surroundings of the processor. Reading takes `&self`: a device whose state changes when read
/// keeps that state in a cell.
pub trait Bus {
    /// A byte of memory.
    fn read(&self, address: u16) -> u8;
    /// Stores a byte.
    fn write(&mut self, address: u16, value: u8);
    /// Reads a port; the high byte is what the Z80 puts on A8-A15.
    fn input(&self, port: u16) -> u8;
    /// Writes a port.
    fn output(&mut self, port: u16, value: u8);
}

/// All registers that a program can see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the register of that name; `_alt` is the second set")]
pub struct Registers {
    pub af: u16,
    pub bc: u16,
    pub de: u16,
    pub hl: u16,
    pub ix: u16,
    pub iy: u16,
    pub sp: u16,
    pub pc: u16,
    pub af_alt: u16,
    pub bc_alt: u16,
    pub de_alt: u16,
    pub hl_alt: u16,
    pub i: u8,
    pub r: u8,
}

/// A Z80.
pub struct Cpu {
    core: Core,
    accepted: bool,
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Cpu {
    /// A processor just after reset.
    #[must_use]
    pub fn new() -> Self {
        let mut cpu = Self { core: Core::new(), accepted: false };
        cpu.reset();
        cpu
    }

    /// A processor in the same state; `None` where the core keeps a part of it to itself: in HALT.
    /// What it also keeps, it forgets by itself: that EI ran one or two instructions before, and
    /// whether the last one wrote the flags, which only SCF and CCF ask for.
    #[must_use]
    pub fn duplicate(&self) -> Option<Self> {
        if self.is_halted() {
            return None;
        }
        let mut core = Core::new();
        core.reg.wz = self.core.reg.wz;
        core.set_interrupt_state(self.core.im(), self.core.iff1(), self.core.iff2());
        let mut cpu = Self { core, accepted: self.accepted };
        cpu.set_registers(&self.registers());
        Some(cpu)
    }

    /// Does what /RESET does: PC, I and R are 0, interrupts are off, mode 0 (Zilog UM0080).
    pub fn reset(&mut self) {
        let registers = self.registers();
        self.core = Core::new();
        self.set_registers(&Registers { pc: 0, i: 0, r: 0, ..registers });
        self.core.set_interrupt_state(0, false, false);
    }

    /// Runs one instruction, or the acceptance of an interrupt, and returns its T-states.
    /// `interrupt` is the level of /INT: the byte on the bus during the acknowledge cycle while a
    /// device asks.
    pub fn step<B: Bus>(&mut self, bus: &mut B, interrupt: Option<u8>) -> u32 {
        // /INT is a level, the core's request is latched. So it is renewed before each step and
        // taken back as soon as no device asks: else a request that a device dropped would still be
        // served.
        match interrupt {
            Some(vector) => self.core.int_request(vector),
            None if self.core.has_pending_int() => self.core.int_cancel(),
            None => {}
        }
        let time = self.core.execute(&mut Adapter(bus));
        // The core clears its request only by accepting it. EI and a prefix delay that, and a step
        // then runs an instruction although a device asks.
        self.accepted = interrupt.is_some() && !self.core.has_pending_int();
        time
    }

    /// Whether the last step accepted an interrupt.
    #[must_use]
    pub fn accepted_interrupt(&self) -> bool {
        self.accepted
    }

    /// Whether the processor waits in HALT.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.core.is_halted()
    }

    /// The program counter.
    #[must_use]
    pub fn pc(&self) -> u16 {
        self.core.reg.pc
    }

    /// The stack pointer.
    #[must_use]
    pub fn sp(&self) -> u16 {
        self.core.reg.sp
    }

    /// A copy of all registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        let main = &self.core.reg;
        let alt = &self.core.alt;
        Registers {
            af: main.get_af(),
            bc: main.get_bc(),
            de: main.get_de(),
            hl: main.get_hl(),
            ix: main.get_ix(),
            iy: main.get_iy(),
            sp: main.sp,
            pc: main.pc,
            af_alt: alt.get_af(),
            bc_alt: alt.get_bc(),
            de_alt: alt.get_de(),
            hl_alt: alt.get_hl(),
            i: main.i,
            r: main.r,
        }
    }

    /// Sets all registers.
    pub fn set_registers(&mut self, to: &Registers) {
        let main = &mut self.core.reg;
        let alt = &mut self.core.alt;
        main.set_af(to.af);
        main.set_bc(to.bc);
        main.set_de(to.de);
        main.set_hl(to.hl);
        main.set_ix(to.ix);
        main.set_iy(to.iy);
        (main.sp, main.pc, main.i, main.r) = (to.sp, to.pc, to.i, to.r);
        alt.set_af(to.af_alt);
        alt.set_bc(to.bc_alt);
        alt.set_de(to.de_alt);
        alt.set_hl(to.hl_alt);
    }
}

/// Our bus as the core wants it.
struct Adapter<'a, B>(&'a mut B);

impl<B: Bus> CoreBus for Adapter<'_, B> {
    fn read_byte(&self, address: u16) -> u8 {
        self.0.read(address)
    }

    fn write_byte(&mut self, address: u16, data: u8) {
        self.0.write(address, data);
    }

    fn read_io(&self, port: u16) -> u8 {
        self.0.input(port)
    }

    fn write_io(&mut self, port: u16, data: u8) {
        self.0.output(port, data);
    }
}
