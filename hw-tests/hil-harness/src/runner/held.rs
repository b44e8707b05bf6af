//! Results that wait until the board has said that it is itself: another program may have given the
//! answers, after a reset for instance, and it may be right where the one under test is wrong.

use rcflash_link::loader::identify_request;

use super::flight::{Asked, Flight};
use super::{CaseResult, Job, LOSSES, Run, Verdict};
use crate::answers::CaseAnswer;
use crate::live::CaseReply;

/// Most results that wait: about a second's. All of them are asked for again if another program is
/// found. What is asked follows from the answers alone and not from the clock, so that a transcript
/// is asked the same when it is replayed.
const MOST: usize = 64;

/// Results that wait, and how often the board was started again meanwhile.
#[derive(Default)]
pub(super) struct Held {
    /// The oldest first.
    results: Vec<(Job, CaseResult)>,
    restarts: u32,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    fn is_due(&self) -> bool {
        self.results.len() >= MOST
    }

    fn take(&mut self) -> Vec<(Job, CaseResult)> {
        self.restarts = 0;
        std::mem::take(&mut self.results)
    }
}

impl Run<'_> {
    /// Keeps the result of a case that has had all its turns.
    pub(super) fn hold(&mut self, job: Job, result: CaseResult) {
        self.held.results.push((job, result));
    }

    /// Hands on what was held: the board has been itself, or nobody can say that it was not.
    pub(super) fn release(&mut self) {
        for (_, result) in self.held.take() {
            (self.done)(result);
        }
    }

    /// Asks the board who it is, if enough results wait; `true` if that has to wait for room,
    /// which no other question may take. The board says so between its answers, so that the
    /// line need not fall idle for it.
    pub(super) fn must_confirm(&mut self) -> bool {
        self.held.is_due() && !self.confirm()
    }

    /// Asks the board who it is, if results wait for that or soon will; `false` if there is no
    /// room.
    pub(super) fn confirm(&mut self) -> bool {
        let is_asked = self.flying.iter().any(|flight| flight.asked == Asked::Identity);
        if is_asked || self.held.is_empty() && self.flying.is_empty() {
            return true;
        }
        let question = identify_request();
        if !self.live.has_room(&question) {
            return false;
        }
        match self.live.submit(&question) {
            Ok(ticket) => self.flying.push(Flight::of_nobody(ticket)),
            Err(error) => drop(self.recover(&error.to_string())),
        }
        true
    }

    /// The board has said who it is, or nothing.
    pub(super) fn hear_identity(&mut self, word: &CaseReply) {
        match &word.said {
            Ok(CaseAnswer::Identity(is_itself)) if *is_itself => self.release(),
            Ok(_) => drop(self.recover("another program answers")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// The board was started again, and has not said who it was before. One that is lost whenever
    /// it is asked would be asked for ever.
    pub(super) fn note_restart(&mut self) {
        self.held.restarts += 1;
        if self.held.restarts >= LOSSES {
            self.release();
        }
    }

    /// Another program has answered since the board was itself: whatever passed since then is asked
    /// for again. Wrong answers are not, since the board is asked who it is after each.
    pub(super) fn doubt(&mut self, why: &str, flying: &mut [Job]) {
        let repeat = self.options.repeat;
        let doubt = |job: &mut Job| {
            if job.so_far.as_ref().is_some_and(is_right) {
                job.ask_anew(repeat, why);
            }
            job.half = None;
        };
        self.waiting.iter_mut().chain(flying).for_each(doubt);
        let mut again = Vec::new();
        for (mut job, result) in self.held.take() {
            if is_right(&result) {
                job.lost(why);
                job.ask_anew(repeat, why);
                again.push(job);
            } else {
                (self.done)(result);
            }
        }
        self.put_back(again);
    }
}

/// Whether a result says that the board was right each time.
fn is_right(result: &CaseResult) -> bool {
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Flaky);
    passed && result.differences.is_empty()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    use firmware::profile::Profile;
    use firmware_wire::{Decoder, Event, kind};
    use rcflash_transport::Transport;
    use rcflash_transport::time::{Duration, Instant};
    use sargon_corpus::{Case, shipped};

    use super::*;
    use crate::board::{Board, BoardError, Button, Choice, Instruments};
    use crate::disk::SystemDisk;
    use crate::live::{LiveBoard, Plan, Programs};
    use crate::runner::{Options, run_cases};

    /// A board whose program says so many times who it is, and starts the board anew when it is
    /// asked once more.
    struct Shy {
        board: Box<dyn Board>,
        patience: u32,
        asked: Arc<AtomicU32>,
    }

    impl Board for Shy {
        fn name(&self) -> &str {
            self.board.name()
        }

        fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
            let button = self.board.button().expect("a simulated board has one");
            let (line, asked) = (self.board.open()?, self.asked.clone());
            let (decoder, patience, left) = (Decoder::default(), self.patience, None);
            Ok(Box::new(ShyLine { line, button, asked, decoder, patience, left }))
        }

        fn button(&self) -> Option<Button> {
            self.board.button()
        }

        fn instruments(&self) -> Option<&dyn Instruments> {
            self.board.instruments()
        }
    }

    struct ShyLine {
        line: Box<dyn Transport + Send>,
        button: Button,
        /// Counts the questions to the program who it is.
        asked: Arc<AtomicU32>,
        decoder: Decoder,
        patience: u32,
        /// The patience that is left to the program, once it was started.
        left: Option<u32>,
    }

    impl Transport for ShyLine {
        fn name(&self) -> &str {
            self.line.name()
        }

        fn now(&self) -> Instant {
            self.line.now()
        }

        fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
            self.line.read(buffer, timeout)
        }

        fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
            self.line.write(bytes, deadline)?;
            for &byte in bytes {
                let Some(Event::Frame(frame)) = self.decoder.push(byte) else { continue };
                match (frame.kind, self.left) {
                    (kind::RUN, _) => self.left = Some(self.patience),
                    (kind::IDENT, Some(left)) => {
                        assert!(self.asked.fetch_add(1, Relaxed) < 300, "the run does not end");
                        self.left = left.checked_sub(1);
                        if self.left.is_none() {
                            (self.button)();
                        }
                    }
                    _ => {}
                }
            }
            Ok(())
        }

        fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
            self.line.obey_rts(obey)
        }
    }

    /// Puts so many cases to such a board; the number of times that its program was asked who it
    /// is after it was made ready.
    fn questions(patience: u32, count: usize) -> u32 {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let plan = Plan { board: Choice::Direct { rom: None }, ..Plan::simulated(profile) };
        let programs = Programs::build(&plan).unwrap_or_else(|error| panic!("{error}"));
        let asked = Arc::new(AtomicU32::new(0));
        let counter = asked.clone();
        let wrap = |board| -> Box<dyn Board> { Box::new(Shy { board, patience, asked: counter }) };
        let live = LiveBoard::prepare_with(&plan, Arc::new(programs), &SystemDisk, wrap);
        let mut live = live.unwrap_or_else(|error| panic!("{error}"));
        let before = asked.load(Relaxed);
        let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
        let cases = shipped().expect("it ships").into_iter().filter(is_played).take(count);
        let interrupted = AtomicBool::new(false);
        let options =
            Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &interrupted };
        let mut verdicts = 0;
        run_cases(&mut live, cases, options, |result| {
            assert!(!matches!(result.verdict, Verdict::NotRun | Verdict::Fail), "{result:?}");
            verdicts += 1;
        });
        assert_eq!(verdicts, count);
        asked.load(Relaxed) - before
    }

    #[test]
    fn a_board_that_starts_anew_when_asked_for_its_name_has_all_cases_put_to_it() {
        // Each time the program is asked once for the results and once after its start.
        for count in [5, 2 * MOST] {
            assert!(questions(1, count) >= 2 * LOSSES, "{count} cases: it was hardly asked");
        }
    }

    #[test]
    fn results_do_not_wait_for_more_than_so_many_others() {
        let asked = questions(u32::MAX, 5 * MOST);
        assert!((5..=10).contains(&asked), "asked {asked} times about five times {MOST} cases");
    }
}
