//! The replies that explain a residue: the steps of an exchange, and what a whole position's
//! residues come to.

use super::STEP;

/// One step of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepRecord {
    /// One of [`super::step`], with [`super::step::DEFENDERS`] added or not.
    pub what: u8,
    /// Points at stake.
    pub stake: u8,
    /// The value of the attacker.
    pub attacker: u8,
    /// The value of the guard, 0 for none.
    pub defender: u8,
    /// The points that the owner of the square has lost after the step.
    pub residue: u8,
}

impl StepRecord {
    /// The steps in what follows the head of a reply to TRACE.
    pub(super) fn all(payload: &[u8]) -> Option<Vec<Self>> {
        let (records, odd) = payload.as_chunks::<STEP>();
        let step = |&[what, stake, attacker, defender, residue]: &[u8; STEP]| Self {
            what,
            stake,
            attacker,
            defender,
            residue,
        };
        odd.is_empty().then(|| records.iter().map(step).collect())
    }
}

/// The reply to POINTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointsReply {
    /// The highest residue of the side that has just moved.
    pub lost: u8,
    /// The highest two of the other side.
    pub prizes: [u8; 2],
    /// Bits of [`super::danger`].
    pub danger: u8,
    /// Lost and won as the article counts, in quarters of a point.
    pub article: [u8; 2],
    /// Lost and won as the program of 1978 counts, in halves.
    pub book: [u8; 2],
    /// All statuses together.
    pub status: u8,
}

impl PointsReply {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let &[lost, p1, p2, danger, a1, a2, b1, b2, status] = payload else { return None };
        Some(Self { lost, prizes: [p1, p2], danger, article: [a1, a2], book: [b1, b2], status })
    }
}
