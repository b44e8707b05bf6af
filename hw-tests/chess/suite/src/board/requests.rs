//! Requests to a board for positions and exchanges.

use std::fmt::Debug;

use firmware_wire::{
    BODY_OVERHEAD, ExhaustRequest, MAX_POSITIONS, POSITION_BYTES, PointsReply, PositionWithMove,
    Reply, Request, StepRecord, capability, extended_capability,
};
use rcflash_link::{LinkError, ReplyStatus, RequestSpec};
use sargon_corpus::{CaseInput, encode};
use sargon_reference::{AttackersArray, Behaviour, Colour, Piece, Position, Square};

use super::{Response, SargonBoard};
use crate::checks::ExpectedPosition;
use crate::responses::{ExhaustResponse, PositionResponse};

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
pub(super) const POSITION_OPERATION: &str = "examining a position";
const CHECKS_OPERATION: &str = "checking positions";
const EXCHANGE_OPERATION: &str = "playing out an exchange";
const EXHAUST_OPERATION: &str = "counting through arrays";
const TRACE_OPERATION: &str = "tracing an exchange";
const POINTS_OPERATION: &str = "gathering the highest residues";

/// A request that keeps the board busy for two seconds, independent of the line.
const CLOCK_TEST: ExhaustRequest =
    ExhaustRequest { space: 0, attackers: 20, defenders: 0, piece: 0x02, count: 4000, crc: 0 };

/// The requests for a case.
#[derive(Debug)]
pub(crate) struct CasePlan {
    /// The part of a request for several cases, if the case may share one.
    pub(crate) batch: Option<Box<ExpectedPosition>>,
    /// The request for the case by itself.
    pub(crate) first: RequestSpec,
    /// A second request, sent if the first one passes.
    pub(crate) second: Option<RequestSpec>,
}

/// Single requests, each of which returns the error of the link if there is no valid reply; and
/// those of cases.
#[allow(clippy::missing_errors_doc, reason = "above")]
impl SargonBoard {
    /// Requests an exchange; returns its residue and status.
    pub fn request_exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<(u8, u8), LinkError> {
        match self.request(&self.exchange_spec(piece, array))? {
            Reply::Residue { residue, status } => Ok((residue, status)),
            other => Err(unexpected_reply(EXCHANGE_OPERATION, &other)),
        }
    }

    /// Requests the exchanges of consecutive arrays.
    pub fn request_exhaust(
        &mut self,
        request: ExhaustRequest,
    ) -> Result<ExhaustResponse, LinkError> {
        let tally = match self.request(&self.exhaust_spec(request))? {
            Reply::Exhaust(tally) => tally,
            other => return Err(unexpected_reply(EXHAUST_OPERATION, &other)),
        };
        let records = self.live.instrumentation().map(|board| board.take_records());
        let t_states = records.map(|records| self.probe.exchanges(&records));
        // In a program that was not built here, XCHNG may have another address.
        let t_states = t_states.filter(|times: &Vec<_>| times.len() == usize::from(tally.count));
        Ok(ExhaustResponse { tally, t_states })
    }

    /// Requests the evaluation of a position.
    pub fn request_position(&mut self, position: &Position) -> Result<PositionResponse, LinkError> {
        match self.request_response(&self.position_spec(position_request(position)))? {
            Response::Position(response) => Ok(response),
            other => Err(unexpected_reply(POSITION_OPERATION, &other)),
        }
    }

    /// Requests an exchange with its steps; returns the residue of XCHNG, the status and the steps.
    pub fn request_trace(
        &mut self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> Result<(u8, u8, Vec<StepRecord>), LinkError> {
        match self.request(&self.trace_spec(piece, stake, array))? {
            Reply::Trace { residue, status, steps } => Ok((residue, status, steps)),
            other => Err(unexpected_reply(TRACE_OPERATION, &other)),
        }
    }

    /// Requests the highest losses and gains of the side that has just moved.
    pub fn request_points(
        &mut self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> Result<PointsReply, LinkError> {
        match self.request(&self.points_spec(position, mover, moved))? {
            Reply::Points(found) => Ok(found),
            other => Err(unexpected_reply(POINTS_OPERATION, &other)),
        }
    }

    /// Sends a request that has a single reply, and waits for it.
    fn request(&mut self, spec: &RequestSpec) -> Result<Reply, LinkError> {
        self.live.link.request(spec.operation, &spec.request, spec.processing_time)
    }

    /// Returns the requests of a case: for a position POSITION, with the points of its residues if
    /// that is supported, or else POINTS; for an array EXCHANGE and TRACE.
    ///
    /// A TRACE is requested only of the built-in corrected evaluator: the original, or a user's
    /// routine, may walk along the array without bound.
    pub(crate) fn plan(&self, subject: &CaseInput) -> CasePlan {
        match subject {
            CaseInput::Position { position, .. } => {
                let expected = ExpectedPosition::new(position, self.criteria);
                let (mover, moved) = expected.last_move;
                // POSITION accepts the last move then, which replaces a POINTS request.
                let is_combined = self.live.has_extended_capability(extended_capability::CHECKS);
                let first = match is_combined {
                    true => self.position_spec(Request::PositionWithMove(expected.request)),
                    false => self.position_spec(position_request(position)),
                };
                let points = || self.points_spec(position, mover, moved);
                let has_points = self.live.has_capability(capability::POINTS);
                let second = (!is_combined && has_points).then(points);
                let may_batch = is_combined && !self.live.config.full_responses;
                let batch = may_batch.then(|| Box::new(expected));
                CasePlan { batch, first, second }
            }
            CaseInput::Array { piece, array, .. } => {
                let is_bounded =
                    self.criteria.behaviour == Behaviour::Corrected && self.own.is_empty();
                let steps = || self.trace_spec(*piece, piece.kind.value(), array);
                let has_trace = self.live.has_capability(capability::TRACE);
                let second = (is_bounded && has_trace).then(steps);
                CasePlan { batch: None, first: self.exchange_spec(*piece, array), second }
            }
        }
    }

    /// Returns why the application can't run a case; `None` if it can.
    pub(crate) fn unsupported_reason(&self, subject: &CaseInput) -> Option<String> {
        let (bit, request) = match subject {
            CaseInput::Position { .. } => (capability::POSITION, "POSITION"),
            CaseInput::Array { .. } => (capability::EXCHANGE, "EXCHANGE"),
        };
        (!self.live.has_capability(bit))
            .then(|| format!("{} does not implement {request}", self.live.identity.name))
    }

    /// Returns how many positions fit in a CHECKS request of half the window, so that the board has
    /// the next request when it finishes one.
    pub(crate) fn positions_per_check(&self) -> usize {
        const FRAME: usize = BODY_OVERHEAD + 6; // its delimiters, COBS, and the byte of statuses
        let room = usize::from(self.live.identity.window) / 2;
        (room.saturating_sub(FRAME) / POSITION_BYTES).clamp(1, MAX_POSITIONS)
    }

    /// Returns a request that takes about two seconds of T-states that do not depend on the line,
    /// by which a board's clock is measured; `None` if the application has none.
    pub fn clock_test(&self) -> Option<RequestSpec> {
        let is_known = self.live.has_capability(capability::EXHAUST);
        is_known.then(|| self.exhaust_spec(CLOCK_TEST))
    }

    /// Returns a request for several positions.
    pub(crate) fn checks_spec(&self, positions: Vec<PositionWithMove>) -> RequestSpec {
        let t_states = positions.len() as u64 * POSITION_T_STATES;
        let request = Request::Checks { status: self.criteria.status_mask, positions };
        self.spec(CHECKS_OPERATION, request, t_states)
    }

    fn spec(&self, operation: &'static str, request: Request, t_states: u64) -> RequestSpec {
        RequestSpec::new(operation, request, self.live.time_of(t_states))
    }

    fn exchange_spec(&self, piece: Piece, array: &AttackersArray) -> RequestSpec {
        let request = Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() };
        self.spec(EXCHANGE_OPERATION, request, EXCHANGE_T_STATES)
    }

    fn exhaust_spec(&self, request: ExhaustRequest) -> RequestSpec {
        let t_states = SECTIONS_T_STATES + u64::from(request.count) * ARRAY_T_STATES;
        self.spec(EXHAUST_OPERATION, Request::Exhaust(request), t_states)
    }

    /// Returns POSITION, or a combined request.
    fn position_spec(&self, request: Request) -> RequestSpec {
        let classify = match request {
            Request::PositionWithMove(_) => classify_position_with_points,
            _ => classify_position,
        };
        let spec = self.spec(POSITION_OPERATION, request, POSITION_T_STATES);
        RequestSpec { max_frames: MAX_POSITION_FRAMES, classify, ..spec }
    }

    fn trace_spec(&self, piece: Piece, stake: u8, array: &AttackersArray) -> RequestSpec {
        let request =
            Request::Trace { piece: encode::piece(piece), stake, array: array.to_bytes() };
        self.spec(TRACE_OPERATION, request, 2 * EXCHANGE_T_STATES)
    }

    fn points_spec(
        &self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> RequestSpec {
        let request = Request::Points {
            squares: encode::squares(position),
            mover: encode::colour(mover),
            moved: moved.map_or(0, encode::square),
        };
        self.spec(POINTS_OPERATION, request, POSITION_T_STATES)
    }
}

fn position_request(position: &Position) -> Request {
    Request::Position { squares: encode::squares(position) }
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

fn unexpected_reply(operation: &'static str, reply: &impl Debug) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
