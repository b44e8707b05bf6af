//! Cases of the corpus as requests, several of them under way at a time.

use std::time::Duration;

use firmware::wire::capability;
use rcflash::link::{Answer, LinkError, Question, Repeats, Ticket};

use super::Rig;
use super::ask::{Observation, residue};
use crate::corpus::Subject;

/// The board's word on a case.
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
    /// Of an exchange: residue and status.
    Exchange(u8, u8),
}

impl Rig {
    /// Why the application can't answer a case; nothing if it can.
    #[must_use]
    pub fn lacks(&self, subject: &Subject) -> Option<String> {
        let (bit, request) = match subject {
            Subject::Position { .. } => (capability::POSITION, "POSITION"),
            Subject::Array { .. } => (capability::EXCHANGE, "EXCHANGE"),
        };
        let can = self.application.capabilities & bit != 0;
        (!can).then(|| format!("{} does not answer {request}", self.application.name))
    }

    /// Whether the board has room for one more case.
    #[must_use]
    pub fn has_room(&self, subject: &Subject) -> bool {
        self.link.has_room(&self.question(subject).request)
    }

    /// Puts a case to the board; its word comes by [`Self::next_word`].
    ///
    /// # Errors
    /// The line failed.
    pub fn submit(&mut self, subject: &Subject) -> Result<Ticket, LinkError> {
        self.link.submit(&self.question(subject))
    }

    /// Waits for the board's word on one of the cases under way; `None` when there is none.
    ///
    /// # Errors
    /// The line failed. The cases are under way until the board is recovered.
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
            Ok(replies) => match residue(&replies) {
                Some((residue, status)) => Ok(Said::Exchange(residue, status)),
                None => self.observation(replies, answer.seq).map(Said::Position),
            },
        };
        Word { ticket: answer.ticket, said, repeats: answer.repeats, took: answer.took }
    }

    fn question(&self, subject: &Subject) -> Question {
        match subject {
            Subject::Position { position, .. } => self.position_question(position),
            Subject::Array { piece, array, .. } => self.exchange_question(*piece, array),
        }
    }
}
