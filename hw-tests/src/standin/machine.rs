//! The memory behind a stand-in, and programs that really run in it: on a simulated board with a small ROM.

use std::ops::RangeInclusive;

use firmware::profile::Profile;
use tdlasm::link::{Layout, Program, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use crate::rig::board_spec;
use crate::sim::{QueueLine, SimBoard, Stop};

/// T-states between two looks at what a program has said.
const SLICE: u64 = 20_000;
/// Slices that a program gets to answer what it was sent: 27 ms of its own time.
const SLICES: usize = 10;

/// 64 KiB, parts of which keep what is stored.
#[derive(Debug, Clone)]
pub struct Memory {
    bytes: Vec<u8>,
    ram: RangeInclusive<u16>,
    read_only: Option<RangeInclusive<u16>>,
}

impl Memory {
    /// RAM at `ram`, holding anything; elsewhere nothing keeps what is stored.
    #[must_use]
    pub fn new(ram: RangeInclusive<u16>) -> Self {
        let bytes = (0..=u16::MAX).map(|at| (at.wrapping_mul(40_503) >> 7) as u8).collect();
        Self { bytes, ram, read_only: None }
    }

    /// From now on a part of it keeps what it holds.
    pub fn protect(&mut self, range: RangeInclusive<u16>) {
        self.read_only = Some(range);
    }

    /// A byte.
    #[must_use]
    pub fn get(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    /// Stores a byte, where one can be stored.
    pub fn set(&mut self, address: u16, value: u8) {
        let keeps = self.read_only.as_ref().is_some_and(|range| range.contains(&address));
        if self.ram.contains(&address) && !keeps {
            self.bytes[usize::from(address)] = value;
        }
    }

    /// A row of a dump after its address: 16 bytes, then what of them is printable.
    #[must_use]
    pub fn row(&self, address: u16) -> String {
        let bytes: Vec<u8> = (0..16).map(|i| self.get(address.wrapping_add(i))).collect();
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let shown = |byte: &u8| if (0x20..0x7F).contains(byte) { char::from(*byte) } else { '.' };
        format!("{}  {}", digits.join(" "), bytes.iter().map(shown).collect::<String>())
    }
}

/// A program that runs.
pub struct Running {
    board: SimBoard<QueueLine>,
}

impl Running {
    /// Starts what is in the memory at `entry`, with its stack below `stack`.
    #[must_use]
    pub fn start(memory: &Memory, entry: u16, stack: u16) -> Self {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let mut board =
            SimBoard::new(board_spec(&profile), &rom(entry, stack), QueueLine::default());
        board.bus_mut().load(0x8000, &memory.bytes[0x8000..]);
        Self { board }
    }

    /// Gives it a character.
    pub fn hear(&mut self, character: u8) {
        self.board.line_mut().to_board.push_back(character);
    }

    /// Lets it run until it has taken what it was sent, and a little longer; what it says goes to `say`. Whether it
    /// has returned. The memory is as it left it.
    pub fn go(&mut self, memory: &mut Memory, say: &mut Vec<u8>) -> bool {
        let mut slices = SLICES;
        let mut returned = false;
        while slices > 0 {
            let stop = self.board.run_for(SLICE);
            self.keep_protected(memory);
            let line = self.board.line_mut();
            let quiet = line.to_board.is_empty() && line.from_board.is_empty();
            say.append(&mut line.from_board);
            slices = if quiet { slices - 1 } else { SLICES };
            if stop == Stop::Idle {
                // A program may wait in a HALT of its own; the one that ends it is in the ROM.
                returned = self.board.registers().pc < 0x8000;
                slices = 0;
            }
        }
        self.copy_back(memory);
        returned
    }

    /// What keeps its bytes does so while a program runs, too.
    fn keep_protected(&mut self, memory: &Memory) {
        if let Some(range) = &memory.read_only {
            let kept = &memory.bytes[usize::from(*range.start())..=usize::from(*range.end())];
            self.board.bus_mut().load(*range.start(), kept);
        }
    }

    fn copy_back(&self, memory: &mut Memory) {
        let now = self.board.bus().dump(0x8000, 0x8000);
        for (address, byte) in (0x8000..=u16::MAX).zip(now) {
            memory.set(address, byte);
        }
    }
}

/// The ROM, made to start a program at `entry`.
fn rom(entry: u16, stack: u16) -> Vec<u8> {
    let program = assembled();
    let mut bytes = program.image.flat(0xFF);
    for (name, value) in [("ENTRY", entry), ("STACK", stack)] {
        let at = usize::from(program.symbol(name).expect("the ROM exports it"));
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

fn assembled() -> Program {
    let loader = MemoryLoader::new().with("rom.asm", include_str!("rom.asm"));
    let modules = assemble(&loader, &["rom.asm".into()], &Options::default())
        .unwrap_or_else(|error| panic!("{error}"))
        .modules;
    link(&modules, &Layout::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_talks_through_the_rom_and_returns() {
        let mut memory = Memory::new(0x8000..=0xFFFF);
        // RST 10h; INC A; RST 08h; LD (9100h),A; RET
        for (at, byte) in (0x9000..).zip([0xD7, 0x3C, 0xCF, 0x32, 0x00, 0x91, 0xC9]) {
            memory.set(at, byte);
        }
        let mut running = Running::start(&memory, 0x9000, 0xFF00);
        let mut said = Vec::new();
        assert!(!running.go(&mut memory, &mut said), "it waits for a character");
        running.hear(b'A');
        assert!(running.go(&mut memory, &mut said));
        assert_eq!((said.as_slice(), memory.get(0x9100)), (&b"B"[..], b'B'));
    }

    #[test]
    fn rom_and_protected_memory_keep_what_they_hold() {
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
