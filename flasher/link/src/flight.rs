//! Requests under way: which of them a reply answers, and which must be asked again.
//!
//! The board answers in the order in which requests reach it. So what was sent stands in a queue,
//! and a reply to one request means that those sent before it will not be answered any more.

use std::collections::VecDeque;

use firmware_wire::{ERROR, ErrorCode, Frame, PayloadTooLong, REPLY, Reply, Request, kind};
use rcflash_transport::time::{Duration, Instant};

use super::error::LinkError;
use super::stats::{Cause, Repeats};

/// The number of times a request may stay without a reply before the link gives it up.
pub(super) const SILENCES: u32 = 3;

/// The state of the replies to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The last one is still to come.
    More,
    /// That is all.
    Complete,
    /// The last one came, but others are missing.
    Broken,
}

/// Judges the replies to a request so far.
pub type Judge = fn(&[Reply]) -> Progress;

/// A request, and what is known beforehand of its answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// Names the wait in messages.
    pub what: &'static str,
    /// The request.
    pub request: Request,
    /// The time that the board may take besides that on the line.
    pub work: Duration,
    /// Most frames of an answer.
    pub frames: usize,
    /// Decides when the answer is complete.
    pub judge: Judge,
}

impl Question {
    /// A request with a single reply.
    #[must_use]
    pub fn new(what: &'static str, request: Request, work: Duration) -> Self {
        Self { what, request, work, frames: 1, judge: |_| Progress::Complete }
    }
}

/// Identifies a request of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(super) u64);

/// The end of a request.
#[derive(Debug)]
pub struct Answer {
    /// Which request.
    pub ticket: Ticket,
    /// The replies, or why there are none.
    pub replies: Result<Vec<Reply>, LinkError>,
    /// Its sequence number.
    pub seq: u8,
    /// The number of times it was repeated, and why.
    pub repeats: Repeats,
    /// From its first sending to its end, by the line's clock.
    pub took: Duration,
}

/// A request that has no answer yet.
pub(super) struct Pending {
    pub(super) ticket: Ticket,
    pub(super) what: &'static str,
    pub(super) seq: u8,
    kind: u8,
    pub(super) line: Vec<u8>,
    /// The time that its reply may take when nothing else is under way.
    pub(super) time: Duration,
    frames: usize,
    judge: Judge,
    replies: Vec<Reply>,
    pub(super) silences: u32,
    pub(super) repeats: Repeats,
    pub(super) first_sent: Instant,
}

impl Pending {
    pub(super) fn new(
        ticket: Ticket,
        seq: u8,
        question: &Question,
        time: Duration,
        now: Instant,
    ) -> Result<Self, PayloadTooLong> {
        let kind = question.request.kind();
        let line = question.request.frame(seq)?.encode();
        Ok(Self {
            ticket,
            what: question.what,
            seq,
            kind,
            line,
            time,
            frames: question.frames,
            judge: question.judge,
            replies: Vec::new(),
            silences: 0,
            repeats: Repeats::default(),
            first_sent: now,
        })
    }

    /// Whether a frame of this type can answer it.
    fn is_answered_by(&self, answer: u8) -> bool {
        let is_end = self.kind == kind::POSITION && answer == kind::POSITION_END + REPLY;
        answer == self.kind + REPLY || answer == ERROR || is_end
    }
}

/// One sending of a request.
struct Sent {
    seq: u8,
    bytes: usize,
    time: Duration,
}

/// The consequence of something heard or not heard.
pub(super) enum Consequence {
    /// This request is to be sent again.
    Repeat(u8, Cause),
    /// This one has ended.
    Finished(Box<Pending>, Result<Vec<Reply>, LinkError>),
    /// The frame answered nothing.
    Stray,
}

/// All requests under way.
pub(super) struct Flight {
    pending: VecDeque<Pending>,
    /// The requests that the board has still to work off, as far as is known.
    queue: VecDeque<Sent>,
    /// When the board last made way.
    since: Instant,
}

impl Flight {
    pub(super) fn new(now: Instant) -> Self {
        Self { pending: VecDeque::new(), queue: VecDeque::new(), since: now }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Bytes that the board may still have to take in.
    pub(super) fn bytes(&self) -> usize {
        self.queue.iter().map(|sent| sent.bytes).sum()
    }

    pub(super) fn add(&mut self, pending: Pending) {
        self.pending.push_back(pending);
    }

    pub(super) fn find(&mut self, seq: u8) -> Option<&mut Pending> {
        self.pending.iter_mut().find(|pending| pending.seq == seq)
    }

    pub(super) fn take(&mut self, seq: u8) -> Option<Pending> {
        let index = self.pending.iter().position(|pending| pending.seq == seq)?;
        self.pending.remove(index)
    }

    /// Returns the purpose of the first request in the queue.
    pub(super) fn what(&self) -> &'static str {
        self.pending.front().map_or("listening", |pending| pending.what)
    }

    /// Notes that a request is sent.
    pub(super) fn sent(&mut self, seq: u8, now: Instant) {
        if self.queue.is_empty() {
            self.since = now;
        }
        if let Some(pending) = self.find(seq) {
            pending.replies.clear();
            let bytes = pending.line.len();
            let time = pending.time;
            self.queue.push_back(Sent { seq, bytes, time });
        }
    }

    /// When the next reply must have come: the first request that waits for one, what stands before
    /// it, and `line` for the bytes of all.
    pub(super) fn deadline(&self, line: impl Fn(usize) -> Duration) -> Instant {
        let mut time = line(self.bytes());
        for sent in &self.queue {
            time += sent.time;
            if self.pending.iter().any(|pending| pending.seq == sent.seq) {
                break;
            }
        }
        self.since + time
    }

    /// A good frame came.
    pub(super) fn heard(&mut self, frame: &Frame, now: Instant) -> Vec<Consequence> {
        if let Some(cause) = damage(frame) {
            self.since = now;
            return self.lost_front(cause).into_iter().collect();
        }
        let mut outcomes = Vec::new();
        if let Some(place) = self.queue.iter().position(|sent| sent.seq == frame.seq) {
            self.since = now;
            // Replies keep the order of the requests. So whatever was sent before this one has lost
            // its request or its reply, and waiting for its own deadline would only cost time.
            for _ in 0..place {
                outcomes.extend(self.lost_front(Cause::Missing));
            }
        }
        outcomes.extend(self.answer(frame));
        outcomes
    }

    /// Nothing came in time: what is under way is sent again, unless the first has been silent too
    /// often.
    pub(super) fn silent(&mut self) -> Vec<Consequence> {
        // The board answers in turn, so that only the first request in the queue that still waits
        // can be what it hangs on. One that was given up may stand before it: its sending counts
        // for the deadline, not for the silence.
        let first = self
            .queue
            .iter()
            .find_map(|sent| self.pending.iter().position(|pending| pending.seq == sent.seq));
        // After a silence nothing is known of what the board still has: bytes may be lost as well
        // as replies. To take the queue as empty risks that a late reply meets a request that was
        // sent again: harmless, as both carry the same sequence number and the second reply is a
        // stray.
        self.queue.clear();
        let mut outcomes = Vec::new();
        // Only this one: a count for each would end a whole window after three silences that one
        // request has caused. The caller compares it with `SILENCES`.
        if let Some(pending) = self.pending.get_mut(first.unwrap_or(0)) {
            pending.silences += 1;
        }
        let repeat = |pending: &Pending| Consequence::Repeat(pending.seq, Cause::Silence);
        outcomes.extend(self.pending.iter().map(repeat));
        outcomes
    }

    /// Returns the outcome for the request that a frame answers; `None` while more is to come.
    fn answer(&mut self, frame: &Frame) -> Option<Consequence> {
        let is_ours = |pending: &Pending| pending.is_answered_by(frame.kind);
        let Some(pending) = self.find(frame.seq).filter(|pending| is_ours(pending)) else {
            return Some(Consequence::Stray);
        };
        let what = pending.what;
        match Reply::parse(frame.kind, &frame.payload) {
            Ok(Reply::Error(error)) => {
                self.finish(frame.seq, Err(LinkError::Refused { what, error }))
            }
            Err(error) => self.finish(frame.seq, Err(LinkError::nonsense(what, error))),
            Ok(reply) => {
                pending.replies.push(reply);
                match (pending.judge)(&pending.replies) {
                    Progress::More if pending.replies.len() < pending.frames => None,
                    Progress::Complete => {
                        let replies = std::mem::take(&mut pending.replies);
                        self.finish(frame.seq, Ok(replies))
                    }
                    // A frame of several is missing. The board keeps none of them, so that all are
                    // asked for again; `sent` then drops those that did arrive.
                    _ => self.lost_front(Cause::Missing),
                }
            }
        }
    }

    fn finish(&mut self, seq: u8, replies: Result<Vec<Reply>, LinkError>) -> Option<Consequence> {
        if self.queue.front().is_some_and(|sent| sent.seq == seq) {
            self.queue.pop_front();
        }
        Some(Consequence::Finished(Box::new(self.take(seq)?), replies))
    }

    /// The first request in the queue will not be answered any more.
    fn lost_front(&mut self, cause: Cause) -> Option<Consequence> {
        let seq = self.queue.pop_front()?.seq;
        let is_repeated = self.queue.iter().any(|sent| sent.seq == seq);
        let waits = self.find(seq).is_some();
        (waits && !is_repeated).then_some(Consequence::Repeat(seq, cause))
    }
}

/// The cause, if the frame reports that a request arrived damaged.
fn damage(frame: &Frame) -> Option<Cause> {
    match Reply::parse(frame.kind, &frame.payload) {
        Ok(Reply::Error(error)) if error.code == ErrorCode::Damaged => Some(Cause::DamagedThere),
        Ok(Reply::Error(error)) if error.code == ErrorCode::Overrun => Some(Cause::Overrun),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that every request here may take.
    const TIME: Duration = Duration::from_millis(10);

    /// A flight of requests, sent in this order; their sequence numbers count from 1.
    fn flight(requests: &[Request], frames: usize, judge: Judge) -> Flight {
        let now = Instant::now();
        let mut flight = Flight::new(now);
        for (seq, request) in (1..).zip(requests) {
            let question =
                Question { frames, judge, ..Question::new("asking", request.clone(), TIME) };
            let pending = Pending::new(Ticket(seq.into()), seq, &question, TIME, now);
            flight.add(pending.expect("it fits a frame"));
            flight.sent(seq, now);
        }
        flight
    }

    fn identify(count: usize) -> Flight {
        flight(&vec![Request::Identify; count], 1, |_| Progress::Complete)
    }

    fn hear(flight: &mut Flight, seq: u8, kind: u8, payload: &[u8]) -> Vec<&'static str> {
        let frame = Frame::new(seq, kind, payload.to_vec()).expect("it fits");
        told(flight.heard(&frame, Instant::now()))
    }

    /// Outcomes in words.
    fn told(outcomes: Vec<Consequence>) -> Vec<&'static str> {
        let word = |outcome| match outcome {
            Consequence::Repeat(_, Cause::Silence) => "silence",
            Consequence::Repeat(_, Cause::DamagedThere) => "damaged",
            Consequence::Repeat(_, Cause::Overrun) => "overrun",
            Consequence::Repeat(_, Cause::Missing) => "missing",
            Consequence::Finished(_, Ok(_)) => "finished",
            Consequence::Finished(_, Err(_)) => "failed",
            Consequence::Stray => "stray",
        };
        outcomes.into_iter().map(word).collect()
    }

    fn damaged(code: ErrorCode) -> [u8; 4] {
        [code.code(), 0, 0, 0]
    }

    const SQUARES: u8 = kind::POSITION + REPLY;
    const END: u8 = kind::POSITION_END + REPLY;
    const CRC: u8 = kind::CRC + REPLY;

    fn position(frames: usize, judge: Judge) -> Flight {
        flight(&[Request::Position { squares: [0; 32] }], frames, judge)
    }

    #[test]
    fn only_a_position_is_ended_by_the_end_of_a_position() {
        let end = [0; 8];
        let mut asked = position(6, |_| Progress::Complete);
        assert_eq!(hear(&mut asked, 1, END, &end), ["finished"]);
        assert_eq!(hear(&mut identify(1), 1, END, &end), ["stray"]);
        let mut asked = position(6, |_| Progress::Complete);
        assert_eq!(hear(&mut asked, 1, CRC, &[0, 0]), ["stray"]);
    }

    #[test]
    fn an_answer_of_more_frames_than_it_may_have_is_asked_for_again() {
        let mut asked = position(3, |_| Progress::More);
        for _ in 0..2 {
            assert!(hear(&mut asked, 1, SQUARES, &[0, 0]).is_empty());
        }
        assert_eq!(hear(&mut asked, 1, SQUARES, &[0, 0]), ["missing"]);
    }

    #[test]
    fn an_answer_with_parts_missing_is_asked_for_again() {
        let mut asked = position(6, |_| Progress::Broken);
        assert_eq!(hear(&mut asked, 1, SQUARES, &[0, 0]), ["missing"]);
    }

    #[test]
    fn frames_from_before_a_request_was_sent_again_do_not_count() {
        let judge: Judge = |replies| match replies.len() {
            0..3 => Progress::More,
            3 => Progress::Complete,
            _ => Progress::Broken,
        };
        let mut asked = position(6, judge);
        assert!(hear(&mut asked, 1, SQUARES, &[0, 0]).is_empty());
        assert_eq!(told(asked.silent()), ["silence"]);
        asked.sent(1, Instant::now());
        for _ in 0..2 {
            assert!(hear(&mut asked, 1, SQUARES, &[0, 0]).is_empty());
        }
        assert_eq!(hear(&mut asked, 1, END, &[0; 8]), ["finished"]);
    }

    #[test]
    fn damage_is_told_by_its_cause() {
        let causes = [(ErrorCode::Damaged, "damaged"), (ErrorCode::Overrun, "overrun")];
        for (code, cause) in causes {
            assert_eq!(hear(&mut identify(2), 0, ERROR, &damaged(code)), [cause]);
        }
        assert_eq!(hear(&mut identify(2), 1, ERROR, &damaged(ErrorCode::UnknownType)), ["failed"]);
    }

    #[test]
    fn what_is_under_way_again_is_not_repeated_once_more() {
        let mut asked = identify(2);
        asked.sent(1, Instant::now());
        // The first sending is lost, its repetition still under way.
        assert!(hear(&mut asked, 0, ERROR, &damaged(ErrorCode::Damaged)).is_empty());
        assert_eq!(hear(&mut asked, 0, ERROR, &damaged(ErrorCode::Damaged)), ["damaged"]);
        assert_eq!(hear(&mut asked, 0, ERROR, &damaged(ErrorCode::Damaged)), ["damaged"]);
        assert!(hear(&mut asked, 0, ERROR, &damaged(ErrorCode::Damaged)).is_empty());
    }

    #[test]
    fn silence_counts_for_the_request_that_was_waited_for_and_repeats_all() {
        let mut asked = identify(3);
        asked.queue.rotate_left(1); // the first was sent again
        assert_eq!(told(asked.silent()), ["silence"; 3]);
        let silences: Vec<_> = asked.pending.iter().map(|pending| pending.silences).collect();
        assert_eq!(silences, [0, 1, 0]);
        assert_eq!(asked.bytes(), 0, "nothing is taken to be under way");
    }

    #[test]
    fn the_deadline_is_that_of_the_first_that_waits_behind_all_before_it() {
        let mut asked = identify(3);
        let none = |_| Duration::ZERO;
        assert_eq!(asked.deadline(none) - asked.since, TIME);
        asked.take(1); // given up, but the board still works on it
        assert_eq!(asked.deadline(none) - asked.since, 2 * TIME);
        let line = |bytes| Duration::from_micros(bytes as u64);
        let bytes = asked.bytes() as u64;
        assert!(bytes > 0);
        assert_eq!(asked.deadline(line) - asked.since, 2 * TIME + Duration::from_micros(bytes));
    }
}
