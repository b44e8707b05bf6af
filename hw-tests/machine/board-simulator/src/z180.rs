//! The devices on a Z180's chip, after Zilog's product specification of the Z8S180 (DS971820600):
//! ASCI, timers, MMU, vectors of interrupts, and the registers that move the block of ports. DMA,
//! CSI/O, wait states and IOSTOP are not simulated: their registers only hold what is written.
//! Unused bits read 1.

mod asci;
mod prt;

use asci::Asci;
use prt::Prt;

/// The revisions of the Z8S180 that software has to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Z180Revision {
    /// No receive FIFO and no baud rate generator; reception continues after an overrun.
    K,
    /// A receive FIFO of four characters; an overrun stops reception until EFR is written.
    N,
}

/// Offsets of registers in the block of 64.
mod offset {
    pub(super) const FRC: usize = 0x18;
    pub(super) const ASTC: usize = 0x1A;
    pub(super) const CMR: usize = 0x1E;
    pub(super) const CCR: usize = 0x1F;
    pub(super) const DSTAT: usize = 0x30;
    pub(super) const DCNTL: usize = 0x32;
    pub(super) const IL: usize = 0x33;
    pub(super) const ITC: usize = 0x34;
    pub(super) const RCR: usize = 0x36;
    pub(super) const CBR: usize = 0x38;
    pub(super) const BBR: usize = 0x39;
    pub(super) const CBAR: usize = 0x3A;
    pub(super) const ICR: usize = 0x3F;
}

/// Bits of ITC: a TRAP came, and from the third byte of an opcode.
const TRAP: u8 = 0x80;
const UFO: u8 = 0x40;
/// The low byte of a vector, without IL, of the first timer and of the first ASCI channel.
const PRT_VECTOR: u8 = 0x04;
const ASCI_VECTOR: u8 = 0x0E;
/// T-states of a count of the free running counter.
const FRC_T_STATES: u64 = 10;

/// The devices of a Z180. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct Z180Devices {
    revision: Z180Revision,
    registers: [u8; 64],
    channels: [Asci; 2],
    timers: Prt,
}

impl Z180Devices {
    /// Creates the devices as after power-up.
    pub fn new(revision: Z180Revision) -> Self {
        let mut registers = [0xFF; 64];
        registers[offset::ASTC..offset::ASTC + 4].fill(0);
        for (register, value) in [
            (offset::CMR, 0),
            (offset::CCR, 0),
            (offset::DSTAT, 0x30),
            (offset::DCNTL, 0xF0),
            (offset::IL, 0),
            (offset::ITC, 0x01),
            (offset::RCR, 0xC0),
            (offset::CBR, 0),
            (offset::BBR, 0),
            (offset::CBAR, 0xF0),
            (offset::ICR, 0),
        ] {
            registers[register] = value;
        }
        let channels = [0, 1].map(|channel| Asci::new(revision, channel));
        Self { revision, registers, channels, timers: Prt::default() }
    }

    /// Applies /RESET.
    pub fn reset(&mut self) {
        let mut fresh = Self::new(self.revision);
        for (channel, before) in fresh.channels.iter_mut().zip(&self.channels) {
            channel.keep_pins(before);
        }
        *self = fresh;
    }

    /// Returns the register at a port: the high byte of the address has to be 0.
    fn register(&self, port: u16) -> Option<usize> {
        let is_own = port & 0xFFC0 == u16::from(self.registers[offset::ICR] & 0xC0);
        is_own.then_some(usize::from(port & 0x3F))
    }

    /// Reads a port. Returns `None` if it is not one of the chip's.
    pub fn input(&mut self, port: u16, now: u64) -> Option<u8> {
        let register = self.register(port)?;
        Some(match register {
            0x00..=0x09 => self.channels[register & 1].read(register >> 1),
            0x0C..=0x10 | 0x14..=0x17 => self.timers.read(register, now),
            0x12 | 0x13 => self.channels[register & 1].asext(),
            offset::FRC => !((now / FRC_T_STATES) as u8),
            offset::ASTC..=0x1D | offset::CMR if self.revision == Z180Revision::K => 0xFF,
            _ => self.registers[register] | unused_bits(register),
        })
    }

    /// Writes a port. Returns `false` if it is not one of the chip's.
    pub fn output(&mut self, port: u16, value: u8, now: u64) -> bool {
        let Some(register) = self.register(port) else { return false };
        match register {
            0x00..=0x09 => self.channels[register & 1].write(register >> 1, value, now),
            0x0C..=0x10 | 0x14..=0x17 => self.timers.write(register, value, now),
            0x12 | 0x13 => self.channels[register & 1].set_asext(value, now),
            0x1A..=0x1D => {
                self.registers[register] = value;
                let channel = (register - offset::ASTC) >> 1;
                let [low, high] = [0, 1].map(|at| self.registers[offset::ASTC + 2 * channel + at]);
                self.channels[channel].time_constant = u16::from_le_bytes([low, high]);
            }
            offset::ITC => {
                // TRAP can only be cleared, UFO not written.
                let before = self.registers[register];
                self.registers[register] = before & (value & TRAP | UFO) | value & 0x07;
            }
            _ => self.registers[register] = value,
        }
        true
    }

    /// Returns `true` if reading a port can change what the devices do next.
    pub fn read_has_effect(&self, port: u16) -> bool {
        self.register(port).is_some_and(|register| !matches!(register, 0x04 | 0x05))
    }

    /// Records a TRAP.
    pub fn trap(&mut self, third: bool) {
        let itc = &mut self.registers[offset::ITC];
        *itc = *itc & 0x07 | TRAP | if third { UFO } else { 0 };
    }

    /// Returns the number that the MMU adds to the number of a page of 4 KiB.
    pub fn page_offset(&self, page: u8) -> u8 {
        let cbar = self.registers[offset::CBAR];
        match page {
            _ if page < cbar & 0x0F => 0,
            _ if page < cbar >> 4 => self.registers[offset::BBR],
            _ => self.registers[offset::CBR],
        }
    }

    /// Advances the devices to `now`. Returns the character that channel 0 has transmitted, if any.
    pub fn advance(&mut self, now: u64) -> Option<u8> {
        self.timers.advance(now);
        self.channels[1].advance(now);
        self.channels[0].advance(now)
    }

    /// Returns when a device next changes its state without an access.
    pub fn next_event(&self) -> Option<u64> {
        let channels = self.channels.iter().filter_map(Asci::next_event);
        channels.chain(self.timers.next_event()).min()
    }

    /// Returns the low byte of the vector of the interrupt with the highest priority, if one is
    /// requested.
    pub fn vector(&self) -> Option<u8> {
        let timer = self.timers.interrupt().map(|timer| PRT_VECTOR + 2 * timer);
        let channel = || self.channels.iter().position(Asci::interrupt);
        let code = timer.or_else(|| channel().map(|channel| ASCI_VECTOR + 2 * channel as u8))?;
        Some(self.registers[offset::IL] & 0xE0 | code)
    }

    /// Returns the duration of a received character of channel 0; 0 while it has no clock.
    pub fn receive_time(&self) -> u64 {
        self.channels[0].character_time()
    }

    /// Returns `true` if channel 0 may start to receive a character.
    pub fn can_receive(&self) -> bool {
        self.channels[0].can_receive()
    }

    /// Starts to receive a character on channel 0.
    pub fn start_receiving(&mut self, value: u8, good_frame: bool, now: u64) {
        self.channels[0].start_receiving(value, good_frame, now);
    }

    /// Returns `true` if /RTS0 is high, which requests the host to stop sending.
    pub fn rts_high(&self) -> bool {
        self.channels[0].rts_high()
    }

    /// Sets the level of /CTS0.
    pub fn set_cts(&mut self, is_high: bool) {
        self.channels[0].cts_high = is_high;
    }

    /// Returns the number of characters that channel 0 has lost to overrun since power-up.
    pub fn lost(&self) -> u64 {
        self.channels[0].lost
    }
}

/// Returns the bits of a register that read 1 whatever is written.
fn unused_bits(register: usize) -> u8 {
    match register {
        offset::ICR => 0x1F,
        offset::ITC => 0x38,
        offset::RCR => 0x3C,
        offset::CMR => 0x3F,
        _ => 0,
    }
}
