//! Pipelined case requests.

use std::time::Duration;

use firmware_wire::Reply;
use rcflash_link::{Completion, LinkError, RequestId, RequestSpec, RetryCounts};

use super::{BoardSuite, Response};
use super::{Finding, LiveBoard};

/// The reply to a pipelined request, or the error if there is none.
#[derive(Debug)]
pub struct CaseReply<S: BoardSuite> {
    /// The request, as returned by [`LiveBoard::submit`].
    pub request_id: RequestId,
    /// The decoded reply.
    pub result: Result<Response<S>, LinkError>,
    /// Retries of the request, by cause.
    pub retries: RetryCounts,
    /// From its first transmission, or the end of the request before it if that was later, to its
    /// end, by the clock of the line.
    pub share: Duration,
    /// What code under test did wrong during the request.
    pub findings: Vec<Finding>,
}

impl<S: BoardSuite> LiveBoard<S> {
    /// Returns `true` if the application has one of [`firmware_wire::capability`].
    #[must_use]
    pub fn has_capability(&self, bit: u8) -> bool {
        self.application.capabilities & bit != 0
    }

    /// Returns `true` if cases may share requests.
    #[must_use]
    pub fn may_batch(&self) -> bool {
        !self.config.full_responses
    }

    /// Returns `true` if the request fits in the board's window.
    #[must_use]
    pub fn has_room(&self, request: &RequestSpec) -> bool {
        self.link.has_room(&request.request)
    }

    /// Sends a request; [`Self::next_reply`] returns its reply.
    ///
    /// # Errors
    /// Returns an error if the line failed.
    pub fn submit(&mut self, request: &RequestSpec) -> Result<RequestId, LinkError> {
        self.link.submit(request)
    }

    /// Returns the sequence number of the last request.
    pub(crate) fn last_seq(&self) -> u8 {
        self.link.seq()
    }

    /// Waits for the next reply. Returns `None` if no request is in flight.
    ///
    /// # Errors
    /// Returns an error if the line failed. The requests stay in flight until
    /// [`Self::recover`] cancels them.
    pub fn next_reply(&mut self) -> Result<Option<CaseReply<S>>, LinkError> {
        let completion = self.link.next_completion()?;
        Ok(completion.map(|completion| self.decode_completion(completion)))
    }

    /// Takes the replies that were received during other waits.
    pub fn take_replies(&mut self) -> Vec<CaseReply<S>> {
        let completions = self.link.take_completions();
        completions.into_iter().map(|completion| self.decode_completion(completion)).collect()
    }

    fn decode_completion(&mut self, completion: Completion) -> CaseReply<S> {
        let result = match completion.replies {
            Err(error) => Err(error),
            Ok(replies) => self.decode(replies, completion.seq),
        };
        CaseReply {
            request_id: completion.id,
            result,
            retries: completion.retries,
            share: completion.share,
            findings: self.claim_findings(completion.seq),
        }
    }

    pub(super) fn decode(
        &mut self,
        replies: Vec<Reply>,
        seq: u8,
    ) -> Result<Response<S>, LinkError> {
        let records = self.claim_records(seq);
        match &replies[..] {
            [Reply::Identity(identity)] => Ok(Response::Identity(*identity == self.application)),
            [Reply::Status(status)] => Ok(Response::Status(*status)),
            _ => S::decode(self, replies, records),
        }
    }
}
