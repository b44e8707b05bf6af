//! Two boards at work at the same time on the same cases, compared case by case in the order of the
//! cases.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::live::LiveBoard;
use crate::runner::{CaseResult, Divergence, Options, RunEnd, first_divergence, run_cases};
use sargon_corpus::Case;

/// Cases that a board is given at a time. It waits for the other one only between them, when it
/// owes no answer: one that came meanwhile would be found too late.
const BATCH: usize = 32;
/// Batches that a board may have done when the other one is at the one before.
const AHEAD: usize = 1;

/// The outcome of putting the same cases to two boards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// They agree on every case, with each other and with the reference.
    Alike {
        /// Squares on which they agree.
        squares: usize,
        /// Those of them whose T-states both boards count.
        timed: usize,
    },
    /// They differ.
    Different {
        /// The first case in which they do.
        case: String,
        /// Its position, where it is one.
        fen: Option<String>,
        /// In what.
        found: Divergence,
    },
    /// The user stopped it.
    Interrupted,
    /// A board no longer answers.
    Lost {
        /// Which one: A or B.
        board: &'static str,
        /// The first case that it owes an answer to.
        case: String,
        /// Check that found it.
        why: String,
    },
}

/// Cases of one board that have their verdicts, in the order of the cases, and how it came to its
/// end.
struct Batch {
    results: Vec<CaseResult>,
    ended: RunEnd,
}

/// Puts cases to two boards, both at work at the same time, up to the first in which they differ.
/// `stop`, which ends the rigs' waits, is set afterwards.
pub fn compare(rigs: [&mut LiveBoard; 2], cases: &[Case], stop: &AtomicBool) -> Compared {
    let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: stop };
    let sides = rigs.map(|live| {
        move |cases: &[Case]| {
            let mut results = Vec::with_capacity(cases.len());
            let course =
                run_cases(live, cases.iter().cloned(), options, |result| results.push(result));
            Batch { results, ended: course.ended }
        }
    });
    side_by_side(sides, cases, stop)
}

/// Lets each side work in a thread of its own while its answers are compared.
fn side_by_side<S>(sides: [S; 2], cases: &[Case], stop: &AtomicBool) -> Compared
where
    S: FnMut(&[Case]) -> Batch + Send,
{
    std::thread::scope(|scope| {
        let answers = sides.map(|side| {
            let (done, answers) = sync_channel(AHEAD);
            scope.spawn(move || work(side, cases, &done));
            answers
        });
        let compared = follow(&answers, cases);
        stop.store(true, Ordering::Relaxed);
        compared
    })
}

/// One side's work: batch after batch, until it breaks off or nobody listens any more.
fn work(mut side: impl FnMut(&[Case]) -> Batch, cases: &[Case], done: &SyncSender<Batch>) {
    for cases in cases.chunks(BATCH) {
        let mut batch = side(cases);
        batch.results.sort_by_key(|result| cases.iter().position(|case| case.id == result.id));
        let goes_on = batch.ended == RunEnd::Complete;
        if done.send(batch).is_err() || !goes_on {
            return;
        }
    }
}

/// Compares what comes from both sides.
fn follow(answers: &[Receiver<Batch>; 2], cases: &[Case]) -> Compared {
    let mut squares = 0;
    let mut timed = 0;
    for _ in cases.chunks(BATCH) {
        let [Ok(a), Ok(b)] = answers.each_ref().map(Receiver::recv) else {
            // A side that ends without having broken off has panicked, which its thread passes on.
            return Compared::Interrupted;
        };
        for (left, right) in a.results.iter().zip(&b.results) {
            if let Some(end) = broken_off([(left, &a.ended), (right, &b.ended)]) {
                return end;
            }
            if let Some(found) = first_divergence(left, right) {
                let case = left.id.clone();
                let fen = left.fen.clone();
                return Compared::Different { case, fen, found };
            }
            squares += left.squares.len();
            let times = left.squares.iter().zip(&right.squares);
            timed += times.filter(|(a, b)| a.t_states.is_some() && b.t_states.is_some()).count();
        }
    }
    Compared::Alike { squares, timed }
}

/// Returns how a side came to an end that owes an answer to a case; nothing if both go on, or have
/// answered that one.
fn broken_off(sides: [(&CaseResult, &RunEnd); 2]) -> Option<Compared> {
    let mut owing =
        ["A", "B"].into_iter().zip(sides).filter(|(_, (result, _))| !result.is_answered());
    owing.find_map(|(board, (result, ended))| match ended {
        RunEnd::Interrupted => Some(Compared::Interrupted),
        RunEnd::BoardLost(why) | RunEnd::FileFailed(why) => {
            Some(Compared::Lost { board, case: result.id.clone(), why: why.clone() })
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
    use crate::runner::Verdict;
    use sargon_corpus::shipped;
    use sargon_reference::{AttackersArray, Colour, Kind, Piece};

    /// More than a batch of them.
    fn cases() -> Vec<Case> {
        shipped().expect("it ships").into_iter().take(BATCH + 8).collect()
    }

    /// Results with this verdict on these cases, the last one first; all others pass.
    fn backwards(cases: &[Case], verdict: Verdict, on: &[&str]) -> Vec<CaseResult> {
        let judged = |case: &Case| {
            let is_meant = on.contains(&case.id.as_str());
            CaseResult::new(case, if is_meant { verdict } else { Verdict::Pass })
        };
        cases.iter().rev().map(judged).collect()
    }

    /// A side that gives no answer to these cases, and is asked for more.
    fn silent_on(on: &[&str]) -> impl FnMut(&[Case]) -> Batch + Send {
        move |cases| Batch {
            results: backwards(cases, Verdict::Timeout, on),
            ended: RunEnd::Complete,
        }
    }

    /// A side that is lost at this case, and must not be asked any more then.
    fn lost_at(on: &str) -> impl FnMut(&[Case]) -> Batch + Send {
        let mut is_lost = false;
        move |cases| {
            assert!(!is_lost, "it was lost before");
            let left: Vec<_> =
                cases.iter().map(|case| case.id.as_str()).skip_while(|id| *id != on).collect();
            is_lost = !left.is_empty();
            let ended = match is_lost {
                false => RunEnd::Complete,
                true => RunEnd::BoardLost("it is gone".to_owned()),
            };
            Batch { results: backwards(cases, Verdict::NotRun, &left), ended }
        }
    }

    /// A side that begins no batch before the other one has begun it too.
    fn meeting(theirs: Sender<()>, ours: Receiver<()>) -> impl FnMut(&[Case]) -> Batch + Send {
        let mut answers = silent_on(&[]);
        move |cases| {
            theirs.send(()).expect("the other one is there");
            ours.recv_timeout(Duration::from_secs(60)).expect("the other one has begun");
            answers(cases)
        }
    }

    /// A side that tells two squares of each case, with these T-states.
    fn telling(times: [Option<u64>; 2]) -> impl FnMut(&[Case]) -> Batch + Send {
        let piece = Piece { colour: Colour::White, kind: Kind::Pawn };
        let square = move |t_states| {
            let told = residues::exchange(piece, &AttackersArray::from_bytes(&[0; 14]), 0, (0, 0));
            SquareEntry { t_states, ..told }
        };
        move |cases| {
            let mut results = backwards(cases, Verdict::Pass, &[]);
            results.iter_mut().for_each(|result| result.squares = times.map(square).to_vec());
            Batch { results, ended: RunEnd::Complete }
        }
    }

    fn compared<S: FnMut(&[Case]) -> Batch + Send>(sides: [S; 2], cases: &[Case]) -> Compared {
        let stop = AtomicBool::new(false);
        let compared = side_by_side(sides, cases, &stop);
        assert!(stop.load(Ordering::Relaxed), "whoever is still at work ends");
        compared
    }

    #[test]
    fn both_are_at_work_at_the_same_time() {
        let ((to_a, from_b), (to_b, from_a)) = (channel(), channel());
        let sides = [meeting(to_b, from_b), meeting(to_a, from_a)];
        assert_eq!(compared(sides, &cases()), Compared::Alike { squares: 0, timed: 0 });
    }

    #[test]
    fn squares_are_counted_and_those_that_both_have_timed() {
        let times = [[Some(7), None], [Some(7), Some(9)]];
        let count = cases().len();
        let alike = Compared::Alike { squares: 2 * count, timed: count };
        assert_eq!(compared(times.map(telling), &cases()), alike);
    }

    #[test]
    fn the_first_case_that_differs_is_told_however_the_answers_come() {
        let cases = cases();
        let [early, next, late] = [3, 4, BATCH + 5].map(|at| cases[at].id.as_str());
        let differing = |on: [&[&str]; 2]| match compared(on.map(silent_on), &cases) {
            Compared::Different { case, found, .. } => (case, found.boards),
            other => panic!("{other:?}"),
        };
        let (case, boards) = differing([&[next, late], &[late, early]]);
        assert_eq!((case.as_str(), boards), (early, ["pass", "timeout"].map(str::to_owned)));
        let (case, boards) = differing([&[late], &[]]);
        assert_eq!((case.as_str(), boards), (late, ["timeout", "pass"].map(str::to_owned)));
    }

    #[test]
    fn a_lost_board_is_named_with_the_first_case_that_it_owes() {
        let cases = cases();
        let [early, late] = [3, BATCH + 5].map(|at| cases[at].id.as_str());
        for (on, board, case) in [([late, early], "B", early), ([early, late], "A", early)] {
            let why = "it is gone".to_owned();
            let lost = Compared::Lost { board, case: case.to_owned(), why };
            assert_eq!(compared(on.map(lost_at), &cases), lost);
        }
    }
}
