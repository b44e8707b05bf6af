//! The pieces that XCHNG fetches one by one, with the state of the exchange before each, as a
//! debugger observes it at the calls of NEXTAD.

/// A fetch of a side's next piece. The sides take turns, the attackers first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceFetch {
    /// Points at stake before it.
    pub stake: u8,
    /// The piece about to capture; `None` before the first one.
    pub attacker: Option<u8>,
    /// Points lost by the owner of the square so far.
    pub residue: i16,
    /// The piece fetched, 0 for none.
    pub piece: u8,
}

/// Returns all fetches of an exchange by the article's rule, and its residue. `stake` is the value
/// of the piece; the lists are the values of attackers and defenders in the order in which they
/// capture.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::piece_fetches;
///
/// // A pawn attacks an unguarded rook: the pawn is fetched, then no piece of the other side.
/// let (calls, residue) = piece_fetches(5, &[1], &[]);
/// assert_eq!(residue, 5);
/// assert_eq!(calls.iter().map(|call| call.piece).collect::<Vec<_>>(), [1, 0]);
/// ```
pub fn piece_fetches(stake: u8, attackers: &[u8], defenders: &[u8]) -> (Vec<PieceFetch>, i16) {
    let mut exchange = Exchange {
        state: PieceFetch { stake, attacker: None, residue: 0, piece: 0 },
        sides: [attackers.to_vec(), defenders.to_vec()].map(|side| side.into_iter()),
        fetches: Vec::new(),
    };
    exchange.play();
    (exchange.fetches, exchange.state.residue)
}

struct Exchange {
    state: PieceFetch,
    /// The remaining pieces, first the side that fetches next.
    sides: [std::vec::IntoIter<u8>; 2],
    fetches: Vec<PieceFetch>,
}

impl Exchange {
    fn fetch(&mut self) -> Option<u8> {
        let piece = self.sides[0].next();
        self.sides.swap(0, 1);
        self.fetches.push(PieceFetch { piece: piece.unwrap_or(0), ..self.state });
        piece
    }

    fn play(&mut self) {
        let Some(mut attacker) = self.fetch() else { return };
        for sign in [1, -1].into_iter().cycle() {
            self.state.attacker = Some(attacker);
            // Only the first attacker's value is compared with the stake, not that of helpers.
            let is_too_dear = self.state.stake < attacker;
            let mut guard = self.fetch();
            while let (Some(value), true) = (guard, is_too_dear) {
                if value < attacker {
                    return;
                }
                let Some(helper) = self.fetch() else { return };
                attacker = helper;
                self.state.attacker = Some(helper);
                guard = self.fetch();
            }
            self.state.residue += sign * i16::from(self.state.stake);
            let Some(next) = guard else { return };
            (self.state.stake, attacker) = (attacker, next);
        }
    }
}
