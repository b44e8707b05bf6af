//! The request COUNT and its reply: the caller counts through arguments by itself and returns one
//! CRC-32 of all results.

use super::call::CallStatus;
use super::registers::RegisterValues;

/// Most bytes of registers that COUNT counts through.
pub const MAX_COUNTED_BYTES: usize = 4;
/// Most bytes of results of one call.
pub const MAX_COUNT_RESULTS: usize = 20;

/// A block of calls whose arguments count up.
///
/// A byte of a register has a number: [`super::RegisterPair::low_byte`] of the pair, or one more
/// for the high byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountRequest {
    /// The address of the routine.
    pub entry: u16,
    /// Registers before each call. Those without a value are 0.
    pub registers: RegisterValues,
    /// The bytes of registers that count, the lowest first: 1 to [`MAX_COUNTED_BYTES`], each once.
    pub counted: Vec<u8>,
    /// Their value in the first call. The next call's is 1 more; after the largest comes 0.
    pub first: u32,
    /// The number of calls, 1 to 65,536.
    pub calls: u32,
    /// The flags that results include, if F is one of them; the others count as 0.
    pub flags: u8,
    /// The bytes of registers that are a call's results, in CRC order: 1 to [`MAX_COUNT_RESULTS`].
    pub results: Vec<u8>,
    /// CRC-32 (as zlib's) of the results before, 0 at the start.
    pub crc: u32,
}

impl CountRequest {
    pub(super) fn payload(&self) -> Vec<u8> {
        let count = |list: &[u8]| u8::try_from(list.len()).unwrap_or(u8::MAX);
        let mut counted = self.counted.clone();
        counted.resize(MAX_COUNTED_BYTES.max(counted.len()), 0);
        let [calls_low, calls_high, ..] = self.calls.to_le_bytes(); // 65,536 is 0
        let mut payload = self.entry.to_le_bytes().to_vec();
        payload.extend(self.registers.pairs().mask().to_le_bytes());
        payload.extend([calls_low, calls_high]);
        payload.extend(self.first.to_le_bytes());
        payload.push(count(&self.counted));
        payload.extend(counted);
        payload.push(self.flags);
        payload.extend(self.crc.to_le_bytes());
        payload.push(count(&self.results));
        payload.extend(&self.results);
        payload.extend(self.registers.bytes());
        payload
    }
}

/// The reply to COUNT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountReply {
    /// CRC-32 (as zlib's) of all results so far.
    pub crc: u32,
    /// What any of the calls may have damaged.
    pub status: CallStatus,
    /// The most bytes of stack that a call has used, as in [`super::CallResult::stack_used`].
    pub stack_used: u8,
}

impl CountReply {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let &[a, b, c, d, status, stack_used] = payload else { return None };
        let crc = u32::from_le_bytes([a, b, c, d]);
        Some(Self { crc, status: CallStatus(status), stack_used })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RegisterPair;

    #[test]
    fn request_and_reply_are_laid_out_as_the_protocol_states() {
        let request = CountRequest {
            entry: 0x8123,
            registers: RegisterValues::default().with(RegisterPair::Ix, 0x9ABC),
            counted: vec![1, 3],
            first: 0x0102_0304,
            calls: 0x1_0000,
            flags: 0xD7,
            results: vec![0, 6, 7],
            crc: 0x1122_3344,
        };
        let expected = [
            0x23, 0x81, 0x10, 0x00, 0, 0, 4, 3, 2, 1, // calls and the first value
            2, 1, 3, 0, 0, 0xD7, 0x44, 0x33, 0x22, 0x11, // what counts, flags, CRC
            3, 0, 6, 7, 0xBC, 0x9A,
        ];
        assert_eq!(request.payload(), expected);
        let reply = CountReply::parse(&[0x78, 0x56, 0x34, 0x12, 0x02, 9]).expect("it is complete");
        assert_eq!((reply.crc, reply.status.faults(), reply.stack_used), (0x1234_5678, 2, 9));
        assert_eq!(CountReply::parse(&[0; 5]), None);
    }
}
