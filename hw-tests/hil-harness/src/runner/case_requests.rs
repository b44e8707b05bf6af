//! The requests that a case needs: one if the application supports combined requests, else up to
//! two.

use firmware_wire::capability;
use rcflash_link::RequestSpec;

use crate::checks::ExpectedPosition;
use crate::live::LiveBoard;
use sargon_corpus::CaseInput;
use sargon_reference::Behaviour;

/// The requests that a case needs.
pub(super) struct CaseRequests {
    /// The expected replies and their CRC, if the CRC is requested first.
    pub(super) expected: Option<Box<ExpectedPosition>>,
    /// POSITION, with the points of its residues if that is supported, or EXCHANGE for an array.
    pub(super) first: RequestSpec,
    /// POINTS for a position, or TRACE for an array.
    pub(super) second: Option<RequestSpec>,
}

impl CaseRequests {
    /// Requests a TRACE only of the built-in corrected evaluator: the original, or a user's
    /// routine, may walk along the array without bound.
    pub(super) fn new(live: &LiveBoard, subject: &CaseInput) -> Self {
        match subject {
            CaseInput::Position { position, .. } => {
                let expected = ExpectedPosition::new(position, live.criteria());
                let (mover, moved) = expected.last_move;
                let is_combined = live.supports_combined_request();
                let first = if is_combined {
                    live.combined_request(expected.request)
                } else {
                    live.position_request(position)
                };
                let points = || live.points_request(position, mover, moved);
                let second = (!is_combined && live.has_capability(capability::POINTS)).then(points);
                let expected = live.uses_position_checks().then(|| Box::new(expected));
                Self { expected, first, second }
            }
            CaseInput::Array { piece, array, .. } => {
                let is_bounded =
                    live.behaviour() == Behaviour::Corrected && live.overrides.is_empty();
                let steps = || live.trace_request(*piece, piece.kind.value(), array);
                let second = (is_bounded && live.has_capability(capability::TRACE)).then(steps);
                Self { expected: None, first: live.exchange_request(*piece, array), second }
            }
        }
    }
}
