//! The queue of requests in flight: matches replies to requests and decides which to retry.
//!
//! The board replies in order, so a reply also means that every request sent before it was lost.

use std::collections::VecDeque;

use firmware_wire::{
    ERROR_REPLY, ErrorCode, Frame, PayloadTooLong, REPLY_BIT, Reply, Request, kind,
};
use rcflash_transport::time::{Duration, Instant};

use crate::error::LinkError;
use crate::stats::{RetryCause, RetryCounts};

/// How often a request is sent that is not replied to.
const MAX_TIMEOUTS: u32 = 3;

/// The state of the replies to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// More replies are expected.
    Incomplete,
    /// All replies have arrived.
    Complete,
    /// The last reply has arrived, but earlier ones are missing.
    PartMissing,
}

/// Returns whether the replies received so far complete a request.
pub type ReplyClassifier = fn(&[Reply]) -> ReplyStatus;

/// A request, and the limits of its reply.
#[derive(Debug, Clone)]
pub struct RequestSpec {
    /// Names the operation in errors, as in "no reply while uploading".
    pub operation: &'static str,
    /// The request.
    pub request: Request,
    /// The time that the board may take in addition to the time on the line.
    pub processing_time: Duration,
    /// The maximum number of frames in the reply.
    pub max_frames: usize,
    /// Decides when the reply is complete.
    pub classify: ReplyClassifier,
    /// How many timeouts end the request; it is sent again after each one before.
    pub max_timeouts: u32,
}

impl RequestSpec {
    /// Creates a request that has a single reply.
    pub fn new(operation: &'static str, request: Request, processing_time: Duration) -> Self {
        Self {
            operation,
            request,
            processing_time,
            max_frames: 1,
            classify: |_| ReplyStatus::Complete,
            max_timeouts: MAX_TIMEOUTS,
        }
    }
}

/// Identifies a request of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub(super) u64);

/// A completed request: its replies, or the error that ended it.
#[derive(Debug)]
pub struct Completion {
    /// The id that [`crate::Link::submit`] returned.
    pub id: RequestId,
    /// The replies, or the error.
    pub replies: Result<Vec<Reply>, LinkError>,
    /// Its sequence number.
    pub seq: u8,
    /// The number of retries, by cause.
    pub retries: RetryCounts,
    /// From its first transmission, or the end of the request before it if that was later, to its
    /// end, by the transport's clock. The times of all requests add up to that with one in flight.
    pub share: Duration,
}

pub(super) struct PendingRequest {
    pub(super) id: RequestId,
    pub(super) operation: &'static str,
    pub(super) seq: u8,
    kind: u8,
    pub(super) line: Vec<u8>,
    /// The timeout of its reply if no other request is in flight.
    pub(super) timeout: Duration,
    max_frames: usize,
    classify: ReplyClassifier,
    replies: Vec<Reply>,
    pub(super) timeouts: u32,
    pub(super) max_timeouts: u32,
    pub(super) retries: RetryCounts,
    pub(super) first_sent: Instant,
}

impl PendingRequest {
    pub(super) fn new(
        id: RequestId,
        seq: u8,
        spec: &RequestSpec,
        timeout: Duration,
        now: Instant,
    ) -> Result<Self, PayloadTooLong> {
        let kind = spec.request.kind();
        let line = spec.request.frame(seq)?.encode();
        Ok(Self {
            id,
            operation: spec.operation,
            seq,
            kind,
            line,
            timeout,
            max_frames: spec.max_frames,
            classify: spec.classify,
            replies: Vec::new(),
            timeouts: 0,
            max_timeouts: spec.max_timeouts,
            retries: RetryCounts::default(),
            first_sent: now,
        })
    }

    /// Returns `true` if a frame of this type can be a reply to this request.
    fn accepts_reply(&self, answer: u8) -> bool {
        let is_end = self.kind == kind::POSITION && answer == kind::POSITION_END + REPLY_BIT;
        answer == self.kind + REPLY_BIT || answer == ERROR_REPLY || is_end
    }
}

/// A transmission of a request; a retry is another one.
struct Transmission {
    seq: u8,
    bytes: usize,
    timeout: Duration,
}

/// What the link must do after a frame or a timeout.
pub(super) enum QueueAction {
    /// Send the request with this sequence number again.
    Retry(u8, RetryCause),
    /// Report the end of a request.
    Complete(Box<PendingRequest>, Result<Vec<Reply>, LinkError>),
    /// Count a frame that matches no request.
    Unmatched,
}

pub(super) struct RequestQueue {
    pending: VecDeque<PendingRequest>,
    /// The transmissions that the board has not replied to, as far as is known.
    transmissions: VecDeque<Transmission>,
    /// When the board last replied, or when the first request was sent to an idle board.
    last_progress: Instant,
}

impl RequestQueue {
    pub(super) fn new(now: Instant) -> Self {
        Self { pending: VecDeque::new(), transmissions: VecDeque::new(), last_progress: now }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns the number of bytes in flight.
    pub(super) fn bytes(&self) -> usize {
        self.transmissions.iter().map(|sent| sent.bytes).sum()
    }

    pub(super) fn add(&mut self, pending: PendingRequest) {
        self.pending.push_back(pending);
    }

    /// Returns the sequence number after `last` that no request in flight has; `None` if there is
    /// none left. 0 is the board's, for frames that it can't match to a request.
    pub(super) fn next_seq(&self, last: u8) -> Option<u8> {
        let is_used = |seq: u8| {
            self.pending.iter().any(|pending| pending.seq == seq)
                || self.transmissions.iter().any(|sent| sent.seq == seq)
        };
        let following = (1..=u8::MAX).map(|step| last.wrapping_add(step));
        // After `last` comes its successor; the number `last` itself is the last resort.
        following.chain([last]).find(|seq| *seq != 0 && !is_used(*seq))
    }

    pub(super) fn find(&mut self, seq: u8) -> Option<&mut PendingRequest> {
        self.pending.iter_mut().find(|pending| pending.seq == seq)
    }

    pub(super) fn take(&mut self, seq: u8) -> Option<PendingRequest> {
        let index = self.pending.iter().position(|pending| pending.seq == seq)?;
        self.pending.remove(index)
    }

    pub(super) fn operation(&self) -> &'static str {
        self.pending.front().map_or("listening", |pending| pending.operation)
    }

    pub(super) fn transmitted(&mut self, seq: u8, now: Instant) {
        if self.transmissions.is_empty() {
            self.last_progress = now;
        }
        if let Some(pending) = self.find(seq) {
            pending.replies.clear();
            let bytes = pending.line.len();
            let timeout = pending.timeout;
            self.transmissions.push_back(Transmission { seq, bytes, timeout });
        }
    }

    /// Returns the deadline of the next reply: the time of the oldest pending request and of all
    /// transmissions before it, plus the line time of all bytes in flight, computed by `line`.
    pub(super) fn deadline(&self, line: impl Fn(usize) -> Duration) -> Instant {
        let mut timeout = line(self.bytes());
        for sent in &self.transmissions {
            timeout += sent.timeout;
            if self.pending.iter().any(|pending| pending.seq == sent.seq) {
                break;
            }
        }
        self.last_progress + timeout
    }

    pub(super) fn on_frame(&mut self, frame: &Frame, now: Instant) -> Vec<QueueAction> {
        if let Some(cause) = damage(frame) {
            self.last_progress = now;
            return self.retry_front(cause).into_iter().collect();
        }
        let mut actions = Vec::new();
        if let Some(index) = self.transmissions.iter().position(|sent| sent.seq == frame.seq) {
            self.last_progress = now;
            // Replies arrive in the order of the requests. So every earlier transmission, or its
            // reply, was lost, and waiting for its deadline would only cost time.
            for _ in 0..index {
                actions.extend(self.retry_front(RetryCause::Missing));
            }
        }
        actions.extend(self.add_reply(frame));
        actions
    }

    /// Handles a missed deadline: all are retried; the caller ends the oldest at its last one.
    pub(super) fn on_timeout(&mut self) -> Vec<QueueAction> {
        // The board replies in order, so only the first pending request can have timed out.
        // Cancelled requests ahead of it count towards the deadline only.
        let first = self
            .transmissions
            .iter()
            .find_map(|sent| self.pending.iter().position(|pending| pending.seq == sent.seq));
        // After a timeout the board's state is unknown, so the queue is treated as empty. A late
        // reply may then match a retried request. That is harmless: both carry the same sequence
        // number, and the second reply is unmatched.
        self.transmissions.clear();
        let mut actions = Vec::new();
        // Only this one: counting a timeout for each would fail a whole window after three
        // timeouts that one request has caused.
        if let Some(pending) = self.pending.get_mut(first.unwrap_or(0)) {
            pending.timeouts += 1;
        }
        let retry = |pending: &PendingRequest| QueueAction::Retry(pending.seq, RetryCause::Timeout);
        actions.extend(self.pending.iter().map(retry));
        actions
    }

    /// Adds a reply to its request; returns the action unless more replies are expected.
    fn add_reply(&mut self, frame: &Frame) -> Option<QueueAction> {
        let is_ours = |pending: &PendingRequest| pending.accepts_reply(frame.kind);
        let Some(pending) = self.find(frame.seq).filter(|pending| is_ours(pending)) else {
            return Some(QueueAction::Unmatched);
        };
        let operation = pending.operation;
        match Reply::parse(frame.kind, &frame.payload) {
            Ok(Reply::Error(error)) => {
                self.finish(frame.seq, Err(LinkError::Refused { operation, error }))
            }
            Err(error) => self.finish(frame.seq, Err(LinkError::InvalidReply { operation, error })),
            Ok(reply) => {
                pending.replies.push(reply);
                match (pending.classify)(&pending.replies) {
                    ReplyStatus::Incomplete if pending.replies.len() < pending.max_frames => None,
                    ReplyStatus::Complete => {
                        let replies = std::mem::take(&mut pending.replies);
                        self.finish(frame.seq, Ok(replies))
                    }
                    // A frame of several is missing. The board stores none of them, so the request
                    // is retried; `transmitted` then drops the replies that did arrive.
                    _ => self.retry_front(RetryCause::Missing),
                }
            }
        }
    }

    fn finish(&mut self, seq: u8, replies: Result<Vec<Reply>, LinkError>) -> Option<QueueAction> {
        if self.transmissions.front().is_some_and(|sent| sent.seq == seq) {
            self.transmissions.pop_front();
        }
        Some(QueueAction::Complete(Box::new(self.take(seq)?), replies))
    }

    /// Removes the oldest transmission, whose reply can't arrive any more, and retries its request.
    fn retry_front(&mut self, cause: RetryCause) -> Option<QueueAction> {
        let seq = self.transmissions.pop_front()?.seq;
        let is_repeated = self.transmissions.iter().any(|sent| sent.seq == seq);
        let waits = self.find(seq).is_some();
        (waits && !is_repeated).then_some(QueueAction::Retry(seq, cause))
    }
}

/// Returns the cause if the frame reports that a request arrived corrupted.
fn damage(frame: &Frame) -> Option<RetryCause> {
    match Reply::parse(frame.kind, &frame.payload) {
        Ok(Reply::Error(error)) if error.code == ErrorCode::CorruptedFrame => {
            Some(RetryCause::CorruptedAtBoard)
        }
        Ok(Reply::Error(error)) if error.code == ErrorCode::Overrun => Some(RetryCause::Overrun),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that every request here may take.
    const TIME: Duration = Duration::from_millis(10);

    /// A flight of requests, sent in this order; their sequence numbers count from 1.
    fn queue(requests: &[Request], max_frames: usize, classify: ReplyClassifier) -> RequestQueue {
        let now = Instant::now();
        let mut queue = RequestQueue::new(now);
        for (seq, request) in (1..=u8::MAX).zip(requests) {
            let spec = RequestSpec {
                max_frames,
                classify,
                ..RequestSpec::new("asking", request.clone(), TIME)
            };
            let pending = PendingRequest::new(RequestId(seq.into()), seq, &spec, TIME, now);
            queue.add(pending.expect("it fits a frame"));
            queue.transmitted(seq, now);
        }
        queue
    }

    fn identify(count: usize) -> RequestQueue {
        queue(&vec![Request::Identify; count], 1, |_| ReplyStatus::Complete)
    }

    fn on_frame_names(
        queue: &mut RequestQueue,
        seq: u8,
        kind: u8,
        payload: &[u8],
    ) -> Vec<&'static str> {
        let frame = Frame::new(seq, kind, payload.to_vec()).expect("it fits");
        action_names(queue.on_frame(&frame, Instant::now()))
    }

    /// Names of the actions.
    fn action_names(actions: Vec<QueueAction>) -> Vec<&'static str> {
        let word = |outcome| match outcome {
            QueueAction::Retry(_, RetryCause::Timeout) => "silence",
            QueueAction::Retry(_, RetryCause::CorruptedAtBoard) => "damaged",
            QueueAction::Retry(_, RetryCause::Overrun) => "overrun",
            QueueAction::Retry(_, RetryCause::Missing) => "missing",
            QueueAction::Complete(_, Ok(_)) => "finished",
            QueueAction::Complete(_, Err(_)) => "failed",
            QueueAction::Unmatched => "stray",
        };
        actions.into_iter().map(word).collect()
    }

    fn damaged(code: ErrorCode) -> [u8; 4] {
        [code.code(), 0, 0, 0]
    }

    const SQUARES: u8 = kind::POSITION + REPLY_BIT;
    const END: u8 = kind::POSITION_END + REPLY_BIT;
    const CRC: u8 = kind::CRC + REPLY_BIT;
    /// A frame of one square.
    const SQUARE: [u8; 20] = [0, 1, 21, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    fn position(max_frames: usize, classify: ReplyClassifier) -> RequestQueue {
        queue(&[Request::Position { squares: [0; 32] }], max_frames, classify)
    }

    #[test]
    fn only_a_position_is_ended_by_the_end_of_a_position() {
        let end = [0; 8];
        let mut asked = position(6, |_| ReplyStatus::Complete);
        assert_eq!(on_frame_names(&mut asked, 1, END, &end), ["finished"]);
        assert_eq!(on_frame_names(&mut identify(1), 1, END, &end), ["stray"]);
        let mut asked = position(6, |_| ReplyStatus::Complete);
        assert_eq!(on_frame_names(&mut asked, 1, CRC, &[0, 0]), ["stray"]);
    }

    #[test]
    fn an_answer_of_more_frames_than_it_may_have_is_asked_for_again() {
        let mut asked = position(3, |_| ReplyStatus::Incomplete);
        for _ in 0..2 {
            assert!(on_frame_names(&mut asked, 1, SQUARES, &SQUARE).is_empty());
        }
        assert_eq!(on_frame_names(&mut asked, 1, SQUARES, &SQUARE), ["missing"]);
    }

    #[test]
    fn an_answer_with_parts_missing_is_asked_for_again() {
        let mut asked = position(6, |_| ReplyStatus::PartMissing);
        assert_eq!(on_frame_names(&mut asked, 1, SQUARES, &SQUARE), ["missing"]);
    }

    #[test]
    fn frames_from_before_a_request_was_sent_again_do_not_count() {
        let classify: ReplyClassifier = |replies| match replies.len() {
            0..3 => ReplyStatus::Incomplete,
            3 => ReplyStatus::Complete,
            _ => ReplyStatus::PartMissing,
        };
        let mut asked = position(6, classify);
        assert!(on_frame_names(&mut asked, 1, SQUARES, &SQUARE).is_empty());
        assert_eq!(action_names(asked.on_timeout()), ["silence"]);
        asked.transmitted(1, Instant::now());
        for _ in 0..2 {
            assert!(on_frame_names(&mut asked, 1, SQUARES, &SQUARE).is_empty());
        }
        assert_eq!(on_frame_names(&mut asked, 1, END, &[0; 8]), ["finished"]);
    }

    #[test]
    fn damage_is_told_by_its_cause() {
        let causes = [(ErrorCode::CorruptedFrame, "damaged"), (ErrorCode::Overrun, "overrun")];
        for (code, cause) in causes {
            assert_eq!(on_frame_names(&mut identify(2), 0, ERROR_REPLY, &damaged(code)), [cause]);
        }
        assert_eq!(
            on_frame_names(&mut identify(2), 1, ERROR_REPLY, &damaged(ErrorCode::UnknownType)),
            ["failed"]
        );
    }

    #[test]
    fn what_is_under_way_again_is_not_repeated_once_more() {
        let mut asked = identify(2);
        asked.transmitted(1, Instant::now());
        // The first transmission is lost, its retry in flight.
        assert!(
            on_frame_names(&mut asked, 0, ERROR_REPLY, &damaged(ErrorCode::CorruptedFrame))
                .is_empty()
        );
        assert_eq!(
            on_frame_names(&mut asked, 0, ERROR_REPLY, &damaged(ErrorCode::CorruptedFrame)),
            ["damaged"]
        );
        assert_eq!(
            on_frame_names(&mut asked, 0, ERROR_REPLY, &damaged(ErrorCode::CorruptedFrame)),
            ["damaged"]
        );
        assert!(
            on_frame_names(&mut asked, 0, ERROR_REPLY, &damaged(ErrorCode::CorruptedFrame))
                .is_empty()
        );
    }

    #[test]
    fn silence_counts_for_the_request_that_was_waited_for_and_repeats_all() {
        let mut asked = identify(3);
        asked.transmissions.rotate_left(1); // the first was retried
        assert_eq!(action_names(asked.on_timeout()), ["silence"; 3]);
        let timeouts: Vec<_> = asked.pending.iter().map(|pending| pending.timeouts).collect();
        assert_eq!(timeouts, [0, 1, 0]);
        assert_eq!(asked.bytes(), 0, "nothing counts as in flight");
    }

    #[test]
    fn a_request_that_is_no_longer_in_flight_still_times_out() {
        let mut asked = identify(2);
        asked.transmissions.clear();
        assert_eq!(action_names(asked.on_timeout()), ["silence"; 2]);
        let timeouts: Vec<_> = asked.pending.iter().map(|pending| pending.timeouts).collect();
        assert_eq!(timeouts, [1, 0], "the oldest");
    }

    #[test]
    fn a_report_of_corruption_restarts_the_deadline() {
        let mut asked = identify(2);
        let later = asked.last_progress + 5 * TIME;
        let frame = Frame::new(0, ERROR_REPLY, damaged(ErrorCode::Overrun).to_vec());
        let actions = asked.on_frame(&frame.expect("it fits"), later);
        assert_eq!(action_names(actions), ["overrun"]);
        assert_eq!(asked.last_progress, later);
        assert_eq!(asked.deadline(|_| Duration::ZERO) - later, TIME);
    }

    #[test]
    fn a_stray_frame_does_not_extend_the_deadline_and_a_reply_does() {
        let mut asked = identify(1);
        let sent = asked.last_progress;
        let stray = Frame::empty(9, kind::IDENT + REPLY_BIT);
        assert_eq!(action_names(asked.on_frame(&stray, sent + TIME)), ["stray"]);
        assert_eq!(asked.last_progress, sent);
        asked.transmitted(1, sent + TIME);
        assert_eq!(asked.last_progress, sent, "only an idle board starts at a transmission");
        let part = Frame::new(1, kind::IDENT + REPLY_BIT, vec![0]).expect("it fits");
        asked.on_frame(&part, sent + 2 * TIME);
        assert_eq!(asked.last_progress, sent + 2 * TIME);
    }

    #[test]
    fn sequence_numbers_follow_each_other_skip_zero_and_those_in_flight() {
        let mut asked = identify(3);
        assert_eq!(asked.next_seq(3), Some(4));
        assert_eq!(asked.next_seq(255), Some(4), "0 is the board's, 1 to 3 are in flight");
        asked.take(2); // cancelled, but its transmission may still be replied to
        assert_eq!(asked.next_seq(1), Some(4));
        asked.transmissions.retain(|sent| sent.seq != 2);
        assert_eq!(asked.next_seq(1), Some(2));
        let all = identify(255);
        assert!((0..=255).all(|last| all.next_seq(last).is_none()));
        let mut all_but_one = identify(255);
        all_but_one.take(7);
        all_but_one.transmissions.remove(6);
        assert!((0..=255).all(|last| all_but_one.next_seq(last) == Some(7)));
    }

    #[test]
    fn the_deadline_is_that_of_the_first_that_waits_behind_all_before_it() {
        let mut asked = identify(3);
        let none = |_| Duration::ZERO;
        assert_eq!(asked.deadline(none) - asked.last_progress, TIME);
        asked.take(1); // abandoned, but the board still processes it
        assert_eq!(asked.deadline(none) - asked.last_progress, 2 * TIME);
        let line = |bytes| Duration::from_micros(bytes as u64);
        let bytes = asked.bytes() as u64;
        assert!(bytes > 0);
        assert_eq!(
            asked.deadline(line) - asked.last_progress,
            2 * TIME + Duration::from_micros(bytes)
        );
    }
}
