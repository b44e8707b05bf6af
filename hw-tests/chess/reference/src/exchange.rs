//! Evaluates the captures on a square by the article's rule.

use super::array::AttackersArray;
use super::position::Piece;

/// One capture that changes the residue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Booking {
    /// Value of the piece captured.
    pub stake: i16,
    /// Value of the capturing piece.
    pub attacker: u8,
    /// Value of the piece ready to recapture, 0 for none.
    pub defender: u8,
    /// Points lost by the owner of the square up to this capture.
    pub residue: i16,
}

/// The result of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeResult {
    /// Points that the owner of the square stands to lose.
    pub residue: u8,
    /// The bookings that add up to the residue.
    pub bookings: Vec<Booking>,
    /// A count exceeds the pieces in its section, and the exchange reached the missing one.
    pub short: bool,
}

/// The pieces of one side that have not captured yet.
struct CaptureQueue {
    values: std::vec::IntoIter<u8>,
    remaining: usize,
    short: bool,
}

impl CaptureQueue {
    fn next(&mut self) -> Option<u8> {
        self.remaining = self.remaining.checked_sub(1)?;
        let next = self.values.next();
        if next.is_none() {
            self.short = true;
            self.remaining = 0;
        }
        next
    }
}

/// Evaluates an exchange. The side to capture uses its least valuable piece. A piece worth no more
/// than what it takes always captures; one worth more captures a guarded piece only if no cheaper
/// piece recaptures and another attacker follows, and so on until one side has no more pieces.
///
/// # Examples
/// ```
/// use sargon_reference::{AttackersArray, Colour, PieceKind, Piece, exchange};
///
/// // White: two knights and a bishop. Black: a pawn and a queen.
/// let array = AttackersArray::from_bytes(&[3, 0, 0x33, 3, 0, 0, 0, 2, 1, 0, 0, 0, 9, 0]);
/// let knight = Piece { colour: Colour::Black, kind: PieceKind::Knight };
/// let outcome = exchange(knight, &array);
/// // The knight is taken, the pawn takes back, and the next knight takes the pawn.
/// assert_eq!(outcome.residue, 3 - 3 + 1);
/// assert_eq!(outcome.bookings.len(), 3);
/// ```
pub fn exchange(target: Piece, array: &AttackersArray) -> ExchangeResult {
    let queue = |colour| CaptureQueue {
        values: array.in_order(colour).into_iter(),
        remaining: usize::from(array.count(colour)),
        short: false,
    };
    let mut side = queue(target.colour.other());
    let mut other = queue(target.colour);
    let (residue, bookings) = play_out(target, || {
        let next = side.next();
        std::mem::swap(&mut side, &mut other);
        next
    });
    ExchangeResult { residue, bookings, short: side.short || other.short }
}

/// Evaluates an exchange with pieces from `next`, which returns those of the two sides in turn, the
/// attackers first. Returns the residue and the bookings.
pub(super) fn play_out(target: Piece, mut next: impl FnMut() -> Option<u8>) -> (u8, Vec<Booking>) {
    let mut bookings = Vec::new();
    capture(i16::from(target.kind.value()), &mut next, &mut bookings);
    let residue = bookings.last().map_or(0, |booking: &Booking| booking.residue);
    (residue as u8, bookings)
}

fn capture(mut stake: i16, next: &mut impl FnMut() -> Option<u8>, bookings: &mut Vec<Booking>) {
    let mut sign = 1;
    let mut residue = 0;
    let Some(mut attacker) = next() else { return };
    loop {
        // Pieces are removed in the article's order, the side to move first, even if they do not
        // capture: a helper is consumed, too. That is the rule under test, so this is not a
        // minimax.
        let mut defender = next();
        if stake < i16::from(attacker) {
            // A guarded piece is not worth this attacker, unless the guard is worth as much and
            // another attacker follows.
            while let Some(guard) = defender {
                if guard < attacker {
                    return;
                }
                let Some(another) = next() else { return };
                attacker = another;
                defender = next();
            }
        }
        residue += sign * stake;
        bookings.push(Booking { stake, attacker, defender: defender.unwrap_or(0), residue });
        let Some(guard) = defender else { return };
        (stake, attacker) = (i16::from(attacker), guard);
        sign = -sign;
    }
}
