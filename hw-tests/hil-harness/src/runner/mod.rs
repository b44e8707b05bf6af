//! Runs cases on a board, several under way at a time: every case ends in exactly one verdict.

mod conclusion;
mod earlier;
mod flight;
mod held;
mod judge;
mod lockstep;
mod questions;
mod result;

pub use conclusion::{Conclusion, exit_code, shortfall};
pub use earlier::{Compared, Comparison, Earlier};
pub use lockstep::{Divergence, NO_ANSWER, first_divergence};

pub use result::{CaseResult, Counts, EndThere, Fault, Verdict};

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use firmware_wire::ErrorCode;
use rcflash_link::{LinkError, RequestSpec, RetryCounts};
use serde::{Deserialize, Serialize};

use crate::board::BoardError;
use crate::live::{CaseReply, LiveBoard, Recovery, SetupError};
use flight::{Asked, Flight};
use held::Held;
use questions::Questions;
use sargon_corpus::Case;

/// The number of times a case may be under way when the board is lost.
const LOSSES: u32 = 3;
/// The verdicts of cases that had their turn and no answer.
const NOT_ANSWERED: [Verdict; 2] = [Verdict::Timeout, Verdict::Error];
/// Cases in a row without an answer after which the board is given up.
const UNANSWERED: u32 = 20;

/// Options of a run.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The number of times each case is put to the board.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The earlier run, whose troubles do not end this one.
    pub baseline: Option<&'a Earlier>,
    /// Ends the run when set.
    pub interrupted: &'a AtomicBool,
}

/// Reason for which a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// All cases had their turn.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// A case did not pass, and that was to end it.
    FirstFailure,
    /// The board no longer answers; the text says how that was found.
    BoardLost(String),
    /// A file of the run can't be written; the text names it.
    FileFailed(String),
}

/// The events of a run besides the verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// Its outcome.
    pub ended: RunEnd,
    /// The number of times the board was lost and found again as it was.
    pub losses: u64,
    /// The number of times it had to be started again.
    pub restarts: u64,
    /// Reason for its last restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_restart: Option<String>,
}

impl Default for Course {
    fn default() -> Self {
        Self { ended: RunEnd::Complete, losses: 0, restarts: 0, last_restart: None }
    }
}

impl Course {
    /// The course of a run that went on with another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            ended: next.ended,
            losses: self.losses + next.losses,
            restarts: self.restarts + next.restarts,
            last_restart: next.last_restart.or(self.last_restart),
        }
    }
}

/// Puts cases to a board and gives each result to `done`, in the order in which the cases end.
pub fn run_cases(
    live: &mut LiveBoard,
    cases: impl IntoIterator<Item = Case>,
    options: Options,
    mut done: impl FnMut(CaseResult),
) -> Course {
    let mut cases = cases.into_iter();
    let course = run_from(live, &mut cases, options, &mut done);
    cases.for_each(|case| done(CaseResult::new(&case, Verdict::NotRun)));
    course
}

/// The same with cases of which those that were not taken stay where they come from.
pub fn run_from(
    live: &mut LiveBoard,
    cases: &mut dyn Iterator<Item = Case>,
    options: Options,
    done: &mut dyn FnMut(CaseResult),
) -> Course {
    let course = Course::default();
    let mut run = Run {
        live,
        options,
        course,
        flying: Vec::new(),
        waiting: VecDeque::new(),
        held: Held::default(),
        is_dry: false,
        unanswered: 0,
        is_given_up: false,
        done,
    };
    run.all(cases);
    run.release();
    let Run { course, waiting, .. } = run;
    for job in waiting {
        let not_run = || CaseResult::new(&job.case, Verdict::NotRun);
        done(job.so_far.unwrap_or_else(not_run));
    }
    course
}

/// A case that has no verdict yet.
struct Job {
    case: Case,
    questions: Questions,
    /// The outcome of the first question, when the second one's turn has come.
    half: Option<CaseResult>,
    /// The number of times it is still to be put.
    left: u32,
    /// The outcome so far.
    so_far: Option<CaseResult>,
    /// The number of times it was put since.
    attempts: u32,
    /// The number of times the board was lost while it was under way, and how the last time.
    losses: (u32, String),
    /// Reason for restarting the board while it was first in turn, or another for doubt.
    disturbed: Option<String>,
    /// Whether the board is asked for its check, before it is asked for every byte.
    by_check: bool,
}

impl Job {
    fn new(live: &LiveBoard, case: Case, left: u32) -> Self {
        let questions = Questions::new(live, &case.subject);
        let by_check = questions.expected.is_some();
        let losses = (0, String::new());
        let half = None;
        let so_far = None;
        let disturbed = None;
        Self { case, questions, half, left, so_far, attempts: 0, losses, disturbed, by_check }
    }

    /// The question whose turn it is.
    fn question(&self) -> &RequestSpec {
        let second = self.half.as_ref().and(self.questions.second.as_ref());
        second.unwrap_or(&self.questions.first)
    }

    /// Takes what came of a question; gives the result of the case, if that is all of it.
    fn complete(&mut self, result: CaseResult) -> Option<CaseResult> {
        match self.half.take() {
            Some(first) => Some(judge::join(first, result)),
            None if result.verdict == Verdict::Pass && self.questions.second.is_some() => {
                self.half = Some(result);
                None
            }
            None => Some(result),
        }
    }

    /// The board was lost: all of the case is to be put again.
    fn lost(&mut self, why: &str) {
        self.losses = (self.losses.0 + 1, why.to_owned());
        self.half = None;
    }

    /// All of the case is to be put again, by itself, whatever came of it so far.
    fn ask_anew(&mut self, repeat: u32, why: &str) {
        self.so_far = None;
        self.left = repeat.max(1);
        self.by_check = false;
        self.disturbed.get_or_insert_with(|| why.to_owned());
    }

    /// The verdict on a case on which the board was lost too often.
    fn given_up(&self) -> Option<CaseResult> {
        let (times, why) = &self.losses;
        let why = format!("the board was lost {times} times while it was asked, at last: {why}");
        (*times >= LOSSES).then(|| CaseResult::because(&self.case, Verdict::Error, why))
    }
}

/// A run under way.
struct Run<'a> {
    live: &'a mut LiveBoard,
    options: Options<'a>,
    course: Course,
    /// The requests under way, the oldest first.
    flying: Vec<Flight>,
    /// The jobs that come before any other case.
    waiting: VecDeque<Job>,
    /// The results of cases that have had all their turns, and wait for the board's name.
    held: Held,
    /// Whether no case was left when one was last looked for.
    is_dry: bool,
    /// Cases in a row that ended without an answer.
    unanswered: u32,
    /// Whether the board could not be recovered.
    is_given_up: bool,
    done: &'a mut dyn FnMut(CaseResult),
}

impl Run<'_> {
    fn all(&mut self, cases: &mut dyn Iterator<Item = Case>) {
        loop {
            if self.goes_on() && self.options.interrupted.load(Ordering::Relaxed) {
                self.course.ended = RunEnd::Interrupted;
            }
            let must_confirm = self.must_confirm();
            while !must_confirm && self.goes_on() && self.submit_next(cases) {}
            // A board that was given up is not listened to again: whatever its line still does
            // belongs to no case, and recovering from it would never end.
            if self.is_given_up {
                return self.leave_off();
            }
            if self.flying.is_empty() || self.is_dry && self.waiting.is_empty() {
                self.confirm();
            }
            match self.live.next_word() {
                Ok(Some(word)) => self.hear(word),
                Ok(None) if self.is_over() => return,
                Ok(None) => {}
                Err(LinkError::Interrupted { .. }) => return self.stop(),
                Err(error) => {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Ends the run where the user stopped it.
    fn stop(&mut self) {
        self.course.ended = RunEnd::Interrupted;
        self.leave_off();
    }

    /// Takes back what is under way: it has no verdict, but is not forgotten either.
    fn leave_off(&mut self) {
        self.waiting.extend(self.flying.drain(..).flat_map(|flight| flight.jobs));
    }

    /// Whether nothing is left to ask.
    fn is_over(&self) -> bool {
        self.held.is_empty() && (self.waiting.is_empty() || !self.goes_on())
    }

    fn goes_on(&self) -> bool {
        self.course.ended == RunEnd::Complete
    }

    /// Puts one more question to the board; `false` when there is none, or no room for it.
    fn submit_next(&mut self, cases: &mut dyn Iterator<Item = Case>) -> bool {
        let Some(job) = self.next_job(cases) else { return false };
        let given_up = match self.live.lacks(&job.case.subject) {
            Some(why) => Some(CaseResult::because(&job.case, Verdict::Skipped, why)),
            None => job.given_up(),
        };
        if let Some(result) = given_up {
            self.finish(job, result);
            return true;
        }
        if job.by_check {
            let jobs = self.with_next(job, cases);
            return self.submit(self.checks_of(&jobs), jobs, Asked::Checks);
        }
        self.submit(job.question().clone(), vec![job], Asked::Case)
    }

    /// Puts a question about these jobs to the board; `false` if there is no room for it.
    fn submit(&mut self, question: RequestSpec, mut jobs: Vec<Job>, asked: Asked) -> bool {
        if !self.live.has_room(&question) {
            self.put_back(jobs);
            return false;
        }
        match self.live.submit(&question) {
            Ok(ticket) => {
                jobs.iter_mut().for_each(|job| job.attempts += u32::from(job.half.is_none()));
                self.flying.push(Flight { ticket, jobs, asked });
            }
            Err(error) => {
                self.put_back(jobs);
                self.recover(&error.to_string());
            }
        }
        true
    }

    fn next_job(&mut self, cases: &mut dyn Iterator<Item = Case>) -> Option<Job> {
        let repeat = self.options.repeat.max(1);
        let fresh = |case| Job::new(self.live, case, repeat);
        let next = self.waiting.pop_front().or_else(|| cases.next().map(fresh));
        self.is_dry = next.is_none();
        next
    }

    /// Has these jobs come before any other, in their order.
    fn put_back(&mut self, jobs: Vec<Job>) {
        jobs.into_iter().rev().for_each(|job| self.waiting.push_front(job));
    }

    /// The board has said something of a case.
    fn hear(&mut self, word: CaseReply) {
        let ticket = word.ticket;
        let is_meant = |flight: &Flight| flight.ticket == word.ticket;
        let Some(place) = self.flying.iter().position(is_meant) else { return };
        let mut flight = self.flying.remove(place);
        match flight.asked {
            Asked::Checks => return self.hear_checks(flight, word),
            Asked::Identity => return self.hear_identity(&word),
            Asked::Case => {}
        }
        let Some(job) = flight.jobs.pop() else { return };
        let measured = (word.repeats, word.took);
        match word.said {
            Ok(said) => {
                let result = judge::judge(&job.case, self.live.standard(), &said);
                let result = measure(result, measured);
                // A program that is not ours may answer a request, after a reset for instance.
                // Right answers are held until the board has said who it is (`held`); a wrong one
                // is doubted at once, since a fail may end the run.
                if result.verdict != Verdict::Fail {
                    return self.finish(job, result);
                }
                if self.live.is_itself().is_ok_and(|is| is) {
                    self.release();
                    return self.finish(job, result);
                }
                // Whose word it was shows when the board has been got back.
                self.flying.insert(0, Flight::of_one(ticket, job));
                let was_itself = self.recover("another program may have answered");
                if was_itself && let Some(job) = self.waiting.pop_front() {
                    self.finish(job, result);
                }
            }
            Err(error) if is_about_requests(&error) => {
                self.flying.insert(0, Flight::of_one(ticket, job));
                self.recover(&error.to_string());
            }
            Err(error) => {
                let result = judge::unanswered(&job.case, &error, || self.live.whereabouts());
                self.finish(job, measure(result, measured));
                if matches!(error, LinkError::Timeout { .. }) {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Gets the board back, and puts again what was under way. Tells whether the board has been
    /// itself all along.
    fn recover(&mut self, why: &str) -> bool {
        let recovered = self.live.recover();
        let was_itself = matches!(recovered, Ok(Recovery::Answers));
        // Before the jobs are drained: an answer that came before the loss belongs to a job that is
        // still flying, and would otherwise be asked for again and counted as an attempt more.
        self.take_finished(was_itself);
        let mut jobs: Vec<Job> = self.flying.drain(..).flat_map(Flight::asked_one_by_one).collect();
        // The board works in turn, so that only the first can be what it stumbled over.
        let mut first = jobs.first_mut().or(self.waiting.front_mut());
        first.iter_mut().for_each(|job| job.lost(why));
        match recovered {
            Ok(Recovery::Answers) => {
                self.course.losses += 1;
                self.release();
            }
            Ok(Recovery::Replaced(why)) => {
                self.course.restarts += 1;
                if let Some(first) = first {
                    first.disturbed.get_or_insert_with(|| why.clone());
                }
                self.doubt(&why, &mut jobs);
                self.course.last_restart = Some(why);
            }
            Ok(Recovery::Restarted(why)) => {
                self.course.restarts += 1;
                if let Some(first) = first {
                    first.disturbed.get_or_insert_with(|| why.clone());
                }
                self.course.last_restart = Some(why);
                self.note_restart();
            }
            Err(SetupError::Link(LinkError::Interrupted { .. })) => {
                self.is_given_up = true;
                self.course.ended = RunEnd::Interrupted;
            }
            Err(SetupError::Board(error @ BoardError::Transcript(..))) => {
                self.give_up(RunEnd::FileFailed(error.to_string()));
            }
            Err(error) => self.give_up(RunEnd::BoardLost(format!("{why}; then {error}"))),
        }
        // In reverse, each to the front: the order of the corpus is kept, and the job blamed above
        // is the first to be tried, so that a case that crashes the board uses up its attempts at
        // once instead of taking others with it.
        self.put_back(jobs);
        was_itself
    }

    /// Leaves the board alone from now on. A run that was ending anyway keeps its reason.
    fn give_up(&mut self, ended: RunEnd) {
        self.is_given_up = true;
        if self.goes_on() {
            self.course.ended = ended;
        }
    }

    /// Gives up a board that answers no case at all: each case alone is bounded, but a corpus of
    /// them would take hours.
    fn note_answer(&mut self, result: &CaseResult) {
        let is_silent = NOT_ANSWERED.contains(&result.verdict);
        self.unanswered = if is_silent { self.unanswered + 1 } else { 0 };
        if self.unanswered >= UNANSWERED {
            let why = result.why.as_deref().unwrap_or("no reason is known");
            let why = format!("{UNANSWERED} cases in a row had no answer, the last one: {why}");
            self.give_up(RunEnd::BoardLost(why));
        }
    }

    /// Judges what was answered before the board was lost. Of a board that was not itself only what
    /// is right counts.
    fn take_finished(&mut self, was_itself: bool) {
        for word in self.live.heard_words() {
            let is_meant = |flight: &Flight| flight.ticket == word.ticket;
            let Some(place) = self.flying.iter().position(is_meant) else { continue };
            match self.flying[place].asked {
                Asked::Checks if word.said.is_ok() => {
                    let flight = self.flying.remove(place);
                    self.hear_checks(flight, word);
                    continue;
                }
                Asked::Checks | Asked::Identity => continue,
                Asked::Case => {}
            }
            let Ok(said) = word.said else { continue };
            let result = judge::judge(self.flying[place].case(), self.live.standard(), &said);
            // The same reasoning as in `hear`: a wrong answer may be another program's, and is
            // asked for again; a right one is the evaluator's.
            if was_itself || result.verdict == Verdict::Pass {
                let job = self.flying.remove(place).jobs.remove(0);
                self.finish(job, measure(result, (word.repeats, word.took)));
            }
        }
    }

    /// A question has its answer, and with it perhaps the case for this time.
    fn finish(&mut self, mut job: Job, result: CaseResult) {
        match job.complete(result) {
            Some(result) => self.conclude(job, result),
            None => self.waiting.push_front(job),
        }
    }

    /// A case has its result for this time.
    fn conclude(&mut self, mut job: Job, mut result: CaseResult) {
        if let (Some(why), Verdict::Pass) = (job.disturbed.take(), result.verdict) {
            (result.verdict, result.why) =
                (Verdict::Flaky, Some(format!("passed when asked again: {why}")));
        }
        result.attempts = std::mem::take(&mut job.attempts);
        self.note_answer(&result);
        if let Some(before) = job.so_far.take() {
            result = judge::combine(before, result);
        }
        let is_known = |earlier: &Earlier| earlier.compare(&result) == Compared::Known;
        let passed = matches!(result.verdict, Verdict::Pass | Verdict::Skipped)
            || self.options.baseline.is_some_and(is_known);
        if self.options.fail_fast && !passed && self.goes_on() {
            self.course.ended = RunEnd::FirstFailure;
        }
        job.left -= 1;
        if job.left > 0 && self.goes_on() {
            job.so_far = Some(result);
            self.waiting.push_front(job);
        } else {
            self.hold(job, result);
        }
    }
}

/// The result with what was measured of the request.
fn measure(result: CaseResult, (repeats, took): (RetryCounts, Duration)) -> CaseResult {
    CaseResult { repeats, took_us: took.as_micros() as u64, ..result }
}

/// Whether the board does not know the request: perhaps because the application does not run any
/// more.
fn is_about_requests(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. } if error.code == ErrorCode::UnknownType)
}

#[cfg(test)]
mod tests {
    use firmware::profile::Profile;

    use super::*;
    use crate::board::Choice;
    use crate::live::Plan;
    use sargon_corpus::shipped;

    #[test]
    fn courses_of_one_run_add_up_and_the_last_end_is_its_end() {
        let course = |losses, restarts, why: Option<&str>| Course {
            ended: RunEnd::Interrupted,
            losses,
            restarts,
            last_restart: why.map(str::to_owned),
        };
        let both = course(2, 3, Some("first")).then(course(5, 7, None));
        assert_eq!(both, course(7, 10, Some("first")));
        let both = course(2, 3, Some("first")).then(course(5, 7, Some("second")));
        assert_eq!(both, course(7, 10, Some("second")));
        assert_eq!(course(0, 0, None).then(Course::default()).ended, RunEnd::Complete);
    }

    #[test]
    fn what_was_measured_of_a_request_stands_in_its_result() {
        let case = shipped().expect("the corpus").remove(0);
        let repeats = RetryCounts { timeout: 1, missing: 2, ..RetryCounts::default() };
        let took = Duration::from_micros(4321);
        let result = measure(CaseResult::new(&case, Verdict::Fail), (repeats, took));
        assert_eq!(
            (result.repeats, result.took_us, result.verdict),
            (repeats, 4321, Verdict::Fail)
        );
    }

    #[test]
    fn a_case_is_put_again_from_its_start_until_the_board_was_lost_three_times() {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let plan = Plan { board: Choice::Direct { rom: None }, ..Plan::simulated(profile) };
        let live = LiveBoard::prepare(&plan).unwrap_or_else(|error| panic!("{error}"));
        let case = shipped().expect("the corpus").remove(0);
        let mut job = Job::new(&live, case.clone(), 1);
        let first = job.question().operation;
        for times in 1..=3 {
            assert!(job.given_up().is_none());
            assert!(job.complete(CaseResult::new(&case, Verdict::Pass)).is_none(), "half of it");
            assert_ne!(job.question().operation, first);
            job.lost(&format!("cable {times}"));
            assert_eq!(job.question().operation, first);
        }
        let given_up = job.given_up().expect("it is enough");
        assert_eq!(given_up.verdict, Verdict::Error);
        let why = given_up.why.expect("a reason");
        assert_eq!(why, "the board was lost 3 times while it was asked, at last: cable 3");
    }
}
