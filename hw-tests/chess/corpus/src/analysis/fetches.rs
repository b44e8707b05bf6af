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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::exchange_steps;

    #[test]
    fn the_pieces_of_the_articles_example_are_fetched_in_turn() {
        let (fetches, residue) = piece_fetches(3, &[3, 3, 3], &[1, 9]);
        let pieces: Vec<u8> = fetches.iter().map(|fetch| fetch.piece).collect();
        assert_eq!(pieces, [3, 1, 3, 9, 3, 0]);
        let before: Vec<_> = fetches.iter().map(|f| (f.stake, f.attacker, f.residue)).collect();
        let expected = [
            (3, None, 0),
            (3, Some(3), 0),
            (3, Some(1), 3),
            (1, Some(3), 0),
            (1, Some(3), 0),
            (1, Some(3), 0),
        ];
        assert_eq!(before, expected);
        assert_eq!(residue, 1);
    }

    #[test]
    fn the_residue_is_that_of_the_steps_for_both_sides() {
        let sides: Vec<Vec<u8>> = (0..4_u32.pow(3))
            .map(|number| [number % 4, number / 4 % 4, number / 16])
            .map(|three| three.into_iter().filter(|value| *value > 0))
            .map(|values| values.map(|value| [1, 3, 9][value as usize - 1]).collect())
            .collect();
        for (attackers, defenders) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
            for stake in [1, 3, 5, 9] {
                let steps = exchange_steps(stake, attackers, defenders);
                let expected = steps.last().map_or(0, |step| step.residue);
                let (_, residue) = piece_fetches(stake, attackers, defenders);
                assert_eq!(residue, expected, "{stake} {attackers:?} {defenders:?}");
            }
        }
    }
}
