//! The requests that a case needs: one if they can be combined, else up to two.

use firmware_wire::{
    BODY_OVERHEAD, MAX_POSITIONS, POSITION_BYTES, capability, extended_capability,
};

use crate::checks::ExpectedPosition;
use crate::requests::{
    combined_request, exchange_request, points_request, position_request, trace_request,
};
use crate::{CasePlan, LiveBoard};
use sargon_corpus::CaseInput;
use sargon_reference::Behaviour;

/// Returns the requests of a case: for a position POSITION, with the points of its residues if that
/// is supported, or else POINTS; for an array EXCHANGE and TRACE.
///
/// A TRACE is requested only of the built-in corrected evaluator: the original, or a user's
/// routine, may walk along the array without bound.
pub(crate) fn plan(live: &LiveBoard, subject: &CaseInput) -> CasePlan {
    match subject {
        CaseInput::Position { position, .. } => {
            let expected = ExpectedPosition::new(position, live.state.criteria);
            let (mover, moved) = expected.last_move;
            let is_combined = supports_combined_request(live);
            let first = if is_combined {
                combined_request(live, expected.request)
            } else {
                position_request(live, position)
            };
            let points = || points_request(live, position, mover, moved);
            let second = (!is_combined && live.has_capability(capability::POINTS)).then(points);
            let batch = (is_combined && live.may_batch()).then(|| Box::new(expected));
            CasePlan { batch, first, second }
        }
        CaseInput::Array { piece, array, .. } => {
            let state = &live.state;
            let is_bounded =
                state.criteria.behaviour == Behaviour::Corrected && state.own.is_empty();
            let steps = || trace_request(live, *piece, piece.kind.value(), array);
            let second = (is_bounded && live.has_capability(capability::TRACE)).then(steps);
            CasePlan { batch: None, first: exchange_request(live, *piece, array), second }
        }
    }
}

/// Returns why the application can't run a case; `None` if it can.
pub(crate) fn unsupported_reason(live: &LiveBoard, subject: &CaseInput) -> Option<String> {
    let (bit, request) = match subject {
        CaseInput::Position { .. } => (capability::POSITION, "POSITION"),
        CaseInput::Array { .. } => (capability::EXCHANGE, "EXCHANGE"),
    };
    (!live.has_capability(bit))
        .then(|| format!("{} does not implement {request}", live.application.name))
}

/// Returns `true` if POSITION accepts the last move, which replaces a POINTS request.
fn supports_combined_request(live: &LiveBoard) -> bool {
    live.application.extended_capabilities & extended_capability::CHECKS != 0
}

/// Returns how many positions fit in a CHECKS request of half the window, so that the board has the
/// next request when it finishes one.
pub(crate) fn positions_per_check(live: &LiveBoard) -> usize {
    const FRAME: usize = BODY_OVERHEAD + 6; // its delimiters, COBS, and the byte of statuses
    let room = usize::from(live.application.window) / 2;
    (room.saturating_sub(FRAME) / POSITION_BYTES).clamp(1, MAX_POSITIONS)
}
