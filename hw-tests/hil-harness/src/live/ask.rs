//! Questions to a board, and their replies.

use std::fmt::Debug;
use std::time::Duration;

use firmware_wire::{
    CheckedPosition, ExhaustRequest, PointsReply, PositionEnd, Reply, Request, SquareRecord,
    StepRecord, further,
};
use rcflash_link::{LinkError, ReplyStatus, RequestSpec};

use super::LiveBoard;
use crate::answers::{BookedThere, CheckThere, Counted, FollowedExchange, Observation, Traced};
use board_simulator::CallRecord;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Colour, Piece, Position, Square};

/// T-states that the board may take for any position; 64 squares with every line full take half of
/// it.
const POSITION_BUDGET: u64 = 3_000_000;
/// T-states that it may take for one exchange.
const EXCHANGE_BUDGET: u64 = 20_000;
/// T-states that it may take for an array of EXHAUST, by three times what it takes on average.
const ARRAY_BUDGET: u64 = 5_000;
/// T-states that it may take to make the sections of a space.
const SECTIONS_BUDGET: u64 = 1_000_000;
/// Most frames of a reply to POSITION: 64 squares, 13 a frame, and the last.
const POSITION_FRAMES: usize = 6;
/// The work of a board that was asked for a position.
const EXAMINING: &str = "examining a position";
/// The work of a board that was asked for checks of positions.
const CHECKING: &str = "checking positions";
/// The work of a board that was asked for an exchange.
const PLAYING: &str = "playing out an exchange";
/// The work of a board that was asked for the steps of an exchange.
const TRACING: &str = "tracing an exchange";
/// The work of a board that was asked for the highest residues.
const GATHERING: &str = "gathering the highest residues";

impl LiveBoard {
    /// Has the board play out an exchange: residue and status.
    ///
    /// # Errors
    /// The link failed.
    pub fn exchange(
        &mut self,
        piece: Piece,
        array: &AttackersArray,
    ) -> Result<(u8, u8), LinkError> {
        match self.ask(&self.exchange_question(piece, array))? {
            Reply::Residue { residue, status } => Ok((residue, status)),
            other => Err(nonsense(PLAYING, &other)),
        }
    }

    pub(crate) fn exchange_question(&self, piece: Piece, array: &AttackersArray) -> RequestSpec {
        let request = Request::Exchange { piece: encode::piece(piece), array: array.to_bytes() };
        RequestSpec::new(PLAYING, request, self.work(EXCHANGE_BUDGET))
    }

    /// Has the board play out an exchange and watches it.
    ///
    /// # Errors
    /// The link failed.
    pub fn trace(&mut self, piece: Piece, array: &AttackersArray) -> Result<Traced, LinkError> {
        let passages = |live: &Self| live.board.instruments().map(|board| board.take_passages());
        let _ = passages(self);
        let (residue, status) = self.exchange(piece, array)?;
        let bookings = passages(self).map(|at| at.iter().map(BookedThere::at).collect());
        Ok(Traced { residue, status, bookings })
    }

    /// Has the board play out the exchanges of consecutive arrays.
    ///
    /// # Errors
    /// The link failed.
    pub fn exhaust(&mut self, request: ExhaustRequest) -> Result<Counted, LinkError> {
        let work = self.work(SECTIONS_BUDGET + u64::from(request.count) * ARRAY_BUDGET);
        let what = "counting through arrays";
        let tally = match self.link.request(what, &Request::Exhaust(request), work)? {
            Reply::Tally(tally) => tally,
            other => return Err(nonsense(what, &other)),
        };
        let records = self.board.instruments().map(|board| board.take_records());
        let t_states = records.map(|records| self.watch.exchanges(&records));
        // A program that was not built here may have XCHNG elsewhere.
        let t_states = t_states.filter(|times: &Vec<_>| times.len() == usize::from(tally.count));
        Ok(Counted { tally, t_states })
    }

    /// Has the board examine a position.
    ///
    /// # Errors
    /// The link failed.
    pub fn position(&mut self, position: &Position) -> Result<Observation, LinkError> {
        let replies = self.link.request_all(&self.position_question(position))?;
        self.observation(replies, self.link.seq())
    }

    /// Returns the answer in the replies to a position, with the measurements taken meanwhile.
    pub(super) fn observation(
        &mut self,
        replies: Vec<Reply>,
        seq: u8,
    ) -> Result<Observation, LinkError> {
        let t_states = self.claim_records(seq);
        let (squares, end) = assemble(replies).ok_or_else(|| LinkError::UnexpectedReply {
            operation: EXAMINING,
            cause: "parts of it are missing".to_owned(),
        })?;
        let t_states = t_states.map(|records| self.watch.per_square(&squares, &records));
        Ok(Observation { squares, end, t_states })
    }

    /// Takes what was measured while the board worked on a request.
    pub(super) fn claim_records(&mut self, seq: u8) -> Option<Vec<CallRecord>> {
        let records = self.board.instruments()?.take_records();
        self.watch.add(records);
        Some(self.watch.claim(seq))
    }

    pub(crate) fn position_question(&self, position: &Position) -> RequestSpec {
        RequestSpec {
            operation: EXAMINING,
            request: Request::Position { squares: encode::squares(position) },
            processing_time: self.work(POSITION_BUDGET),
            max_frames: POSITION_FRAMES,
            classify: progress,
        }
    }

    /// Both questions about a position at once.
    pub(crate) fn examination_question(&self, position: CheckedPosition) -> RequestSpec {
        RequestSpec {
            operation: EXAMINING,
            request: Request::Examine(position),
            processing_time: self.work(POSITION_BUDGET),
            max_frames: POSITION_FRAMES,
            classify: progress_with_points,
        }
    }

    pub(crate) fn checks_question(&self, positions: Vec<CheckedPosition>) -> RequestSpec {
        let work = self.work(positions.len() as u64 * POSITION_BUDGET);
        let request = Request::Checks { status: self.standard().status, positions };
        RequestSpec::new(CHECKING, request, work)
    }

    /// Returns the board's checks, with the measurements taken meanwhile.
    pub(super) fn checks(&mut self, checks: &[u32], seq: u8) -> Vec<CheckThere> {
        let records = self.claim_records(seq);
        let times = records.and_then(|records| self.watch.per_position(checks.len(), &records));
        let mut times = times.map(Vec::into_iter);
        let mut next = || times.as_mut().and_then(Iterator::next);
        checks.iter().map(|&check| CheckThere { check, t_states: next() }).collect()
    }

    /// Has the board play out an exchange step by step: XCHNG's residue, the status, and the steps.
    ///
    /// # Errors
    /// The link failed.
    pub fn steps(
        &mut self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> Result<(u8, u8, Vec<StepRecord>), LinkError> {
        match self.ask(&self.steps_question(piece, stake, array))? {
            Reply::Trace { residue, status, steps } => Ok((residue, status, steps)),
            other => Err(nonsense(TRACING, &other)),
        }
    }

    /// Takes what was seen of XCHNG in the last exchange; `None` if the board can't be looked into,
    /// or if XCHNG was not called.
    pub fn take_followed(&mut self) -> Option<FollowedExchange> {
        let passages = self.board.instruments()?.take_passages();
        self.watch.followed(&passages)
    }

    pub(crate) fn steps_question(
        &self,
        piece: Piece,
        stake: u8,
        array: &AttackersArray,
    ) -> RequestSpec {
        let piece = encode::piece(piece);
        let array = array.to_bytes();
        let request = Request::Trace { piece, stake, array };
        RequestSpec::new(TRACING, request, self.work(2 * EXCHANGE_BUDGET))
    }

    /// Has the board find what the side that has just moved stands to lose and to win.
    ///
    /// # Errors
    /// The link failed.
    pub fn points(
        &mut self,
        position: &Position,
        mover: Colour,
        moved: Option<Square>,
    ) -> Result<PointsReply, LinkError> {
        match self.ask(&self.points_question(position, mover, moved))? {
            Reply::Points(found) => Ok(found),
            other => Err(nonsense(GATHERING, &other)),
        }
    }

    pub(crate) fn points_question(
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
        RequestSpec::new(GATHERING, request, self.work(POSITION_BUDGET))
    }

    /// Notes how often the board has waited so far, if it can tell.
    pub fn note_waits(&mut self) {
        if self.application.further & further::IDLE == 0 {
            return;
        }
        // A line that fails here fails at the next case, too, where it is reported.
        let told = self.link.request(
            "asking how often the board has waited",
            &Request::Idle,
            Duration::ZERO,
        );
        self.waits = match told {
            Ok(Reply::Waited(times)) => Some(times),
            _ => None,
        };
    }

    /// Asks what has a single reply.
    fn ask(&mut self, question: &RequestSpec) -> Result<Reply, LinkError> {
        self.link.request(question.operation, &question.request, question.processing_time)
    }

    fn work(&self, t_states: u64) -> Duration {
        Duration::from_micros(t_states * 1_000_000 / self.clock_hz.max(1))
    }
}

/// Returns the answer in the replies to POSITION.
fn progress(replies: &[Reply]) -> ReplyStatus {
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

/// The same where the request named the last move: without POINTS's bytes the end is not whole.
fn progress_with_points(replies: &[Reply]) -> ReplyStatus {
    match replies.last() {
        Some(Reply::PositionEnd(end)) if end.points.is_none() => ReplyStatus::PartMissing,
        _ => progress(replies),
    }
}

/// The squares and the end of a complete answer.
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

fn nonsense(what: &'static str, reply: &impl Debug) -> LinkError {
    LinkError::UnexpectedReply { operation: what, cause: format!("{reply:?}") }
}
