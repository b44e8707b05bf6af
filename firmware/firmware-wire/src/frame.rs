//! Frames, their encoding, and a decoder for a stream of received bytes.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crc::{CRC_16_IBM_3740, Crc};

use super::{MAX_ENCODED, MAX_PAYLOAD, cobs};

/// The checksum of frames, and part of that of memory.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);
/// Most noise kept for error messages; older bytes are dropped.
const MAX_NOISE_BYTES: usize = 256;

/// Returns the CRC-16/IBM-3740 of some bytes.
///
/// # Examples
/// ```
/// use firmware_wire::crc16;
///
/// // The check value in the catalogue of CRCs.
/// assert_eq!(crc16(b"123456789"), 0x29B1);
/// ```
pub fn crc16(bytes: &[u8]) -> u16 {
    CRC.checksum(bytes)
}

/// Returns the monitor's checksum of memory: the CRC-16, and above it Fletcher's
/// sums of bytes, modulo 256 (Fletcher, "An Arithmetic Checksum for Serial Transmissions", 1982).
/// They are independent, so that together they miss one of 4,294,967,296 changes.
pub fn memory_checksum(bytes: &[u8]) -> u32 {
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
    /// The type of request or reply, from [`super::kind`].
    pub kind: u8,
    /// The payload.
    pub payload: Payload,
}

/// The payload of a frame, at most [`MAX_PAYLOAD`] bytes; dereferences to a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload(Vec<u8>);

/// Error returned for a payload of more than [`MAX_PAYLOAD`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("payload too long: {0} bytes, the maximum is {MAX_PAYLOAD}")]
pub struct PayloadTooLong(pub usize);

impl TryFrom<Vec<u8>> for Payload {
    type Error = PayloadTooLong;

    fn try_from(bytes: Vec<u8>) -> Result<Self, PayloadTooLong> {
        if bytes.len() > MAX_PAYLOAD { Err(PayloadTooLong(bytes.len())) } else { Ok(Self(bytes)) }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Payload {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {:02X}h {:02X?}", self.seq, self.kind, &*self.payload)
    }
}

/// Error returned if the bytes between two delimiters are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Longer than any frame.
    #[error("longer than any frame")]
    TooLong,
    /// Not valid COBS.
    #[error("invalid byte stuffing")]
    Cobs,
    /// LEN is not the payload's length.
    #[error("length field does not match")]
    Length,
    /// The CRC differs.
    #[error("CRC mismatch")]
    Crc,
}

impl Frame {
    /// Creates a frame.
    ///
    /// # Errors
    /// Returns `PayloadTooLong` if the payload has more than [`MAX_PAYLOAD`] bytes.
    ///
    /// # Examples
    /// ```
    /// use firmware_wire::{Frame, kind};
    ///
    /// let frame = Frame::new(7, kind::IDENT, Vec::new()).expect("it is empty");
    /// let encoded = frame.encode();
    /// assert_eq!(Frame::decode(&encoded[1..encoded.len() - 1]), Ok(frame));
    /// assert!(Frame::new(7, kind::WRITE, vec![0; 241]).is_err());
    /// ```
    pub fn new(seq: u8, kind: u8, payload: Vec<u8>) -> Result<Self, PayloadTooLong> {
        Ok(Self { seq, kind, payload: payload.try_into()? })
    }

    /// Creates a frame without payload.
    pub fn empty(seq: u8, kind: u8) -> Self {
        Self { seq, kind, payload: Payload::default() }
    }

    /// Encodes the frame for the line, both delimiters included.
    ///
    /// # Panics
    /// Never: a payload is short enough for its length to fit a byte, and the body for one group.
    pub fn encode(&self) -> Vec<u8> {
        let length = u8::try_from(self.payload.len()).expect("at most MAX_PAYLOAD");
        let mut body = vec![length, self.seq, self.kind];
        body.extend_from_slice(&self.payload);
        body.extend_from_slice(&crc16(&body).to_le_bytes());
        let mut line = vec![0];
        line.extend(cobs::encode(&body).expect("at most MAX_ENCODED"));
        line.push(0);
        line
    }

    /// Decodes the bytes between two delimiters.
    ///
    /// # Errors
    /// Returns `FrameError` if the bytes are not a frame.
    pub fn decode(encoded: &[u8]) -> Result<Self, FrameError> {
        if encoded.len() > MAX_ENCODED {
            return Err(FrameError::TooLong);
        }
        let body = cobs::decode(encoded).ok_or(FrameError::Cobs)?;
        let (&[length, seq, kind], rest) = body.split_first_chunk().ok_or(FrameError::Length)?;
        let (payload, &check) = rest.split_last_chunk().ok_or(FrameError::Length)?;
        if payload.len() != usize::from(length) {
            return Err(FrameError::Length);
        }
        if crc16(&body[..body.len() - 2]) != u16::from_le_bytes(check) {
            return Err(FrameError::Crc);
        }
        Self::new(seq, kind, payload.to_vec()).map_err(|_| FrameError::Length)
    }
}

/// An item found by the decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecoderEvent {
    /// A valid frame.
    Frame(Frame),
    /// Bytes between delimiters that are not a frame.
    Invalid(FrameError),
}

/// Splits received bytes at the delimiters; what is not a frame is kept as noise for messages.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    noise: Vec<u8>,
}

impl Decoder {
    /// Pushes a byte; returns the event that it completes, if any.
    ///
    /// # Examples
    /// ```
    /// use firmware_wire::{Decoder, DecoderEvent, Frame, kind};
    ///
    /// let frame = Frame::empty(1, kind::IDENT);
    /// let mut decoder = Decoder::default();
    /// let events: Vec<DecoderEvent> =
    ///     frame.encode().into_iter().filter_map(|byte| decoder.push(byte)).collect();
    /// assert_eq!(events, [DecoderEvent::Frame(frame)]);
    /// ```
    pub fn push(&mut self, byte: u8) -> Option<DecoderEvent> {
        if byte != 0 {
            if self.pending.len() > MAX_ENCODED {
                self.discard_to_noise();
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
                Some(DecoderEvent::Frame(frame))
            }
            Err(error) => {
                self.discard_to_noise();
                Some(DecoderEvent::Invalid(error))
            }
        }
    }

    /// Returns the last received bytes that are not a frame, banners included.
    pub fn noise(&self) -> impl Iterator<Item = u8> {
        self.noise.iter().chain(&self.pending).copied()
    }

    /// Discards all bytes received so far.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.noise.clear();
    }

    fn discard_to_noise(&mut self) {
        self.noise.append(&mut self.pending);
        let excess = self.noise.len().saturating_sub(MAX_NOISE_BYTES);
        self.noise.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BODY_OVERHEAD;
    use proptest::prelude::*;

    #[test]
    fn checksums_have_the_check_values_of_the_catalogue() {
        // Catalogue of parametrised CRC algorithms: CRC-16/IBM-3740, check 29B1h.
        assert_eq!(crc16(b"123456789"), 0x29B1);
        // 49 + 50 + ... + 57 = 477, and 49 * 9 + 50 * 8 + ... + 57 = 2325, modulo 256.
        assert_eq!(memory_checksum(b"123456789"), 0x15DD_29B1);
    }

    fn frames() -> impl Strategy<Value = Frame> {
        let payload = prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..=MAX_PAYLOAD);
        (any::<u8>(), any::<u8>(), payload)
            .prop_map(|(seq, kind, payload)| Frame::new(seq, kind, payload).expect("it fits"))
    }

    #[test]
    fn only_payloads_that_fit_become_frames() {
        let made = |length| Frame::new(1, 2, vec![0xA5; length]);
        let longest = made(MAX_PAYLOAD).expect("it fits");
        let line = longest.encode();
        assert_eq!(Frame::decode(&line[1..line.len() - 1]), Ok(longest));
        for length in [241, 245, 250, 255, 256, 500] {
            assert_eq!(made(length), Err(PayloadTooLong(length)));
        }
    }

    #[test]
    fn a_frame_whose_len_field_is_wrong_is_refused() {
        for (len_field, payload_len) in [(3, 2), (1, 2), (0, 1), (241, 240), (240, 0)] {
            let mut body = vec![len_field, 1, 2];
            body.extend(vec![7; payload_len]);
            body.extend(crc16(&body).to_le_bytes());
            let encoded = cobs::encode(&body).expect("it is short");
            assert_eq!(
                Frame::decode(&encoded),
                Err(FrameError::Length),
                "{len_field} and {payload_len}"
            );
        }
    }

    #[test]
    fn noise_that_never_ends_takes_no_memory() {
        let mut decoder = Decoder::default();
        for _ in 0..10_000 {
            assert_eq!(decoder.push(0x55), None);
        }
        assert!(decoder.noise().count() <= MAX_NOISE_BYTES + MAX_ENCODED + 1);
        for _ in 0..10_000 {
            decoder.push(0x55);
            decoder.push(0);
        }
        assert!(decoder.noise().count() <= MAX_NOISE_BYTES);
    }

    fn decode_all(bytes: impl IntoIterator<Item = u8>) -> Vec<Frame> {
        let mut decoder = Decoder::default();
        let events = bytes.into_iter().filter_map(|byte| decoder.push(byte));
        events.filter_map(|e| if let DecoderEvent::Frame(f) = e { Some(f) } else { None }).collect()
    }

    proptest! {
        #[test]
        fn frames_come_through_whatever_was_on_the_line_before(
            noise in prop::collection::vec(any::<u8>(), 0..600),
            frames in prop::collection::vec(frames(), 1..4),
        ) {
            let line = frames.iter().flat_map(Frame::encode);
            let all = decode_all(noise.iter().copied().chain(line));
            prop_assert!(all.ends_with(&frames));
        }

        #[test]
        fn a_frame_has_its_length_and_no_zero_inside(frame in frames()) {
            let line = frame.encode();
            prop_assert_eq!(line.len(), frame.payload.len() + BODY_OVERHEAD + 3);
            prop_assert!(line[1..line.len() - 1].iter().all(|byte| *byte != 0));
            prop_assert!(line.len() <= MAX_ENCODED + 2);
        }

        #[test]
        fn a_changed_byte_is_noticed(frame in frames(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut line = frame.encode();
            let at = at.index(line.len());
            prop_assume!(line[at] != to);
            line[at] = to;
            prop_assert!(!decode_all(line).contains(&frame));
        }
    }
}
