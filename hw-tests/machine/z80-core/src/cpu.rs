//! The processor: steps, interrupts, reset.

use crate::bus::Bus;
use crate::flags::PV;
use crate::registers::{A, BC, DE, F, HL, IX, IY, RegisterFile, Registers};

/// T-states by which acknowledging an interrupt is longer than fetching an opcode.
const ACKNOWLEDGE_T_STATES: u32 = 2;
/// T-states of the instruction that the processor runs over and over in HALT.
const HALT_T_STATES: u64 = 4;
/// The same on a Z180.
const Z180_HALT_T_STATES: u64 = 3;
/// Address of the service in mode 1.
const MODE_1_ADDRESS: u16 = 0x0038;
/// Address of the service of a non-maskable interrupt.
const NMI_ADDRESS: u16 = 0x0066;

/// What the last instruction means for an interrupt right after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastInstruction {
    /// No effect on the acceptance of an interrupt.
    Other,
    /// EI, or a prefix: the interrupt is accepted after the next instruction.
    DelaysInterrupt,
    /// LD A,I or LD A,R: accepting an interrupt clears P/V (UM0080).
    ReadIff2,
}

/// A Z80 or Z180. A clone continues exactly as the original does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    pub(crate) file: RegisterFile,
    /// The second set of the same registers.
    pub(crate) alt: RegisterFile,
    pub(crate) sp: u16,
    /// Stays on HALT while the processor waits.
    pub(crate) pc: u16,
    /// MEMPTR: an internal address register; BIT exposes two of its bits.
    pub(crate) wz: u16,
    pub(crate) i: u8,
    /// R counts in seven bits; the eighth retains the loaded value.
    refresh: u8,
    refresh_high: u8,
    pub(crate) iff1: bool,
    pub(crate) iff2: bool,
    pub(crate) mode: u8,
    pub(crate) halted: bool,
    /// Q: F if the last instruction wrote it, else 0. Bits 3 and 5 after SCF and CCF depend on it.
    pub(crate) q: u8,
    pub(crate) last: LastInstruction,
    accepted: bool,
    pub(crate) is_z180: bool,
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Cpu {
    /// A processor just after power came on: PC, I and R are 0, AF and SP are FFFFh, interrupts off
    /// in mode 0. The others hold 0, though on a chip they hold anything.
    pub fn new() -> Self {
        let mut cpu = Self {
            file: RegisterFile::default(),
            alt: RegisterFile::default(),
            sp: 0xFFFF,
            pc: 0,
            wz: 0,
            i: 0,
            refresh: 0,
            refresh_high: 0,
            iff1: false,
            iff2: false,
            mode: 0,
            halted: false,
            q: 0,
            last: LastInstruction::Other,
            accepted: false,
            is_z180: false,
        };
        cpu.file.set_af(0xFFFF);
        cpu
    }

    /// A Z180 just after power came on, with the registers of [`new`](Self::new).
    pub fn z180() -> Self {
        Self { is_z180: true, ..Self::new() }
    }

    /// Does what /RESET does: PC, I and R are 0, interrupts are off, mode 0 (Zilog UM0080).
    pub fn reset(&mut self) {
        let registers = Registers { pc: 0, i: 0, r: 0, ..self.registers() };
        *self = Self { is_z180: self.is_z180, ..Self::new() };
        self.set_registers(&registers);
    }

    /// Runs one instruction, or the acceptance of an interrupt, and returns its T-states.
    /// `interrupt` is `Some(byte)` while a device holds /INT low, with the byte that it puts on the
    /// bus in the acknowledge cycle. On a Z180 it is the request of an on-chip device, with the low
    /// byte of the address of its vector (register IL with the device's code).
    #[inline]
    pub fn step<B: Bus>(&mut self, bus: &mut B, interrupt: Option<u8>) -> u32 {
        self.accepted = interrupt.is_some() && self.accepts_interrupt();
        match interrupt {
            Some(vector) if self.accepted => self.accept(bus, vector),
            _ if self.is_z180 => self.step_z180(bus),
            _ => {
                self.last = LastInstruction::Other;
                let opcode = self.fetch(bus);
                self.perform::<B, HL>(bus, opcode)
            }
        }
    }

    /// Runs instructions while `should_continue` returns `true` for the T-states of the last one.
    /// It ignores /INT: use it while no device requests an interrupt, or interrupts are off.
    #[inline(always)]
    pub fn run<B: Bus>(
        &mut self,
        bus: &mut B,
        mut should_continue: impl FnMut(&Self, &mut B, u32) -> bool,
    ) {
        self.accepted = false;
        if self.is_z180 {
            loop {
                let time = self.step_z180(bus);
                if !should_continue(self, bus, time) {
                    return;
                }
            }
        }
        loop {
            self.last = LastInstruction::Other;
            let opcode = self.fetch(bus);
            let time = self.execute::<B, HL>(bus, opcode);
            if !should_continue(self, bus, time) {
                break;
            }
        }
    }

    /// Accepts a non-maskable interrupt and returns its T-states.
    pub fn non_maskable_interrupt<B: Bus>(&mut self, bus: &mut B) -> u32 {
        self.begin_acknowledge();
        self.iff1 = false;
        self.push_pc(bus, NMI_ADDRESS);
        11
    }

    /// Whether the last step accepted an interrupt.
    pub fn accepted_interrupt(&self) -> bool {
        self.accepted
    }

    /// Whether interrupts are enabled, which EI and RETN do, though the instruction right after EI
    /// still runs before one is accepted.
    pub fn enables_interrupts(&self) -> bool {
        self.iff1
    }

    /// Returns `true` if the next step accepts an interrupt: they are enabled, and not by the last
    /// instruction.
    #[inline]
    #[must_use]
    pub fn accepts_interrupt(&self) -> bool {
        self.iff1 && self.last != LastInstruction::DelaysInterrupt
    }

    /// Sets both interrupt flip-flops, and the interrupt mode, 0 to 2.
    pub fn set_interrupt_state(&mut self, enabled: bool, mode: u8) {
        (self.iff1, self.iff2, self.mode) = (enabled, enabled, mode.min(2));
    }

    /// Returns the interrupt mode, 0 to 2, and register I.
    pub fn interrupt_vectoring(&self) -> (u8, u8) {
        (self.mode, self.i)
    }

    /// Waits in HALT for at least `t_states`, which end with an instruction, and returns the time.
    pub fn wait(&mut self, t_states: u64) -> u64 {
        let halt = if self.is_z180 { Z180_HALT_T_STATES } else { HALT_T_STATES };
        let instructions = t_states.div_ceil(halt);
        self.refresh = self.refresh.wrapping_add(instructions as u8);
        (self.q, self.last, self.accepted) = (0, LastInstruction::Other, false);
        instructions * halt
    }

    /// Whether the processor waits in HALT.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// The program counter; while the processor waits, it is that of HALT.
    #[inline]
    pub fn pc(&self) -> u16 {
        self.pc
    }

    /// The stack pointer.
    #[inline]
    pub fn sp(&self) -> u16 {
        self.sp
    }

    /// MEMPTR, also called WZ, of which a program sees two bits after BIT.
    pub fn memptr(&self) -> u16 {
        self.wz
    }

    /// A copy of all registers.
    pub fn registers(&self) -> Registers {
        let (main, alt) = (&self.file, &self.alt);
        Registers {
            af: main.af(),
            bc: main.pair(BC),
            de: main.pair(DE),
            hl: main.pair(HL),
            ix: main.pair(IX),
            iy: main.pair(IY),
            sp: self.sp,
            pc: self.pc,
            af_alt: alt.af(),
            bc_alt: alt.pair(BC),
            de_alt: alt.pair(DE),
            hl_alt: alt.pair(HL),
            i: self.i,
            r: self.r(),
        }
    }

    /// Sets all registers. A halted processor stays halted.
    pub fn set_registers(&mut self, to: &Registers) {
        self.file.set_af(to.af);
        self.alt.set_af(to.af_alt);
        for (pair, value) in [(BC, to.bc), (DE, to.de), (HL, to.hl), (IX, to.ix), (IY, to.iy)] {
            self.file.set_pair(pair, value);
        }
        for (pair, value) in [(BC, to.bc_alt), (DE, to.de_alt), (HL, to.hl_alt)] {
            self.alt.set_pair(pair, value);
        }
        (self.sp, self.pc, self.i) = (to.sp, to.pc, to.i);
        self.set_r(to.r);
    }

    /// An instruction whose opcode is there, out of line.
    #[inline(never)]
    pub(crate) fn perform<B: Bus, const X: usize>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        self.execute::<B, X>(bus, opcode)
    }

    /// In mode 0 the byte is an opcode; what follows it comes from memory, though on a board it
    /// would come from the device. RST, the only one in use, has no more bytes.
    fn accept<B: Bus>(&mut self, bus: &mut B, vector: u8) -> u32 {
        if self.last == LastInstruction::ReadIff2 && !self.is_z180 {
            self.file.set(F, self.f() & !PV);
        }
        self.begin_acknowledge();
        (self.iff1, self.iff2) = (false, false);
        match self.mode {
            _ if self.is_z180 => self.vector_z180(bus, vector),
            0 => self.perform::<B, HL>(bus, vector) + ACKNOWLEDGE_T_STATES,
            1 => {
                self.push_pc(bus, MODE_1_ADDRESS);
                11 + ACKNOWLEDGE_T_STATES
            }
            _ => {
                // The table is read after the push, which may have changed it.
                self.push(bus, self.pc);
                self.pc = self.read_word(bus, u16::from_be_bytes([self.i, vector]));
                self.wz = self.pc;
                17 + ACKNOWLEDGE_T_STATES
            }
        }
    }

    /// Leaves HALT and begins an acknowledge cycle.
    fn begin_acknowledge(&mut self) {
        self.refresh = self.refresh.wrapping_add(1);
        self.pc = self.pc.wrapping_add(u16::from(self.halted));
        self.halted = false;
        self.last = LastInstruction::Other;
        self.q = 0;
    }

    #[inline(always)]
    pub(crate) fn push_pc<B: Bus>(&mut self, bus: &mut B, next: u16) {
        self.push(bus, self.pc);
        self.pc = next;
        self.wz = next;
    }

    #[inline(always)]
    pub(crate) fn fetch<B: Bus>(&mut self, bus: &B) -> u8 {
        self.refresh = self.refresh.wrapping_add(1);
        self.next(bus)
    }

    /// Takes an opcode back: it will be fetched again.
    pub(crate) fn unfetch(&mut self) {
        self.refresh = self.refresh.wrapping_sub(1);
        self.pc = self.pc.wrapping_sub(1);
    }

    #[inline(always)]
    pub(crate) fn next<B: Bus>(&mut self, bus: &B) -> u8 {
        let byte = bus.read(self.pc);
        self.pc = self.pc.wrapping_add(1);
        byte
    }

    #[inline(always)]
    pub(crate) fn next_word<B: Bus>(&mut self, bus: &B) -> u16 {
        u16::from_le_bytes([self.next(bus), self.next(bus)])
    }

    #[inline(always)]
    pub(crate) fn read_word<B: Bus>(&self, bus: &B, address: u16) -> u16 {
        u16::from_le_bytes([bus.read(address), bus.read(address.wrapping_add(1))])
    }

    #[inline(always)]
    pub(crate) fn write_word<B: Bus>(&self, bus: &mut B, address: u16, value: u16) {
        let [low, high] = value.to_le_bytes();
        bus.write(address, low);
        bus.write(address.wrapping_add(1), high);
    }

    #[inline(always)]
    pub(crate) fn push<B: Bus>(&mut self, bus: &mut B, value: u16) {
        let [low, high] = value.to_le_bytes();
        bus.write(self.sp.wrapping_sub(1), high);
        self.sp = self.sp.wrapping_sub(2);
        bus.write(self.sp, low);
    }

    #[inline(always)]
    pub(crate) fn pop<B: Bus>(&mut self, bus: &B) -> u16 {
        let value = self.read_word(bus, self.sp);
        self.sp = self.sp.wrapping_add(2);
        value
    }

    #[inline(always)]
    pub(crate) fn a(&self) -> u8 {
        self.file.get(A)
    }

    #[inline(always)]
    pub(crate) fn set_a(&mut self, value: u8) {
        self.file.set(A, value);
    }

    #[inline(always)]
    pub(crate) fn f(&self) -> u8 {
        self.file.get(F)
    }

    #[inline(always)]
    pub(crate) fn set_flags(&mut self, value: u8) {
        self.file.set(F, value);
        self.q = value;
    }

    pub(crate) fn r(&self) -> u8 {
        self.refresh_high | self.refresh & 0x7F
    }

    pub(crate) fn set_r(&mut self, value: u8) {
        self.refresh = value;
        self.refresh_high = value & 0x80;
    }
}
