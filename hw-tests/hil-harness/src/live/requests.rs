//! Builds requests to a board, and sends single ones.

use std::fmt::Debug;
use std::time::Duration;

use firmware_wire::{
    ExhaustRequest, PointsReply, PositionEnd, PositionWithMove, Reply, Request, SquareRecord,
    StepRecord, extended_capability,
};
use rcflash_link::{LinkError, ReplyStatus, RequestSpec};

use super::LiveBoard;
use crate::responses::{
    ExchangeResponse, ExhaustResponse, ObservedBooking, ObservedCheck, ObservedExchange,
    PositionResponse,
};
use board_simulator::CallRecord;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Colour, Piece, Position, Square};

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
const TRACE_OPERATION: &str = "tracing an exchange";
const POINTS_OPERATION: &str = "gathering the highest residues";

impl LiveBoard {
    /// Requests an exchange; returns residue and status.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<(u8, u8), LinkError> {
        match self.request_single(&self.exchange_request(piece, array))? {
            Reply::Residue { residue, status } => Ok((residue, status)),
            other => Err(unexpected_reply(EXCHANGE_OPERATION, &other)),
        }
    }

    pub(crate) fn exchange_request(&self, piece: Piece, array: &AttackersArray) -> RequestSpec {
        let request = Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() };
        RequestSpec::new(EXCHANGE_OPERATION, request, self.time_of(EXCHANGE_T_STATES))
    }

    /// Requests an exchange and records the bookings of XCHNG, on a simulated board.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn observe_exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<ExchangeResponse, LinkError> {
        let hits = |live: &Self| live.board.instrumentation().map(|board| board.take_hits());
        let _ = hits(self);
        let (residue, status) = self.request_exchange(piece, array)?;
        let bookings =
            hits(self).map(|at| at.iter().map(ObservedBooking::from_registers).collect());
        Ok(ExchangeResponse { residue, status, bookings })
    }

    /// Requests the exchanges of consecutive arrays.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_exhaust(
        &mut self,
        request: ExhaustRequest,
    ) -> Result<ExhaustResponse, LinkError> {
        let work = self.time_of(SECTIONS_T_STATES + u64::from(request.count) * ARRAY_T_STATES);
        let operation = "counting through arrays";
        let tally = match self.link.request(operation, &Request::Exhaust(request), work)? {
            Reply::Exhaust(tally) => tally,
            other => return Err(unexpected_reply(operation, &other)),
        };
        let records = self.board.instrumentation().map(|board| board.take_records());
        let t_states = records.map(|records| self.probe.exchanges(&records));
        // In a program that was not built here, XCHNG may have another address.
        let t_states = t_states.filter(|times: &Vec<_>| times.len() == usize::from(tally.count));
        Ok(ExhaustResponse { tally, t_states })
    }

    /// Requests the evaluation of a position.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_position(&mut self, position: &Position) -> Result<PositionResponse, LinkError> {
        let replies = self.link.request_all(&self.position_request(position))?;
        self.position_response(replies, self.link.seq())
    }

    /// Assembles the reply frames of a position, and adds the T-states recorded for the request.
    pub(super) fn position_response(
        &mut self,
        replies: Vec<Reply>,
        seq: u8,
    ) -> Result<PositionResponse, LinkError> {
        let t_states = self.claim_records(seq);
        let (squares, end) = assemble(replies).ok_or_else(|| LinkError::UnexpectedReply {
            operation: POSITION_OPERATION,
            cause: "part of the frames is missing".to_owned(),
        })?;
        let t_states = t_states.map(|records| self.probe.per_square(&squares, &records));
        Ok(PositionResponse { squares, end, t_states })
    }

    /// Takes the calls recorded while the board worked on a request.
    pub(super) fn claim_records(&mut self, seq: u8) -> Option<Vec<CallRecord>> {
        let records = self.board.instrumentation()?.take_records();
        self.probe.add(records);
        Some(self.probe.claim(seq))
    }

    pub(crate) fn position_request(&self, position: &Position) -> RequestSpec {
        RequestSpec {
            operation: POSITION_OPERATION,
            request: Request::Position { squares: encode::squares(position) },
            processing_time: self.time_of(POSITION_T_STATES),
            max_frames: MAX_POSITION_FRAMES,
            classify: classify_position,
        }
    }

    /// POSITION and POINTS in one request.
    pub(crate) fn combined_request(&self, position: PositionWithMove) -> RequestSpec {
        RequestSpec {
            operation: POSITION_OPERATION,
            request: Request::PositionWithMove(position),
            processing_time: self.time_of(POSITION_T_STATES),
            max_frames: MAX_POSITION_FRAMES,
            classify: classify_position_with_points,
        }
    }

    pub(crate) fn checks_request(&self, positions: Vec<PositionWithMove>) -> RequestSpec {
        let work = self.time_of(positions.len() as u64 * POSITION_T_STATES);
        let request = Request::Checks { status: self.criteria().status_mask, positions };
        RequestSpec::new(CHECKS_OPERATION, request, work)
    }

    /// Adds the T-states recorded for a CHECKS request to its CRCs.
    pub(super) fn observed_checks(&mut self, checks: &[u32], seq: u8) -> Vec<ObservedCheck> {
        let records = self.claim_records(seq);
        let times = records.and_then(|records| self.probe.per_position(checks.len(), &records));
        let mut times = times.map(Vec::into_iter);
        let mut next = || times.as_mut().and_then(Iterator::next);
        checks.iter().map(|&crc| ObservedCheck { crc, t_states: next() }).collect()
    }

    /// Requests an exchange with its steps; returns the residue of XCHNG, the status and the steps.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_trace(
        &mut self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> Result<(u8, u8, Vec<StepRecord>), LinkError> {
        match self.request_single(&self.trace_request(piece, stake, array))? {
            Reply::Trace { residue, status, steps } => Ok((residue, status, steps)),
            other => Err(unexpected_reply(TRACE_OPERATION, &other)),
        }
    }

    /// Takes the recorded calls of the last exchange. Returns `None` if the board is not simulated
    /// here or XCHNG was not called.
    pub fn take_observed_exchange(&mut self) -> Option<ObservedExchange> {
        let hits = self.board.instrumentation()?.take_hits();
        self.probe.observed_exchange(&hits)
    }

    pub(crate) fn trace_request(
        &self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> RequestSpec {
        let piece = encode::piece(piece);
        let array = array.to_bytes();
        let request = Request::Trace { piece, stake, array };
        RequestSpec::new(TRACE_OPERATION, request, self.time_of(2 * EXCHANGE_T_STATES))
    }

    /// Requests the highest losses and gains of the side that has just moved.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_points(
        &mut self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> Result<PointsReply, LinkError> {
        match self.request_single(&self.points_request(position, mover, moved))? {
            Reply::Points(found) => Ok(found),
            other => Err(unexpected_reply(POINTS_OPERATION, &other)),
        }
    }

    pub(crate) fn points_request(
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
        RequestSpec::new(POINTS_OPERATION, request, self.time_of(POSITION_T_STATES))
    }

    /// Reads the board's count of waits, if the application has one.
    pub fn record_waits(&mut self) {
        if self.application.extended_capabilities & extended_capability::IDLE == 0 {
            return;
        }
        // A line that fails here fails at the next case, too, where that is reported.
        let reply = self.link.request("reading the count of waits", &Request::Idle, Duration::ZERO);
        self.waits = match reply {
            Ok(Reply::IdleCount(times)) => Some(times),
            _ => None,
        };
    }

    /// Sends a request that has a single reply.
    fn request_single(&mut self, request: &RequestSpec) -> Result<Reply, LinkError> {
        self.link.request(request.operation, &request.request, request.processing_time)
    }

    pub(super) fn time_of(&self, t_states: u64) -> Duration {
        Duration::from_micros(t_states * 1_000_000 / self.clock_hz.max(1))
    }
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
