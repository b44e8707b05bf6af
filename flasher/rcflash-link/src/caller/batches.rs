//! Sends batches of calls, up to two in flight.
//!
//! The caller makes the calls of a batch only if it has the next number. So if one is lost, it
//! refuses the one after it, which is sent again once the link has sent the lost one. If a reply is
//! lost, that of the next batch arrives first; no further batch is sent until it was sent again,
//! since the caller stores two replies.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use firmware_wire::{
    BatchResult, Call, CallBatch, CallResult, ErrorCode, MAX_BATCHES_IN_FLIGHT, MAX_BLOCK,
    MemoryResult, Reply, Request, kind,
};

use super::{CALL_OVERHEAD, CRC_TIME_PER_BYTE, Caller, CallerError, REPLY_TIMEOUT, unexpected};
use crate::narrow::narrow;
use crate::queue::RequestId;
use crate::{Link, LinkError, RequestSpec, loader};

const OPERATION: &str = "calling routines";
/// How often a batch may be refused because one before it was lost.
const MAX_REFUSALS: u32 = 8;

/// What routines may take.
#[derive(Debug, Clone, Copy)]
pub struct CallTimes {
    /// Each of them.
    pub call: Duration,
    /// Those that share a frame, together, if this is more than one may take.
    pub frame: Duration,
    /// The timer by which the caller on a Z180 ends a call; `None` elsewhere, or for the last one.
    pub watchdog: Option<CallWatchdog>,
}

/// The timer by which the caller on a Z180 ends a call that does not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallWatchdog {
    pub(super) ticks: u8,
    time: Duration,
}

impl Default for CallWatchdog {
    /// 2 s at 18.432 MHz.
    fn default() -> Self {
        Self::new(36_000_000, 18_432_000)
    }
}

impl CallWatchdog {
    /// T-states between two ticks of the timer.
    const TICK: u64 = 20 * 65_536;

    /// Returns the timer for calls that may take this number of T-states, at most 332 million, of a
    /// processor with this clock in Hz. It ends a call up to 2,621,440 T-states later.
    #[must_use]
    pub fn new(t_states: u64, clock_hz: u64) -> Self {
        // The first tick may come at once.
        let ticks = t_states.div_ceil(Self::TICK).saturating_add(1);
        let ticks = u8::try_from(ticks).unwrap_or(u8::MAX);
        let seconds = (Self::TICK * u64::from(ticks)) as f64 / clock_hz.max(1) as f64;
        Self { ticks, time: Duration::from_secs_f64(seconds) }
    }
}

impl From<Duration> for CallTimes {
    /// Every routine may take as long.
    fn from(call: Duration) -> Self {
        Self { call, frame: Duration::MAX, watchdog: None }
    }
}

impl CallTimes {
    /// Returns the processing time of a frame with these calls.
    fn of(self, calls: &[Call]) -> Duration {
        let routines: Duration = calls.iter().map(|_| self.call).sum();
        let watchdog = self.watchdog.map_or(Duration::ZERO, |watchdog| watchdog.time);
        let routines = routines.min(self.frame.max(self.call)) + watchdog;
        routines + calls.iter().map(overhead).sum::<Duration>()
    }
}

/// A batch in flight.
struct SentBatch {
    id: RequestId,
    range: Range<usize>,
    batch: CallBatch,
    refusals: u32,
}

pub(super) fn call_all(
    caller: &mut Caller,
    link: &mut Link,
    calls: &[Call],
    times: CallTimes,
) -> Result<Vec<CallResult>, CallerError> {
    let mut results = Vec::with_capacity(calls.len());
    while results.len() < calls.len() {
        let first = results.len();
        let rest = &calls[first..];
        let sizes = plan(rest);
        if sizes.is_empty() {
            results.push(call_with_large_memory(caller, link, (first, &rest[0]), times)?);
        } else {
            results.extend(Pipeline::new(caller, link, first, rest, times).run(sizes)?);
        }
    }
    Ok(results)
}

/// Returns the sizes of batches for the calls up to the first that does not fit a frame.
fn plan(calls: &[Call]) -> VecDeque<usize> {
    let mut sizes = VecDeque::new();
    let mut rest = calls;
    loop {
        match CallBatch::fitting(rest) {
            0 => return sizes,
            size => {
                sizes.push_back(size);
                rest = &rest[size..];
            }
        }
    }
}

struct Pipeline<'a> {
    caller: &'a mut Caller,
    link: &'a mut Link,
    /// The index of the first of `calls` among all, for errors.
    first: usize,
    calls: &'a [Call],
    times: CallTimes,
    in_flight: Vec<SentBatch>,
    /// How often the board was asked whether it still replies.
    timeouts: u32,
    /// The results of batches by their first call.
    results: BTreeMap<usize, Vec<CallResult>>,
}

impl<'a> Pipeline<'a> {
    fn new(
        caller: &'a mut Caller,
        link: &'a mut Link,
        first: usize,
        calls: &'a [Call],
        times: CallTimes,
    ) -> Self {
        let (in_flight, results) = (Vec::new(), BTreeMap::new());
        Self { caller, link, first, calls, times, in_flight, timeouts: 0, results }
    }

    /// Makes the first calls, in batches of these sizes.
    fn run(mut self, mut sizes: VecDeque<usize>) -> Result<Vec<CallResult>, CallerError> {
        let mut next = 0;
        loop {
            while let Some(&size) = sizes.front() {
                let number = self.caller.next_number;
                let batch = CallBatch { number, calls: self.calls[next..next + size].to_vec() };
                if !self.has_room(&batch) {
                    break;
                }
                sizes.pop_front();
                self.caller.next_number = number.wrapping_add(1);
                self.send(next..next + size, batch, 0)?;
                next += size;
            }
            if self.in_flight.is_empty() {
                return Ok(self.results.into_values().flatten().collect());
            }
            self.receive()?;
        }
    }

    /// Returns `true` if the caller can take this batch, and stores the replies to all in flight.
    fn has_room(&self, batch: &CallBatch) -> bool {
        let distance = |sent: &SentBatch| batch.number.wrapping_sub(sent.batch.number);
        self.in_flight.is_empty()
            || self.in_flight.iter().all(|sent| distance(sent) < MAX_BATCHES_IN_FLIGHT)
                && self.link.has_room(&Request::Call(batch.clone()))
    }

    fn send(
        &mut self,
        range: Range<usize>,
        batch: CallBatch,
        refusals: u32,
    ) -> Result<(), LinkError> {
        let time = self.times.of(&batch.calls);
        let request = Request::Call(batch.clone());
        let spec = RequestSpec { max_timeouts: 1, ..RequestSpec::new(OPERATION, request, time) };
        let id = self.link.submit(&spec)?;
        self.in_flight.push(SentBatch { id, range, batch, refusals });
        Ok(())
    }

    fn receive(&mut self) -> Result<(), CallerError> {
        let completion = self.link.next_completion()?.ok_or(CallerError::OutOfSequence)?;
        let Some(index) = self.in_flight.iter().position(|sent| sent.id == completion.id) else {
            return Ok(()); // another client's request
        };
        let sent = self.in_flight.remove(index);
        match completion.replies.map(|mut replies| replies.pop()) {
            Ok(Some(Reply::Called { number, results })) if number == sent.batch.number => {
                self.results.insert(sent.range.start, self.accept(&sent, &results)?);
                Ok(())
            }
            Err(error) if is_out_of_sequence(&error) => {
                // It may be refused only because one before it was lost.
                let is_earlier = |other: &SentBatch| other.range.start < sent.range.start;
                if !self.in_flight.iter().any(is_earlier) || sent.refusals >= MAX_REFUSALS {
                    return Err(CallerError::OutOfSequence);
                }
                Ok(self.send(sent.range, sent.batch, sent.refusals + 1)?)
            }
            Err(error) => {
                self.timeouts += 1;
                let calls = self.first + sent.range.start..self.first + sent.range.end;
                self.caller.check_lost(self.link, error, self.timeouts, calls)?;
                self.send_again(sent)
            }
            Ok(Some(other)) => Err(unexpected(OPERATION, &other).into()),
            Ok(None) => Err(LinkError::unexpected_reply(OPERATION, "it is empty").into()),
        }
    }

    /// Sends a batch and those after it again. The caller makes only calls that it has not made.
    fn send_again(&mut self, sent: SentBatch) -> Result<(), CallerError> {
        let later = std::mem::take(&mut self.in_flight);
        for SentBatch { range, batch, refusals, .. } in std::iter::once(sent).chain(later) {
            self.send(range, batch, refusals)?;
        }
        Ok(())
    }

    fn accept(&self, sent: &SentBatch, bytes: &[u8]) -> Result<Vec<CallResult>, CallerError> {
        match sent.batch.parse_results(bytes) {
            Some(BatchResult { results, refused: None }) => Ok(results),
            Some(BatchResult { results, refused: Some(refusal) }) => {
                let index = self.first + sent.range.start + results.len();
                Err(CallerError::Refused { index, refusal })
            }
            None => Err(LinkError::unexpected_reply(OPERATION, "results of other calls").into()),
        }
    }
}

/// Returns `true` if the caller has refused the number of a batch.
fn is_out_of_sequence(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. }
        if (error.code, error.request, error.detail) == (ErrorCode::BadArgument, kind::CALL, 0))
}

/// Returns what the caller takes for a call in addition to the routine.
fn overhead(call: &Call) -> Duration {
    let crc = call.reads.iter().filter(|read| read.as_crc);
    CALL_OVERHEAD + crc.map(|read| CRC_TIME_PER_BYTE * u32::from(read.length)).sum::<Duration>()
}

/// Makes a call whose memory exceeds a frame, by WRITE before and READ after it.
fn call_with_large_memory(
    caller: &mut Caller,
    link: &mut Link,
    (index, call): (usize, &Call),
    times: CallTimes,
) -> Result<CallResult, CallerError> {
    let blocks = call.writes.iter().flat_map(|(address, bytes)| {
        let block = |(number, data): (usize, &[u8])| Request::Write {
            address: address.wrapping_add(narrow(number * MAX_BLOCK)),
            data: data.to_vec(),
        };
        bytes.chunks(MAX_BLOCK).enumerate().map(block)
    });
    loader::pipeline(link, "writing memory for a call", blocks, REPLY_TIMEOUT, |_, reply| {
        matches!(reply, Reply::Written { .. })
    })?;
    let crcs = call.reads.iter().copied().filter(|read| read.as_crc).collect();
    let small = [Call { writes: Vec::new(), reads: crcs, ..call.clone() }];
    let pipeline = Pipeline::new(caller, link, index, &small, times);
    let made = pipeline.run(VecDeque::from([1]))?.pop();
    let mut result = made.ok_or(CallerError::OutOfSequence)?;
    let mut crcs = std::mem::take(&mut result.memory).into_iter();
    for read in &call.reads {
        result.memory.extend(match read.as_crc {
            true => crcs.next(),
            false => Some(MemoryResult::Bytes(read_memory(link, read.address, read.length)?)),
        });
    }
    Ok(result)
}

fn read_memory(link: &mut Link, address: u16, length: u16) -> Result<Vec<u8>, LinkError> {
    let mut memory = vec![0; length.into()];
    let mut blocks: Vec<&mut [u8]> = memory.chunks_mut(MAX_BLOCK).collect();
    let request = |(number, block): (usize, &&mut [u8])| Request::Read {
        address: address.wrapping_add(narrow(number * MAX_BLOCK)),
        count: narrow(block.len()),
    };
    let requests: Vec<_> = blocks.iter().enumerate().map(request).collect();
    let operation = "reading memory after a call";
    loader::pipeline(link, operation, requests.into_iter(), REPLY_TIMEOUT, |number, reply| {
        match reply {
            Reply::Memory { data, .. } if data.len() == blocks[number].len() => {
                blocks[number].copy_from_slice(&data);
                true
            }
            _ => false,
        }
    })?;
    Ok(memory)
}
