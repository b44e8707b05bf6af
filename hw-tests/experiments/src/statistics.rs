//! The statistics of matches, and least squares.

/// Error probabilities of the sequential test, both 5 %.
const SPRT_ERROR: f64 = 0.05;
/// Standard deviations of a 95 % interval.
const TWO_SIDED_95: f64 = 1.959_964;

/// Returns the expected score, 0 to 1, of a player that is `elo` stronger.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Returns the Elo difference of a score between 0 and 1.
pub fn elo(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// Returns the bounds of the log-likelihood ratio at which a sequential test accepts the weaker
/// and the stronger hypothesis (Wald).
pub fn sprt_bounds() -> (f64, f64) {
    let bound = ((1.0 - SPRT_ERROR) / SPRT_ERROR).ln();
    (-bound, bound)
}

/// The outcomes of pairs of games, each opening played with both colours. Pairs are the unit, since
/// the two games of an opening depend on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairScores {
    /// Pairs in which the first player had 0, 1/2, 1, 3/2 and 2 points.
    pub counts: [u32; 5],
}

impl PairScores {
    /// Adds a pair, in half points of the first player, at most 4.
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points] += 1;
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> f64 {
        f64::from(self.counts.iter().sum::<u32>())
    }

    /// Returns the mean score of a game, 0 to 1, and the variance of a pair's.
    pub fn moments(&self) -> (f64, f64) {
        let scores = || self.counts.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]);
        let mean = |of: &dyn Fn(f64) -> f64| {
            scores().map(|(count, score)| f64::from(*count) * of(score)).sum::<f64>() / self.pairs()
        };
        let average = mean(&|score| score);
        (average, mean(&|score| (score - average).powi(2)))
    }

    /// Returns the Elo difference and the half width of its 95 % interval.
    pub fn elo(&self) -> (f64, f64) {
        let (mean, variance) = self.moments();
        let margin = TWO_SIDED_95 * (variance / self.pairs()).sqrt();
        (elo(mean), (elo(mean + margin) - elo(mean - margin)) / 2.0)
    }

    /// Returns the log-likelihood ratio of `high` against `low` Elo, as the generalised sequential
    /// test approximates it: n (s1 - s0) (2 s - s0 - s1) / (2 variance).
    pub fn log_likelihood_ratio(&self, low: f64, high: f64) -> f64 {
        let (mean, variance) = self.moments();
        let (s0, s1) = (expected_score(low), expected_score(high));
        self.pairs() * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance)
    }
}

/// Returns the coefficients that fit `rows` of factors and result with the least squared error, by
/// Gaussian elimination; `None` if the factors depend on each other.
pub fn least_squares<const N: usize>(rows: &[([f64; N], f64)]) -> Option<[f64; N]> {
    let mut left = [[0.0; N]; N];
    let mut right = [0.0; N];
    for (factors, result) in rows {
        for i in 0..N {
            right[i] += factors[i] * result;
            for j in 0..N {
                left[i][j] += factors[i] * factors[j];
            }
        }
    }
    for pivot in 0..N {
        let best =
            (pivot..N).max_by(|a, b| left[*a][pivot].abs().total_cmp(&left[*b][pivot].abs()))?;
        left.swap(pivot, best);
        right.swap(pivot, best);
        if left[pivot][pivot].abs() < 1e-9 {
            return None;
        }
        for row in (0..N).filter(|row| *row != pivot) {
            let factor = left[row][pivot] / left[pivot][pivot];
            let (source, target) = (left[pivot], &mut left[row]);
            target.iter_mut().zip(source).for_each(|(to, from)| *to -= factor * from);
            right[row] -= factor * right[pivot];
        }
    }
    Some(std::array::from_fn(|i| right[i] / left[i][i]))
}
