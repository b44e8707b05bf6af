//! Compares boards with the reference over a space of arrays; bisects to a mismatch.

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{IntoIter, Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use firmware_wire::{ExhaustRequest, RESIDUE_BINS, StepRecord, capability};
use rcflash_link::LinkError;

use super::expect::ExpectedChunk;
use super::space::ArraySpace;
use crate::booking::ObservedBooking;
use sargon_corpus::encode;
use sargon_suite::SargonBoard;
use sargon_suite::responses::ExhaustResponse;

/// Arrays per request: few enough that a request to a dead board times out within ten seconds.
pub(super) const CHUNK_ARRAYS: u16 = 2048;

/// The arrays to check.
#[derive(Debug, Clone)]
pub(super) struct ExhaustPlan {
    /// The space.
    pub(super) arrays: ArraySpace,
    /// Numbers of the arrays.
    pub(super) range: Range<u32>,
    /// CRC-32 of the residues before the range.
    pub(super) crc: u32,
}

/// Statistics of the T-states of XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TStateStats {
    /// T-states of the fastest exchange.
    pub(super) min: u64,
    /// T-states of the slowest exchange.
    pub(super) max: u64,
    /// Sum of the T-states.
    pub(super) sum: u64,
    /// Number of exchanges.
    pub(super) count: u64,
}

/// Totals of the arrays on which board and reference agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExhaustTotals {
    /// Number of arrays, from the start of the range.
    pub(super) arrays: u32,
    /// CRC-32 of the residues up to the last of them.
    pub(super) crc: u32,
    /// Numbers of arrays with residues 0 to 10.
    pub(super) histogram: [u64; RESIDUE_BINS],
    /// Numbers of arrays with residues above and below minimax.
    pub(super) off_minimax: (u32, u32),
    /// T-states of the exchanges, if the boards are simulated.
    pub(super) times: Option<TStateStats>,
}

/// The first array on which board and reference differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FirstMismatch {
    /// Number of the array.
    pub(super) number: u32,
    /// Residue in the histogram of EXHAUST; `None` if over 10.
    pub(super) counted: Option<u8>,
    /// Reply to EXCHANGE for the same array: residue and status.
    pub(super) traced: (u8, u8),
    /// The bookings of XCHNG, if the board is simulated.
    pub(super) bookings: Option<Vec<ObservedBooking>>,
    /// Steps in the reply to TRACE, a second program; empty if it is not implemented.
    pub(super) steps: Vec<StepRecord>,
}

/// How a check ended.
#[derive(Debug)]
pub(super) enum ExhaustEnd {
    /// All arrays were compared.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// Board and reference differ.
    Differs(Box<FirstMismatch>),
    /// XCHNG damages the board while it evaluates some of these arrays: what it did.
    Damaged(Range<u32>, String),
    /// The board did not reply.
    BoardLost(LinkError),
}

/// Compares the arrays of `plan` up to the first difference. The boards must be equal; each takes
/// the next chunk when it has finished one. `on_progress` is called with the number of compared
/// arrays.
pub(super) fn check_arrays(
    boards: &mut [SargonBoard],
    plan: &ExhaustPlan,
    interrupted: &AtomicBool,
    on_progress: impl FnMut(u32),
) -> (ExhaustTotals, ExhaustEnd) {
    let mut totals = ExhaustTotals::new(plan.crc);
    // The reference runs ahead in its own thread, so that no board waits for it.
    let (send, expected) = channel();
    let chunks = Mutex::new(expected.into_iter().enumerate());
    let is_over = &AtomicBool::new(false);
    let stop = thread::scope(|scope| {
        scope.spawn(move || compute_expected(plan, &send, is_over));
        let (sender, results) = channel();
        for live in &mut *boards {
            let (chunks, sender) = (&chunks, sender.clone());
            scope.spawn(move || run_chunks(live, &plan.arrays, chunks, &sender, is_over));
        }
        drop(sender);
        let stop = compare_chunks(&results, &mut totals, interrupted, on_progress);
        is_over.store(true, Ordering::Relaxed);
        stop
    });
    let ended = match (stop, boards.first_mut()) {
        (StopReason::At(end), _) => end,
        (StopReason::Differs(_), None) => ExhaustEnd::Complete,
        (StopReason::Differs(result), Some(live)) => {
            let found = bisect_mismatch(live, &plan.arrays, &result.chunk, result.histogram);
            found.map_or_else(ExhaustEnd::BoardLost, |finding| {
                ExhaustEnd::Differs(Box::new(finding))
            })
        }
    };
    (totals, ended)
}

/// The chunks that no board has taken, with their numbers.
type Chunks = Mutex<Enumerate<IntoIter<ExpectedChunk>>>;

struct ChunkResult {
    index: usize,
    chunk: ExpectedChunk,
    counted: Result<ExhaustResponse, LinkError>,
    /// What code under test did to the board meanwhile.
    damage: Option<String>,
}

/// Why the comparison stopped.
enum StopReason {
    At(ExhaustEnd),
    /// The residues of a chunk differ.
    Differs(Box<MismatchedChunk>),
}

/// A chunk on which board and reference differ.
struct MismatchedChunk {
    chunk: ExpectedChunk,
    histogram: [u16; RESIDUE_BINS],
}

/// Computes and sends the expected results, chunk by chunk, until the check is over.
fn compute_expected(plan: &ExhaustPlan, send: &Sender<ExpectedChunk>, is_over: &AtomicBool) {
    let mut crc = plan.crc;
    for first in plan.range.clone().step_by(usize::from(CHUNK_ARRAYS)) {
        let last = plan.range.end.min(first + u32::from(CHUNK_ARRAYS));
        let expected = plan.arrays.expect(first..last, crc);
        crc = expected.tally.crc;
        if is_over.load(Ordering::Relaxed) || send.send(expected).is_err() {
            return;
        }
    }
}

/// Runs chunks on a board until none is left or the board fails.
fn run_chunks(
    live: &mut SargonBoard,
    arrays: &ArraySpace,
    chunks: &Chunks,
    sender: &Sender<ChunkResult>,
    is_over: &AtomicBool,
) {
    let next = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
    while !is_over.load(Ordering::Relaxed)
        && let Some((index, chunk)) = next()
    {
        let counted = request_chunk(live, arrays, &chunk);
        let (counted, damage) = match live.take_damage() {
            Ok(damage) => (counted, damage),
            Err(error) => (counted.and(Err(error)), None),
        };
        let is_lost = counted.is_err();
        if sender.send(ChunkResult { index, chunk, counted, damage }).is_err() || is_lost {
            return;
        }
    }
}

/// Compares results with the reference in the order of the arrays, whatever the order of arrival.
fn compare_chunks(
    results: &Receiver<ChunkResult>,
    totals: &mut ExhaustTotals,
    interrupted: &AtomicBool,
    mut on_progress: impl FnMut(u32),
) -> StopReason {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for result in results {
        early.insert(result.index, result);
        while let Some(ChunkResult { chunk, counted, damage, .. }) = early.remove(&next) {
            if interrupted.load(Ordering::Relaxed) {
                return StopReason::At(ExhaustEnd::Interrupted);
            }
            if let Some(damage) = damage {
                return StopReason::At(ExhaustEnd::Damaged(chunk.range, damage));
            }
            match counted {
                Ok(counted) if counted.tally == chunk.tally => totals.add(&chunk, &counted),
                Ok(counted) => {
                    let histogram = counted.tally.histogram;
                    return StopReason::Differs(Box::new(MismatchedChunk { chunk, histogram }));
                }
                Err(error) => return StopReason::At(ExhaustEnd::BoardLost(error)),
            }
            on_progress(totals.arrays);
            next += 1;
        }
    }
    StopReason::At(ExhaustEnd::Complete)
}

fn request_chunk(
    live: &mut SargonBoard,
    arrays: &ArraySpace,
    chunk: &ExpectedChunk,
) -> Result<ExhaustResponse, LinkError> {
    let index = arrays.index(chunk.range.start);
    let (piece, _) = arrays.at(index);
    live.request_exhaust(ExhaustRequest {
        space: arrays.space as u8,
        attackers: index.attackers,
        defenders: index.defenders,
        piece: encode::piece(piece),
        count: chunk.tally.count,
        crc: chunk.crc_before,
    })
}

/// Finds the first array that differs by bisecting its chunk. All parts begin at the start of the
/// chunk, so that an exchange that corrupts later ones is found, too. `after` is the board's
/// histogram of the whole chunk.
fn bisect_mismatch(
    live: &mut SargonBoard,
    arrays: &ArraySpace,
    chunk: &ExpectedChunk,
    mut after: [u16; RESIDUE_BINS],
) -> Result<FirstMismatch, LinkError> {
    let Range { start, end } = chunk.range;
    let mut agree = start;
    let mut differ = end;
    let mut before = [0; RESIDUE_BINS];
    while differ - agree > 1 {
        let middle = agree.midpoint(differ);
        // Always from `start`: if an exchange corrupts a later one, a part that begins in between
        // would agree, and the bisection would end at an array that is right by itself.
        let part = arrays.expect(start..middle, chunk.crc_before);
        let tally = request_chunk(live, arrays, &part)?.tally;
        if tally == part.tally {
            (agree, before) = (middle, tally.histogram);
        } else {
            (differ, after) = (middle, tally.histogram);
        }
    }
    // The two histograms are one array apart now, so the bin that has grown is the board's residue
    // for it. No bin has grown if the residue is over 10.
    let mut bins = before.iter().zip(&after);
    let counted = bins.position(|(before, after)| before < after).map(|residue| residue as u8);
    let (piece, array) = arrays.at(arrays.index(agree));
    let take_hits = |board: &SargonBoard| board.live.instrumentation().map(|it| it.take_hits());
    let _ = take_hits(live);
    let traced = live.request_exchange(piece, &array)?;
    let hits = take_hits(live);
    let bookings = hits.map(|at| at.iter().map(ObservedBooking::from_registers).collect());
    let steps = match live.live.identity.capabilities & capability::TRACE {
        0 => Vec::new(),
        _ => live.request_trace(piece, piece.kind.value(), &array)?.2,
    };
    Ok(FirstMismatch { number: agree, counted, traced, bookings, steps })
}

impl ExhaustTotals {
    fn new(crc: u32) -> Self {
        Self { arrays: 0, crc, histogram: [0; RESIDUE_BINS], off_minimax: (0, 0), times: None }
    }

    fn add(&mut self, chunk: &ExpectedChunk, counted: &ExhaustResponse) {
        self.arrays += u32::from(chunk.tally.count);
        self.crc = chunk.tally.crc;
        for (sum, count) in self.histogram.iter_mut().zip(chunk.tally.histogram) {
            *sum += u64::from(count);
        }
        self.off_minimax.0 += chunk.off_minimax.0;
        self.off_minimax.1 += chunk.off_minimax.1;
        let times = counted.t_states.iter().flatten();
        self.times = times.fold(self.times, |times, &time| {
            let first = TStateStats { min: time, max: time, sum: 0, count: 0 };
            let TStateStats { min, max, sum, count } = times.unwrap_or(first);
            let min = min.min(time);
            let max = max.max(time);
            Some(TStateStats { min, max, sum: sum + time, count: count + 1 })
        });
    }
}
