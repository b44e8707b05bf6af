//! The two ends of XMODEM as Z80 programs play them, each a machine that takes characters and the
//! passing of time.

use std::time::Duration;

const SOH: u8 = 0x01;
const STX: u8 = 0x02;
const EOT: u8 = 0x04;
const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
const CAN: u8 = 0x18;
const BLOCK: usize = 128;
/// The data of a block that begins with STX.
const LONG_BLOCK: usize = 1024;
/// A block that has stopped for so long is not complete; a real receiver waits a second.
const BLOCK_TIMEOUT: Duration = Duration::from_millis(100);
/// Calls, and then refusals, that XM 12.5 sends before it gives up.
const MAX_CALLS: u32 = 15;
const MAX_REFUSALS: u32 = 5;

/// The end of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferEnd {
    /// This file came; none when it was sent.
    Done(Vec<u8>),
    /// The other end gave up, or nobody sent.
    Cancelled,
    /// A block came out of turn, or there was no room.
    Aborted,
}

/// The check of blocks that a receiver asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XmodemCheck {
    /// The sum, called for by NAK.
    Sum,
    /// A CRC, called for by `C`.
    Crc,
    /// A CRC and blocks of 1,024 bytes, called for by `CK`, as XM 12.5 does.
    CrcOrLong,
}

/// The times and habits of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XmodemTiming {
    /// The time until it calls first.
    pub first: Duration,
    /// The time between its calls.
    pub again: Duration,
    /// Whether it refuses the first end of the file, to be sure.
    pub rejects_first_eot: bool,
}

impl Default for XmodemTiming {
    /// A receiver that calls at once and often.
    fn default() -> Self {
        Self { first: Duration::ZERO, again: Duration::from_millis(300), rejects_first_eot: true }
    }
}

impl XmodemTiming {
    /// XM 12.5 of RomWBW 3.5.1, by its records.
    pub const XM: Self = Self {
        first: Duration::from_secs(5),
        again: Duration::from_secs(5),
        rejects_first_eot: false,
    };

    /// XM 12.5 of RomWBW 2.9.1.
    pub const XM_TWO: Self = Self { first: Duration::from_secs(12), ..Self::XM };

    /// The same with waits that a test can afford.
    pub const QUICK: Self = Self {
        first: Duration::from_millis(300),
        again: Duration::from_millis(300),
        rejects_first_eot: false,
    };
}

/// The end that receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmodemReceiver {
    check: XmodemCheck,
    timing: XmodemTiming,
    file: Vec<u8>,
    blocks: usize,
    /// The block that is coming in, from its number on, and its data's length; `None` between
    /// blocks.
    block: Option<(Vec<u8>, usize)>,
    /// Whether input is discarded until the line is quiet.
    discarding: bool,
    /// The calls and refusals since something was heard.
    asked: u32,
    has_heard: bool,
    /// Whether a block has begun, so that it refuses instead of calling.
    has_begun: bool,
    cancels: u8,
    ended: bool,
    /// Blocks for which there is room.
    room: usize,
}

impl XmodemReceiver {
    /// One that calls at once for blocks with a CRC, or with a checksum.
    #[must_use]
    pub fn new(by_crc: bool) -> Self {
        Self::with(
            if by_crc { XmodemCheck::Crc } else { XmodemCheck::Sum },
            XmodemTiming::default(),
        )
    }

    /// One with these habits.
    #[must_use]
    pub fn with(check: XmodemCheck, timing: XmodemTiming) -> Self {
        Self {
            check,
            timing,
            file: Vec::new(),
            blocks: 0,
            block: None,
            discarding: false,
            asked: 0,
            has_heard: false,
            has_begun: false,
            cancels: 0,
            ended: false,
            room: usize::MAX,
        }
    }

    /// One with room for so many blocks only.
    #[must_use]
    pub fn with_room(self, blocks: usize) -> Self {
        Self { room: blocks, ..self }
    }

    /// Calls for the first block, or again for one that did not come well.
    pub fn call(&self, out: &mut Vec<u8>) {
        match self.check {
            _ if self.has_begun || self.asked > MAX_CALLS => out.push(NAK),
            XmodemCheck::Sum => out.push(NAK),
            XmodemCheck::Crc => out.push(b'C'),
            XmodemCheck::CrcOrLong => out.extend(b"CK"),
        }
    }

    /// Takes a character.
    pub fn receive(&mut self, character: u8, out: &mut Vec<u8>) -> Option<TransferEnd> {
        self.asked = 0;
        self.has_heard = true;
        if self.discarding {
            return None;
        }
        if let Some((block, data)) = &mut self.block {
            block.push(character);
            let check = if self.check == XmodemCheck::Sum { 1 } else { 2 };
            return if block.len() == 2 + *data + check { self.judge(out) } else { None };
        }
        self.cancels = if character == CAN { self.cancels + 1 } else { 0 };
        match character {
            SOH => self.begin(BLOCK),
            STX if self.check == XmodemCheck::CrcOrLong => self.begin(LONG_BLOCK),
            EOT if self.ended || !self.timing.rejects_first_eot => {
                out.push(ACK);
                return Some(TransferEnd::Done(std::mem::take(&mut self.file)));
            }
            EOT => {
                self.ended = true;
                out.push(NAK);
            }
            CAN if self.cancels == 2 => return Some(TransferEnd::Cancelled),
            _ => {}
        }
        None
    }

    fn begin(&mut self, length: usize) {
        self.block = Some((Vec::new(), length));
        self.has_begun = true;
    }

    /// Judges a block that is complete.
    fn judge(&mut self, out: &mut Vec<u8>) -> Option<TransferEnd> {
        let (block, length) = self.block.take()?;
        let data = &block[2..length + 2];
        let check = &block[length + 2..];
        let good = match self.check {
            XmodemCheck::Sum => [sum(data)] == check,
            XmodemCheck::Crc | XmodemCheck::CrcOrLong => crc(data).to_be_bytes() == check,
        };
        if !good || block[0] != !block[1] {
            self.discarding = true;
            return None;
        }
        let next = (self.blocks + 1) as u8;
        self.ended = false;
        if block[0] == next && self.blocks < self.room {
            self.file.extend(data);
            self.blocks += 1;
            out.push(ACK);
        } else if block[0] == next.wrapping_sub(1) {
            out.push(ACK);
        } else {
            out.push(CAN);
            return Some(TransferEnd::Aborted);
        }
        None
    }

    /// Nothing was heard for `since`; whether it gives up.
    pub fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> Option<TransferEnd> {
        if since > BLOCK_TIMEOUT && (self.discarding || self.block.is_some()) {
            self.block = None;
            self.discarding = false;
            self.call(out);
            return None;
        }
        let first = if self.has_heard { self.timing.again } else { self.timing.first };
        if since >= first + self.timing.again * self.asked {
            self.asked += 1;
            if self.asked > MAX_CALLS + MAX_REFUSALS {
                return Some(TransferEnd::Cancelled);
            }
            self.call(out);
        }
        None
    }
}

/// The end that sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmodemSender {
    file: Vec<u8>,
    /// The block to send next, from 0; `None` before the first call.
    at: Option<usize>,
    by_crc: bool,
    cancels: u8,
}

impl XmodemSender {
    /// Sends a file of whole blocks.
    #[must_use]
    pub fn new(file: Vec<u8>) -> Self {
        Self { file, at: None, by_crc: false, cancels: 0 }
    }

    /// Takes a character.
    pub fn receive(&mut self, character: u8, out: &mut Vec<u8>) -> Option<TransferEnd> {
        self.cancels = if character == CAN { self.cancels + 1 } else { 0 };
        match (character, self.at) {
            (CAN, _) if self.cancels == 2 => return Some(TransferEnd::Cancelled),
            (b'C' | NAK, None) => {
                self.by_crc = character == b'C';
                self.at = Some(0);
            }
            (ACK, Some(at)) if at * BLOCK >= self.file.len() => {
                return Some(TransferEnd::Done(Vec::new()));
            }
            (ACK, Some(at)) => self.at = Some(at + 1),
            (NAK, _) | (b'C', Some(0)) => {}
            _ => return None,
        }
        self.send(out);
        None
    }

    fn send(&self, out: &mut Vec<u8>) {
        let at = self.at.unwrap_or_default();
        let Some(data) = self.file.get(at * BLOCK..(at + 1) * BLOCK) else {
            out.push(EOT);
            return;
        };
        let number = (at + 1) as u8;
        out.extend([SOH, number, 255 - number]);
        out.extend(data);
        if self.by_crc {
            out.extend(crc(data).to_be_bytes());
        } else {
            out.push(sum(data));
        }
    }
}

fn sum(data: &[u8]) -> u8 {
    data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// The CRC bit by bit, as the Z80 does it: polynomial 1021h, from 0.
fn crc(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ends_understand_each_other() {
        // The check value of CRC-16/XMODEM in the catalogue of parametrised CRCs.
        assert_eq!(crc(b"123456789"), 0x31C3);
        for by_crc in [true, false] {
            let file: Vec<u8> = (0..BLOCK * 300).map(|i| (i * 31) as u8).collect();
            let mut sender = XmodemSender::new(file.clone());
            let mut receiver = XmodemReceiver::new(by_crc);
            let mut to_sender = Vec::new();
            receiver.call(&mut to_sender);
            let received = loop {
                let mut to_receiver = Vec::new();
                for character in std::mem::take(&mut to_sender) {
                    let _ = sender.receive(character, &mut to_receiver);
                }
                let ends = |c: &u8| receiver.receive(*c, &mut to_sender);
                if let Some(end) = to_receiver.iter().find_map(ends) {
                    break end;
                }
            };
            assert_eq!(received, TransferEnd::Done(file));
        }
    }
}
