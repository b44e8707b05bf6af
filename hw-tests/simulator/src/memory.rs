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
const SLOTS: usize = 0x1_0000 / SLOT;
/// T-states for which a chip must have been left alone before its bytes are copied into the view: a
/// program that writes it does so again and again.
const QUIET: u64 = 20_000;
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

    /// Copies the content of the cells from an offset on.
    fn copy(&self, offset: usize, now: u64, to: &mut [u8]) {
        let copied;
        let cells = match self {
            Self::Eprom(chip) => chip.cells(),
            Self::Sst(chip) => chip.cells(),
            Self::At28c256(chip) => {
                copied = chip.cells(now);
                &copied
            }
        };
        let cells = &cells[offset % cells.len()..];
        to.iter_mut().zip(cells).for_each(|(to, cell)| *to = *cell);
    }

    #[inline]
    fn read(&self, offset: usize, now: u64) -> u8 {
        match self {
            Self::Eprom(chip) => chip.read(offset),
            Self::Sst(chip) => chip.read(offset, now),
            Self::At28c256(chip) => chip.read(offset, now),
        }
    }

    /// Whether reads give what the cells hold, and change nothing.
    fn is_plain(&self, now: u64) -> bool {
        match self {
            Self::Eprom(_) => true,
            Self::Sst(chip) => chip.is_plain(now),
            Self::At28c256(chip) => chip.is_plain(now),
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Nothing,
    Rom(usize),
    Ram(usize),
    /// RAM with a bit that is stuck.
    Spoilt(usize),
}

impl Slot {
    /// Copies what it holds, without bus cycles.
    fn copy(&self, ram: &[u8], chip: &RomChip, now: u64, to: &mut [u8]) {
        match *self {
            Self::Nothing => to.fill(FLOATING),
            Self::Ram(base) | Self::Spoilt(base) => to.copy_from_slice(&ram[base..base + SLOT]),
            Self::Rom(base) => chip.copy(base, now, to),
        }
    }
}

/// All memory of a board.
#[derive(Clone)]
pub(super) struct Memory {
    chip: RomChip,
    /// Whether the socket's write pin is connected.
    writable: bool,
    ram: Vec<u8>,
    slots: [Slot; SLOTS],
    banks: Option<Banks>,
    /// The byte at each address, so that the processor needs to ask neither slot nor chip.
    view: Box<[u8; 0x1_0000]>,
    /// Whether the view is right everywhere.
    viewed: bool,
    /// Whether it is right in each slot.
    shown: [bool; SLOTS],
    /// Whether RAM has two addresses, so that a write changes two places.
    doubled: bool,
    /// An address whose byte has bits that are stuck at 1.
    stuck: Option<(u16, u8)>,
    /// When the chip will have been left alone for so long that the view is worth its making.
    quiet: u64,
}

impl Memory {
    /// Memory just powered up: RAM and page registers hold anything.
    pub(super) fn new(map: &MemoryMap, chip: RomChip, writable: bool, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let (ram, slots, banks) = match map {
            MemoryMap::Plain { rom, ram } => (ram.len(), plain(rom, ram), None),
            MemoryMap::Banked => {
                let pages = std::array::from_fn(|_| noise.byte());
                (BANKED_RAM, [Slot::Nothing; SLOTS], Some(Banks::new(pages)))
            }
        };
        let ram = (0..ram).map(|_| noise.byte()).collect();
        let view = Box::new([FLOATING; 0x1_0000]);
        let mut memory = Self {
            chip,
            writable,
            ram,
            slots,
            banks,
            view,
            viewed: false,
            shown: [false; SLOTS],
            doubled: false,
            stuck: None,
            quiet: 0,
        };
        memory.map_banks();
        memory
    }

    /// Has bits of a byte of RAM stuck at 1, whatever is written there.
    pub(super) fn stick(&mut self, address: u16, bits: u8) {
        self.stuck = Some((address, bits));
        (self.viewed, self.shown) = (false, [false; SLOTS]);
        self.spoil();
        if let Slot::Spoilt(base) = self.slots[usize::from(address) / SLOT] {
            self.ram[base + usize::from(address) % SLOT] |= bits;
        }
    }

    /// Marks the slot with the stuck bits, so that no other write has to look for them.
    fn spoil(&mut self) {
        let Some((address, _)) = self.stuck else { return };
        let slot = &mut self.slots[usize::from(address) / SLOT];
        if let Slot::Ram(base) = *slot {
            *slot = Slot::Spoilt(base);
        }
    }

    #[inline(never)]
    fn write_spoilt(&mut self, base: usize, address: u16, value: u8) {
        let stuck = self.stuck.filter(|(at, _)| *at == address).map_or(0, |(_, bits)| bits);
        self.ram[base + usize::from(address) % SLOT] = value | stuck;
        self.view[usize::from(address)] = value | stuck;
    }

    #[inline]
    pub(super) fn read(&self, address: u16, now: u64) -> u8 {
        if self.viewed { self.view[usize::from(address)] } else { self.ask(address, now) }
    }

    #[inline(never)]
    fn ask(&self, address: u16, now: u64) -> u8 {
        match self.slots[usize::from(address) / SLOT] {
            Slot::Ram(base) | Slot::Spoilt(base) => self.ram[base + usize::from(address) % SLOT],
            Slot::Rom(base) => self.chip.read(base + usize::from(address) % SLOT, now),
            Slot::Nothing => FLOATING,
        }
    }

    #[inline(always)]
    pub(super) fn write(&mut self, address: u16, value: u8, now: u64) {
        match self.slots[usize::from(address) / SLOT] {
            Slot::Ram(base) => {
                self.ram[base + usize::from(address) % SLOT] = value;
                self.view[usize::from(address)] = value;
            }
            Slot::Rom(base) if self.writable => {
                self.write_chip(base + usize::from(address) % SLOT, value, now);
            }
            Slot::Spoilt(base) => self.write_spoilt(base, address, value),
            Slot::Rom(_) | Slot::Nothing => {}
        }
    }

    #[inline(never)]
    fn write_chip(&mut self, offset: usize, value: u8, now: u64) {
        self.chip.write(offset, value, now);
        self.doubt_chip();
        self.quiet = now + QUIET;
    }

    /// Makes the view right again if it can be.
    #[inline]
    pub(super) fn look(&mut self, now: u64) {
        if !self.viewed && !self.doubled && now >= self.quiet && self.chip.is_plain(now) {
            self.make_view(now);
        }
    }

    fn make_view(&mut self, now: u64) {
        let places = self.view.chunks_exact_mut(SLOT).zip(&self.slots);
        for ((bytes, slot), shown) in places.zip(&mut self.shown) {
            if !std::mem::replace(shown, true) {
                slot.copy(&self.ram, &self.chip, now, bytes);
            }
        }
        self.viewed = true;
    }

    /// Takes it that the chip will be read differently.
    fn doubt_chip(&mut self) {
        self.viewed = false;
        for (slot, shown) in self.slots.iter().zip(&mut self.shown) {
            *shown &= !matches!(slot, Slot::Rom(_));
        }
    }

    /// Returns the content of memory at an address, without a bus cycle that a chip would notice.
    pub(super) fn peek(&self, address: u16, now: u64) -> u8 {
        match self.slots[usize::from(address) / SLOT] {
            Slot::Rom(base) => self.chip.cell(base + usize::from(address) % SLOT, now),
            Slot::Ram(_) | Slot::Spoilt(_) | Slot::Nothing => self.read(address, now),
        }
    }

    /// A copy of what the processor sees, without bus cycles.
    pub(super) fn all(&self, now: u64) -> Box<[u8; 0x1_0000]> {
        let mut copy = Box::new([FLOATING; 0x1_0000]);
        for (slot, bytes) in self.slots.iter().zip(copy.chunks_exact_mut(SLOT)) {
            slot.copy(&self.ram, &self.chip, now, bytes);
        }
        copy
    }

    /// Sets what memory holds from an address on, ROM as well; what passes FFFFh is left out.
    pub(super) fn load(&mut self, address: u16, mut bytes: &[u8]) {
        (self.viewed, self.shown) = (false, [false; SLOTS]);
        let mut address = usize::from(address);
        while !bytes.is_empty() && address < 0x1_0000 {
            let within = address % SLOT;
            let (here, rest) = bytes.split_at(bytes.len().min(SLOT - within));
            match self.slots[address / SLOT] {
                Slot::Nothing => {}
                Slot::Rom(base) => self.chip.load(base + within, here),
                Slot::Ram(base) | Slot::Spoilt(base) => {
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
        self.doubt_chip();
        &mut self.chip
    }

    /// Fills the slots from the page registers.
    fn map_banks(&mut self) {
        let Some(banks) = &self.banks else { return };
        let pages: [Page; 4] = std::array::from_fn(|window| banks.page(window));
        for (index, (slot, shown)) in self.slots.iter_mut().zip(&mut self.shown).enumerate() {
            let address = index * SLOT;
            let new = match pages[address / PAGE] {
                Page::Flash(base) => Slot::Rom(base + address % PAGE),
                Page::Ram(base) => Slot::Ram(base + address % PAGE),
            };
            *shown &= *slot == new;
            *slot = new;
        }
        self.viewed = false;
        let double = |(index, page): (usize, &Page)| {
            matches!(page, Page::Ram(_)) && pages[..index].contains(page)
        };
        self.doubled = pages.iter().enumerate().any(double);
        if self.doubled {
            self.shown = [false; SLOTS];
        }
        self.spoil();
    }
}

/// The slots of a board without page registers.
fn plain(rom: &RangeInclusive<u16>, ram: &RangeInclusive<u16>) -> [Slot; SLOTS] {
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
