//! Runs the same cases on two boards at the same time, and compares results in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use hil_harness::runner::{RunEnd, RunOptions, run_cases};

use crate::{CaseResult, Divergence, LiveBoard, first_divergence};
use sargon_corpus::Case;

/// Cases in a batch. A board waits for the other one only between batches, while it has no request
/// in flight: a reply received during the wait would be processed too late.
const BATCH_CASES: usize = 32;
/// Batches that a board may be ahead of the other one.
const MAX_BATCHES_AHEAD: usize = 1;

/// The outcome of a comparison of two boards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairOutcome {
    /// They agree on every case, with each other and with the reference.
    Agree {
        /// Number of compared squares.
        squares: usize,
        /// Number of them with T-states from both boards.
        timed: usize,
    },
    /// They differ in a case.
    Diverge {
        /// Name of the first case in which they differ.
        case: String,
        /// Its position; `None` for an attackers array.
        fen: Option<String>,
        /// The first difference.
        divergence: Divergence,
    },
    /// The user stopped it.
    Interrupted,
    /// A board was lost.
    Lost {
        /// The board: A or B.
        board: &'static str,
        /// Name of the first case without a reply.
        case: String,
        /// The reason.
        reason: String,
    },
}

struct Batch {
    results: Vec<CaseResult>,
    ended: RunEnd,
}

/// Runs the cases on two boards at the same time, up to the first in which they differ. Sets `stop`
/// afterwards, to end waits of the other board.
pub fn compare_boards(
    boards: [&mut LiveBoard; 2],
    cases: &[Case],
    stop: &AtomicBool,
) -> PairOutcome {
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: stop };
    let sides = boards.map(|live| {
        move |cases: &[Case]| {
            let mut results = Vec::with_capacity(cases.len());
            let summary =
                run_cases(live, cases.iter().cloned(), options, |result| results.push(result));
            Batch { results, ended: summary.ended }
        }
    });
    compare_sides(sides, cases, stop)
}

/// Runs each side in its own thread and compares their batches.
fn compare_sides<S>(sides: [S; 2], cases: &[Case], stop: &AtomicBool) -> PairOutcome
where
    S: FnMut(&[Case]) -> Batch + Send,
{
    std::thread::scope(|scope| {
        let batches = sides.map(|side| {
            let (sender, batches) = sync_channel(MAX_BATCHES_AHEAD);
            scope.spawn(move || run_side(side, cases, &sender));
            batches
        });
        let compared = compare_batches(&batches, cases);
        stop.store(true, Ordering::Relaxed);
        compared
    })
}

/// Runs all batches on one side, until one ends early or the receiver is dropped.
fn run_side(mut side: impl FnMut(&[Case]) -> Batch, cases: &[Case], sender: &SyncSender<Batch>) {
    for cases in cases.chunks(BATCH_CASES) {
        let mut batch = side(cases);
        batch.results.sort_by_key(|result| cases.iter().position(|case| case.id == result.id));
        let is_complete = batch.ended == RunEnd::Complete;
        if sender.send(batch).is_err() || !is_complete {
            return;
        }
    }
}

fn compare_batches(batches: &[Receiver<Batch>; 2], cases: &[Case]) -> PairOutcome {
    let mut squares = 0;
    let mut timed = 0;
    for _ in cases.chunks(BATCH_CASES) {
        let [Ok(a), Ok(b)] = batches.each_ref().map(Receiver::recv) else {
            // A side that ends without a batch has panicked, which its thread propagates.
            return PairOutcome::Interrupted;
        };
        for (left, right) in a.results.iter().zip(&b.results) {
            if let Some(end) = missing_result([(left, &a.ended), (right, &b.ended)]) {
                return end;
            }
            if let Some(divergence) = first_divergence(left, right) {
                let case = left.id.clone();
                let fen = left.details.fen.clone();
                return PairOutcome::Diverge { case, fen, divergence };
            }
            squares += left.details.squares.len();
            let times = left.details.squares.iter().zip(&right.details.squares);
            timed += times.filter(|(a, b)| a.t_states.is_some() && b.t_states.is_some()).count();
        }
    }
    PairOutcome::Agree { squares, timed }
}

/// Returns the outcome if a side ended early and has no result for this case.
fn missing_result(sides: [(&CaseResult, &RunEnd); 2]) -> Option<PairOutcome> {
    let mut without_result =
        ["A", "B"].into_iter().zip(sides).filter(|(_, (result, _))| !result.is_answered());
    without_result.find_map(|(board, (result, ended))| match ended {
        RunEnd::Interrupted => Some(PairOutcome::Interrupted),
        RunEnd::BoardLost(why) | RunEnd::FileFailed(why) => {
            Some(PairOutcome::Lost { board, case: result.id.clone(), reason: why.clone() })
        }
        RunEnd::Complete | RunEnd::FirstFailure => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use super::*;
    use crate::residues::{self, SquareEntry};
    use hil_harness::runner::Verdict;
    use sargon_corpus::builtin_corpus;
    use sargon_reference::{AttackersArray, Colour, Piece, PieceKind};

    /// Returns more cases than fit in a batch.
    fn cases() -> Vec<Case> {
        builtin_corpus().expect("it ships").into_iter().take(BATCH_CASES + 8).collect()
    }

    /// Results in reverse order: this verdict for the cases in `on`, pass for all others.
    fn backwards(cases: &[Case], verdict: Verdict, on: &[&str]) -> Vec<CaseResult> {
        let judged = |case: &Case| {
            let is_meant = on.contains(&case.id.as_str());
            CaseResult::new(case, if is_meant { verdict } else { Verdict::Pass })
        };
        cases.iter().rev().map(judged).collect()
    }

    /// A side with a timeout for these cases, which runs all batches.
    fn silent_on(on: &[&str]) -> impl FnMut(&[Case]) -> Batch + Send {
        move |cases| Batch {
            results: backwards(cases, Verdict::Timeout, on),
            ended: RunEnd::Complete,
        }
    }

    /// A side that is lost at this case, and must get no further batch.
    fn lost_at(on: &str) -> impl FnMut(&[Case]) -> Batch + Send {
        let mut is_lost = false;
        move |cases| {
            assert!(!is_lost, "a batch after the loss");
            let left: Vec<_> =
                cases.iter().map(|case| case.id.as_str()).skip_while(|id| *id != on).collect();
            is_lost = !left.is_empty();
            let ended = match is_lost {
                false => RunEnd::Complete,
                true => RunEnd::BoardLost("disconnected".to_owned()),
            };
            Batch { results: backwards(cases, Verdict::NotRun, &left), ended }
        }
    }

    /// A side that begins no batch before the other side has begun it, too.
    fn meeting(theirs: Sender<()>, ours: Receiver<()>) -> impl FnMut(&[Case]) -> Batch + Send {
        let mut side = silent_on(&[]);
        move |cases| {
            theirs.send(()).expect("the other side runs");
            ours.recv_timeout(Duration::from_secs(60)).expect("the other side has begun");
            side(cases)
        }
    }

    /// A side with two squares in each result, with these T-states.
    fn with_times(times: [Option<u64>; 2]) -> impl FnMut(&[Case]) -> Batch + Send {
        let piece = Piece { colour: Colour::White, kind: PieceKind::Pawn };
        let square = move |t_states| {
            let entry =
                residues::exchange_entry(piece, &AttackersArray::from_bytes(&[0; 14]), 0, (0, 0));
            SquareEntry { t_states, ..entry }
        };
        move |cases| {
            let mut results = backwards(cases, Verdict::Pass, &[]);
            results
                .iter_mut()
                .for_each(|result| result.details.squares = times.map(square).to_vec());
            Batch { results, ended: RunEnd::Complete }
        }
    }

    fn compared<S: FnMut(&[Case]) -> Batch + Send>(sides: [S; 2], cases: &[Case]) -> PairOutcome {
        let stop = AtomicBool::new(false);
        let compared = compare_sides(sides, cases, &stop);
        assert!(stop.load(Ordering::Relaxed), "the other side is stopped");
        compared
    }

    #[test]
    fn both_sides_run_at_the_same_time() {
        let ((to_a, from_b), (to_b, from_a)) = (channel(), channel());
        let sides = [meeting(to_b, from_b), meeting(to_a, from_a)];
        assert_eq!(compared(sides, &cases()), PairOutcome::Agree { squares: 0, timed: 0 });
    }

    #[test]
    fn squares_and_timed_squares_are_counted() {
        let times = [[Some(7), None], [Some(7), Some(9)]];
        let count = cases().len();
        let alike = PairOutcome::Agree { squares: 2 * count, timed: count };
        assert_eq!(compared(times.map(with_times), &cases()), alike);
    }

    #[test]
    fn the_first_case_that_differs_is_reported_whatever_the_order_of_the_results() {
        let cases = cases();
        let [early, next, late] = [3, 4, BATCH_CASES + 5].map(|at| cases[at].id.as_str());
        let differing = |on: [&[&str]; 2]| match compared(on.map(silent_on), &cases) {
            PairOutcome::Diverge { case, divergence, .. } => (case, divergence.boards),
            other => panic!("{other:?}"),
        };
        let (case, boards) = differing([&[next, late], &[late, early]]);
        assert_eq!((case.as_str(), boards), (early, ["pass", "timeout"].map(str::to_owned)));
        let (case, boards) = differing([&[late], &[]]);
        assert_eq!((case.as_str(), boards), (late, ["timeout", "pass"].map(str::to_owned)));
    }

    #[test]
    fn a_lost_board_is_named_with_the_first_case_without_a_reply() {
        let cases = cases();
        let [early, late] = [3, BATCH_CASES + 5].map(|at| cases[at].id.as_str());
        for (on, board, case) in [([late, early], "B", early), ([early, late], "A", early)] {
            let reason = "disconnected".to_owned();
            let lost = PairOutcome::Lost { board, case: case.to_owned(), reason };
            assert_eq!(compared(on.map(lost_at), &cases), lost);
        }
    }
}
