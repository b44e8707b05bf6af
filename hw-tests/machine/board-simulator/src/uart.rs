//! The serial chip of a board, of any kind: maps ports to its registers.

use super::acia::Acia;
use super::ns550::Ns550;
use super::sio::{Sio, SioPort};
use super::z180::{Z180Devices, Z180Revision};

/// The kinds of serial chips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UartModel {
    /// Motorola 68B50, at ports 80h to BFh: RC2014's module decodes A7, A6 and A0 only.
    Acia,
    /// Zilog SIO/2 in RC2014's order at 80h: channel A, with the line, then B.
    Sio,
    /// Channel 0 of the ASCI on a Z180, which is the board's processor.
    Asci(Z180Revision),
    /// 16C550 at A0h to A7h, with /DTR for flow control.
    Ns550,
}

/// A serial chip. Times are T-states of the processor clock.
#[derive(Clone)]
pub(super) enum Uart {
    Acia(Acia),
    Sio(Sio),
    /// With all other devices of the processor's chip.
    Asci(Box<Z180Devices>),
    Ns550(Ns550),
}

impl Uart {
    /// Creates a chip with one clock per `clock_period` T-states.
    pub(super) fn new(model: UartModel, clock_period: u32) -> Self {
        match model {
            UartModel::Acia => Self::Acia(Acia::new(clock_period)),
            UartModel::Sio => {
                let mut sio = Sio::new();
                sio.set_clock_period(SioPort::A, clock_period.into());
                sio.set_clock_period(SioPort::B, clock_period.into());
                Self::Sio(sio)
            }
            UartModel::Ns550 => Self::Ns550(Ns550::new(clock_period)),
            UartModel::Asci(revision) => Self::Asci(Box::new(Z180Devices::new(revision))),
        }
    }

    /// Reads a port. Returns `None` if the port is not one of the chip's.
    pub(super) fn input(&mut self, port: u16, now: u64) -> Option<u8> {
        match self {
            Self::Acia(acia) => match port & 0xC1 {
                0x80 => Some(acia.status()),
                0x81 => Some(acia.read()),
                _ => None,
            },
            Self::Sio(sio) => match sio_register(port as u8)? {
                (channel, true) => Some(sio.read_control(channel)),
                (channel, false) => Some(sio.read_data(channel)),
            },
            Self::Asci(devices) => devices.input(port, now),
            Self::Ns550(chip) => ns550_register(port).map(|register| chip.read(register, now)),
        }
    }

    /// Returns `true` if reading a port can change what the chip does next.
    pub(super) fn read_has_effect(&self, port: u16) -> bool {
        match self {
            // The data registers have odd ports.
            Self::Acia(_) | Self::Sio(_) => port & 1 == 1,
            Self::Asci(devices) => devices.read_has_effect(port),
            Self::Ns550(_) => matches!(ns550_register(port), Some(0 | 2 | 5)),
        }
    }

    /// Returns the devices of a Z180.
    pub(super) fn z180(&mut self) -> Option<&mut Z180Devices> {
        if let Self::Asci(devices) = self { Some(devices) } else { None }
    }

    /// Writes a port. Returns `true` if the port is one of the chip's.
    pub(super) fn output(&mut self, port: u16, value: u8, now: u64) -> bool {
        match self {
            Self::Acia(acia) => match port & 0xC1 {
                0x80 => acia.set_control(value),
                0x81 => acia.write(value, now),
                _ => return false,
            },
            Self::Sio(sio) => match sio_register(port as u8) {
                Some((channel, true)) => sio.write_control(channel, value, now),
                Some((channel, false)) => sio.write_data(channel, value, now),
                None => return false,
            },
            Self::Asci(devices) => return devices.output(port, value, now),
            Self::Ns550(chip) => match ns550_register(port) {
                Some(register) => chip.write(register, value, now),
                None => return false,
            },
        }
        true
    }

    pub(super) fn reset(&mut self) {
        match self {
            Self::Acia(_) => {} // it has no reset pin
            Self::Sio(sio) => sio.reset(),
            Self::Asci(devices) => devices.reset(),
            Self::Ns550(chip) => chip.reset(),
        }
    }

    /// Replaces the clock of channel A of the SIO.
    pub(super) fn set_clock_period(&mut self, t_states: u64) {
        if let Self::Sio(sio) = self {
            sio.set_clock_period(SioPort::A, t_states);
        }
    }

    /// Advances the chip to `now`. Returns the character that has been transmitted, if any.
    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        match self {
            Self::Acia(acia) => acia.advance(now),
            Self::Sio(sio) => sio.advance(now)[0],
            Self::Asci(devices) => devices.advance(now),
            Self::Ns550(chip) => chip.advance(now),
        }
    }

    /// Returns the duration of a received character; 0 while the receiver is off.
    pub(super) fn receive_time(&self) -> u64 {
        match self {
            Self::Acia(acia) => acia.character_time(),
            Self::Sio(sio) => sio.receive_time(SioPort::A).unwrap_or(0),
            Self::Asci(devices) => devices.receive_time(),
            Self::Ns550(chip) => chip.character_time(),
        }
    }

    pub(super) fn can_receive(&self) -> bool {
        match self {
            Self::Acia(acia) => acia.can_receive(),
            Self::Sio(sio) => sio.can_receive(SioPort::A),
            Self::Asci(devices) => devices.can_receive(),
            Self::Ns550(chip) => chip.can_receive(),
        }
    }

    pub(super) fn start_receiving(&mut self, value: u8, good_frame: bool, now: u64) {
        match self {
            Self::Acia(acia) => acia.start_receiving(value, good_frame, now),
            Self::Sio(sio) => sio.start_receiving(SioPort::A, value, good_frame, now),
            Self::Asci(devices) => devices.start_receiving(value, good_frame, now),
            Self::Ns550(chip) => chip.start_receiving(value, good_frame, now),
        }
    }

    pub(super) fn rts_high(&self) -> bool {
        match self {
            Self::Acia(acia) => acia.rts_high(),
            Self::Sio(sio) => sio.rts_high(SioPort::A),
            Self::Asci(devices) => devices.rts_high(),
            Self::Ns550(chip) => chip.dtr_high(),
        }
    }

    pub(super) fn next_event(&self) -> Option<u64> {
        match self {
            Self::Acia(acia) => acia.next_event(),
            Self::Sio(sio) => sio.next_event(),
            Self::Asci(devices) => devices.next_event(),
            Self::Ns550(chip) => chip.next_event(),
        }
    }

    pub(super) fn interrupt(&self) -> bool {
        match self {
            Self::Acia(acia) => acia.interrupt(),
            Self::Sio(sio) => sio.interrupt(),
            Self::Asci(devices) => devices.vector().is_some(),
            Self::Ns550(chip) => chip.interrupt(),
        }
    }

    /// Returns the byte that the chip puts on the bus during an acknowledge cycle, if any.
    pub(super) fn vector(&self) -> Option<u8> {
        match self {
            Self::Acia(_) | Self::Ns550(_) => None,
            Self::Sio(sio) => Some(sio.vector()),
            Self::Asci(devices) => devices.vector(),
        }
    }

    pub(super) fn acknowledge(&mut self) {
        if let Self::Sio(sio) = self {
            sio.acknowledge();
        }
    }

    pub(super) fn return_from_interrupt(&mut self) {
        if let Self::Sio(sio) = self {
            sio.return_from_interrupt();
        }
    }

    pub(super) fn in_service(&self) -> bool {
        matches!(self, Self::Sio(sio) if sio.in_service())
    }

    /// Returns the number of characters lost to overrun since power-up.
    pub(super) fn lost(&self) -> u64 {
        match self {
            Self::Acia(acia) => acia.lost(),
            Self::Sio(sio) => sio.lost(SioPort::A),
            Self::Asci(devices) => devices.lost(),
            Self::Ns550(chip) => chip.lost(),
        }
    }
}

/// Returns the channel of a port, and `true` for its control register.
fn sio_register(port: u8) -> Option<(SioPort, bool)> {
    match port {
        0x80 => Some((SioPort::A, true)),
        0x81 => Some((SioPort::A, false)),
        0x82 => Some((SioPort::B, true)),
        0x83 => Some((SioPort::B, false)),
        _ => None,
    }
}

/// Returns the register of a port.
fn ns550_register(port: u16) -> Option<u8> {
    let port = port as u8;
    (port & 0xF8 == 0xA0).then_some(port & 7)
}
