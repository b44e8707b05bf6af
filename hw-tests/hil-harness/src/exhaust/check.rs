//! Goes through a space, boards against reference, a stretch at a time, and finds the first array
//! on which they differ.

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{IntoIter, Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use firmware_wire::{BINS, ExhaustRequest, StepRecord, capability};
use rcflash_link::LinkError;

use super::expect::Expected;
use super::space::Arrays;
use crate::answers::{Counted, Traced};
use crate::live::LiveBoard;
use sargon_corpus::encode;

/// Arrays a request: few enough that a board that dies is given up within ten seconds.
pub const STRETCH: u16 = 2048;
/// Stretches that the reference works ahead of the board.
const AHEAD: usize = 64;

/// The arrays to check.
#[derive(Debug, Clone)]
pub struct Goal {
    /// The space.
    pub arrays: Arrays,
    /// The arrays' numbers.
    pub range: Range<u32>,
    /// CRC-32 of the residues before the first.
    pub crc: u32,
}

/// T-states of XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The quickest exchange.
    pub least: u64,
    /// The slowest.
    pub most: u64,
    /// All together.
    pub sum: u64,
    /// The number of exchanges.
    pub exchanges: u64,
}

/// Results over the arrays on which board and reference agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// The number of arrays, from the first on.
    pub arrays: u32,
    /// CRC-32 of their residues and those before.
    pub crc: u32,
    /// Counts of each residue from 0 to 10.
    pub histogram: [u64; BINS],
    /// Counts of residues above and below minimax.
    pub off_minimax: (u32, u32),
    /// Times of the exchanges, where the board can count them.
    pub times: Option<Times>,
}

/// The first array on which they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its number.
    pub number: u32,
    /// The board's word when it counted to the array by itself; `None` for a residue over 10.
    pub counted: Option<u8>,
    /// The board's word when it was given the array.
    pub traced: Traced,
    /// The steps by the board's TRACE, a second program; empty where the board has none.
    pub steps: Vec<StepRecord>,
}

/// Reason for which a check ended.
#[derive(Debug)]
pub enum CheckEnd {
    /// All arrays had their turn.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// Board and reference differ.
    Differs(Box<Finding>),
    /// The board did not answer.
    BoardLost(LinkError),
}

/// Goes through the arrays up to the first difference. The boards are alike, and each takes the
/// next stretch when it has done one. `progress` hears how many arrays are done.
pub fn check(
    boards: &mut [LiveBoard],
    goal: &Goal,
    interrupted: &AtomicBool,
    progress: impl FnMut(u32),
) -> (Totals, CheckEnd) {
    let mut totals = Totals::new(goal.crc);
    // The reference works ahead on a thread of its own, so that no board need wait for it. The
    // bound limits the memory; a receiver that is dropped ends the thread.
    let (send, expected) = sync_channel(AHEAD);
    let stretches = Stretches(Mutex::new(Some(expected.into_iter().enumerate())));
    let stop = thread::scope(|scope| {
        scope.spawn(move || foresee(goal, &send));
        let (tell, answers) = channel();
        for live in &mut *boards {
            let (stretches, tell) = (&stretches, tell.clone());
            scope.spawn(move || answer_all(live, &goal.arrays, stretches, &tell));
        }
        drop(tell);
        let stop = compare(&answers, &mut totals, interrupted, progress);
        stretches.end();
        stop
    });
    let ended = match (stop, boards.first_mut()) {
        (Stop::At(end), _) => end,
        (Stop::Differs(_), None) => CheckEnd::Complete,
        (Stop::Differs(answer), Some(live)) => {
            let found = find(live, &goal.arrays, &answer.stretch, answer.histogram);
            found.map_or_else(CheckEnd::BoardLost, |finding| CheckEnd::Differs(Box::new(finding)))
        }
    };
    (totals, ended)
}

/// The stretches that no board has taken yet.
struct Stretches(Mutex<Option<Enumerate<IntoIter<Expected>>>>);

impl Stretches {
    fn next(&self) -> Option<(usize, Expected)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.next()
    }

    /// Leaves the rest, and with it the reference.
    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A board's answer.
struct Answer {
    /// The stretch's place among all.
    place: usize,
    stretch: Expected,
    counted: Result<Counted, LinkError>,
}

/// Reason for which no further answers are wanted.
enum Stop {
    At(CheckEnd),
    /// A stretch is wrong, and this is the board's histogram of it.
    Differs(Box<Wrong>),
}

/// A stretch on which board and reference differ.
struct Wrong {
    stretch: Expected,
    histogram: [u16; BINS],
}

/// Sends the reference's results, stretch by stretch, until the receiver is gone.
fn foresee(goal: &Goal, send: &SyncSender<Expected>) {
    let mut crc = goal.crc;
    for first in goal.range.clone().step_by(usize::from(STRETCH)) {
        let last = goal.range.end.min(first + u32::from(STRETCH));
        let expected = goal.arrays.expect(first..last, crc);
        crc = expected.tally.crc;
        if send.send(expected).is_err() {
            return;
        }
    }
}

/// Has a board answer stretches as long as there are any, and it does.
fn answer_all(live: &mut LiveBoard, arrays: &Arrays, stretches: &Stretches, tell: &Sender<Answer>) {
    while let Some((place, stretch)) = stretches.next() {
        let counted = ask(live, arrays, &stretch);
        let is_lost = counted.is_err();
        if tell.send(Answer { place, stretch, counted }).is_err() || is_lost {
            return;
        }
    }
}

/// Holds the answers against the reference in the order of the arrays, however they come.
fn compare(
    answers: &Receiver<Answer>,
    totals: &mut Totals,
    interrupted: &AtomicBool,
    mut progress: impl FnMut(u32),
) -> Stop {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for answer in answers {
        early.insert(answer.place, answer);
        while let Some(Answer { stretch, counted, .. }) = early.remove(&next) {
            if interrupted.load(Ordering::Relaxed) {
                return Stop::At(CheckEnd::Interrupted);
            }
            match counted {
                Ok(counted) if counted.tally == stretch.tally => totals.add(&stretch, &counted),
                Ok(counted) => {
                    let histogram = counted.tally.histogram;
                    return Stop::Differs(Box::new(Wrong { stretch, histogram }));
                }
                Err(error) => return Stop::At(CheckEnd::BoardLost(error)),
            }
            progress(totals.arrays);
            next += 1;
        }
    }
    Stop::At(CheckEnd::Complete)
}

fn ask(live: &mut LiveBoard, arrays: &Arrays, stretch: &Expected) -> Result<Counted, LinkError> {
    let place = arrays.place(stretch.range.start);
    let (piece, _) = arrays.at(place);
    live.exhaust(ExhaustRequest {
        space: arrays.space as u8,
        attackers: place.attackers,
        defenders: place.defenders,
        piece: encode::piece(piece),
        count: stretch.tally.count,
        crc: stretch.crc_before,
    })
}

/// Finds the first array that differs, by halving the stretch in which one does. All parts begin
/// where the stretch does, so that an exchange that spoils those after it is found too. `after` is
/// the histogram up to where board and reference differ.
fn find(
    live: &mut LiveBoard,
    arrays: &Arrays,
    stretch: &Expected,
    mut after: [u16; BINS],
) -> Result<Finding, LinkError> {
    let Range { start, end } = stretch.range;
    let mut agree = start;
    let mut differ = end;
    let mut before = [0; BINS];
    while differ - agree > 1 {
        let middle = agree.midpoint(differ);
        // Always from `start`: if an exchange spoils one that follows, a part that begins in
        // between would agree, and the halving would end at an array that is right by itself.
        let part = arrays.expect(start..middle, stretch.crc_before);
        let tally = ask(live, arrays, &part)?.tally;
        if tally == part.tally {
            (agree, before) = (middle, tally.histogram);
        } else {
            (differ, after) = (middle, tally.histogram);
        }
    }
    // The two histograms are one array apart by now, so that the bin that has grown is the board's
    // residue for it. None has if the residue has no bin.
    let mut bins = before.iter().zip(&after);
    let counted = bins.position(|(before, after)| before < after).map(|residue| residue as u8);
    let (piece, array) = arrays.at(arrays.place(agree));
    let traced = live.trace(piece, &array)?;
    let steps = match live.application.capabilities & capability::TRACE {
        0 => Vec::new(),
        _ => live.steps(piece, piece.kind.value(), &array)?.2,
    };
    Ok(Finding { number: agree, counted, traced, steps })
}

impl Totals {
    fn new(crc: u32) -> Self {
        Self { arrays: 0, crc, histogram: [0; BINS], off_minimax: (0, 0), times: None }
    }

    fn add(&mut self, stretch: &Expected, counted: &Counted) {
        self.arrays += u32::from(stretch.tally.count);
        self.crc = stretch.tally.crc;
        for (sum, count) in self.histogram.iter_mut().zip(stretch.tally.histogram) {
            *sum += u64::from(count);
        }
        self.off_minimax.0 += stretch.off_minimax.0;
        self.off_minimax.1 += stretch.off_minimax.1;
        let times = counted.t_states.iter().flatten();
        self.times = times.fold(self.times, |times, &time| {
            let first = Times { least: time, most: time, sum: 0, exchanges: 0 };
            let Times { least, most, sum, exchanges } = times.unwrap_or(first);
            let least = least.min(time);
            let most = most.max(time);
            Some(Times { least, most, sum: sum + time, exchanges: exchanges + 1 })
        });
    }
}
