//! A pinned piece.

use super::position::{Direction, Square};

/// A pinned piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its square.
    pub square: Square,
    /// The direction from the king or queen towards it and the pinning piece.
    pub direction: Direction,
}
