//! XMODEM's two ends as a Z80 program plays them, each a machine that hears characters and the passing of time.

use std::time::Duration;

const SOH: u8 = 0x01;
const EOT: u8 = 0x04;
const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
const CAN: u8 = 0x18;
const BLOCK: usize = 128;
/// A block that has stopped for so long is not complete; a real receiver waits a second.
const CUT: Duration = Duration::from_millis(100);
/// Who has heard nothing for so long asks again; a real receiver waits three to ten seconds.
const ASK: Duration = Duration::from_millis(300);

/// How a transfer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With this file; none when it was sent.
    Done(Vec<u8>),
    /// One end gave up.
    Cancelled,
}

/// The end that receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmodemReceiver {
    by_crc: bool,
    file: Vec<u8>,
    /// The block that is coming in, from its number on; `None` between blocks.
    block: Option<Vec<u8>>,
    /// Whether what comes is thrown away until the line is quiet.
    deaf: bool,
    /// The times of silence at which it has asked.
    asked: u32,
    cancels: u8,
    ended: bool,
    /// Blocks for which there is room.
    room: usize,
}

impl XmodemReceiver {
    /// One that calls for blocks with a CRC, or with a checksum.
    #[must_use]
    pub fn new(by_crc: bool) -> Self {
        Self {
            by_crc,
            file: Vec::new(),
            block: None,
            deaf: false,
            asked: 0,
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
    pub fn call(&self, say: &mut Vec<u8>) {
        say.push(if self.by_crc && self.file.is_empty() { b'C' } else { NAK });
    }

    /// Takes a character.
    pub fn hear(&mut self, character: u8, say: &mut Vec<u8>) -> Option<Outcome> {
        self.asked = 0;
        if self.deaf {
            return None;
        }
        if let Some(block) = &mut self.block {
            block.push(character);
            let whole = BLOCK + if self.by_crc { 4 } else { 3 };
            return if block.len() == whole { self.judge(say) } else { None };
        }
        self.cancels = if character == CAN { self.cancels + 1 } else { 0 };
        match character {
            SOH => self.block = Some(Vec::new()),
            EOT if self.ended => {
                say.push(ACK);
                return Some(Outcome::Done(std::mem::take(&mut self.file)));
            }
            EOT => {
                self.ended = true;
                say.push(NAK);
            }
            CAN if self.cancels == 2 => return Some(Outcome::Cancelled),
            _ => {}
        }
        None
    }

    /// Judges a block that is complete.
    fn judge(&mut self, say: &mut Vec<u8>) -> Option<Outcome> {
        let block = self.block.take()?;
        let (data, check) = (&block[2..BLOCK + 2], &block[BLOCK + 2..]);
        let good =
            if self.by_crc { crc(data).to_be_bytes() == check } else { [sum(data)] == check };
        if !good || block[0] != !block[1] {
            self.deaf = true;
            return None;
        }
        let next = (self.file.len() / BLOCK + 1) as u8;
        self.ended = false;
        if block[0] == next && self.file.len() / BLOCK < self.room {
            self.file.extend(data);
            say.push(ACK);
        } else if block[0] == next.wrapping_sub(1) {
            say.push(ACK);
        } else {
            say.extend([CAN, CAN]);
            return Some(Outcome::Cancelled);
        }
        None
    }

    /// Nothing was heard for `since`.
    pub fn idle(&mut self, since: Duration, say: &mut Vec<u8>) {
        if since > CUT && (self.deaf || self.block.is_some()) {
            (self.deaf, self.block) = (false, None);
            self.call(say);
        } else if since > ASK * (self.asked + 1) {
            self.asked += 1;
            self.call(say);
        }
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
    pub fn hear(&mut self, character: u8, say: &mut Vec<u8>) -> Option<Outcome> {
        self.cancels = if character == CAN { self.cancels + 1 } else { 0 };
        match (character, self.at) {
            (CAN, _) if self.cancels == 2 => return Some(Outcome::Cancelled),
            (b'C' | NAK, None) => {
                self.by_crc = character == b'C';
                self.at = Some(0);
            }
            (ACK, Some(at)) if at * BLOCK >= self.file.len() => {
                return Some(Outcome::Done(Vec::new()));
            }
            (ACK, Some(at)) => self.at = Some(at + 1),
            (NAK, _) | (b'C', Some(0)) => {}
            _ => return None,
        }
        self.send(say);
        None
    }

    fn send(&self, say: &mut Vec<u8>) {
        let at = self.at.unwrap_or_default();
        let Some(data) = self.file.get(at * BLOCK..(at + 1) * BLOCK) else {
            say.push(EOT);
            return;
        };
        let number = (at + 1) as u8;
        say.extend([SOH, number, 255 - number]);
        say.extend(data);
        if self.by_crc {
            say.extend(crc(data).to_be_bytes());
        } else {
            say.push(sum(data));
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
                    let _ = sender.hear(character, &mut to_receiver);
                }
                let ends = |c: &u8| receiver.hear(*c, &mut to_sender);
                if let Some(end) = to_receiver.iter().find_map(ends) {
                    break end;
                }
            };
            assert_eq!(received, Outcome::Done(file));
        }
    }
}
