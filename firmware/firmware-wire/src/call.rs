//! The request CALL and its reply: calls of any routine, several a frame.

use std::fmt;

use super::error::ErrorCode;
use super::registers::{RegisterSet, RegisterValues};
use super::{MAX_PAYLOAD, RegisterPair};

/// In the mask of registers wanted or given: memory is, too.
const MEMORY_BIT: u16 = 0x8000;
/// In the length of memory to return: its CRC-32 instead of its bytes.
const CRC_BIT: u16 = 0x8000;
/// Set in the status if the batch ends there.
const END_BIT: u8 = 0x80;
/// Bytes of the reply that stay free for the end of the batch.
const END_BYTES: usize = 3;
/// Bytes of stack that a routine has.
pub const CALL_STACK_BYTES: u8 = 248;
/// Most bytes of memory in one item of [`Call::reads`].
pub const MAX_CALL_READ: u16 = 0x7FFF;
/// The number of batches whose replies the caller stores. A further one may be sent only after the
/// reply to the oldest has arrived.
pub const MAX_BATCHES_IN_FLIGHT: u8 = 2;

/// A call of a routine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// The address of the routine.
    pub entry: u16,
    /// Registers before the call. Those without a value are 0.
    pub registers: RegisterValues,
    /// Bytes to store before the call, in this order. Each has 1 to 255.
    pub writes: Vec<(u16, Vec<u8>)>,
    /// Registers to return.
    pub wanted: RegisterSet,
    /// Memory to return after the call.
    pub reads: Vec<CallRead>,
}

/// Memory that a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRead {
    /// First address.
    pub address: u16,
    /// 1 to [`MAX_CALL_READ`] bytes.
    pub length: u16,
    /// Whether to return its CRC-32 (as zlib's) instead of the bytes.
    pub as_crc: bool,
}

impl CallRead {
    /// Bytes of its result on the wire.
    fn reply_bytes(self) -> usize {
        if self.as_crc { 4 } else { self.length.into() }
    }
}

impl Call {
    /// Bytes of this call in the request.
    pub fn request_bytes(&self) -> usize {
        let writes: usize = self.writes.iter().map(|(_, bytes)| 3 + bytes.len()).sum();
        let lists = usize::from(!self.writes.is_empty()) + usize::from(!self.reads.is_empty());
        6 + 2 * self.registers.pairs().iter().count() + writes + lists + 4 * self.reads.len()
    }

    /// Bytes of its result in the reply.
    pub fn reply_bytes(&self) -> usize {
        let reads: usize = self.reads.iter().map(|read| read.reply_bytes()).sum();
        2 + 2 * self.wanted.iter().count() + reads
    }

    fn add_to(&self, payload: &mut Vec<u8>) {
        let mask = |pairs: RegisterSet, has_memory| {
            (pairs.mask() | if has_memory { MEMORY_BIT } else { 0 }).to_le_bytes()
        };
        payload.extend(self.entry.to_le_bytes());
        payload.extend(mask(self.registers.pairs(), !self.writes.is_empty()));
        payload.extend(mask(self.wanted, !self.reads.is_empty()));
        payload.extend(self.registers.bytes());
        let count = |length: usize| u8::try_from(length).unwrap_or(u8::MAX);
        if !self.writes.is_empty() {
            payload.push(count(self.writes.len()));
        }
        for (address, bytes) in &self.writes {
            payload.extend(address.to_le_bytes());
            payload.push(count(bytes.len()));
            payload.extend(bytes);
        }
        if !self.reads.is_empty() {
            payload.push(count(self.reads.len()));
        }
        for read in &self.reads {
            let length = read.length | if read.as_crc { CRC_BIT } else { 0 };
            payload.extend(read.address.to_le_bytes());
            payload.extend(length.to_le_bytes());
        }
    }

    /// Takes the result of this call from the start of `bytes`.
    fn take_result(&self, bytes: &mut &[u8]) -> Option<CallResult> {
        let &[status, stack_used] = take(bytes, 2)? else { return None };
        let mut registers = RegisterValues::default();
        for pair in self.wanted.iter() {
            registers.set(pair, u16::from_le_bytes(take(bytes, 2)?.try_into().ok()?));
        }
        let mut memory = Vec::with_capacity(self.reads.len());
        for read in &self.reads {
            let data = take(bytes, read.reply_bytes())?;
            memory.push(if read.as_crc {
                MemoryResult::Crc(u32::from_le_bytes(data.try_into().ok()?))
            } else {
                MemoryResult::Bytes(data.to_vec())
            });
        }
        Some(CallResult { status: CallStatus(status), stack_used, registers, memory })
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// What the routine may have damaged.
    pub status: CallStatus,
    /// Bytes of stack that the routine has used, up to [`CALL_STACK_BYTES`], without its return
    /// address. Interrupts add up to 16 bytes ([`CallStatus::INTERRUPTED`]); the figure of a batch
    /// that is alone on the line is exact without that bit.
    pub stack_used: u8,
    /// The registers wanted.
    pub registers: RegisterValues,
    /// The memory wanted, in the order of [`Call::reads`].
    pub memory: Vec<MemoryResult>,
}

impl CallResult {
    /// Returns a register of the result; `None` if it was not wanted.
    pub fn register(&self, pair: RegisterPair) -> Option<u16> {
        self.registers.get(pair)
    }
}

/// Memory after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryResult {
    /// The bytes.
    Bytes(Vec<u8>),
    /// Their CRC-32, as zlib's.
    Crc(u32),
}

/// What a routine may have damaged: bits.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct CallStatus(pub u8);

impl CallStatus {
    /// The routine returned with another stack pointer.
    pub const STACK_POINTER: u8 = 0x01;
    /// It returned with interrupts off, or with another register I.
    pub const INTERRUPTS_OFF: u8 = 0x02;
    /// It has used up its stack; what lies below may be destroyed.
    pub const STACK_OVERFLOW: u8 = 0x04;
    /// Bytes from the host were lost meanwhile.
    pub const BYTES_LOST: u8 = 0x08;
    /// Interrupts came meanwhile, which use the routine's stack. No fault of the routine.
    pub const INTERRUPTED: u8 = 0x10;

    /// Returns the bits that are faults of the routine: all but [`Self::INTERRUPTED`].
    #[must_use]
    pub fn faults(self) -> u8 {
        self.0 & !Self::INTERRUPTED
    }

    /// Returns `true` if interrupts came meanwhile: the stack that was used is not exact.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        self.0 & Self::INTERRUPTED != 0
    }
}

impl fmt::Debug for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallStatus({:02X}h)", self.0)
    }
}

/// A numbered batch of calls. The caller makes the calls of a number once: if it is sent again, the
/// stored reply is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBatch {
    /// The number: that of the batch before, plus 1, modulo 256.
    pub number: u8,
    /// The calls.
    pub calls: Vec<Call>,
}

/// The results of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchResult {
    /// The results of the calls up to the refused one.
    pub results: Vec<CallResult>,
    /// What is wrong with the call after them, if one was refused.
    pub refused: Option<CallRefusal>,
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRefusal {
    /// [`ErrorCode::Address`]: memory to write lies elsewhere than programs; with
    /// [`ErrorCode::ReadBack`]: at the detail is no RAM; [`ErrorCode::BadArgument`]: the call is
    /// malformed; [`ErrorCode::BadLength`]: its results do not fit; [`ErrorCode::Timeout`]: it has
    /// not returned, and was at the detail. Only with these two has it been made.
    pub code: ErrorCode,
    /// The address, or 0.
    pub detail: u16,
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = self.detail;
        match self.code {
            ErrorCode::Address => write!(f, "memory at {detail:04X}h is not for programs"),
            ErrorCode::ReadBack => {
                write!(f, "address {detail:04X}h reads back differently: no RAM, or faulty")
            }
            ErrorCode::BadArgument => write!(f, "it is malformed"),
            ErrorCode::BadLength => write!(f, "its results do not fit a frame"),
            ErrorCode::Timeout => write!(f, "it did not return, and was at {detail:04X}h"),
            other => write!(f, "error code {} (detail {detail:04X}h)", other.code()),
        }
    }
}

impl CallBatch {
    /// Returns how many of the calls, from the first on, fit one batch; perhaps none.
    pub fn fitting(calls: &[Call]) -> usize {
        let (mut request, mut reply) = (1, 1);
        let fits = |call: &&Call| {
            request += call.request_bytes();
            reply += call.reply_bytes();
            request <= MAX_PAYLOAD && reply <= MAX_PAYLOAD - END_BYTES
        };
        calls.iter().take_while(fits).count()
    }

    pub(super) fn payload(&self) -> Vec<u8> {
        let mut payload = vec![self.number];
        for call in &self.calls {
            call.add_to(&mut payload);
        }
        payload
    }

    /// Reads the results of these calls, after the reply's number; `None` if not this batch's.
    pub fn parse_results(&self, mut bytes: &[u8]) -> Option<BatchResult> {
        let mut results = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            match bytes {
                [status, rest @ ..] if status & END_BIT != 0 => {
                    let &[low, high] = rest else { return None };
                    let code = ErrorCode::from_code(status & !END_BIT);
                    let detail = u16::from_le_bytes([low, high]);
                    let refused = Some(CallRefusal { code, detail });
                    return Some(BatchResult { results, refused });
                }
                _ => results.push(call.take_result(&mut bytes)?),
            }
        }
        bytes.is_empty().then_some(BatchResult { results, refused: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_batch_is_laid_out_as_the_protocol_states() {
        let call = Call {
            entry: 0x8123,
            registers: RegisterValues::default()
                .with(RegisterPair::HlAlt, 0x0102)
                .with(RegisterPair::Af, 0x3344),
            writes: vec![(0x9000, vec![7, 8])],
            wanted: RegisterSet::from([RegisterPair::Bc, RegisterPair::Iy]),
            reads: vec![
                CallRead { address: 0x9001, length: 2, as_crc: false },
                CallRead { address: 0xA000, length: 0x300, as_crc: true },
            ],
        };
        let batch = CallBatch { number: 9, calls: vec![call.clone()] };
        let expected = [
            9, 0x23, 0x81, 0x01, 0x82, 0x22, 0x80, 0x44, 0x33, 0x02, 0x01, // registers
            1, 0x00, 0x90, 2, 7, 8, // written
            2, 0x01, 0x90, 2, 0, 0x00, 0xA0, 0x00, 0x83, // returned
        ];
        assert_eq!(batch.payload(), expected);
        let reply = [0x10, 6, 0xCD, 0xAB, 0x21, 0x43, 8, 9, 0x78, 0x56, 0x34, 0x12];
        let result = batch.parse_results(&reply).expect("it is complete");
        assert_eq!(result.refused, None);
        let [result] = &result.results[..] else { panic!("{result:?}") };
        assert_eq!((result.status.faults(), result.stack_used), (0, 6));
        assert_eq!(result.register(RegisterPair::Bc), Some(0xABCD));
        assert_eq!(result.register(RegisterPair::Iy), Some(0x4321));
        assert_eq!(
            result.memory,
            [MemoryResult::Bytes(vec![8, 9]), MemoryResult::Crc(0x1234_5678)]
        );
        assert_eq!(batch.parse_results(&reply[..11]), None);
        let refused = batch.parse_results(&[0x83, 0x00, 0x90]).and_then(|result| result.refused);
        assert_eq!(refused, Some(CallRefusal { code: ErrorCode::Address, detail: 0x9000 }));
    }

    #[test]
    fn seventeen_calls_of_eight_bytes_in_and_out_fit_a_frame() {
        use RegisterPair::{Af, Bc, De, Hl};
        let registers = [Af, Bc, De, Hl]
            .into_iter()
            .fold(RegisterValues::default(), |all, one| all.with(one, 1));
        let wanted = RegisterSet::from([Af, Bc, De, Hl]);
        let call = Call { entry: 0x8000, registers, wanted, ..Call::default() };
        assert_eq!((call.request_bytes(), call.reply_bytes()), (14, 10));
        assert_eq!(CallBatch::fitting(&vec![call; 100]), 17);
        let read = CallRead { address: 0, length: 235, as_crc: false };
        let large = Call { reads: vec![read], ..Call::default() };
        assert_eq!(CallBatch::fitting(&[large]), 0, "a reply of 238 bytes has no room for its end");
    }

    fn calls() -> impl Strategy<Value = Call> {
        let pairs =
            || prop::collection::vec(prop::sample::select(RegisterPair::ALL.to_vec()), 0..10);
        let write = (any::<u16>(), prop::collection::vec(any::<u8>(), 1..20));
        let read = (any::<u16>(), 1..20_u16, any::<bool>())
            .prop_map(|(address, length, as_crc)| CallRead { address, length, as_crc });
        let writes = prop::collection::vec(write, 0..4);
        (any::<u16>(), pairs(), writes, pairs(), prop::collection::vec(read, 0..4)).prop_map(
            |(entry, given, writes, wanted, reads)| {
                let registers =
                    given.into_iter().fold(RegisterValues::default(), |all, one| all.with(one, 5));
                Call { entry, registers, writes, wanted: wanted.into_iter().collect(), reads }
            },
        )
    }

    proptest! {
        #[test]
        fn lengths_are_those_of_the_encoding(calls in prop::collection::vec(calls(), 0..6)) {
            let expected: usize = calls.iter().map(Call::request_bytes).sum();
            let reply: usize = calls.iter().map(Call::reply_bytes).sum();
            let batch = CallBatch { number: 0, calls };
            prop_assert_eq!(batch.payload().len(), 1 + expected);
            let result = batch.parse_results(&vec![0; reply]);
            prop_assert_eq!(result.map(|result| result.results.len()), Some(batch.calls.len()));
            prop_assert_eq!(batch.parse_results(&vec![0; reply + 1]), None);
        }

        #[test]
        fn any_results_are_read_or_refused(
            calls in prop::collection::vec(calls(), 0..4),
            bytes in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..240),
        ) {
            let count = calls.len();
            if let Some(result) = (CallBatch { number: 0, calls }).parse_results(&bytes) {
                prop_assert!(result.results.len() + usize::from(result.refused.is_some()) <= count);
            }
        }
    }
}
