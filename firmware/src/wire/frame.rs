//! Frames: how they stand on the line, and how they are found in what is heard.

use std::fmt;

use crc::{CRC_16_IBM_3740, Crc};

use super::{BODY, MAX_ENCODED, MAX_PAYLOAD, cobs};

/// The check that frames carry and that the monitor computes over memory.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);
/// Noise kept for messages; older bytes are forgotten.
const NOISE_KEPT: usize = 256;

/// CRC-16/IBM-3740 of some bytes.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    CRC.checksum(bytes)
}

/// What the monitor computes over memory: the CRC-16, and above it Fletcher's sums of bytes, modulo 256 (Fletcher, "An
/// Arithmetic Checksum for Serial Transmissions", 1982). They are independent, so that together they miss one of
/// 4,294,967,296 changes.
#[must_use]
pub fn memory_check(bytes: &[u8]) -> u32 {
    let next = |(sum, sums): (u8, u8), byte: &u8| {
        let sum = sum.wrapping_add(*byte);
        (sum, sums.wrapping_add(sum))
    };
    let (sum, sums) = bytes.iter().fold((0, 0), next);
    u32::from(crc16(bytes)) | u32::from_le_bytes([0, 0, sum, sums])
}

/// A frame's content.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// The sequence number: the host's choice, and in a reply that of its request.
    pub seq: u8,
    /// What the payload means.
    pub kind: u8,
    /// At most [`MAX_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {:02X}h {:02X?}", self.seq, self.kind, self.payload)
    }
}

/// Why bytes between two delimiters are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Longer than any frame.
    #[error("longer than any frame")]
    TooLong,
    /// Not what COBS makes.
    #[error("byte stuffing is wrong")]
    Stuffing,
    /// Not as long as LEN says.
    #[error("not as long as it says")]
    Length,
    /// The check differs.
    #[error("the check is wrong")]
    Check,
}

impl Frame {
    /// The frame as it stands on the line, both delimiters included.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![self.payload.len() as u8, self.seq, self.kind];
        body.extend_from_slice(&self.payload);
        body.extend_from_slice(&crc16(&body).to_le_bytes());
        let mut line = vec![0];
        line.extend_from_slice(&cobs::encode(&body));
        line.push(0);
        line
    }

    /// The frame that stands between two delimiters.
    ///
    /// # Errors
    /// Why it is none.
    pub fn decode(encoded: &[u8]) -> Result<Self, FrameError> {
        if encoded.len() > MAX_ENCODED {
            return Err(FrameError::TooLong);
        }
        let body = cobs::decode(encoded).ok_or(FrameError::Stuffing)?;
        let (&[length, seq, kind], rest) = body.split_first_chunk().ok_or(FrameError::Length)?;
        let (payload, &check) = rest.split_last_chunk().ok_or(FrameError::Length)?;
        if payload.len() != usize::from(length) || payload.len() > MAX_PAYLOAD {
            return Err(FrameError::Length);
        }
        if crc16(&body[..body.len() - 2]) != u16::from_le_bytes(check) {
            return Err(FrameError::Check);
        }
        Ok(Self { seq, kind, payload: payload.to_vec() })
    }

    /// Bytes that the frame takes on the line.
    #[must_use]
    pub fn line_length(&self) -> usize {
        self.payload.len() + BODY + 3
    }
}

/// What the decoder found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A good frame.
    Frame(Frame),
    /// Bytes between delimiters that are no frame.
    Damaged(FrameError),
}

/// Cuts what is heard at the delimiters. What is no frame is kept as noise for messages.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    noise: Vec<u8>,
}

impl Decoder {
    /// Takes a byte; tells what it completed.
    pub fn push(&mut self, byte: u8) -> Option<Event> {
        if byte != 0 {
            if self.pending.len() > MAX_ENCODED {
                self.give_up();
            }
            self.pending.push(byte);
            return None;
        }
        if self.pending.is_empty() {
            return None;
        }
        match Frame::decode(&self.pending) {
            Ok(frame) => {
                self.pending.clear();
                Some(Event::Frame(frame))
            }
            Err(error) => {
                self.give_up();
                Some(Event::Damaged(error))
            }
        }
    }

    /// The last bytes heard that were no frame, banners included.
    pub fn noise(&self) -> impl Iterator<Item = u8> {
        self.noise.iter().chain(&self.pending).copied()
    }

    /// Forgets everything heard so far.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.noise.clear();
    }

    fn give_up(&mut self) {
        self.noise.append(&mut self.pending);
        let excess = self.noise.len().saturating_sub(NOISE_KEPT);
        self.noise.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_is_the_catalogues() {
        // Catalogue of parametrised CRC algorithms: CRC-16/IBM-3740, check 29B1h.
        assert_eq!(crc16(b"123456789"), 0x29B1);
        // 49 + 50 + ... + 57 = 477, and 49 * 9 + 50 * 8 + ... + 57 = 2325, modulo 256.
        assert_eq!(memory_check(b"123456789"), 0x15DD_29B1);
    }

    fn frames() -> impl Strategy<Value = Frame> {
        let payload = prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..=MAX_PAYLOAD);
        (any::<u8>(), any::<u8>(), payload).prop_map(|(seq, kind, payload)| Frame {
            seq,
            kind,
            payload,
        })
    }

    fn heard(bytes: impl IntoIterator<Item = u8>) -> Vec<Frame> {
        let mut decoder = Decoder::default();
        let events = bytes.into_iter().filter_map(|byte| decoder.push(byte));
        events.filter_map(|e| if let Event::Frame(f) = e { Some(f) } else { None }).collect()
    }

    proptest! {
        #[test]
        fn frames_come_through_whatever_was_on_the_line_before(
            noise in prop::collection::vec(any::<u8>(), 0..600),
            frames in prop::collection::vec(frames(), 1..4),
        ) {
            let line = frames.iter().flat_map(Frame::encode);
            let all = heard(noise.iter().copied().chain(line));
            prop_assert!(all.ends_with(&frames));
        }

        #[test]
        fn a_frame_has_its_length_and_no_zero_inside(frame in frames()) {
            let line = frame.encode();
            prop_assert_eq!(line.len(), frame.line_length());
            prop_assert!(line[1..line.len() - 1].iter().all(|byte| *byte != 0));
            prop_assert!(line.len() <= MAX_ENCODED + 2);
        }

        #[test]
        fn a_changed_byte_is_noticed(frame in frames(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut line = frame.encode();
            let at = at.index(line.len());
            prop_assume!(line[at] != to);
            line[at] = to;
            prop_assert!(!heard(line).contains(&frame));
        }
    }
}
