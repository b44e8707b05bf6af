//! Questions of the corpus's cases, several of them under way at a time.

use std::time::Duration;

use firmware_wire::{BODY, CHECKED, MAX_CHECKED, Reply, capability, further};
use rcflash_link::{Completion, LinkError, RequestId, RequestSpec, RetryCounts};

use super::LiveBoard;
use crate::answers::CaseAnswer;
use sargon_corpus::Subject;

/// The board's word on a question.
#[derive(Debug)]
pub struct CaseReply {
    /// Which request it answers.
    pub ticket: RequestId,
    /// The reply, or why there is none.
    pub said: Result<CaseAnswer, LinkError>,
    /// The number of times the request was repeated, and why.
    pub repeats: RetryCounts,
    /// The time it was under way, by the line's clock.
    pub took: Duration,
}

impl LiveBoard {
    /// Returns the reason why the application can't answer a case, if any.
    #[must_use]
    pub fn lacks(&self, subject: &Subject) -> Option<String> {
        let (bit, request) = match subject {
            Subject::Position { .. } => (capability::POSITION, "POSITION"),
            Subject::Array { .. } => (capability::EXCHANGE, "EXCHANGE"),
        };
        (!self.can(bit)).then(|| format!("{} does not answer {request}", self.application.name))
    }

    /// Whether the application has a capability.
    pub(crate) fn can(&self, bit: u8) -> bool {
        self.application.capabilities & bit != 0
    }

    /// Whether positions are asked for by their checks first.
    #[must_use]
    pub fn asks_for_checks(&self) -> bool {
        !self.plan.full && self.examines_at_once()
    }

    /// Whether a request for a position may name the last move, so that POINTS needs none of its
    /// own, for which the board would examine the position again.
    pub(crate) fn examines_at_once(&self) -> bool {
        self.application.further & further::CHECKS != 0
    }

    /// The most positions in a question for checks: as many as leave room for a second question, so
    /// that the board has the next one when it has answered.
    pub(crate) fn positions_a_check(&self) -> usize {
        const FRAME: usize = BODY + 6; // its delimiters, COBS, and the byte of statuses
        let room = usize::from(self.application.window) / 2;
        (room.saturating_sub(FRAME) / CHECKED).clamp(1, MAX_CHECKED)
    }

    /// Whether the board has room for one more question.
    #[must_use]
    pub fn has_room(&self, question: &RequestSpec) -> bool {
        self.link.has_room(&question.request)
    }

    /// Puts a question to the board; its word comes by [`Self::next_word`].
    ///
    /// # Errors
    /// The line failed.
    pub fn submit(&mut self, question: &RequestSpec) -> Result<RequestId, LinkError> {
        self.link.submit(question)
    }

    /// Waits for the board's word on one of the questions under way; `None` when there is none.
    ///
    /// # Errors
    /// The line failed. The questions are under way until the board is recovered.
    pub fn next_word(&mut self) -> Result<Option<CaseReply>, LinkError> {
        let answer = self.link.next_completion()?;
        Ok(answer.map(|answer| self.word(answer)))
    }

    /// The words that came while something else was waited for.
    pub fn heard_words(&mut self) -> Vec<CaseReply> {
        let answers = self.link.take_completions();
        answers.into_iter().map(|answer| self.word(answer)).collect()
    }

    fn word(&mut self, answer: Completion) -> CaseReply {
        let said = match answer.replies {
            Err(error) => Err(error),
            Ok(replies) => self.said(replies, answer.seq),
        };
        CaseReply { ticket: answer.id, said, repeats: answer.retries, took: answer.elapsed }
    }

    fn said(&mut self, mut replies: Vec<Reply>, seq: u8) -> Result<CaseAnswer, LinkError> {
        let said = match &mut replies[..] {
            [Reply::Residue { residue, status }] => CaseAnswer::Exchange(*residue, *status),
            [Reply::Points(found)] => CaseAnswer::Points(*found),
            [Reply::Trace { residue, status, steps }] => {
                CaseAnswer::Steps(*residue, *status, std::mem::take(steps))
            }
            [Reply::Identity(who)] => CaseAnswer::Identity(*who == self.application),
            [Reply::Checks(checks)] => return Ok(CaseAnswer::Checks(self.checks(checks, seq))),
            _ => return self.observation(replies, seq).map(CaseAnswer::Position),
        };
        let _ = self.claim_records(seq);
        Ok(said)
    }
}
