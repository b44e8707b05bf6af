//! Memory: the chip in the ROM socket, RAM, and the map from processor addresses to both.

use std::ops::RangeInclusive;

use super::at28c256::At28c256;
use super::banks::{BankedPage, Banks, PAGE_BYTES};
use super::eprom::Eprom;
use super::noise::Noise;
use super::sst39sf::{Sst39sf, SstModel};

/// The value read from an address or port that no device drives. It differs between boards; 78h was
/// measured on one.
pub(super) const FLOATING_BYTE: u8 = 0x78;
/// The granularity of the memory map in bytes.
const BLOCK_BYTES: usize = 0x1000;
const BLOCKS: usize = 0x1_0000 / BLOCK_BYTES;
/// T-states without a write to the chip before its bytes are copied into the view. Programs write
/// to chips in bursts, and each write invalidates the view.
const CHIP_SETTLE_T_STATES: u64 = 20_000;
/// Bytes of RAM, and of ROM, on the banked module and behind an MMU.
const BANKED_RAM: usize = 0x8_0000;

/// Layout of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryMap {
    /// ROM and RAM at fixed addresses, in multiples of 4 KiB.
    Plain {
        /// Addresses of the ROM.
        rom: RangeInclusive<u16>,
        /// Addresses of the RAM.
        ram: RangeInclusive<u16>,
    },
    /// The module of 512 KiB ROM and 512 KiB RAM with its page registers.
    Banked,
    /// A Z180 with 512 KiB ROM at physical address 00000h and 512 KiB RAM at 80000h.
    Mmu,
}

/// The chip in the ROM socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChipKind {
    /// A chip that the board cannot write.
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
    /// Creates a blank chip for a socket of `size` bytes; flash chips and EEPROMs have their own.
    pub fn blank(kind: ChipKind, size: usize, clock_hz: u64) -> Self {
        match kind {
            ChipKind::Eprom => Self::Eprom(Eprom::new(size)),
            ChipKind::Sst(model) => Self::Sst(Sst39sf::new(model, clock_hz)),
            ChipKind::At28c256 => Self::At28c256(At28c256::new(clock_hz)),
        }
    }

    /// Sets the cells from `first` on, as a programmer does; bytes beyond the chip are ignored.
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

    /// Returns the flash chip, or `None` if the socket holds another kind of chip.
    pub fn as_sst(&self) -> Option<&Sst39sf> {
        if let Self::Sst(chip) = self { Some(chip) } else { None }
    }

    /// Returns the content of a cell without a bus cycle, even while the chip is busy.
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

    /// Returns `true` if reads return the content of the cells and have no side effect.
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

    /// Simulates a power cut at `now`.
    pub fn power_cut(&mut self, now: u64) {
        match self {
            Self::Eprom(_) => {}
            Self::Sst(chip) => chip.power_cut(now),
            Self::At28c256(chip) => chip.power_cut(now),
        }
    }
}

/// The device that a block of addresses is mapped to, with the block's offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mapping {
    Nothing,
    Rom(usize),
    Ram(usize),
    /// RAM in which a byte has stuck bits.
    RamWithStuckBits(usize),
}

impl Mapping {
    /// Copies the content of the block, without bus cycles.
    fn copy(&self, ram: &[u8], chip: &RomChip, now: u64, to: &mut [u8]) {
        match *self {
            Self::Nothing => to.fill(FLOATING_BYTE),
            Self::Ram(base) | Self::RamWithStuckBits(base) => {
                to.copy_from_slice(&ram[base..base + BLOCK_BYTES])
            }
            Self::Rom(base) => chip.copy(base, now, to),
        }
    }
}

#[derive(Clone)]
pub(super) struct Memory {
    chip: RomChip,
    /// Whether the socket's write pin is connected.
    writable: bool,
    ram: Vec<u8>,
    blocks: [Mapping; BLOCKS],
    banks: Option<Banks>,
    /// A copy of the byte at each address, so that most reads are one array access.
    view: Box<[u8; 0x1_0000]>,
    /// Whether all of `view` is up to date.
    view_valid: bool,
    /// Whether each block of `view` is up to date.
    block_valid: [bool; BLOCKS],
    /// Whether a page of RAM is mapped twice; `view` is not used then.
    ram_aliased: bool,
    /// An address whose byte has bits that are stuck at 1.
    stuck: Option<(u16, u8)>,
    /// The time from which rebuilding the view is worthwhile.
    chip_settled_at: u64,
}

impl Memory {
    /// Creates memory as after power-up: RAM and page registers hold pseudo-random values.
    pub(super) fn new(map: &MemoryMap, chip: RomChip, writable: bool, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let (ram, blocks, banks) = match map {
            MemoryMap::Plain { rom, ram } => (ram.len(), plain(rom, ram), None),
            MemoryMap::Banked => {
                let pages = std::array::from_fn(|_| noise.byte());
                (BANKED_RAM, [Mapping::Nothing; BLOCKS], Some(Banks::new(pages)))
            }
            MemoryMap::Mmu => (BANKED_RAM, [Mapping::Nothing; BLOCKS], None),
        };
        let ram = (0..ram).map(|_| noise.byte()).collect();
        let view = Box::new([FLOATING_BYTE; 0x1_0000]);
        let mut memory = Self {
            chip,
            writable,
            ram,
            blocks,
            banks,
            view,
            view_valid: false,
            block_valid: [false; BLOCKS],
            ram_aliased: false,
            stuck: None,
            chip_settled_at: 0,
        };
        memory.map_banks();
        memory
    }

    /// Sets bits of a byte of RAM permanently to 1.
    pub(super) fn stick(&mut self, address: u16, bits: u8) {
        self.stuck = Some((address, bits));
        (self.view_valid, self.block_valid) = (false, [false; BLOCKS]);
        self.mark_stuck_block();
        if let Mapping::RamWithStuckBits(base) = self.blocks[usize::from(address) / BLOCK_BYTES] {
            self.ram[base + usize::from(address) % BLOCK_BYTES] |= bits;
        }
    }

    /// Marks the block that contains the stuck bits, so that writes to other blocks need no test.
    fn mark_stuck_block(&mut self) {
        let Some((address, _)) = self.stuck else { return };
        let mapping = &mut self.blocks[usize::from(address) / BLOCK_BYTES];
        if let Mapping::Ram(base) = *mapping {
            *mapping = Mapping::RamWithStuckBits(base);
        }
    }

    #[inline(never)]
    fn write_stuck(&mut self, base: usize, address: u16, value: u8) {
        let stuck = self.stuck.filter(|(at, _)| *at == address).map_or(0, |(_, bits)| bits);
        self.ram[base + usize::from(address) % BLOCK_BYTES] = value | stuck;
        self.view[usize::from(address)] = value | stuck;
    }

    #[inline]
    pub(super) fn read(&self, address: u16, now: u64) -> u8 {
        if self.view_valid {
            self.view[usize::from(address)]
        } else {
            self.read_mapped(address, now)
        }
    }

    #[inline(never)]
    fn read_mapped(&self, address: u16, now: u64) -> u8 {
        match self.blocks[usize::from(address) / BLOCK_BYTES] {
            Mapping::Ram(base) | Mapping::RamWithStuckBits(base) => {
                self.ram[base + usize::from(address) % BLOCK_BYTES]
            }
            Mapping::Rom(base) => self.chip.read(base + usize::from(address) % BLOCK_BYTES, now),
            Mapping::Nothing => FLOATING_BYTE,
        }
    }

    #[inline(always)]
    pub(super) fn write(&mut self, address: u16, value: u8, now: u64) {
        match self.blocks[usize::from(address) / BLOCK_BYTES] {
            Mapping::Ram(base) => {
                self.ram[base + usize::from(address) % BLOCK_BYTES] = value;
                self.view[usize::from(address)] = value;
            }
            Mapping::Rom(base) if self.writable => {
                self.write_chip(base + usize::from(address) % BLOCK_BYTES, value, now);
            }
            Mapping::RamWithStuckBits(base) => self.write_stuck(base, address, value),
            Mapping::Rom(_) | Mapping::Nothing => {}
        }
    }

    #[inline(never)]
    fn write_chip(&mut self, offset: usize, value: u8, now: u64) {
        self.chip.write(offset, value, now);
        self.invalidate_chip_blocks();
        self.chip_settled_at = now + CHIP_SETTLE_T_STATES;
    }

    /// Rebuilds the view if it is out of date and the chip has settled.
    #[inline]
    pub(super) fn refresh_view(&mut self, now: u64) {
        if !self.view_valid
            && !self.ram_aliased
            && now >= self.chip_settled_at
            && self.chip.is_plain(now)
        {
            self.rebuild_view(now);
        }
    }

    fn rebuild_view(&mut self, now: u64) {
        let copies = self.view.chunks_exact_mut(BLOCK_BYTES).zip(&self.blocks);
        for ((bytes, mapping), block_valid) in copies.zip(&mut self.block_valid) {
            if !std::mem::replace(block_valid, true) {
                mapping.copy(&self.ram, &self.chip, now, bytes);
            }
        }
        self.view_valid = true;
    }

    /// Invalidates the blocks of the view that the chip is mapped to.
    fn invalidate_chip_blocks(&mut self) {
        self.view_valid = false;
        for (mapping, block_valid) in self.blocks.iter().zip(&mut self.block_valid) {
            *block_valid &= !matches!(mapping, Mapping::Rom(_));
        }
    }

    /// Returns the byte at an address without a bus cycle, so that no chip changes its state.
    pub(super) fn peek(&self, address: u16, now: u64) -> u8 {
        match self.blocks[usize::from(address) / BLOCK_BYTES] {
            Mapping::Rom(base) => self.chip.cell(base + usize::from(address) % BLOCK_BYTES, now),
            Mapping::Ram(_) | Mapping::RamWithStuckBits(_) | Mapping::Nothing => {
                self.read(address, now)
            }
        }
    }

    /// Returns a copy of the whole address space, without bus cycles.
    pub(super) fn snapshot(&self, now: u64) -> Box<[u8; 0x1_0000]> {
        let mut copy = Box::new([FLOATING_BYTE; 0x1_0000]);
        for (mapping, bytes) in self.blocks.iter().zip(copy.chunks_exact_mut(BLOCK_BYTES)) {
            mapping.copy(&self.ram, &self.chip, now, bytes);
        }
        copy
    }

    /// Stores bytes from an address on, in ROM as well. Bytes beyond FFFFh are ignored.
    pub(super) fn load(&mut self, address: u16, mut bytes: &[u8]) {
        (self.view_valid, self.block_valid) = (false, [false; BLOCKS]);
        let mut address = usize::from(address);
        while !bytes.is_empty() && address < 0x1_0000 {
            let within = address % BLOCK_BYTES;
            let (here, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - within));
            match self.blocks[address / BLOCK_BYTES] {
                Mapping::Nothing => {}
                Mapping::Rom(base) => self.chip.load(base + within, here),
                Mapping::Ram(base) | Mapping::RamWithStuckBits(base) => {
                    self.ram[base + within..][..here.len()].copy_from_slice(here);
                }
            }
            address += here.len();
            bytes = rest;
        }
    }

    /// Writes to a port. Returns `true` if that changed the memory map.
    pub(super) fn output(&mut self, port: u8, value: u8) -> bool {
        let changed = self.banks.as_mut().is_some_and(|banks| banks.write(port, value));
        if changed {
            self.map_banks();
        }
        changed
    }

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
        self.invalidate_chip_blocks();
        &mut self.chip
    }

    /// Updates the memory map from the page registers.
    fn map_banks(&mut self) {
        let Some(banks) = &self.banks else { return };
        let pages: [BankedPage; 4] = std::array::from_fn(|window| banks.page(window));
        self.map(std::array::from_fn(|index| {
            let address = index * BLOCK_BYTES;
            match pages[address / PAGE_BYTES] {
                BankedPage::Flash(base) => Mapping::Rom(base + address % PAGE_BYTES),
                BankedPage::Ram(base) => Mapping::Ram(base + address % PAGE_BYTES),
            }
        }));
    }

    /// Updates the memory map from the numbers that an MMU adds to those of pages of 4 KiB.
    pub(super) fn map_pages(&mut self, page_offset: impl Fn(u8) -> u8) {
        self.map(std::array::from_fn(|index| {
            let page = (index as u8).wrapping_add(page_offset(index as u8));
            match (usize::from(page) * BLOCK_BYTES).checked_sub(BANKED_RAM) {
                Some(base) => Mapping::Ram(base),
                None => Mapping::Rom(usize::from(page) * BLOCK_BYTES),
            }
        }));
    }

    fn map(&mut self, blocks: [Mapping; BLOCKS]) {
        if self.blocks == blocks {
            return;
        }
        for ((mapping, new), valid) in
            self.blocks.iter_mut().zip(&blocks).zip(&mut self.block_valid)
        {
            *valid &= mapping == new;
            *mapping = *new;
        }
        self.view_valid = false;
        let double = |(index, block): (usize, &Mapping)| {
            matches!(block, Mapping::Ram(_)) && blocks[..index].contains(block)
        };
        self.ram_aliased = blocks.iter().enumerate().any(double);
        if self.ram_aliased {
            self.block_valid = [false; BLOCKS];
        }
        self.mark_stuck_block();
    }
}

fn plain(rom: &RangeInclusive<u16>, ram: &RangeInclusive<u16>) -> [Mapping; BLOCKS] {
    std::array::from_fn(|index| {
        let address = (index * BLOCK_BYTES) as u16;
        let offset = |range: &RangeInclusive<u16>| usize::from(address - range.start());
        match address {
            _ if ram.contains(&address) => Mapping::Ram(offset(ram)),
            _ if rom.contains(&address) => Mapping::Rom(offset(rom)),
            _ => Mapping::Nothing,
        }
    })
}
