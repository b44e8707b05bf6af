//! Time by counting: each operation costs a fixed number of nanoseconds, so that a match comes out
//! the same on every machine and a slower ordering still pays for its time.

/// What a search spends time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A node of the main search; its time is that of its moves.
    Node,
    /// A leaf or node of the quiescence search, with its static score.
    Leaf,
    /// A move generated, scored and sorted, and its share of its node.
    SortedMove,
    /// An exchange value by `swap` or `swap_promo`.
    Swap,
    /// An exchange value by `swap_pins`.
    SwapPins,
    /// An exchange value by `legal`.
    Legal,
    /// A comparison of an exchange value with 0.
    Threshold,
    /// A move's value by Sargon's residue.
    Sargon,
    /// The residues of all squares.
    Residues,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 9] = [
        Self::Node,
        Self::Leaf,
        Self::SortedMove,
        Self::Swap,
        Self::SwapPins,
        Self::Legal,
        Self::Threshold,
        Self::Sargon,
        Self::Residues,
    ];
}

/// Nanoseconds of each operation in the order of [`Operation::ALL`], fitted before the matches by
/// `--example orderings -- costs`; another fit gives other costs (`README.md`).
pub const COSTS: [u64; 9] = [0, 107, 25, 76, 131, 122, 102, 748, 2356];

/// The operations of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Times of each operation, in the order of [`Operation::ALL`].
    pub counts: [u64; 9],
    /// Their cost in nanoseconds.
    pub ns: u64,
}

impl Work {
    /// Adds an operation `times` times.
    pub fn add(&mut self, operation: Operation, times: usize) {
        self.counts[operation as usize] += times as u64;
        self.ns += COSTS[operation as usize] * times as u64;
    }

    /// Returns the number of positions visited.
    pub fn nodes(&self) -> u64 {
        self.counts[Operation::Node as usize] + self.counts[Operation::Leaf as usize]
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(to, from)| *to += from);
        self.ns += other.ns;
    }
}
