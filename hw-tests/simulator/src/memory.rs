//! Memory: the chip in the ROM socket, RAM, and what of both the processor sees at each address.

use std::ops::RangeInclusive;

use super::at28c256::At28c256;
use super::banks::{Banks, PAGE, Page};
use super::bus::FLOATING;
use super::eprom::Eprom;
use super::noise::Noise;
use super::sst39sf::{Sst39sf, SstModel};

/// Addresses are given to chips in stretches of this many bytes.
const SLOT: usize = 0x1000;
/// RAM of the banked module.
const BANKED_RAM: usize = 0x8_0000;

/// Layout of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryMap {
    /// ROM and RAM at fixed addresses, in whole 4 KiB.
    Plain {
        /// Addresses of the ROM.
        rom: RangeInclusive<u16>,
        /// Addresses of the RAM.
        ram: RangeInclusive<u16>,
    },
    /// The module of 512 KiB ROM and 512 KiB RAM with its page registers.
    Banked,
}

/// The chip in the ROM socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChipKind {
    /// Something that the board can't write.
    Eprom,
    /// A flash chip.
    Sst(SstModel),
    /// An EEPROM.
    At28c256,
}

/// The chip in the ROM socket.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each is the chip of that name")]
pub enum RomChip {
    Eprom(Eprom),
    Sst(Sst39sf),
    At28c256(At28c256),
}

impl RomChip {
    /// A blank chip for a socket of this many bytes; flash chips have their own size.
    #[must_use]
    pub fn blank(kind: ChipKind, size: usize, clock_hz: u64) -> Self {
        match kind {
            ChipKind::Eprom => Self::Eprom(Eprom::new(size)),
            ChipKind::Sst(model) => Self::Sst(Sst39sf::new(model, clock_hz)),
            ChipKind::At28c256 => Self::At28c256(At28c256::new(clock_hz)),
        }
    }

    /// Sets cells from `first` on, as an external programmer does; what passes the end is left out.
    pub fn load(&mut self, first: usize, bytes: &[u8]) {
        let cells = match self {
            Self::Eprom(chip) => chip.cells_mut(),
            Self::Sst(chip) => chip.cells_mut(),
            Self::At28c256(chip) => return chip.load(first, bytes),
        };
        for (cell, byte) in cells.iter_mut().skip(first).zip(bytes) {
            *cell = *byte;
        }
    }

    /// The flash chip, if it is one.
    #[must_use]
    pub fn as_sst(&self) -> Option<&Sst39sf> {
        if let Self::Sst(chip) = self { Some(chip) } else { None }
    }

    /// Returns the content of the cell at an offset, whatever the chip is at.
    fn cell(&self, offset: usize, now: u64) -> u8 {
        match self {
            Self::Eprom(chip) => chip.read(offset),
            Self::Sst(chip) => chip.cells()[offset % chip.cells().len()],
            Self::At28c256(chip) => chip.cell(offset, now),
        }
    }

    #[inline]
    fn read(&self, offset: usize, now: u64) -> u8 {
        match self {
            Self::Eprom(chip) => chip.read(offset),
            Self::Sst(chip) => chip.read(offset, now),
            Self::At28c256(chip) => chip.read(offset, now),
        }
    }

    fn write(&mut self, offset: usize, value: u8, now: u64) {
        match self {
            Self::Eprom(_) => {}
            Self::Sst(chip) => chip.write(offset, value, now),
            Self::At28c256(chip) => chip.write(offset, value, now),
        }
    }

    /// Cuts the power.
    pub fn power_cut(&mut self, now: u64) {
        match self {
            Self::Eprom(_) => {}
            Self::Sst(chip) => chip.power_cut(now),
            Self::At28c256(chip) => chip.power_cut(now),
        }
    }
}

/// The device that answers in a stretch of addresses, from which offset on.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Nothing,
    Rom(usize),
    Ram(usize),
}

/// All memory of a board.
#[derive(Clone)]
pub(super) struct Memory {
    chip: RomChip,
    /// Whether the socket's write pin is connected.
    writable: bool,
    ram: Vec<u8>,
    slots: [Slot; 0x1_0000 / SLOT],
    banks: Option<Banks>,
}

impl Memory {
    /// Memory just powered up: RAM and page registers hold anything.
    pub(super) fn new(map: &MemoryMap, chip: RomChip, writable: bool, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let (ram, slots, banks) = match map {
            MemoryMap::Plain { rom, ram } => (ram.len(), plain(rom, ram), None),
            MemoryMap::Banked => {
                let pages = std::array::from_fn(|_| noise.byte());
                (BANKED_RAM, [Slot::Nothing; 16], Some(Banks::new(pages)))
            }
        };
        let ram = (0..ram).map(|_| noise.byte()).collect();
        let mut memory = Self { chip, writable, ram, slots, banks };
        memory.map_banks();
        memory
    }

    #[inline]
    pub(super) fn read(&self, address: u16, now: u64) -> u8 {
        match self.slots[usize::from(address) / SLOT] {
            Slot::Ram(base) => self.ram[base + usize::from(address) % SLOT],
            Slot::Rom(base) => self.chip.read(base + usize::from(address) % SLOT, now),
            Slot::Nothing => FLOATING,
        }
    }

    #[inline]
    pub(super) fn write(&mut self, address: u16, value: u8, now: u64) {
        let within = usize::from(address) % SLOT;
        match self.slots[usize::from(address) / SLOT] {
            Slot::Ram(base) => self.ram[base + within] = value,
            Slot::Rom(base) if self.writable => self.chip.write(base + within, value, now),
            Slot::Rom(_) | Slot::Nothing => {}
        }
    }

    /// Returns the content of memory at an address, without a bus cycle that a chip would notice.
    pub(super) fn peek(&self, address: u16, now: u64) -> u8 {
        match self.slots[usize::from(address) / SLOT] {
            Slot::Rom(base) => self.chip.cell(base + usize::from(address) % SLOT, now),
            Slot::Ram(_) | Slot::Nothing => self.read(address, now),
        }
    }

    /// A copy of what the processor sees, without bus cycles.
    pub(super) fn all(&self, now: u64) -> Box<[u8; 0x1_0000]> {
        let mut copy = Box::new([FLOATING; 0x1_0000]);
        for (slot, bytes) in self.slots.iter().zip(copy.chunks_exact_mut(SLOT)) {
            match *slot {
                Slot::Nothing => {}
                Slot::Ram(base) => bytes.copy_from_slice(&self.ram[base..base + SLOT]),
                Slot::Rom(base) => {
                    for (offset, byte) in (base..).zip(bytes) {
                        *byte = self.chip.cell(offset, now);
                    }
                }
            }
        }
        copy
    }

    /// Sets what memory holds from an address on, ROM as well; what passes FFFFh is left out.
    pub(super) fn load(&mut self, address: u16, mut bytes: &[u8]) {
        let mut address = usize::from(address);
        while !bytes.is_empty() && address < 0x1_0000 {
            let within = address % SLOT;
            let (here, rest) = bytes.split_at(bytes.len().min(SLOT - within));
            match self.slots[address / SLOT] {
                Slot::Nothing => {}
                Slot::Rom(base) => self.chip.load(base + within, here),
                Slot::Ram(base) => {
                    self.ram[base + within..][..here.len()].copy_from_slice(here);
                }
            }
            address += here.len();
            bytes = rest;
        }
    }

    /// A write to a port; whether it changed the map.
    pub(super) fn output(&mut self, port: u8, value: u8) -> bool {
        let changed = self.banks.as_mut().is_some_and(|banks| banks.write(port, value));
        if changed {
            self.map_banks();
        }
        changed
    }

    /// The pin /RESET.
    pub(super) fn reset(&mut self) {
        if let Some(banks) = &mut self.banks {
            banks.reset();
            self.map_banks();
        }
    }

    pub(super) fn chip(&self) -> &RomChip {
        &self.chip
    }

    pub(super) fn chip_mut(&mut self) -> &mut RomChip {
        &mut self.chip
    }

    /// Fills the slots from the page registers.
    fn map_banks(&mut self) {
        let Some(banks) = &self.banks else { return };
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let address = index * SLOT;
            *slot = match banks.page(address / PAGE) {
                Page::Flash(base) => Slot::Rom(base + address % PAGE),
                Page::Ram(base) => Slot::Ram(base + address % PAGE),
            };
        }
    }
}

/// The slots of a board without page registers.
fn plain(rom: &RangeInclusive<u16>, ram: &RangeInclusive<u16>) -> [Slot; 16] {
    std::array::from_fn(|index| {
        let address = (index * SLOT) as u16;
        let offset = |range: &RangeInclusive<u16>| usize::from(address - range.start());
        match address {
            _ if ram.contains(&address) => Slot::Ram(offset(ram)),
            _ if rom.contains(&address) => Slot::Rom(offset(rom)),
            _ => Slot::Nothing,
        }
    })
}
