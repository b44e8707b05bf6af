//! Pipelined requests of cases, and the decoding of their replies.

use std::iter;
use std::time::Duration;

use board_simulator::CallRecord;
use firmware_wire::Reply;
use rcflash_link::{Completion, LinkError, RequestId, RequestSpec, RetryCounts};

use super::requests::POSITION_OPERATION;
use super::{Finding, SargonBoard};
use crate::responses::{ObservedCheck, PositionResponse};

/// Calls that are kept for replies still to be received.
const MAX_UNCLAIMED_RECORDS: usize = 1 << 14;

/// A decoded reply.
#[derive(Debug)]
pub(crate) enum Response {
    /// To POSITION, or to a combined request.
    Position(PositionResponse),
    /// For the cases of a batch.
    Batch(Vec<ObservedCheck>),
    /// To another request.
    Other(Reply),
}

/// The reply to a pipelined request, or the error if there is none.
#[derive(Debug)]
pub(crate) struct CaseReply {
    /// The request, as returned by [`SargonBoard::submit`].
    pub(crate) request_id: RequestId,
    /// The decoded reply.
    pub(crate) result: Result<Response, LinkError>,
    /// Retries of the request, by cause; and its time, by the clock of the line: from its first
    /// transmission, or the end of the request before it if that was later, to its end.
    pub(crate) timing: (RetryCounts, Duration),
    /// What code under test did wrong during the request.
    pub(crate) findings: Vec<Finding>,
}

impl SargonBoard {
    /// Sends a request; [`Self::next_reply`] returns its reply. Returns its id and its sequence
    /// number.
    ///
    /// # Errors
    /// Returns an error if the line failed.
    pub(crate) fn submit(&mut self, request: &RequestSpec) -> Result<(RequestId, u8), LinkError> {
        let id = self.live.link.submit(request)?;
        Ok((id, self.live.link.seq()))
    }

    /// Waits for the next reply. Returns `None` if no request is in flight.
    ///
    /// # Errors
    /// Returns an error if the line failed. The requests stay in flight until
    /// [`Self::recover`] cancels them.
    pub(crate) fn next_reply(&mut self) -> Result<Option<CaseReply>, LinkError> {
        let completion = self.live.link.next_completion()?;
        Ok(completion.map(|completion| self.decode_completion(completion)))
    }

    /// Takes the replies that were received during other waits.
    pub(crate) fn take_replies(&mut self) -> Vec<CaseReply> {
        let completions = self.live.link.take_completions();
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
            timing: (completion.retries, completion.share),
            findings: self.take_findings(Some(completion.seq)),
        }
    }

    /// Sends a request, waits for all frames of its reply, and decodes them.
    pub(super) fn request_response(&mut self, spec: &RequestSpec) -> Result<Response, LinkError> {
        let replies = self.live.link.request_all(spec)?;
        self.decode(replies, self.live.link.seq())
    }

    /// Decodes a reply; a simulated board also has measured calls.
    fn decode(&mut self, mut replies: Vec<Reply>, seq: u8) -> Result<Response, LinkError> {
        let records = self.claim_records(seq);
        match replies.pop() {
            Some(Reply::Checks(checks)) => {
                let times = records.and_then(|all| self.probe.per_position(checks.len(), &all));
                let times = times.into_iter().flatten().map(Some).chain(iter::repeat(None));
                let check = |(crc, t_states)| ObservedCheck { crc, t_states };
                Ok(Response::Batch(checks.into_iter().zip(times).map(check).collect()))
            }
            Some(Reply::PositionEnd(end)) => {
                let squares = replies.into_iter().flat_map(|reply| match reply {
                    Reply::Squares { records, .. } => records,
                    _ => Vec::new(),
                });
                let squares: Vec<_> = squares.collect();
                let t_states = records.map(|records| self.probe.per_square(&squares, &records));
                Ok(Response::Position(PositionResponse { squares, end, t_states }))
            }
            Some(other) if replies.is_empty() => Ok(Response::Other(other)),
            _ => Err(LinkError::UnexpectedReply {
                operation: POSITION_OPERATION,
                cause: "part of the frames is missing".to_owned(),
            }),
        }
    }

    /// Takes the calls measured while the board worked on a request.
    fn claim_records(&mut self, seq: u8) -> Option<Vec<CallRecord>> {
        let records = self.live.instrumentation()?.take_records();
        self.records.extend(records);
        // The oldest are left over from cancelled requests.
        if self.records.len() > 2 * MAX_UNCLAIMED_RECORDS {
            self.records.drain(..MAX_UNCLAIMED_RECORDS);
        }
        Some(self.records.extract_if(.., |record| record.request_tag == seq).collect())
    }
}
