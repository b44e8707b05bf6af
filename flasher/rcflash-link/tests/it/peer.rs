//! A minimal model of a board, on a line with injected faults.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, kind, memory_checksum};
use rcflash_transport::Transport;

/// A fault injected into a request or its reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is lost.
    DropRequest,
    /// The reply is lost.
    DropReply,
    /// The request arrives corrupted, and the board reports that.
    DamageRequest,
    /// The reply arrives corrupted.
    DamageReply,
    /// Random bytes arrive before the reply.
    NoiseBefore,
    /// The line is disconnected from then on.
    Vanish,
}

/// A board with 64 KiB of memory, and the line to it.
pub(crate) struct Peer {
    pub(crate) role: u8,
    pub(crate) memory: Vec<u8>,
    /// The address of a byte that can't be written.
    pub(crate) broken: Option<u16>,
    /// The bits of every CRC that are inverted.
    pub(crate) wrong_bits: u32,
    /// The address that the board reports to start, if not the requested one.
    pub(crate) starts: Option<u16>,
    /// The numbers of requests after which a reset starts an application.
    pub(crate) resets: VecDeque<usize>,
    /// The error returned for WRITE and RUN.
    pub(crate) refuses: Option<u8>,
    /// Whether RUN leads back to the monitor.
    pub(crate) leads_back: bool,
    faults: VecDeque<Option<Fault>>,
    decoder: Decoder,
    to_host: VecDeque<u8>,
    gone: bool,
    /// The simulated clock, which only waits advance.
    pub(crate) now: Instant,
}

impl Peer {
    pub(crate) fn new(faults: &[Option<Fault>]) -> Self {
        Self {
            role: b'M',
            memory: vec![0; 0x1_0000],
            broken: None,
            wrong_bits: 0,
            starts: None,
            resets: VecDeque::new(),
            refuses: None,
            leads_back: false,
            faults: faults.iter().copied().collect(),
            decoder: Decoder::default(),
            to_host: VecDeque::new(),
            gone: false,
            now: Instant::now(),
        }
    }

    fn answer(&mut self, frame: &Frame) {
        let fault = self.faults.pop_front().flatten();
        if fault == Some(Fault::DropRequest) {
            return;
        }
        if fault == Some(Fault::Vanish) {
            self.gone = true;
            return;
        }
        let reply = match fault {
            Some(Fault::DamageRequest) => Frame::new(0, 0xFF, vec![6, 0, 0, 0]).expect("it fits"),
            _ => self.reply(frame),
        };
        let mut line = reply.encode();
        match fault {
            Some(Fault::DropReply) => return,
            Some(Fault::DamageReply) => line[3] ^= 0x55,
            Some(Fault::NoiseBefore) => self.to_host.extend(b"\r\nhello, \x01\x02"),
            _ => {}
        }
        self.to_host.extend(line);
    }

    fn reply(&mut self, frame: &Frame) -> Frame {
        let word = |at: usize| u16::from_le_bytes([frame.payload[at], frame.payload[at + 1]]);
        match self.resets.front_mut() {
            Some(0) => {
                self.role = b'A';
                self.resets.pop_front();
            }
            Some(left) => *left -= 1,
            None => {}
        }
        if self.role == b'A' && ![kind::IDENT, kind::RESET].contains(&frame.kind) {
            return Frame::new(frame.seq, 0xFF, vec![1, frame.kind, 0, 0]).expect("it fits");
        }
        if let Some(code) = self.refuses
            && [kind::WRITE, kind::RUN].contains(&frame.kind)
        {
            return Frame::new(frame.seq, 0xFF, vec![code, frame.kind, 0, 0]).expect("it fits");
        }
        let payload = match frame.kind {
            kind::IDENT => {
                let fixed = [self.role, 1, 1, 0, 0, 0, 250, 0, 0, 0x80, 0xFF, 0xEF, 1];
                [&fixed[..], b"peer"].concat()
            }
            kind::RESET => {
                self.role = b'M';
                Vec::new()
            }
            kind::WRITE => {
                let address = word(0);
                let data = &frame.payload[2..];
                for (at, byte) in (address..).zip(data) {
                    let keeps = self.broken != Some(at);
                    self.memory[usize::from(at)] = if keeps { *byte } else { !*byte };
                }
                vec![frame.payload[0], frame.payload[1], data.len() as u8]
            }
            kind::CRC => {
                let address = usize::from(word(0));
                let length = usize::from(word(2));
                let check = memory_checksum(&self.memory[address..address + length]);
                (check ^ self.wrong_bits).to_le_bytes().to_vec()
            }
            _ => {
                self.role = if self.leads_back { b'M' } else { b'A' };
                let given = frame.payload.to_vec();
                self.starts.map_or(given, |at| at.to_le_bytes().to_vec())
            }
        };
        Frame::new(frame.seq, frame.kind + REPLY_BIT, payload).expect("it fits")
    }
}

impl Transport for Peer {
    fn name(&self) -> &str {
        "peer"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.to_host.is_empty() {
            self.now += timeout;
        }
        let count = buffer.len().min(self.to_host.len());
        for (place, byte) in buffer.iter_mut().zip(self.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        if self.gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        for byte in bytes {
            if let Some(DecoderEvent::Frame(frame)) = self.decoder.push(*byte) {
                self.answer(&frame);
            }
        }
        Ok(())
    }
}
