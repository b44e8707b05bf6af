//! The questions of a case: what the application answers of both, in one request where it can, so
//! that all of the evaluator is judged.

use firmware_wire::capability;
use rcflash_link::RequestSpec;

use crate::checks::Expected;
use crate::live::LiveBoard;
use sargon_corpus::Subject;
use sargon_reference::Behaviour;

/// The questions of a case.
pub(super) struct Questions {
    /// The right answers and their check, where the board is first asked for that.
    pub(super) expected: Option<Box<Expected>>,
    /// Every square of a position, with the sum of its residues where that is told at once, or the
    /// residue of an array.
    pub(super) first: RequestSpec,
    /// The question about the sum of the residues, or about the steps of the exchange.
    pub(super) second: Option<RequestSpec>,
}

impl Questions {
    /// An exchange is traced where all routines are ours and the walk along the array is bounded.
    pub(super) fn new(live: &LiveBoard, subject: &Subject) -> Self {
        match subject {
            Subject::Position { position, .. } => {
                let expected = Expected::new(position, live.standard());
                let (mover, moved) = expected.last_move;
                let at_once = live.examines_at_once();
                let first = if at_once {
                    live.examination_question(expected.request)
                } else {
                    live.position_question(position)
                };
                let points = || live.points_question(position, mover, moved);
                let second = (!at_once && live.can(capability::POINTS)).then(points);
                let expected = live.asks_for_checks().then(|| Box::new(expected));
                Self { expected, first, second }
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
