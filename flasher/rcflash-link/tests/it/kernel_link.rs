//! The debug kernel's client: sequence numbers, attempts and deadlines of its requests.

use std::time::Duration;

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, kind};
use rcflash_link::LinkError;
use rcflash_link::kernel::Kernel;

use crate::waits::Script;

/// The time that the kernel may take for a reply, and for the rest of one that has begun.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// 500 characters of ten bits at 115,200 baud: a request and its reply.
const LINE_TIME: Duration = Duration::from_nanos(43_402_778);

/// The reply to STATE.
fn state(seq: u8) -> Vec<u8> {
    Frame::new(seq, kind::STATE + REPLY_BIT, vec![seq; 29]).expect("it fits").encode()
}

/// The sequence numbers of the requests sent so far.
fn sent(script: &Script) -> Vec<u8> {
    let mut decoder = Decoder::default();
    let events = script.kept().sent.clone().into_iter().filter_map(|byte| decoder.push(byte));
    let seq = |event| if let DecoderEvent::Frame(frame) = event { Some(frame.seq) } else { None };
    events.filter_map(seq).collect()
}

fn is_about(time: Duration, expected: Duration) -> bool {
    time.abs_diff(expected) < Duration::from_millis(1)
}

#[test]
fn sequence_numbers_start_again_at_one() {
    let script = Script::new();
    let mut kernel = Kernel::attach(&mut script.link());
    // 0 is that of a stop event.
    let expected: Vec<u8> = (1..=255).chain(1..=45).collect();
    for seq in &expected {
        script.schedule(Duration::ZERO, &state(*seq));
        let stopped = kernel.state().unwrap_or_else(|error| panic!("{seq}: {error}"));
        assert_eq!(stopped.stop_number, *seq);
    }
    assert_eq!(sent(&script), expected);
}

#[test]
fn a_request_is_sent_four_times_and_given_up_after_as_many_deadlines() {
    for slowness in [1, 3] {
        let script = Script::new();
        let mut link = script.link();
        link.set_timeout_scale(slowness);
        let error = Kernel::attach(&mut link).state().expect_err("there is no kernel");
        let LinkError::Timeout { waited, attempts, .. } = error else { panic!("{error}") };
        assert_eq!((attempts, sent(&script)), (4, vec![1; 4]));
        let expected = 4 * slowness * (REPLY_TIMEOUT + LINE_TIME);
        assert!(is_about(waited, expected), "{waited:?}, expected {expected:?}");
    }
}

#[test]
fn the_fourth_attempt_still_counts() {
    let script = Script::new();
    script.schedule(3 * (REPLY_TIMEOUT + LINE_TIME) + REPLY_TIMEOUT / 2, &state(1));
    let mut kernel = Kernel::attach(&mut script.link());
    assert_eq!(kernel.state().expect("a late reply").stop_number, 1);
    assert_eq!(sent(&script).len(), 4);
}

#[test]
fn a_reply_that_has_begun_may_end_later_and_only_so_much_later() {
    let outcome = |after: Duration| {
        let script = Script::new();
        let mut kernel = Kernel::attach(&mut script.link());
        let reply = state(1);
        let (begin, end) = reply.split_at(5);
        script.schedule(REPLY_TIMEOUT, begin);
        script.schedule(REPLY_TIMEOUT + after, end);
        kernel.state().expect("its reply");
        sent(&script).len()
    };
    assert_eq!(outcome(REPLY_TIMEOUT - Duration::from_millis(1)), 1, "the rest arrives in time");
    // The request is repeated; what was begun is still taken when it ends.
    assert_eq!(outcome(REPLY_TIMEOUT + Duration::from_millis(100)), 2);
}

#[test]
fn output_without_end_does_not_extend_the_deadline_without_end() {
    let script = Script::new();
    let mut kernel = Kernel::attach(&mut script.link());
    let began = kernel.now();
    (1..200).for_each(|tick| script.schedule(Duration::from_millis(100 * tick), b"U"));
    kernel.state().expect_err("there is no reply in it");
    let waited = kernel.now() - began;
    let longest = 4 * (REPLY_TIMEOUT + LINE_TIME + REPLY_TIMEOUT);
    assert!(waited <= longest + REPLY_TIMEOUT, "{waited:?}, expected at most {longest:?}");
    assert_eq!(sent(&script).len(), 4);
}
