//! Sender and receiver of XMODEM, as Z80 programs implement them: state machines driven by received
//! characters and elapsed time.

use std::time::Duration;

const SOH: u8 = 0x01;
const STX: u8 = 0x02;
const EOT: u8 = 0x04;
const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
const CAN: u8 = 0x18;
const BLOCK: usize = 128;
/// Data bytes of a block that begins with STX.
const LONG_BLOCK: usize = 1024;
/// Silence after which a block counts as incomplete; a real receiver waits a second.
const BLOCK_TIMEOUT: Duration = Duration::from_millis(100);
/// How many calls, and then NAKs, XM 12.5 sends before it gives up.
const MAX_CALLS: u32 = 15;
const MAX_REFUSALS: u32 = 5;

/// The end of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferEnd {
    /// The transfer is complete; the file received, empty for a sender.
    Done(Vec<u8>),
    /// The other end cancelled or did not respond.
    Cancelled,
    /// A block was out of sequence, or the disk was full.
    Aborted,
}

/// The block check that a receiver requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XmodemCheck {
    /// A checksum, requested by NAK.
    Sum,
    /// A CRC, requested by `C`.
    Crc,
    /// A CRC and blocks of 1,024 bytes, requested by `CK`, as by XM 12.5.
    CrcOrLong,
}

/// The timing of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XmodemTiming {
    /// The time to the first call.
    pub first: Duration,
    /// The time between calls.
    pub interval: Duration,
    /// Whether it rejects the first EOT, in case it is a corrupted SOH.
    pub rejects_first_eot: bool,
}

impl Default for XmodemTiming {
    /// Returns the timing of a receiver that calls at once and often.
    fn default() -> Self {
        Self {
            first: Duration::ZERO,
            interval: Duration::from_millis(300),
            rejects_first_eot: true,
        }
    }
}

impl XmodemTiming {
    /// XM 12.5 of RomWBW 3.5.1, as recorded.
    pub const XM: Self = Self {
        first: Duration::from_secs(5),
        interval: Duration::from_secs(5),
        rejects_first_eot: false,
    };

    /// XM 12.5 of RomWBW 2.9.1.
    pub const XM_ROMWBW2: Self = Self { first: Duration::from_secs(12), ..Self::XM };

    /// Like [`Self::XM`], with short intervals for tests.
    pub const QUICK: Self = Self {
        first: Duration::from_millis(300),
        interval: Duration::from_millis(300),
        rejects_first_eot: false,
    };
}

/// The receiver of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmodemReceiver {
    check: XmodemCheck,
    timing: XmodemTiming,
    file: Vec<u8>,
    blocks: usize,
    /// The block being received, from its number on, and its data's length.
    block: Option<(Vec<u8>, usize)>,
    /// Whether input is discarded until the line is silent.
    discarding: bool,
    /// The calls and NAKs since the last character.
    unanswered_calls: u32,
    has_received: bool,
    /// Whether a block has begun; the receiver then sends NAK instead of calls.
    has_begun: bool,
    cancels: u8,
    ended: bool,
    /// The maximum number of blocks.
    room: usize,
}

impl XmodemReceiver {
    /// Creates a receiver that calls at once for blocks with a CRC, or with a checksum.
    pub fn new(by_crc: bool) -> Self {
        Self::with_timing(
            if by_crc { XmodemCheck::Crc } else { XmodemCheck::Sum },
            XmodemTiming::default(),
        )
    }

    /// Creates a receiver with this check and timing.
    pub fn with_timing(check: XmodemCheck, timing: XmodemTiming) -> Self {
        Self {
            check,
            timing,
            file: Vec::new(),
            blocks: 0,
            block: None,
            discarding: false,
            unanswered_calls: 0,
            has_received: false,
            has_begun: false,
            cancels: 0,
            ended: false,
            room: usize::MAX,
        }
    }

    /// Limits the size of the file, in blocks.
    #[must_use]
    pub fn with_room(self, blocks: usize) -> Self {
        Self { room: blocks, ..self }
    }

    /// Requests the first block, or the repetition of an invalid one.
    pub fn call(&self, out: &mut Vec<u8>) {
        match self.check {
            _ if self.has_begun || self.unanswered_calls > MAX_CALLS => out.push(NAK),
            XmodemCheck::Sum => out.push(NAK),
            XmodemCheck::Crc => out.push(b'C'),
            XmodemCheck::CrcOrLong => out.extend(b"CK"),
        }
    }

    /// Receives a character. Appends the reply to `out`. Returns the end of the transfer.
    pub fn receive(&mut self, character: u8, out: &mut Vec<u8>) -> Option<TransferEnd> {
        self.unanswered_calls = 0;
        self.has_received = true;
        if self.discarding {
            return None;
        }
        if let Some((block, data)) = &mut self.block {
            block.push(character);
            let check = if self.check == XmodemCheck::Sum { 1 } else { 2 };
            return if block.len() == 2 + *data + check { self.check_block(out) } else { None };
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

    fn check_block(&mut self, out: &mut Vec<u8>) -> Option<TransferEnd> {
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

    /// Handles silence of `since` after the last character; returns the end if it gives up.
    pub fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> Option<TransferEnd> {
        if since > BLOCK_TIMEOUT && (self.discarding || self.block.is_some()) {
            self.block = None;
            self.discarding = false;
            self.call(out);
            return None;
        }
        let first = if self.has_received { self.timing.interval } else { self.timing.first };
        if since >= first + self.timing.interval * self.unanswered_calls {
            self.unanswered_calls += 1;
            if self.unanswered_calls > MAX_CALLS + MAX_REFUSALS {
                return Some(TransferEnd::Cancelled);
            }
            self.call(out);
        }
        None
    }
}

/// The sender of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmodemSender {
    file: Vec<u8>,
    /// The block to send next, from 0; `None` before the first call.
    at: Option<usize>,
    by_crc: bool,
    cancels: u8,
}

impl XmodemSender {
    /// Creates a sender; the length of `file` must be a multiple of the block size.
    pub fn new(file: Vec<u8>) -> Self {
        Self { file, at: None, by_crc: false, cancels: 0 }
    }

    /// Receives a character. Appends the reply to `out`. Returns the end of the transfer.
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

/// CRC-16/XMODEM: polynomial 1021h, initial value 0.
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
    fn a_file_is_transferred_with_either_check() {
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
