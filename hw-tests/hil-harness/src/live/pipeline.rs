//! Pipelined case requests.

use std::time::Duration;

use firmware_wire::{
    BODY_OVERHEAD, MAX_POSITIONS, POSITION_BYTES, Reply, capability, extended_capability,
};
use rcflash_link::{Completion, LinkError, RequestId, RequestSpec, RetryCounts};

use super::{Finding, LiveBoard};
use crate::responses::CaseResponse;
use sargon_corpus::CaseInput;

/// The reply to a pipelined request, or the error if there is none.
#[derive(Debug)]
pub struct CaseReply {
    /// The request, as returned by [`LiveBoard::submit`].
    pub request_id: RequestId,
    /// The decoded reply.
    pub result: Result<CaseResponse, LinkError>,
    /// Retries of the request, by cause.
    pub retries: RetryCounts,
    /// Time from the first transmission to the reply, by the clock of the line.
    pub elapsed: Duration,
    /// What code under test did wrong during the request.
    pub findings: Vec<Finding>,
}

impl LiveBoard {
    /// Returns why the application can't run a case; `None` if it can.
    #[must_use]
    pub fn unsupported_reason(&self, subject: &CaseInput) -> Option<String> {
        let (bit, request) = match subject {
            CaseInput::Position { .. } => (capability::POSITION, "POSITION"),
            CaseInput::Array { .. } => (capability::EXCHANGE, "EXCHANGE"),
        };
        (!self.has_capability(bit))
            .then(|| format!("{} does not implement {request}", self.application.name))
    }

    /// Returns `true` if the application has one of [`firmware_wire::capability`].
    pub(crate) fn has_capability(&self, bit: u8) -> bool {
        self.application.capabilities & bit != 0
    }

    /// Returns `true` if the CRCs of positions are requested before their bytes.
    #[must_use]
    pub fn uses_position_checks(&self) -> bool {
        !self.config.full_responses && self.supports_combined_request()
    }

    /// Returns `true` if POSITION accepts the last move, which makes a separate POINTS request, and
    /// a second evaluation, unnecessary.
    pub(crate) fn supports_combined_request(&self) -> bool {
        self.application.extended_capabilities & extended_capability::CHECKS != 0
    }

    /// Returns how many positions fit in a CHECKS request of half the window, so that the board has
    /// the next request when it finishes one.
    pub(crate) fn positions_per_check(&self) -> usize {
        const FRAME: usize = BODY_OVERHEAD + 6; // its delimiters, COBS, and the byte of statuses
        let room = usize::from(self.application.window) / 2;
        (room.saturating_sub(FRAME) / POSITION_BYTES).clamp(1, MAX_POSITIONS)
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
    pub fn next_reply(&mut self) -> Result<Option<CaseReply>, LinkError> {
        let completion = self.link.next_completion()?;
        Ok(completion.map(|completion| self.decode_completion(completion)))
    }

    /// Takes the replies that were received during other waits.
    pub fn take_replies(&mut self) -> Vec<CaseReply> {
        let completions = self.link.take_completions();
        completions.into_iter().map(|completion| self.decode_completion(completion)).collect()
    }

    fn decode_completion(&mut self, completion: Completion) -> CaseReply {
        let result = match completion.replies {
            Err(error) => Err(error),
            Ok(replies) => self.decode(replies, completion.seq),
        };
        CaseReply {
            request_id: completion.id,
            result,
            retries: completion.retries,
            elapsed: completion.elapsed,
            findings: self.claim_findings(completion.seq),
        }
    }

    fn decode(&mut self, mut replies: Vec<Reply>, seq: u8) -> Result<CaseResponse, LinkError> {
        let response = match &mut replies[..] {
            [Reply::Residue { residue, status }] => CaseResponse::Exchange(*residue, *status),
            [Reply::Points(found)] => CaseResponse::Points(*found),
            [Reply::Trace { residue, status, steps }] => {
                CaseResponse::Steps(*residue, *status, std::mem::take(steps))
            }
            [Reply::Identity(identity)] => CaseResponse::Identity(*identity == self.application),
            [Reply::Status(status)] => CaseResponse::Status(*status),
            [Reply::Checks(checks)] => {
                return Ok(CaseResponse::Checks(self.observed_checks(checks, seq)));
            }
            _ => return self.position_response(replies, seq).map(CaseResponse::Position),
        };
        let _ = self.claim_records(seq);
        Ok(response)
    }
}
