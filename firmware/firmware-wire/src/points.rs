//! The reply to POINTS: the losses and prizes of a position.

/// The reply to POINTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointsReply {
    /// The highest residue of the side that has just moved.
    pub lost: u8,
    /// The highest two of the other side.
    pub prizes: [u8; 2],
    /// Bits of [`super::danger`].
    pub danger: u8,
    /// Lost and won as in the article, in quarters of a point.
    pub article: [u8; 2],
    /// Lost and won as in the original, in halves of a point.
    pub original: [u8; 2],
    /// Union of all statuses.
    pub status: u8,
}

impl PointsReply {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let &[lost, p1, p2, danger, a1, a2, b1, b2, status] = payload else { return None };
        Some(Self { lost, prizes: [p1, p2], danger, article: [a1, a2], original: [b1, b2], status })
    }
}
