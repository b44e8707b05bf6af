//! Results buffered until the board confirms its build id and a good status. After an unnoticed
//! reset another build may answer, and may be right where the build under test is wrong; and an
//! evaluator may damage the board while its replies are right.

use rcflash_link::loader::identify_request;

use super::in_flight::{InFlightRequest, RequestKind};
use super::{CaseJob, CaseResult, MAX_LOSSES_PER_CASE, Runner, Verdict};
use crate::live::CaseReply;
use crate::responses::CaseResponse;

/// The board is identified and its status requested when this many results are buffered, every
/// three seconds: the status takes as long as three cases. A count, not a time, so that the replay
/// of a transcript sends the same requests.
const MAX_UNCONFIRMED: usize = 192;

/// Results of completed cases that wait for the next check of identity and status.
#[derive(Default)]
pub(super) struct UnconfirmedResults {
    /// The oldest first.
    results: Vec<(CaseJob, CaseResult)>,
    /// Restarts of the board since the last check.
    restarts: u32,
    /// Whether the identity is confirmed, and the status not yet.
    is_identified: bool,
}

impl UnconfirmedResults {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns `true` if a case that runs by itself waits for its status.
    pub(super) fn has_suspect(&self) -> bool {
        self.results.iter().any(|(job, _)| job.is_suspect)
    }

    /// Makes the oldest pass flaky.
    pub(super) fn mark_flaky(&mut self, why: &str) {
        let is_pass = |(_, result): &&mut (CaseJob, CaseResult)| result.verdict == Verdict::Pass;
        if let Some((_, result)) = self.results.iter_mut().find(is_pass) {
            result.verdict = Verdict::Flaky;
            result.reason = Some(format!("passed, but then {why}"));
        }
    }

    fn is_due(&self) -> bool {
        self.results.len() >= MAX_UNCONFIRMED
    }

    pub(super) fn take(&mut self) -> Vec<(CaseJob, CaseResult)> {
        self.restarts = 0;
        self.is_identified = false;
        std::mem::take(&mut self.results)
    }
}

impl Runner<'_> {
    /// Buffers the result of a completed case.
    pub(super) fn buffer_result(&mut self, job: CaseJob, result: CaseResult) {
        self.unconfirmed.results.push((job, result));
    }

    /// Reports all buffered results.
    pub(super) fn confirm_all(&mut self) {
        for (_, result) in self.unconfirmed.take() {
            (self.on_result)(result);
        }
    }

    /// Reports the buffered results if the application has no STATUS, whose reply would do that.
    pub(super) fn confirm_identity(&mut self) {
        if self.live.supports_status() {
            self.unconfirmed.is_identified = !self.unconfirmed.is_empty();
        } else {
            self.confirm_all();
        }
    }

    /// Sends the next check if enough results are buffered. Returns `true` if the window is full;
    /// the caller must then send nothing else. Sent between other requests, so the line stays busy.
    pub(super) fn needs_room_to_confirm(&mut self) -> bool {
        self.unconfirmed.is_due() && !self.request_confirmation()
    }

    /// Sends IDENT, or STATUS after its reply, if results are buffered or will be soon. Returns
    /// `false` if the window is full.
    pub(super) fn request_confirmation(&mut self) -> bool {
        let is_sent = self.in_flight.iter().any(InFlightRequest::confirms);
        if is_sent || self.unconfirmed.is_empty() && self.in_flight.is_empty() {
            return true;
        }
        let (request, kind) = match self.unconfirmed.is_identified {
            true => (self.live.status_request(), RequestKind::Status),
            false => (identify_request(), RequestKind::Identity),
        };
        if !self.live.has_room(&request) {
            return false;
        }
        match self.live.submit(&request) {
            Ok(id) => {
                let seq = self.live.last_seq();
                self.in_flight.push(InFlightRequest::for_program(id, seq, kind));
            }
            Err(error) => drop(self.recover(&error.to_string())),
        }
        true
    }

    /// Handles the reply to an IDENT request.
    pub(super) fn handle_identity_reply(&mut self, reply: &CaseReply) {
        match &reply.result {
            Ok(CaseResponse::Identity(is_expected)) if *is_expected => self.confirm_identity(),
            Ok(_) => drop(self.recover("another program replied")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// Handles the reply to a STATUS request.
    pub(super) fn handle_status_reply(&mut self, reply: &CaseReply) {
        let can_compare = self.live.has_status_baseline();
        match &reply.result {
            Ok(CaseResponse::Status(_)) if !can_compare => {
                let why = "the status at the start of the application is not known";
                let mut again = self.take_unconfirmed_passes(why);
                self.reload(why, &mut again);
                self.push_front_all(again);
            }
            Ok(CaseResponse::Status(status)) => match self.live.status_finding(status) {
                None => {
                    self.unanswered = 0;
                    self.confirm_all();
                }
                Some(finding) => self.handle_damage(finding),
            },
            Ok(_) => drop(self.recover("another program replied")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// Handles the buffered results after a restart of the board. What the evaluator did before it
    /// is not known, so passes run again, before the jobs in flight.
    pub(super) fn handle_unconfirmed_after_restart(&mut self, why: &str, jobs: &mut Vec<CaseJob>) {
        if self.live.supports_status() {
            for job in self.pending.iter_mut().chain(&mut *jobs) {
                if job.combined.as_ref().is_some_and(has_only_correct_replies) {
                    job.repeat_alone(self.options.repeat, None);
                }
            }
            jobs.splice(..0, self.take_unconfirmed_passes(why));
            return;
        }
        // A board that is lost at every IDENT would never confirm its results.
        self.unconfirmed.restarts += 1;
        if self.unconfirmed.restarts >= MAX_LOSSES_PER_CASE {
            self.confirm_all();
        }
    }

    /// Takes the buffered passes, to run again one by one, and reports the other results.
    fn take_unconfirmed_passes(&mut self, why: &str) -> Vec<CaseJob> {
        let mut again = Vec::new();
        for (mut job, result) in self.unconfirmed.take() {
            if !has_only_correct_replies(&result) {
                (self.on_result)(result);
                continue;
            }
            // Bounded: a case runs again by itself until the board was lost too often.
            if job.is_suspect {
                job.record_loss(why);
            }
            let reason = result.reason.filter(|_| result.verdict == Verdict::Flaky);
            job.repeat_alone(self.options.repeat, reason.as_deref());
            again.push(job);
        }
        again
    }

    /// Reports the buffered results at the end of a run. Passes without a status are not run.
    pub(super) fn report_unconfirmed(&mut self) {
        for (job, result) in self.unconfirmed.take() {
            self.report_unverified(&job, Some(result));
        }
    }

    /// Reports the cases that are left at the end of a run, some of whose repetitions may have run.
    pub(super) fn report_pending(&mut self) {
        for mut job in std::mem::take(&mut self.pending) {
            let result = job.combined.take();
            self.report_unverified(&job, result);
        }
    }

    fn report_unverified(&mut self, job: &CaseJob, result: Option<CaseResult>) {
        let needs_status = self.live.supports_status();
        let result = result.filter(|result| !needs_status || !has_only_correct_replies(result));
        let not_run = || CaseResult::new(&job.case, Verdict::NotRun);
        (self.on_result)(result.unwrap_or_else(not_run));
    }

    /// Requeues all passes since the last confirmation, because another program may have produced
    /// them. Failures stay: each was confirmed at once.
    pub(super) fn discard_suspect_passes(&mut self, why: &str, in_flight: &mut [CaseJob]) {
        let repeat = self.options.repeat;
        let discard = |job: &mut CaseJob| {
            if job.combined.as_ref().is_some_and(has_only_correct_replies) {
                job.reset_for_retry(repeat, Some(why));
            }
            job.first_result = None;
        };
        self.pending.iter_mut().chain(in_flight).for_each(discard);
        let mut again = Vec::new();
        for (mut job, result) in self.unconfirmed.take() {
            if has_only_correct_replies(&result) {
                job.record_loss(why);
                job.reset_for_retry(repeat, Some(why));
                again.push(job);
            } else {
                (self.on_result)(result);
            }
        }
        self.push_front_all(again);
    }
}

/// Returns `true` if every judged reply of the case was right.
fn has_only_correct_replies(result: &CaseResult) -> bool {
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Flaky);
    passed && result.differences.is_empty()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    use firmware::profile::BoardProfile;
    use firmware_wire::{Decoder, DecoderEvent, kind};
    use rcflash_transport::Transport;
    use rcflash_transport::time::{Duration, Instant};
    use sargon_corpus::{Case, builtin_corpus};

    use super::*;
    use crate::board::{Board, BoardError, BoardKind, Instrumentation, ResetFn};
    use crate::file_system::OsFileSystem;
    use crate::live::{BoardConfig, LiveBoard, Programs};
    use crate::runner::{RunOptions, run_cases};

    /// A board that answers IDENT `idents_before_reset` times, and resets at the next one.
    struct ResettingBoard {
        board: Box<dyn Board>,
        idents_before_reset: u32,
        /// Counts IDENT requests.
        idents: Arc<AtomicU32>,
    }

    impl Board for ResettingBoard {
        fn name(&self) -> &str {
            self.board.name()
        }

        fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
            let button = self.board.reset_fn().expect("a simulated board has one");
            let (line, idents) = (self.board.open()?, self.idents.clone());
            Ok(Box::new(ResettingLine {
                line,
                button,
                idents,
                decoder: Decoder::default(),
                idents_before_reset: self.idents_before_reset,
                remaining: None,
            }))
        }

        fn reset_fn(&self) -> Option<ResetFn> {
            self.board.reset_fn()
        }

        fn instrumentation(&self) -> Option<&dyn Instrumentation> {
            self.board.instrumentation()
        }
    }

    struct ResettingLine {
        line: Box<dyn Transport + Send>,
        button: ResetFn,
        /// Counts IDENT requests.
        idents: Arc<AtomicU32>,
        decoder: Decoder,
        idents_before_reset: u32,
        /// IDENT requests until the reset, once the program was started.
        remaining: Option<u32>,
    }

    impl Transport for ResettingLine {
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
                let Some(DecoderEvent::Frame(frame)) = self.decoder.push(byte) else { continue };
                match (frame.kind, self.remaining) {
                    (kind::RUN, _) => self.remaining = Some(self.idents_before_reset),
                    (kind::IDENT, Some(remaining)) => {
                        assert!(self.idents.fetch_add(1, Relaxed) < 300, "the run does not end");
                        self.remaining = remaining.checked_sub(1);
                        if self.remaining.is_none() {
                            (self.button)();
                        }
                    }
                    _ => {}
                }
            }
            Ok(())
        }

        fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
            self.line.set_flow_control(obey)
        }
    }

    /// Runs `count` cases on such a board; returns the number of IDENT requests after its set-up,
    /// and the verdicts.
    fn ident_requests(idents_before_reset: u32, count: usize) -> (u32, Vec<Verdict>) {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let config = BoardConfig {
            board: BoardKind::InProcess { rom: None },
            ..BoardConfig::simulated(profile)
        };
        let programs = Programs::build(&config).unwrap_or_else(|error| panic!("{error}"));
        let idents = Arc::new(AtomicU32::new(0));
        let counter = idents.clone();
        let wrap = |board| -> Box<dyn Board> {
            Box::new(ResettingBoard { board, idents_before_reset, idents: counter })
        };
        let live = LiveBoard::prepare_with(&config, Arc::new(programs), &OsFileSystem, wrap);
        let mut live = live.unwrap_or_else(|error| panic!("{error}"));
        let before = idents.load(Relaxed);
        let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
        let cases = builtin_corpus().expect("it ships").into_iter().filter(is_played).take(count);
        let interrupted = AtomicBool::new(false);
        let options =
            RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &interrupted };
        let mut verdicts = Vec::new();
        run_cases(&mut live, cases, options, |result| verdicts.push(result.verdict));
        assert_eq!(verdicts.len(), count);
        (idents.load(Relaxed) - before, verdicts)
    }

    #[test]
    fn a_board_that_resets_when_it_is_identified_passes_nothing_and_the_run_ends() {
        // Each reset takes one IDENT for the results and one after the restart.
        for count in [5, 2 * MAX_UNCONFIRMED] {
            let (requests, verdicts) = ident_requests(1, count);
            assert!(requests >= 2 * MAX_LOSSES_PER_CASE, "{count} cases: too few requests");
            assert_eq!(verdicts[0], Verdict::Error);
            let no_pass = [Verdict::Error, Verdict::NotRun];
            assert!(verdicts.iter().all(|verdict| no_pass.contains(verdict)), "{verdicts:?}");
        }
    }

    #[test]
    fn the_number_of_buffered_results_is_limited() {
        let (idents, verdicts) = ident_requests(u32::MAX, 5 * MAX_UNCONFIRMED);
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Pass));
        assert!(
            (5..=10).contains(&idents),
            "{idents} requests for five times {MAX_UNCONFIRMED} cases"
        );
    }
}
