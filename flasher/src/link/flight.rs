//! Requests under way: which of them a reply answers, and which must be asked again.
//!
//! The board answers in the order in which requests reach it. So what was sent stands in a queue, and a reply to
//! one request tells that those sent before it will not be answered any more.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use firmware::wire::{ERROR, ErrorCode, Frame, REPLY, Reply, Request, kind};

use super::error::LinkError;
use super::stats::{Cause, Repeats};

/// How often a request may stay without a reply before the link gives it up.
pub(super) const SILENCES: u32 = 3;

/// What the replies to a request amount to so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The last one is still to come.
    More,
    /// That is all.
    Complete,
    /// The last one came, but others are missing.
    Broken,
}

/// Tells what the replies to a request amount to.
pub type Judge = fn(&[Reply]) -> Progress;

/// A request, and what is known beforehand of its answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// Names the wait in messages.
    pub what: &'static str,
    /// The request.
    pub request: Request,
    /// What the board may take besides the time on the line.
    pub work: Duration,
    /// Most frames of an answer.
    pub frames: usize,
    /// Tells when the answer is complete.
    pub judge: Judge,
}

impl Question {
    /// A request with a single reply.
    #[must_use]
    pub fn new(what: &'static str, request: Request, work: Duration) -> Self {
        Self { what, request, work, frames: 1, judge: |_| Progress::Complete }
    }
}

/// Tells the requests of a link from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(super) u64);

/// How a request ended.
#[derive(Debug)]
pub struct Answer {
    /// Which request.
    pub ticket: Ticket,
    /// The replies, or why there are none.
    pub replies: Result<Vec<Reply>, LinkError>,
    /// Its sequence number.
    pub seq: u8,
    /// How often it was repeated, and why.
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
    /// What its answer may take when nothing else is under way.
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
    ) -> Self {
        let kind = question.request.kind();
        let line = Frame { seq, kind, payload: question.request.payload() }.encode();
        Self {
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
        }
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

/// What follows from something heard or not heard.
pub(super) enum Outcome {
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
    /// What the board has still to work off, as far as is known.
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

    /// What the first request in the queue is for.
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
            let (bytes, time) = (pending.line.len(), pending.time);
            self.queue.push_back(Sent { seq, bytes, time });
        }
    }

    /// When the next reply must have come: the first request that waits for one, what stands before it, and
    /// `line` for the bytes of all.
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
    pub(super) fn heard(&mut self, frame: &Frame, now: Instant) -> Vec<Outcome> {
        if let Some(cause) = damage(frame) {
            self.since = now;
            return self.lost_front(cause).into_iter().collect();
        }
        let mut outcomes = Vec::new();
        if let Some(place) = self.queue.iter().position(|sent| sent.seq == frame.seq) {
            self.since = now;
            for _ in 0..place {
                outcomes.extend(self.lost_front(Cause::Missing));
            }
        }
        outcomes.extend(self.answer(frame));
        outcomes
    }

    /// Nothing came in time: what is under way is sent again, unless the first has been silent too often.
    pub(super) fn silent(&mut self) -> Vec<Outcome> {
        let first = self
            .queue
            .iter()
            .find_map(|sent| self.pending.iter().position(|pending| pending.seq == sent.seq));
        self.queue.clear();
        let mut outcomes = Vec::new();
        if let Some(pending) = self.pending.get_mut(first.unwrap_or(0)) {
            pending.silences += 1;
        }
        let repeat = |pending: &Pending| Outcome::Repeat(pending.seq, Cause::Silence);
        outcomes.extend(self.pending.iter().map(repeat));
        outcomes
    }

    /// What a frame means to the request that it answers; nothing while more is to come.
    fn answer(&mut self, frame: &Frame) -> Option<Outcome> {
        let is_ours = |pending: &Pending| pending.is_answered_by(frame.kind);
        let Some(pending) = self.find(frame.seq).filter(|pending| is_ours(pending)) else {
            return Some(Outcome::Stray);
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
                    _ => self.lost_front(Cause::Missing),
                }
            }
        }
    }

    fn finish(&mut self, seq: u8, replies: Result<Vec<Reply>, LinkError>) -> Option<Outcome> {
        if self.queue.front().is_some_and(|sent| sent.seq == seq) {
            self.queue.pop_front();
        }
        Some(Outcome::Finished(Box::new(self.take(seq)?), replies))
    }

    /// The first request in the queue will not be answered any more.
    fn lost_front(&mut self, cause: Cause) -> Option<Outcome> {
        let seq = self.queue.pop_front()?.seq;
        let is_repeated = self.queue.iter().any(|sent| sent.seq == seq);
        let waits = self.find(seq).is_some();
        (waits && !is_repeated).then_some(Outcome::Repeat(seq, cause))
    }
}

/// The cause, when the frame tells that a request arrived damaged.
fn damage(frame: &Frame) -> Option<Cause> {
    match Reply::parse(frame.kind, &frame.payload) {
        Ok(Reply::Error(error)) if error.code == ErrorCode::Damaged => Some(Cause::DamagedThere),
        Ok(Reply::Error(error)) if error.code == ErrorCode::Overrun => Some(Cause::Overrun),
        _ => None,
    }
}
