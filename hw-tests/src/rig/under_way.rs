//! Questions of the corpus's cases, several of them under way at a time.

use std::time::Duration;

use firmware::wire::{PointsReply, Reply, StepRecord, capability};
use rcflash::link::{Answer, LinkError, Question, Repeats, Ticket};

use super::Rig;
use super::ask::Observation;
use crate::corpus::Subject;

/// The board's word on a question.
#[derive(Debug)]
pub struct Word {
    /// Which request it answers.
    pub ticket: Ticket,
    /// What it says, or why it says nothing.
    pub said: Result<Said, LinkError>,
    /// How often the request was repeated, and why.
    pub repeats: Repeats,
    /// How long it was under way, by the line's clock.
    pub took: Duration,
}

/// What the board says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Of a position.
    Position(Observation),
    /// Of what a position's residues amount to.
    Points(PointsReply),
    /// Of an exchange: residue and status.
    Exchange(u8, u8),
    /// Of an exchange step by step: residue, status, and the steps.
    Steps(u8, u8, Vec<StepRecord>),
}

impl Rig {
    /// Why the application can't answer a case; nothing if it can.
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

    /// Whether the board has room for one more question.
    #[must_use]
    pub fn has_room(&self, question: &Question) -> bool {
        self.link.has_room(&question.request)
    }

    /// Puts a question to the board; its word comes by [`Self::next_word`].
    ///
    /// # Errors
    /// The line failed.
    pub fn submit(&mut self, question: &Question) -> Result<Ticket, LinkError> {
        self.link.submit(question)
    }

    /// Waits for the board's word on one of the questions under way; `None` when there is none.
    ///
    /// # Errors
    /// The line failed. The questions are under way until the board is recovered.
    pub fn next_word(&mut self) -> Result<Option<Word>, LinkError> {
        let answer = self.link.next_answer()?;
        Ok(answer.map(|answer| self.word(answer)))
    }

    /// The words that came while something else was waited for.
    pub fn heard_words(&mut self) -> Vec<Word> {
        let answers = self.link.take_finished();
        answers.into_iter().map(|answer| self.word(answer)).collect()
    }

    fn word(&mut self, answer: Answer) -> Word {
        let said = match answer.replies {
            Err(error) => Err(error),
            Ok(replies) => self.said(replies, answer.seq),
        };
        Word { ticket: answer.ticket, said, repeats: answer.repeats, took: answer.took }
    }

    fn said(&mut self, mut replies: Vec<Reply>, seq: u8) -> Result<Said, LinkError> {
        let said = match &mut replies[..] {
            [Reply::Residue { residue, status }] => Said::Exchange(*residue, *status),
            [Reply::Points(found)] => Said::Points(*found),
            [Reply::Trace { residue, status, steps }] => {
                Said::Steps(*residue, *status, std::mem::take(steps))
            }
            _ => return self.observation(replies, seq).map(Said::Position),
        };
        let _ = self.claim_records(seq);
        Ok(said)
    }
}
