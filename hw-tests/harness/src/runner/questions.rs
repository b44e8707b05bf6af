//! The questions of a case: two wherever the application answers both, so that all of the evaluator
//! is judged.

use firmware_wire::capability;
use rcflash_link::Question;

use crate::checks::Expected;
use crate::live::LiveBoard;
use sargon_cases::Subject;
use sargon_reference::{Behaviour, Colour, Position, Square, Verdict, examine_as};

/// The questions of a case.
pub(super) struct Questions {
    /// The right answers and their check, where the board is first asked for that.
    pub(super) expected: Option<Box<Expected>>,
    /// Every square of a position, or the residue of an array.
    pub(super) first: Question,
    /// The question about the sum of the residues, or about the steps of the exchange.
    pub(super) second: Option<Question>,
}

impl Questions {
    /// An exchange is traced where all routines are ours and the walk along the array is bounded.
    pub(super) fn new(live: &LiveBoard, subject: &Subject) -> Self {
        match subject {
            Subject::Position { position, .. } => {
                let points = || {
                    let verdicts = examine_as(position, live.behaviour()).verdicts;
                    let (mover, moved) = last_move(position, &verdicts);
                    live.points_question(position, mover, moved)
                };
                let second = live.can(capability::POINTS).then(points);
                let expect = || Box::new(Expected::new(position, live.standard()));
                let expected = live.asks_for_checks().then(expect);
                Self { expected, first: live.position_question(position), second }
            }
            Subject::Array { piece, array, .. } => {
                let is_bounded = live.behaviour() == Behaviour::Mended && live.own.is_empty();
                let steps = || live.steps_question(*piece, piece.kind.value(), array);
                let second = (is_bounded && live.can(capability::TRACE)).then(steps);
                Self { expected: None, first: live.exchange_question(*piece, array), second }
            }
        }
    }
}

/// The move to take for the last one: who made it, and where it ended. That is not known, or the
/// mover's first or last square that has a residue, or its last of all: the number of pieces
/// decides, so that a corpus has all of these.
pub(crate) fn last_move(position: &Position, verdicts: &[Verdict]) -> (Colour, Option<Square>) {
    let mover = position.to_move.other();
    let mut own = verdicts.iter().filter(|verdict| verdict.piece.colour == mover);
    let is_lost = |verdict: &&Verdict| verdict.outcome.residue > 0;
    let chosen = match verdicts.len() % 4 {
        0 => None,
        1 => own.find(is_lost),
        2 => own.rfind(is_lost),
        _ => own.next_back(),
    };
    (mover, chosen.map(|verdict| verdict.square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_cases::shipped;
    use sargon_reference::examine;

    #[test]
    fn last_moves_of_all_four_kinds_are_chosen_by_the_number_of_pieces() {
        let mut kinds = [0; 4];
        for case in shipped().expect("the corpus") {
            let Subject::Position { position, .. } = &case.subject else { continue };
            let (_, verdicts) = examine(position);
            let (mover, moved) = last_move(position, &verdicts);
            assert_ne!(mover, position.to_move);
            let own: Vec<_> = verdicts.iter().filter(|at| at.piece.colour == mover).collect();
            let mut lost = own.iter().filter(|at| at.outcome.residue > 0).map(|at| at.square);
            let first = lost.next();
            let last = lost.next_back();
            let last_of_all = own.last().map(|at| at.square);
            match verdicts.len() % 4 {
                0 => assert_eq!(moved, None, "{}", case.id),
                1 => assert_eq!(moved, first, "{}", case.id),
                2 => assert_eq!(moved, last.or(first), "{}", case.id),
                _ => assert_eq!(moved, last_of_all, "{}", case.id),
            }
            kinds[verdicts.len() % 4] += i32::from(last.is_some() && last_of_all != last);
        }
        assert!(kinds.iter().all(|count| *count > 0), "each can be told from others: {kinds:?}");
    }
}
