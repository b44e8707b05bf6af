//! A monitor with a flash chip of any size, as docs/PROTOCOL.md describes its requests.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, crc32, kind};
use rcflash_link::Link;
use rcflash_transport::Transport;

const SECTOR: usize = 4096;
/// Codes of the error reply.
const ADDRESS: u8 = 3;
const PROTECTED: u8 = 9;
const VERIFY: u8 = 11;

/// A chip and its monitor; clones share them.
#[derive(Clone)]
pub(crate) struct FlashPeer(Arc<Mutex<Chip>>);

pub(crate) struct Chip {
    /// The number of sectors that the board reports.
    sectors: u16,
    protected: u8,
    /// The sectors that are not blank.
    pub(crate) cells: HashMap<u32, Vec<u8>>,
    /// The types of the requests received.
    pub(crate) requests: Vec<u8>,
    decoder: Decoder,
    to_host: VecDeque<u8>,
    now: Instant,
}

impl FlashPeer {
    pub(crate) fn new(sectors: u16, protected: u8) -> Self {
        Self(Arc::new(Mutex::new(Chip {
            sectors,
            protected,
            cells: HashMap::new(),
            requests: Vec::new(),
            decoder: Decoder::default(),
            to_host: VecDeque::new(),
            now: Instant::now(),
        })))
    }

    pub(crate) fn chip(&self) -> MutexGuard<'_, Chip> {
        self.0.lock().expect("not poisoned")
    }

    pub(crate) fn link(&self) -> Link {
        Link::new(Box::new(self.clone()), 115_200)
    }
}

impl Chip {
    pub(crate) fn byte(&self, address: u32) -> u8 {
        let sector = self.cells.get(&(address / SECTOR as u32));
        sector.map_or(0xFF, |bytes| bytes[address as usize % SECTOR])
    }

    pub(crate) fn set(&mut self, address: u32, byte: u8) {
        let sector = self.cells.entry(address / SECTOR as u32).or_insert(vec![0xFF; SECTOR]);
        sector[address as usize % SECTOR] = byte;
    }

    fn bytes(&self, address: u32, count: usize) -> Vec<u8> {
        (address..).take(count).map(|at| self.byte(at)).collect()
    }

    /// Returns the payload of the reply, or the code and detail of an error.
    fn reply(&mut self, frame: &Frame) -> Result<Vec<u8>, (u8, u16)> {
        let payload = &frame.payload;
        let word = |at: usize| u16::from_le_bytes([payload[at], payload[at + 1]]);
        let address = || u32::from_le_bytes([payload[0], payload[1], payload[2], 0]);
        let size = u32::from(self.sectors) * SECTOR as u32;
        self.requests.push(frame.kind);
        Ok(match frame.kind {
            kind::IDENT => vec![b'M', 1, 1, 0, 0, 0, 0xEE, 2, 0, 0x80, 0xFF, 0xEF, 3, b'F'],
            kind::CHIP => {
                let [low, high] = self.sectors.to_le_bytes();
                vec![0xBF, 0xB7, low, high, self.protected]
            }
            kind::ERASE => {
                self.check_writable(word(0).into())?;
                self.cells.remove(&word(0).into());
                payload.to_vec()
            }
            kind::PROGRAM => {
                let data = &payload[3..];
                self.check_writable(address() / SECTOR as u32)?;
                for (at, byte) in (address()..).zip(data) {
                    let stored = self.byte(at) & byte; // programming clears bits only
                    self.set(at, stored);
                }
                [&payload[..3], &[data.len() as u8]].concat()
            }
            kind::FLASH_CRC | kind::FLASH_VERIFY => {
                let length = usize::from(word(3));
                assert!(length > 0, "the protocol has no range of 0 bytes");
                if address() + length as u32 > size {
                    return Err((ADDRESS, 0));
                }
                let crc = crc32(&self.bytes(address(), length)).to_le_bytes();
                match frame.kind {
                    kind::FLASH_CRC => crc.to_vec(),
                    _ if payload[5..] == crc => Vec::new(),
                    _ => return Err((VERIFY, u16::from_le_bytes([crc[0], crc[1]]))),
                }
            }
            kind::FLASH_READ => {
                let count = usize::from(payload[3]);
                [&payload[..3], &self.bytes(address(), count)].concat()
            }
            other => panic!("an unexpected request of type {other:02X}h"),
        })
    }

    fn check_writable(&self, sector: u32) -> Result<(), (u8, u16)> {
        match sector {
            protected if protected < self.protected.into() => Err((PROTECTED, sector as u16)),
            outside if outside >= self.sectors.into() => Err((ADDRESS, sector as u16)),
            _ => Ok(()),
        }
    }
}

impl Transport for FlashPeer {
    fn name(&self) -> &str {
        "a board with flash"
    }

    fn now(&self) -> Instant {
        self.chip().now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut chip = self.chip();
        if chip.to_host.is_empty() {
            chip.now += timeout;
        }
        let count = buffer.len().min(chip.to_host.len());
        for (place, byte) in buffer.iter_mut().zip(chip.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        let mut chip = self.chip();
        for byte in bytes {
            if let Some(DecoderEvent::Frame(frame)) = chip.decoder.push(*byte) {
                let (kind, payload) = match chip.reply(&frame) {
                    Ok(payload) => (frame.kind + REPLY_BIT, payload),
                    Err((code, detail)) => {
                        let [low, high] = detail.to_le_bytes();
                        (0xFF, vec![code, frame.kind, low, high])
                    }
                };
                let reply = Frame::new(frame.seq, kind, payload).expect("it fits");
                chip.to_host.extend(reply.encode());
            }
        }
        Ok(())
    }
}
