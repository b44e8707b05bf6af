//! Plays out the captures on a square by the article's rule.

use super::array::AttackersArray;
use super::position::Piece;

/// One booking of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Booking {
    /// Value of the piece captured.
    pub stake: i16,
    /// Value of the capturing piece.
    pub attacker: u8,
    /// Value of the piece ready to recapture, 0 for none.
    pub defender: u8,
    /// Points lost by the owner of the square so far.
    pub residue: i16,
}

/// The result of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeResult {
    /// Points that the owner of the square stands to lose.
    pub residue: u8,
    /// The bookings that add up to the residue.
    pub bookings: Vec<Booking>,
    /// A count promised more pieces than its section held, and the exchange asked for one of them.
    pub short: bool,
}

/// The pieces of one side that have not captured yet.
struct Queue {
    values: std::vec::IntoIter<u8>,
    promised: usize,
    short: bool,
}

impl Queue {
    fn next(&mut self) -> Option<u8> {
        self.promised = self.promised.checked_sub(1)?;
        let next = self.values.next();
        if next.is_none() {
            self.short = true;
            self.promised = 0;
        }
        next
    }
}

/// Plays the captures out. The side to capture sends its least valuable piece. A piece no dearer
/// than what it takes always captures; a dearer one captures a guarded piece only when nothing
/// cheaper than itself answers and another of its side stands behind it, and so on until one side
/// runs out.
///
/// # Examples
/// ```
/// use sargon_reference::{AttackersArray, Colour, Kind, Piece, exchange};
///
/// // White: two knights and a bishop. Black: a pawn and a queen.
/// let array = AttackersArray::from_bytes(&[3, 0, 0x33, 3, 0, 0, 0, 2, 1, 0, 0, 0, 9, 0]);
/// let knight = Piece { colour: Colour::Black, kind: Kind::Knight };
/// let outcome = exchange(knight, &array);
/// // The knight is taken, the pawn takes back, and the next knight takes the pawn.
/// assert_eq!(outcome.residue, 3 - 3 + 1);
/// assert_eq!(outcome.bookings.len(), 3);
/// ```
#[must_use]
pub fn exchange(target: Piece, array: &AttackersArray) -> ExchangeResult {
    let queue = |colour| Queue {
        values: array.in_order(colour).into_iter(),
        promised: usize::from(array.count(colour)),
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

/// Plays the captures out with pieces from `next`, which serves the two sides in turn, the
/// attackers first: the residue and the bookings.
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
        // Pieces are taken out in the article's order, the side in turn first, whether they then
        // capture or not: who is called to help is gone from its queue. That is the rule under
        // test, and the reason why this is not written as a minimax.
        let mut defender = next();
        if stake < i16::from(attacker) {
            // Too dear for a guarded piece, unless what guards it is as dear and help stands
            // behind.
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
