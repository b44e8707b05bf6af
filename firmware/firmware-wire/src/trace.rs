//! The steps in a reply to TRACE.

use super::STEP_BYTES;

/// One step of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepRecord {
    /// One of [`super::step`], plus [`super::step::DEFENDERS`] for the defenders' side.
    pub action: u8,
    /// Points at stake.
    pub stake: u8,
    /// The value of the attacker.
    pub attacker: u8,
    /// The value of the defender, 0 for none.
    pub defender: u8,
    /// Points lost by the owner of the square after the step.
    pub residue: u8,
}

impl StepRecord {
    /// Decodes the steps of a reply to TRACE.
    pub(super) fn all(payload: &[u8]) -> Option<Vec<Self>> {
        let (records, odd) = payload.as_chunks::<STEP_BYTES>();
        let step = |&[what, stake, attacker, defender, residue]: &[u8; STEP_BYTES]| Self {
            action: what,
            stake,
            attacker,
            defender,
            residue,
        };
        odd.is_empty().then(|| records.iter().map(step).collect())
    }
}
