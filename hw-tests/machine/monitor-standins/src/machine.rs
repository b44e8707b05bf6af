//! The memory of a monitor emulator, and guest programs on a simulated board with a ROM.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use firmware::profile::BoardProfile;
use tdlasm::link::{Layout, Program, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use z80_core::Bus;

use board_simulator::{
    BoardModel, MemoryMap, QueueLine, Registers, RunStop, UartModel, board_spec,
};

/// T-states between two polls of a program's output.
const SLICE_T_STATES: u64 = 20_000;
/// Slices without input and output after which a run ends: 27 ms of the program's time.
const IDLE_SLICES: usize = 10;
/// Slices after which a run ends in any case: 54 ms of the program's time.
const MAX_SLICES: usize = 2 * IDLE_SLICES;
/// Size of the small ROM; guest programs have RAM above it only.
const ROM_SIZE: u16 = 0x0100;
/// The granularity of the simulated board's memory map.
const BLOCK_BYTES: u16 = 0x1000;
/// The address at which programs call CP/M, and its target with a TPA of 54 KiB.
const CALL_BDOS: usize = 0x0005;
const BDOS: u16 = 0xD806;
/// Registers on the chip of a Z180, and bits of ITC.
const ICR_AFTER_RESET: u16 = 0x3F;
pub(super) const ITC: u16 = 0xF4;
pub(super) const TRAP: u8 = 0x80;
const UFO: u8 = 0x40;
/// Limit of instructions before the ROM jumps to the program.
const MAX_SETUP_INSTRUCTIONS: usize = 64;

/// 64 KiB of memory, of which only RAM can be written.
#[derive(Debug, Clone)]
pub struct Memory {
    bytes: Vec<u8>,
    ram: RangeInclusive<u16>,
    read_only: Option<RangeInclusive<u16>>,
}

impl Memory {
    /// Creates memory with RAM at `ram`, filled with arbitrary bytes.
    pub fn new(ram: RangeInclusive<u16>) -> Self {
        let bytes = (0..=u16::MAX).map(|at| (at.wrapping_mul(40_503) >> 7) as u8).collect();
        Self { bytes, ram, read_only: None }
    }

    /// Makes a range read-only.
    pub fn protect(&mut self, range: RangeInclusive<u16>) {
        self.read_only = Some(range);
    }

    /// Returns the byte at an address.
    pub fn get(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    /// Stores a byte; ignored outside of RAM and in the read-only range.
    pub fn set(&mut self, address: u16, value: u8) {
        let is_read_only = self.read_only.as_ref().is_some_and(|range| range.contains(&address));
        if self.ram.contains(&address) && !is_read_only {
            self.bytes[usize::from(address)] = value;
        }
    }

    /// Returns the 16 bytes from an address on.
    pub fn read_row(&self, address: u16) -> [u8; 16] {
        std::array::from_fn(|i| self.get(address.wrapping_add(i as u16)))
    }

    /// Stores bytes from an address on, as [`Self::set`] does.
    pub fn load(&mut self, address: u16, bytes: &[u8]) {
        (address..=u16::MAX).zip(bytes).for_each(|(at, byte)| self.set(at, *byte));
    }
}

/// How a program calls the monitor under which it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallAbi {
    /// RST 08h, 10h, 18h of BASIC, RST 30h of SCM.
    Plain,
    /// 0005h of CP/M, a jump to high memory, whose target is the end of the memory for programs.
    Cpm,
    /// RST 08h is HBIOS: function B, unit C, character E.
    Hbios,
}

/// The registers at the start of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InitialRegisters {
    /// A and the flags.
    pub af: u16,
    /// BC.
    pub bc: u16,
    /// DE.
    pub de: u16,
    /// HL.
    pub hl: u16,
}

/// What a program finds at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestStart {
    /// The calls.
    pub calls: CallAbi,
    /// The registers.
    pub registers: InitialRegisters,
    /// The registers on the chip of a Z180, and their values; empty for a Z80.
    pub z180_ports: &'static [(u16, u8)],
}

impl From<CallAbi> for GuestStart {
    fn from(calls: CallAbi) -> Self {
        Self { calls, registers: InitialRegisters::default(), z180_ports: &[] }
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestExit {
    /// It returned; its last registers.
    Returned(Registers),
    /// It jumped to 0000h.
    Restarted,
    /// It ran an undefined opcode at this address of a Z180, which jumps to 0000h.
    InvalidOpcode(u16),
    /// RST 28h: the registers as the Small Computer Monitor shows them.
    Trapped(String),
}

/// A running program.
pub struct GuestProgram {
    board: BoardModel<QueueLine>,
    rom: &'static Program,
    first: u16,
}

impl GuestProgram {
    /// Starts the program in memory at `entry`, with its stack below `stack`.
    pub fn start(memory: &Memory, entry: u16, stack: u16) -> Self {
        Self::start_with(memory, entry, stack, CallAbi::Plain)
    }

    /// Like [`Self::start`], with a choice of what the program finds.
    pub fn start_with(
        memory: &Memory,
        entry: u16,
        stack: u16,
        start: impl Into<GuestStart>,
    ) -> Self {
        let GuestStart { calls, registers, z180_ports } = start.into();
        let program = assembled(!z180_ports.is_empty());
        let code = rom(program, entry, stack, calls);
        let first = (*memory.ram.start()).max(ROM_SIZE);
        let mut board = powered_up(first, z180_ports, &code);
        if first < BLOCK_BYTES {
            board.bus_mut().load(0, &code);
        }
        board.bus_mut().load(first, &memory.bytes[usize::from(first)..]);
        if calls == CallAbi::Cpm {
            let [low, high] = BDOS.to_le_bytes();
            board.bus_mut().load(BDOS, &code[CALL_BDOS..CALL_BDOS + 3]);
            board.bus_mut().load(CALL_BDOS as u16 + 1, &[low, high]);
        }
        let symbol = |name| program.symbol(name).expect("the ROM exports it");
        let start = Registers { pc: symbol("START"), ..board.registers() };
        board.set_registers(&start);
        // The ROM sets up serial chip and stack, and clobbers registers: set them after that.
        for _ in 0..MAX_SETUP_INSTRUCTIONS {
            if board.registers().pc == entry {
                break;
            }
            board.step();
        }
        let InitialRegisters { af, bc, de, hl } = registers;
        board.set_registers(&Registers { af, bc, de, hl, ..board.registers() });
        Self { board, rom: program, first }
    }

    /// Sends it a character.
    pub fn receive(&mut self, character: u8) {
        self.board.line_mut().to_board.push_back(character);
    }

    /// Runs the program until it has received its input and is idle. Appends its output to `out`,
    /// and copies its memory back. Returns how it ended; `None` if it is still running.
    pub fn run(&mut self, memory: &mut Memory, out: &mut Vec<u8>) -> Option<GuestExit> {
        let mut slices = IDLE_SLICES;
        let mut ended = None;
        for _ in 0..MAX_SLICES {
            if slices == 0 {
                break;
            }
            let stop = self.board.run_for(SLICE_T_STATES);
            self.restore_read_only(memory);
            let line = self.board.line_mut();
            let quiet = line.to_board.is_empty() && line.from_board.is_empty();
            out.append(&mut line.from_board);
            slices = if quiet { slices - 1 } else { IDLE_SLICES };
            if stop == RunStop::Idle {
                ended = self.ended();
                slices = 0;
            }
        }
        self.copy_back(memory);
        ended
    }

    /// Returns how the program ended, by the address of the HALT; `None` for a HALT of its own.
    fn ended(&self) -> Option<GuestExit> {
        let registers = self.board.registers();
        let at = |name| {
            let halt = self.rom.symbol(name).expect("the ROM exports it");
            (halt..=halt + 2).contains(&registers.pc)
        };
        if at("BACK") {
            Some(GuestExit::Returned(registers))
        } else if at("RESTRT") {
            Some(self.trapped_at(&registers).map_or(GuestExit::Restarted, GuestExit::InvalidOpcode))
        } else {
            at("TRAPPD").then(|| GuestExit::Trapped(self.register_dump(&registers)))
        }
    }

    /// Returns the address of the opcode that a Z180 has trapped.
    fn trapped_at(&self, registers: &Registers) -> Option<u16> {
        let is_z180 = matches!(self.board.spec().uart, UartModel::Asci(_));
        let itc = if is_z180 { self.board.bus().input(ITC) } else { 0 };
        let beyond = if itc & UFO != 0 { 2 } else { 1 };
        (itc & TRAP != 0).then(|| self.pushed(registers).wrapping_sub(beyond))
    }

    /// Returns the word on top of the stack.
    fn pushed(&self, registers: &Registers) -> u16 {
        let word = self.board.bus().dump(registers.sp, 2);
        u16::from_le_bytes([word[0], word[1]])
    }

    /// Formats the registers after RST 28h, whose return address is on the stack.
    fn register_dump(&self, registers: &Registers) -> String {
        let pc = self.pushed(registers).wrapping_sub(1);
        let Registers { af, bc, de, hl, ix, iy, .. } = *registers;
        let flags: String = [(7, 'S'), (6, 'Z'), (4, 'H'), (2, 'P'), (1, 'N'), (0, 'C')]
            .map(|(bit, name)| if af & (1 << bit) == 0 { '-' } else { name })
            .iter()
            .collect();
        let (sign, rest) = flags.split_at(2);
        format!(
            "PC:{pc:04X} AF:{af:04X} BC:{bc:04X} DE:{de:04X} HL:{hl:04X} IX:{ix:04X} IY:{iy:04X} \
             Flags:{sign}-{}-{}",
            &rest[..1],
            &rest[1..]
        )
    }

    /// Undoes writes of the program to the read-only range.
    fn restore_read_only(&mut self, memory: &Memory) {
        if let Some(range) = &memory.read_only {
            let bytes = &memory.bytes[usize::from(*range.start())..=usize::from(*range.end())];
            self.board.bus_mut().load(*range.start(), bytes);
        }
    }

    /// Copies the board's RAM to `memory`; the read-only range has been restored.
    fn copy_back(&self, memory: &mut Memory) {
        let first = usize::from(self.first);
        let end = usize::from(*memory.ram.end()) + 1;
        let ram = self.board.bus().dump(self.first, end - first);
        memory.bytes[first..end].copy_from_slice(&ram);
    }
}

/// Formats bytes as pairs of digits separated by spaces.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ")
}

/// Formats bytes as characters, with dots for those that can't be printed.
pub(super) fn printable(bytes: &[u8]) -> String {
    let shown = |byte: &u8| if (0x20..0x7F).contains(byte) { char::from(*byte) } else { '.' };
    bytes.iter().map(shown).collect()
}

/// Returns a board with this code from 0000h on and RAM from `first` on, as a Z180's MMU maps it if
/// there are registers of one.
fn powered_up(first: u16, z180_ports: &[(u16, u8)], code: &[u8]) -> BoardModel<QueueLine> {
    let is_z180 = !z180_ports.is_empty();
    let profile = if is_z180 { "sc126" } else { "rc2014-classic" };
    let mut spec = board_spec(&BoardProfile::named(profile).expect("it ships"));
    if !is_z180 {
        // A board with RAM from the bottom up has the ROM's program at its start.
        let ram = if first < BLOCK_BYTES { 0..=0xFFFF } else { first..=0xFFFF };
        spec.memory = MemoryMap::Plain { rom: 0..=BLOCK_BYTES - 1, ram };
    }
    let mut board = BoardModel::new(spec, code, QueueLine::default());
    if is_z180 {
        board.bus_mut().output(ICR_AFTER_RESET, 0xC0);
    }
    for (port, value) in z180_ports {
        board.bus_mut().output(*port, *value);
    }
    board
}

/// Returns the ROM, patched to start a program at `entry`.
fn rom(program: &Program, entry: u16, stack: u16, calls: CallAbi) -> Vec<u8> {
    let mut bytes = program.image.flat(0xFF);
    let hbios = u16::from(calls == CallAbi::Hbios);
    for (name, value) in [("ENTRY", entry), ("STACK", stack), ("HBIOS", hbios)] {
        let at = usize::from(program.symbol(name).expect("the ROM exports it"));
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Returns the ROM's program for a Z80 or a Z180, each of which is assembled once.
fn assembled(is_z180: bool) -> &'static Program {
    static PROGRAMS: [OnceLock<Program>; 2] = [const { OnceLock::new() }; 2];
    PROGRAMS[usize::from(is_z180)].get_or_init(|| {
        let loader = MemoryLoader::new().with("rom.asm", include_str!("rom.asm"));
        let defines = vec![("Z180".to_owned(), u16::from(is_z180))];
        let options = Options { defines, ..Options::default() };
        let modules = assemble(&loader, &["rom.asm".into()], &options)
            .unwrap_or_else(|error| panic!("{error}"))
            .modules;
        link(&modules, &Layout::default()).unwrap_or_else(|error| panic!("{error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_does_io_through_the_rom_and_returns() {
        let mut memory = Memory::new(0x8000..=0xFFFF);
        // RST 10h; INC A; RST 08h; LD (9100h),A; RET
        for (at, byte) in (0x9000..).zip([0xD7, 0x3C, 0xCF, 0x32, 0x00, 0x91, 0xC9]) {
            memory.set(at, byte);
        }
        let mut running = GuestProgram::start(&memory, 0x9000, 0xFF00);
        let mut messages = Vec::new();
        assert_eq!(running.run(&mut memory, &mut messages), None, "it waits for a character");
        running.receive(b'A');
        assert!(matches!(running.run(&mut memory, &mut messages), Some(GuestExit::Returned(_))));
        assert_eq!((messages.as_slice(), memory.get(0x9100)), (&b"B"[..], b'B'));
    }

    #[test]
    fn rom_and_protected_memory_are_not_written() {
        let mut memory = Memory::new(0x8000..=0xFFFF);
        memory.protect(0x9000..=0x90FF);
        for address in [0x7FFF, 0x9000, 0x90FF, 0x9100] {
            memory.set(address, !memory.get(address));
        }
        let fresh = Memory::new(0x8000..=0xFFFF);
        assert_eq!(memory.get(0x9100), !fresh.get(0x9100));
        assert!([0x7FFF, 0x9000, 0x90FF].iter().all(|at| memory.get(*at) == fresh.get(*at)));
    }
}
