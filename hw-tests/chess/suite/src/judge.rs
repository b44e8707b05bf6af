//! Judges replies of a board by the reference.

use firmware_wire::Reply;
use hil_harness::runner::Verdict;
use hil_harness::verdict_table::merge_requests;

use crate::CaseResult;
use crate::board::Response;
use crate::checks::{ExpectedPosition, last_move};
use crate::compare::{
    Criteria, compare_exchange, compare_points_reply, compare_position, compare_steps,
};
use crate::residues::{exchange_entry, square_entries};
use crate::responses::{ObservedCheck, PositionResponse};
use sargon_corpus::{Case, CaseInput};
use sargon_reference::{Behaviour, evaluate_as, exchange_as};

/// Judges a response to one request of a case, or the combined response for a position.
pub(crate) fn judge_case(case: &Case, criteria: Criteria, response: &Response) -> CaseResult {
    let first = judge_response(case, criteria, response);
    let Response::Position(seen) = response else { return first };
    match seen.end.points {
        Some(points) if first.verdict == Verdict::Pass => {
            let points = Response::Other(Reply::Points(points));
            merge_requests(first, judge_response(case, criteria, &points))
        }
        _ => first,
    }
}

fn judge_response(case: &Case, criteria: Criteria, response: &Response) -> CaseResult {
    let is_corrected = criteria.behaviour == Behaviour::Corrected;
    let mut result = CaseResult::new(case, Verdict::Pass);
    match (&case.subject, response) {
        (CaseInput::Position { position, expected, original, .. }, Response::Position(seen)) => {
            let documented = if is_corrected { expected } else { original };
            result.differences = compare_position(position, criteria, documented, seen);
            result.details.squares =
                square_entries(&evaluate_as(position, criteria.behaviour).squares, seen);
        }
        (CaseInput::Position { position, .. }, Response::Other(Reply::Points(seen))) => {
            let verdicts = evaluate_as(position, criteria.behaviour).squares;
            let (mover, moved) = last_move(position, &verdicts);
            result.differences = compare_points_reply(&verdicts, criteria, mover, moved, seen);
        }
        (
            CaseInput::Array { piece, array, expected, original },
            &Response::Other(Reply::Residue { residue, status }),
        ) => {
            let documented = if is_corrected { Some(*expected) } else { *original };
            let seen = (residue, status);
            result.differences = compare_exchange(*piece, array, criteria, documented, seen);
            let outcome = exchange_as(*piece, array, criteria.behaviour);
            result.details.squares.push(exchange_entry(*piece, array, outcome.residue, seen));
        }
        (
            CaseInput::Array { piece, array, .. },
            Response::Other(Reply::Trace { residue, status, steps }),
        ) => {
            let outcome = (*residue, *status);
            result.differences = compare_steps(*piece, array, criteria, outcome, steps);
        }
        _ => {
            let why = "the reply belongs to another request";
            return CaseResult::with_reason(case, Verdict::Error, why);
        }
    }
    if !result.differences.is_empty() {
        result.verdict = Verdict::Fail;
    }
    result
}

/// Judges a position whose CRC matches: the expected replies stand in for those of the board, so
/// that they are compared with the documented residues, too.
pub(crate) fn judge_by_crc(
    case: &Case,
    criteria: Criteria,
    expected: &ExpectedPosition,
    seen: &ObservedCheck,
) -> CaseResult {
    let t_states = seen.t_states.as_ref().map(|calls| {
        let of = |square: u8| calls.iter().filter(|call| call.0 == square).map(|call| call.1).sum();
        expected.response.squares.iter().map(|record| of(record.square)).collect()
    });
    let observation = PositionResponse { t_states, ..expected.response.clone() };
    judge_case(case, criteria, &Response::Position(observation))
}
