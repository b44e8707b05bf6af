//! Timeouts of the link, what ends a wait, and the deadlines passed to the transport.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use firmware_wire::{Frame, LOCATE_SEQUENCE, REPLY_BIT, Reply, Request, kind};
use rcflash_link::{Link, LinkError, RequestSpec};
use rcflash_transport::Transport;

use crate::peer::Peer;

/// Processing time allowed for the tests' requests.
const WORK: Duration = Duration::from_millis(100);
/// Latency allowed for adapters and the host (docs/TESTING.md, "Deadlines").
const SLACK: Duration = Duration::from_millis(1500);
/// A character at 115,200 baud, of ten bits.
const CHARACTER: Duration = Duration::from_nanos(86_806);

/// A transport that delivers scripted bytes at scripted times, and records its calls.
#[derive(Clone)]
pub(crate) struct Script(Arc<Mutex<Kept>>);

pub(crate) struct Kept {
    pub(crate) now: Instant,
    replies: VecDeque<(Instant, Vec<u8>)>,
    pub(crate) sent: Vec<u8>,
    /// The deadline of each write.
    write_timeouts: Vec<Duration>,
    obeys_rts: bool,
    discarded: u32,
    longest_read: Duration,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Kept {
            now: Instant::now(),
            replies: VecDeque::new(),
            sent: Vec::new(),
            write_timeouts: Vec::new(),
            obeys_rts: true,
            discarded: 0,
            longest_read: Duration::ZERO,
        })))
    }

    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().expect("not poisoned")
    }

    /// Schedules bytes for delivery after a delay.
    pub(crate) fn schedule(&self, after: Duration, bytes: &[u8]) {
        let mut kept = self.kept();
        let at = kept.now + after;
        kept.replies.push_back((at, bytes.to_vec()));
    }

    pub(crate) fn link(&self) -> Link {
        Link::new(Box::new(self.clone()), 115_200)
    }
}

impl Transport for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn now(&self) -> Instant {
        self.kept().now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut kept = self.kept();
        kept.longest_read = kept.longest_read.max(timeout);
        let end = kept.now + timeout;
        if kept.replies.front().is_none_or(|(at, _)| *at > end) {
            kept.now = end;
            return Ok(0);
        }
        let (at, bytes) = kept.replies.pop_front().unwrap_or((end, Vec::new()));
        kept.now = kept.now.max(at);
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        let mut kept = self.kept();
        kept.sent.extend(bytes);
        let write_timeouts = deadline.saturating_duration_since(kept.now);
        kept.write_timeouts.push(write_timeouts);
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        Ok(std::mem::replace(&mut self.kept().obeys_rts, obey))
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.kept().discarded += 1;
        Ok(())
    }
}

fn identify() -> RequestSpec {
    RequestSpec::new("asking", Request::Identify, WORK)
}

/// Returns the time after which a request without a reply fails.
fn given_up_after(slowness: u32) -> Duration {
    let mut link = Script::new().link();
    link.set_timeout_scale(slowness);
    let error = link.request_all(&identify()).expect_err("there is no peer");
    let LinkError::Timeout { waited, .. } = error else { panic!("{error}") };
    waited
}

fn is_about(time: Duration, expected: Duration) -> bool {
    time.abs_diff(expected) < Duration::from_millis(2)
}

#[test]
fn a_request_is_given_up_after_three_times_its_work_and_its_line_and_the_slack() {
    // The longest reply, and the request: LEN, SEQ, TYPE, CRC, one byte more by COBS, two
    // delimiters.
    let line = CHARACTER * (248 + 8);
    let waited = given_up_after(1);
    assert!(is_about(waited, 3 * (WORK + line + SLACK)), "{waited:?}");
    let waited = given_up_after(10);
    assert!(is_about(waited, 3 * (10 * (WORK + line) + SLACK)), "{waited:?}");
}

#[test]
fn a_message_names_the_line_shows_what_passed_and_tells_what_to_try() {
    let script = Script::new();
    script.schedule(Duration::ZERO, b"login:");
    let mut link = script.link();
    assert_eq!(link.name(), "script");
    let printed = link.request_all(&identify()).expect_err("there is no peer").to_string();
    assert!(printed.starts_with("script: no reply while asking, after 3 attempts"), "{printed}");
    assert!(printed.contains("last received: login:"), "{printed}");
    assert!(printed.contains("run `rcflash probe` to identify"), "{printed}");
    assert_eq!(link.recent_traffic().received, *b"login:");
    let printed =
        Script::new().link().request_all(&identify()).expect_err("there is no peer").to_string();
    assert!(printed.contains("check the cable"), "{printed}");
}

#[test]
fn a_line_that_takes_nothing_is_waited_for_no_longer_than_the_board() {
    let script = Script::new();
    script.link().submit(&identify()).expect("it is sent");
    let write_timeouts = script.kept().write_timeouts[0];
    assert!(is_about(write_timeouts, WORK + CHARACTER * 248 + SLACK), "{write_timeouts:?}");
}

#[test]
fn the_window_is_kept_to_the_byte() {
    let mut link = Script::new().link();
    assert!(link.has_room(&Request::Identify), "one request is always possible");
    link.submit(&identify()).expect("it is sent");
    assert!(!link.has_room(&Request::Identify));
    // Eight bytes of the frame, and three for address and count.
    link.set_window(8 + 11);
    assert!(link.has_room(&Request::Read { address: 0, count: 1 }));
    link.set_window(8 + 10);
    assert!(!link.has_room(&Request::Read { address: 0, count: 1 }));
}

#[test]
fn sequence_numbers_go_on_from_the_one_that_is_set_and_are_never_zero() {
    let script = Script::new();
    let mut link = script.link();
    link.set_seq(254);
    for expected in [255, 1, 2] {
        link.submit(&identify()).expect("it is sent");
        assert_eq!(link.seq(), expected);
    }
    // Delimiter, COBS, LEN (a zero), SEQ.
    assert_eq!(script.kept().sent[3], 255);
}

#[test]
fn a_stop_ends_a_wait_soon() {
    let script = Script::new();
    let mut link = script.link();
    let stop = Arc::new(AtomicBool::new(false));
    link.set_stop(Arc::clone(&stop));
    link.request_all(&identify()).expect_err("there is no peer");
    assert!(script.kept().longest_read <= Duration::from_millis(100), "it looks now and then");
    let waited = given_up_after(1);
    script.schedule(Duration::from_millis(250), &identity(2));
    assert!(link.request_all(&identify()).is_ok(), "bytes that arrive meanwhile are received");
    let began = link.now();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = link.request_all(&identify()).expect_err("it was stopped");
    assert!(matches!(error, LinkError::Interrupted { operation: "asking", .. }), "{error}");
    assert_eq!(link.now(), began);
    assert!(waited > SLACK);
}

/// The reply of a monitor.
fn identity(seq: u8) -> Vec<u8> {
    let payload = [&[b'M', 1, 1, 0, 0, 0, 250, 0, 0, 0x80, 0xFF, 0xEF, 1][..], b"peer"].concat();
    Frame::new(seq, kind::IDENT + REPLY_BIT, payload).expect("it fits").encode()
}

#[test]
fn answers_to_others_stay_until_they_are_taken() {
    let script = Script::new();
    let mut link = script.link();
    link.set_window(100);
    let tickets = [(); 2].map(|()| link.submit(&identify()).expect("it is sent"));
    for seq in 1..=3 {
        script.schedule(Duration::from_millis(seq.into()), &identity(seq));
    }
    assert!(link.request_all(&identify()).is_ok());
    let finished: Vec<_> = link.take_completions().iter().map(|answer| answer.id).collect();
    assert_eq!(finished, tickets);
    assert!(link.take_completions().is_empty());
    assert_eq!(link.stats().requests, 3);
    assert_eq!(link.stats().busy, Duration::from_millis(3));
    assert_eq!(link.stats().bytes, (3 * 8, 3 * identity(1).len() as u64));
}

#[test]
fn what_is_abandoned_is_neither_waited_for_nor_counted_any_more() {
    let script = Script::new();
    let mut link = script.link();
    link.submit(&identify()).expect("it is sent");
    link.drain_banner("listening", Duration::from_millis(40)).expect("the line is there");
    link.cancel_all();
    let busy = link.stats().busy;
    assert_eq!(busy, Duration::from_millis(40));
    assert!(link.next_completion().expect("the line is there").is_none());
    script.schedule(Duration::ZERO, &[identity(1), identity(2)].concat());
    link.request_all(&identify()).expect("the second is answered");
    assert_eq!(link.stats().unmatched_replies, 1);
}

#[test]
fn a_banner_is_heard_out_until_the_line_is_quiet() {
    let script = Script::new();
    let milliseconds = Duration::from_millis;
    for (after, printed) in
        [(30, &b"\r\nhello"[..]), (45, &identity(1)), (60, b"\r\n"), (90, b"late")]
    {
        script.schedule(milliseconds(after), printed);
    }
    let mut link = script.link();
    let began = link.now();
    link.drain_banner("starting", milliseconds(50)).expect("the line is there");
    assert_eq!(link.now() - began, milliseconds(60 + 20));
    // Bytes that resemble a reply are not accepted as one.
    link.request_all(&identify()).expect_err("there is no reply");
    let mut quiet = Script::new().link();
    let began = quiet.now();
    quiet.drain_banner("starting", milliseconds(50)).expect("the line is there");
    assert_eq!(quiet.now() - began, milliseconds(50));
}

#[test]
fn looks_whether_to_stop_do_not_end_the_wait_for_a_banner() {
    let script = Script::new();
    let mut link = script.link();
    link.set_stop(Arc::default());
    script.schedule(Duration::from_millis(350), b"hello");
    link.drain_banner("starting", Duration::from_millis(500)).expect("the line is there");
    assert_eq!(link.recent_traffic().received, *b"hello");
}

#[test]
fn a_banner_without_end_is_heard_for_half_a_second_longer_than_its_start_may_take() {
    let script = Script::new();
    (1..200).for_each(|tick| script.schedule(Duration::from_millis(10 * tick), b"U"));
    let mut link = script.link();
    let began = link.now();
    link.drain_banner("starting", Duration::from_millis(100)).expect("the line is there");
    assert_eq!(link.now() - began, Duration::from_millis(600));
}

#[test]
fn a_link_goes_on_over_another_line_and_forgets_what_was_under_way() {
    let mut link = Script::new().link();
    link.submit(&identify()).expect("it is sent");
    link.reconnect(|| Ok::<_, io::Error>(Box::new(Peer::new(&[])) as _)).expect("it opens");
    assert_eq!(link.name(), "peer");
    assert!(link.next_completion().expect("the line is there").is_none());
    assert!(link.request_all(&identify()).is_ok());
}

#[test]
fn a_line_that_can_not_be_opened_again_is_closed_and_keeps_its_name() {
    let mut link = Script::new().link();
    let gone = || Err(io::Error::from(io::ErrorKind::NotFound));
    link.reconnect(gone).expect_err("there is none");
    assert_eq!(link.name(), "script");
    let unwritten = link.submit(&identify()).expect_err("it is closed");
    let unread = link.drain_banner("listening", WORK).expect_err("it is closed");
    for error in [unwritten, unread] {
        let LinkError::Io { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotConnected);
    }
}

/// The reply to LOCATE.
fn place(at: u16) -> Vec<u8> {
    Frame::new(0, kind::PC_REPORT + REPLY_BIT, at.to_le_bytes().to_vec()).expect("it fits").encode()
}

#[test]
fn a_board_is_asked_for_its_place_without_flow_control_and_what_else_it_says_is_kept() {
    let script = Script::new();
    let mut link = script.link();
    link.submit(&identify()).expect("it is sent");
    script.kept().sent.clear();
    script.schedule(Duration::from_millis(5), &identity(1));
    script.schedule(Duration::from_millis(200), &place(0x8C00));
    assert_eq!(link.locate().expect("the line is there"), Some(0x8C00));
    assert_eq!(script.kept().sent, LOCATE_SEQUENCE);
    assert!(script.kept().obeys_rts);
    assert_eq!(script.kept().discarded, 1);
    let answer =
        link.next_completion().expect("the line is there").expect("the one that came before");
    assert!(matches!(answer.replies.as_deref(), Ok([Reply::Identity(_)])));
    assert_eq!(link.stats().unmatched_replies, 0);
}

#[test]
fn a_board_that_does_not_tell_its_place_is_left_alone_soon() {
    let script = Script::new();
    let mut link = script.link();
    link.set_timeout_scale(2);
    script.schedule(Duration::ZERO, &place(0x1234)); // before it was asked
    link.drain_banner("listening", Duration::from_millis(10)).expect("the line is there");
    let began = link.now();
    assert_eq!(link.locate().expect("the line is there"), None);
    let waited = link.now() - began;
    let line = CHARACTER * 2 * (9 + 248);
    assert!(is_about(waited, Duration::from_millis(2 * 250) + line), "{waited:?}");
    assert!(script.kept().obeys_rts);
}
