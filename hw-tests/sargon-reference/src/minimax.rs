//! The value of an exchange when either side may stop: the measure for the article's rule.

/// The points that the owner of a piece worth `stake` loses when the sides capture by turns, each
/// its own pieces in the order given, and each side goes on only as long as that serves it.
///
/// ```
/// use sargon_reference::minimax;
/// // A guarded knight and two rooks: one rook is lost for two knights.
/// assert_eq!(minimax(3, &[5, 5], &[3]), 1);
/// ```
#[must_use]
pub fn minimax(stake: u8, attackers: &[u8], defenders: &[u8]) -> u8 {
    match attackers.split_first() {
        // Not to capture costs nothing, so no capture is worth less than 0.
        Some((first, others)) => stake.saturating_sub(minimax(*first, defenders, others)),
        None => 0,
    }
}
