//! The value of an exchange by minimax, for comparison with the article's rule.

/// Returns the points that the owner of a piece worth `stake` loses if the sides capture in turn,
/// with their pieces in the given order, and each stops as soon as that is better for it.
///
/// ```
/// use sargon_reference::minimax;
/// // A guarded knight and two rooks: one rook is lost for two knights.
/// assert_eq!(minimax(3, &[5, 5], &[3]), 1);
/// ```
pub fn minimax(stake: u8, attackers: &[u8], defenders: &[u8]) -> u8 {
    match attackers.split_first() {
        // Stopping costs nothing, so the value is at least 0.
        Some((first, others)) => stake.saturating_sub(minimax(*first, defenders, others)),
        None => 0,
    }
}
