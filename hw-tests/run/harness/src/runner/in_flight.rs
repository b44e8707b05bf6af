//! Requests in flight: one case, or a batch of several.
//!
//! A case of a batch whose reply does not suffice for a verdict is sent again by itself, so that
//! verdicts and messages equal those of a run without batches.

use std::time::Duration;

use rcflash_link::{LinkError, RequestId, RequestSpec};

use super::{CaseJob, Runner, is_unknown_request, with_timing};
use crate::live::CaseReply;
use crate::live::{BoardSuite, Response};
use rcflash_link::RetryCounts;

/// A request that the board has not replied to.
pub(super) struct InFlightRequest<S: BoardSuite> {
    pub(super) id: RequestId,
    /// Its sequence number.
    pub(super) seq: u8,
    /// The jobs that it covers; several only for [`RequestKind::Batch`].
    pub(super) jobs: Vec<CaseJob<S>>,
    pub(super) kind: RequestKind,
}

/// What a request asks the board for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A single case.
    Case,
    /// Several cases.
    Batch,
    /// Name and build id of the program on the board.
    Identity,
    /// What code under test may have damaged.
    Status,
}

impl<S: BoardSuite> InFlightRequest<S> {
    /// A request about the program, for no case.
    pub(super) fn for_program(id: RequestId, seq: u8, kind: RequestKind) -> Self {
        Self { id, seq, jobs: Vec::new(), kind }
    }

    /// Returns `true` if its reply confirms buffered results.
    pub(super) fn confirms(&self) -> bool {
        matches!(self.kind, RequestKind::Identity | RequestKind::Status)
    }

    /// Returns the case of a [`RequestKind::Case`].
    pub(super) fn case(&self) -> &S::Case {
        &self.jobs[0].case
    }

    /// Returns the jobs, marked to be sent one by one, so that a case that crashes the board is
    /// identified.
    pub(super) fn into_single_case_jobs(mut self) -> Vec<CaseJob<S>> {
        self.jobs.iter_mut().for_each(|job| job.may_batch = false);
        self.jobs
    }
}

impl<S: BoardSuite> Runner<'_, S> {
    /// Returns `first` with the next jobs that fit in the same request.
    pub(super) fn batch_with(
        &mut self,
        first: CaseJob<S>,
        cases: &mut dyn Iterator<Item = S::Case>,
    ) -> Vec<CaseJob<S>> {
        let max = S::batch_size(self.live);
        let mut jobs = vec![first];
        while jobs.len() < max
            && let Some(job) = self.next_job(cases)
        {
            if !job.may_batch || job.early_result().is_some() || job.plan.batch.is_none() {
                self.pending.push_front(job);
                break;
            }
            jobs.push(job);
        }
        // The IDENT request takes the room of the last one.
        let is_confirming = self.in_flight.iter().any(InFlightRequest::confirms);
        if is_confirming && jobs.len() > 1 && !self.live.has_room(&self.batch_request(&jobs)) {
            jobs.pop().into_iter().for_each(|job| self.pending.push_front(job));
        }
        jobs
    }

    /// Returns the request for these jobs.
    pub(super) fn batch_request(&self, jobs: &[CaseJob<S>]) -> RequestSpec {
        let items = jobs.iter().filter_map(|job| job.plan.batch.as_ref());
        S::batch_request(self.live, items.collect())
    }

    /// Handles the reply to a request for several cases.
    pub(super) fn handle_batch_reply(&mut self, request: InFlightRequest<S>, reply: CaseReply<S>) {
        match reply.result {
            Ok(Response::Batch(replies)) if replies.len() == request.jobs.len() => {
                let elapsed = reply.share / u32::try_from(replies.len().max(1)).unwrap_or(u32::MAX);
                let mut retries = reply.retries;
                let mut undecided = Vec::new();
                for (job, seen) in request.jobs.into_iter().zip(&replies) {
                    let timing = (std::mem::take(&mut retries), elapsed);
                    undecided.extend(self.judge_in_batch(job, seen, timing));
                }
                self.push_front_all(undecided);
            }
            Ok(_) => self.push_front_all(request.into_single_case_jobs()),
            Err(error) if is_unknown_request(&error) => {
                self.in_flight.insert(0, request);
                self.recover(&error.to_string());
            }
            Err(error) => {
                let mut jobs = request.into_single_case_jobs();
                self.suspect_after_timeout(&error, &mut jobs);
                self.push_front_all(jobs);
                if matches!(error, LinkError::Timeout { .. }) {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Judges a case of a batch. Returns the job if it is to be sent by itself.
    fn judge_in_batch(
        &mut self,
        mut job: CaseJob<S>,
        reply: &S::BatchReply,
        timing: (RetryCounts, Duration),
    ) -> Option<CaseJob<S>> {
        let item = job.plan.batch.as_ref()?;
        let reason = match S::judge_in_batch(self.live, &job.case, item, reply) {
            Ok(result) => {
                self.complete_repetition(job, with_timing(result, timing));
                return None;
            }
            Err(reason) => reason,
        };
        job.may_batch = false;
        if job.finding.is_none() {
            job.attempts = 0; // not sent by itself yet
        }
        job.flaky_reason.get_or_insert(reason);
        Some(job)
    }
}
