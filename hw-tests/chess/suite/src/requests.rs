//! Requests to a board for positions and exchanges.

use std::borrow::BorrowMut;
use std::fmt::Debug;

use firmware_wire::{
    ExhaustRequest, PointsReply, PositionEnd, PositionWithMove, Reply, Request, SquareRecord,
    StepRecord,
};
use rcflash_link::{LinkError, ReplyStatus, RequestSpec};

use crate::compare::Criteria;
use crate::responses::{
    CaseResponse, ExchangeResponse, ExhaustResponse, ObservedBooking, ObservedCheck,
    ObservedExchange, PositionResponse,
};
use crate::{LiveBoard, Response};
use board_simulator::CallRecord;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Behaviour, Colour, Piece, Position, Square};

/// Processing time of any position; 64 squares with every line full take half of it.
const POSITION_T_STATES: u64 = 3_000_000;
/// Processing time of one exchange.
const EXCHANGE_T_STATES: u64 = 20_000;
/// Processing time of an array of EXHAUST: three times the mean.
const ARRAY_T_STATES: u64 = 5_000;
/// Processing time of the sections of a space.
const SECTIONS_T_STATES: u64 = 1_000_000;
/// Frames of the longest reply to POSITION: 64 squares, 13 per frame, and the last frame.
const MAX_POSITION_FRAMES: usize = 6;
const POSITION_OPERATION: &str = "examining a position";
const CHECKS_OPERATION: &str = "checking positions";
const EXCHANGE_OPERATION: &str = "playing out an exchange";
const EXHAUST_OPERATION: &str = "counting through arrays";
const TRACE_OPERATION: &str = "tracing an exchange";
const POINTS_OPERATION: &str = "gathering the highest residues";

/// Single requests to a board on which an evaluator runs.
pub trait SargonBoard: BorrowMut<LiveBoard> {
    /// Returns the behaviour of the evaluator on the board.
    fn behaviour(&self) -> Behaviour {
        self.criteria().behaviour
    }

    /// Returns the criteria for its replies.
    fn criteria(&self) -> Criteria {
        self.borrow().state.criteria
    }

    /// Requests an exchange; returns residue and status.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn request_exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<(u8, u8), LinkError> {
        let live = self.borrow_mut();
        match live.request(&exchange_request(live, piece, array))? {
            Reply::Residue { residue, status } => Ok((residue, status)),
            other => Err(unexpected_reply(EXCHANGE_OPERATION, &other)),
        }
    }

    /// Requests an exchange and records the bookings of XCHNG, on a simulated board.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn observe_exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<ExchangeResponse, LinkError> {
        let _ = self.borrow_mut().take_hits();
        let (residue, status) = self.request_exchange(piece, array)?;
        let hits = self.borrow_mut().take_hits();
        let bookings = hits.map(|at| at.iter().map(ObservedBooking::from_registers).collect());
        Ok(ExchangeResponse { residue, status, bookings })
    }

    /// Requests the exchanges of consecutive arrays.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn request_exhaust(&mut self, request: ExhaustRequest) -> Result<ExhaustResponse, LinkError> {
        let live = self.borrow_mut();
        let tally = match live.request(&exhaust_request(live, request))? {
            Reply::Exhaust(tally) => tally,
            other => return Err(unexpected_reply(EXHAUST_OPERATION, &other)),
        };
        let records = live.take_records();
        let t_states = records.map(|records| live.state.probe.exchanges(&records));
        // In a program that was not built here, XCHNG may have another address.
        let t_states = t_states.filter(|times: &Vec<_>| times.len() == usize::from(tally.count));
        Ok(ExhaustResponse { tally, t_states })
    }

    /// Requests the evaluation of a position.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn request_position(&mut self, position: &Position) -> Result<PositionResponse, LinkError> {
        let live = self.borrow_mut();
        match live.request_response(&position_request(live, position))? {
            Response::Case(CaseResponse::Position(response)) => Ok(response),
            other => Err(unexpected_reply(POSITION_OPERATION, &other)),
        }
    }

    /// Requests an exchange with its steps; returns the residue of XCHNG, the status and the steps.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn request_trace(
        &mut self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> Result<(u8, u8, Vec<StepRecord>), LinkError> {
        let live = self.borrow_mut();
        match live.request(&trace_request(live, piece, stake, array))? {
            Reply::Trace { residue, status, steps } => Ok((residue, status, steps)),
            other => Err(unexpected_reply(TRACE_OPERATION, &other)),
        }
    }

    /// Takes the last exchange's recorded calls, if the board is simulated and called XCHNG.
    fn take_observed_exchange(&mut self) -> Option<ObservedExchange> {
        let live = self.borrow_mut();
        let hits = live.take_hits()?;
        live.state.probe.observed_exchange(&hits)
    }

    /// Requests the highest losses and gains of the side that has just moved.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    fn request_points(
        &mut self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> Result<PointsReply, LinkError> {
        let live = self.borrow_mut();
        match live.request(&points_request(live, position, mover, moved))? {
            Reply::Points(found) => Ok(found),
            other => Err(unexpected_reply(POINTS_OPERATION, &other)),
        }
    }
}

impl SargonBoard for LiveBoard {}

pub(crate) fn exchange_request(
    live: &LiveBoard,
    piece: Piece,
    array: &AttackersArray,
) -> RequestSpec {
    let request = Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() };
    RequestSpec::new(EXCHANGE_OPERATION, request, live.time_of(EXCHANGE_T_STATES))
}

pub(crate) fn exhaust_request(live: &LiveBoard, request: ExhaustRequest) -> RequestSpec {
    let work = live.time_of(SECTIONS_T_STATES + u64::from(request.count) * ARRAY_T_STATES);
    RequestSpec::new(EXHAUST_OPERATION, Request::Exhaust(request), work)
}

pub(crate) fn position_request(live: &LiveBoard, position: &Position) -> RequestSpec {
    RequestSpec {
        operation: POSITION_OPERATION,
        request: Request::Position { squares: encode::squares(position) },
        processing_time: live.time_of(POSITION_T_STATES),
        max_frames: MAX_POSITION_FRAMES,
        classify: classify_position,
    }
}

pub(crate) fn combined_request(live: &LiveBoard, position: PositionWithMove) -> RequestSpec {
    RequestSpec {
        operation: POSITION_OPERATION,
        request: Request::PositionWithMove(position),
        processing_time: live.time_of(POSITION_T_STATES),
        max_frames: MAX_POSITION_FRAMES,
        classify: classify_position_with_points,
    }
}

pub(crate) fn checks_request(live: &LiveBoard, positions: Vec<PositionWithMove>) -> RequestSpec {
    let work = live.time_of(positions.len() as u64 * POSITION_T_STATES);
    let request = Request::Checks { status: live.state.criteria.status_mask, positions };
    RequestSpec::new(CHECKS_OPERATION, request, work)
}

pub(crate) fn trace_request(
    live: &LiveBoard,
    piece: Piece,
    stake: u8,
    array: &AttackersArray,
) -> RequestSpec {
    let piece = encode::piece(piece);
    let array = array.to_bytes();
    let request = Request::Trace { piece, stake, array };
    RequestSpec::new(TRACE_OPERATION, request, live.time_of(2 * EXCHANGE_T_STATES))
}

pub(crate) fn points_request(
    live: &LiveBoard,
    position: &Position,
    mover: Colour,
    moved: Option<Square>,
) -> RequestSpec {
    let request = Request::Points {
        squares: encode::squares(position),
        mover: encode::colour(mover),
        moved: moved.map_or(0, encode::square),
    };
    RequestSpec::new(POINTS_OPERATION, request, live.time_of(POSITION_T_STATES))
}

/// Decodes the reply to a request of a case; a simulated board also has `records`.
pub(crate) fn decode(
    live: &LiveBoard,
    mut replies: Vec<Reply>,
    records: Option<Vec<CallRecord>>,
) -> Result<Response, LinkError> {
    let response = match &mut replies[..] {
        [Reply::Residue { residue, status }] => CaseResponse::Exchange(*residue, *status),
        [Reply::Points(found)] => CaseResponse::Points(*found),
        [Reply::Trace { residue, status, steps }] => {
            CaseResponse::Steps(*residue, *status, std::mem::take(steps))
        }
        [Reply::Checks(checks)] => {
            return Ok(Response::Batch(observed_checks(live, checks, records)));
        }
        _ => CaseResponse::Position(position_response(live, replies, records)?),
    };
    Ok(Response::Case(response))
}

/// Assembles the reply frames of a position, and adds the recorded T-states.
fn position_response(
    live: &LiveBoard,
    replies: Vec<Reply>,
    records: Option<Vec<CallRecord>>,
) -> Result<PositionResponse, LinkError> {
    let (squares, end) = assemble(replies).ok_or_else(|| LinkError::UnexpectedReply {
        operation: POSITION_OPERATION,
        cause: "part of the frames is missing".to_owned(),
    })?;
    let t_states = records.map(|records| live.state.probe.per_square(&squares, &records));
    Ok(PositionResponse { squares, end, t_states })
}

/// Adds the recorded T-states to the CRCs of a CHECKS reply.
fn observed_checks(
    live: &LiveBoard,
    checks: &[u32],
    records: Option<Vec<CallRecord>>,
) -> Vec<ObservedCheck> {
    let times = records.and_then(|records| live.state.probe.per_position(checks.len(), &records));
    let mut times = times.map(Vec::into_iter);
    let mut next = || times.as_mut().and_then(Iterator::next);
    checks.iter().map(|&crc| ObservedCheck { crc, t_states: next() }).collect()
}

/// Classifies the frames received so far of a reply to POSITION.
fn classify_position(replies: &[Reply]) -> ReplyStatus {
    let Some(Reply::PositionEnd(end)) = replies.last() else { return ReplyStatus::Incomplete };
    let mut squares = 0;
    for (index, reply) in replies[..replies.len() - 1].iter().enumerate() {
        match reply {
            Reply::Squares { part, records } if usize::from(*part) == index => {
                squares += records.len();
            }
            _ => return ReplyStatus::PartMissing,
        }
    }
    let is_complete =
        usize::from(end.parts) + 1 == replies.len() && usize::from(end.squares) == squares;
    if is_complete { ReplyStatus::Complete } else { ReplyStatus::PartMissing }
}

/// Like [`classify_position`] for a combined request, whose last frame has the bytes of POINTS.
fn classify_position_with_points(replies: &[Reply]) -> ReplyStatus {
    match replies.last() {
        Some(Reply::PositionEnd(end)) if end.points.is_none() => ReplyStatus::PartMissing,
        _ => classify_position(replies),
    }
}

/// Returns the squares and the last frame of a complete reply.
fn assemble(replies: Vec<Reply>) -> Option<(Vec<SquareRecord>, PositionEnd)> {
    let mut squares = Vec::new();
    for reply in replies {
        match reply {
            Reply::Squares { records, .. } => squares.extend(records),
            Reply::PositionEnd(end) => return Some((squares, end)),
            _ => return None,
        }
    }
    None
}

fn unexpected_reply(operation: &'static str, reply: &impl Debug) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
