//! A state machine: any sequence of calls of a link, against a board and a line that lose,
//! duplicate, delay and corrupt frames, and lie in replies that are valid frames.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, Reply, Request, kind};
use proptest::prelude::*;
use rcflash_link::{Completion, Link, LinkError, RequestId, RequestSpec};
use rcflash_transport::Transport;

/// The window of the board in bytes.
const WINDOW: u16 = 250;
/// Requests of 11 bytes on the line that the window has room for, and one more.
const MOST_IN_FLIGHT: u64 = 23;
/// The processing time allowed for a request.
const WORK: Duration = Duration::from_millis(20);
/// Longer than three attempts at a request behind as many others as fit the window.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What happens to a request, or to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    LoseRequest,
    CorruptRequest,
    LoseReply,
    CorruptReply,
    DuplicateReply,
    DelayReply,
    /// The reply has the sequence number of another request.
    OtherSeq(u8),
    /// The reply has another type.
    OtherType(u8),
    /// The payload of the reply is of another length.
    OtherLength(u8),
    /// The reply is about another address.
    OtherContent(u8),
    /// The board refuses for a reason of its own.
    Refuse(u8),
}

impl Fault {
    fn is_lie(self) -> bool {
        use Fault::{OtherContent, OtherLength, OtherSeq, OtherType, Refuse};
        matches!(self, OtherSeq(_) | OtherType(_) | OtherLength(_) | OtherContent(_) | Refuse(_))
    }
}

/// A call of the link.
#[derive(Debug, Clone, Copy)]
enum Call {
    /// Submit a request if the window has room for it.
    Submit,
    /// Send a request, and wait for its reply.
    Request,
    /// Wait for the next completion.
    Next,
    /// Cancel all requests in flight.
    Cancel,
}

/// The board and its line; clones share them.
#[derive(Clone)]
struct LyingBoard(Arc<Mutex<Board>>);

struct Board {
    faults: VecDeque<Fault>,
    decoder: Decoder,
    /// Requests that were received and not processed.
    received: VecDeque<Frame>,
    to_host: VecDeque<u8>,
    /// A reply that arrives after the next one.
    delayed: Vec<u8>,
    /// Replies that are not those of their request.
    lies: Vec<Reply>,
    now: Instant,
}

/// The byte at an address.
fn byte_at(address: u16) -> u8 {
    (address % 251) as u8
}

fn read_request(address: u16) -> Request {
    Request::Read { address, count: 1 }
}

fn true_reply(address: u16) -> Reply {
    Reply::Memory { address, data: vec![byte_at(address)] }
}

impl LyingBoard {
    fn new(faults: &[Fault]) -> Self {
        Self(Arc::new(Mutex::new(Board {
            faults: faults.iter().copied().collect(),
            decoder: Decoder::default(),
            received: VecDeque::new(),
            to_host: VecDeque::new(),
            delayed: Vec::new(),
            lies: Vec::new(),
            now: Instant::now(),
        })))
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().expect("not poisoned")
    }

    fn link(&self, window: u16) -> Link {
        let mut link = Link::new(Box::new(self.clone()), 115_200);
        link.set_window(window);
        link
    }
}

impl Board {
    fn process(&mut self, request: &Frame) {
        let fault = self.faults.pop_front().unwrap_or(Fault::None);
        let mut reply = Frame::new(request.seq, request.kind + REPLY_BIT, {
            let address = u16::from_le_bytes([request.payload[0], request.payload[1]]);
            vec![request.payload[0], request.payload[1], byte_at(address)]
        })
        .expect("it fits");
        let payload = |bytes: Vec<u8>| bytes.try_into().expect("it fits");
        match fault {
            Fault::LoseRequest | Fault::LoseReply => return,
            Fault::CorruptRequest => {
                reply = Frame::new(0, 0xFF, vec![6, 0, 0, 0]).expect("it fits");
            }
            Fault::OtherSeq(seq) => reply.seq = seq,
            Fault::OtherType(kind) => reply.kind = kind,
            Fault::OtherLength(length) => reply.payload = payload(vec![0; length.into()]),
            Fault::OtherContent(bits) => reply.payload[1] ^= bits,
            Fault::Refuse(code) => {
                reply =
                    Frame::new(request.seq, 0xFF, vec![code, request.kind, 0, 0]).expect("fits");
            }
            _ => {}
        }
        if fault.is_lie() {
            self.lies.extend(Reply::parse(reply.kind, &reply.payload));
        }
        let mut line = reply.encode();
        match fault {
            Fault::CorruptReply => line[3] ^= 0x15,
            Fault::DuplicateReply => line.extend_from_within(..),
            Fault::DelayReply => return self.delayed.extend(line),
            _ => {}
        }
        self.to_host.extend(line);
        self.to_host.extend(self.delayed.drain(..));
    }
}

impl Transport for LyingBoard {
    fn name(&self) -> &str {
        "a lying board"
    }

    fn now(&self) -> Instant {
        self.board().now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut board = self.board();
        while board.to_host.is_empty()
            && let Some(request) = board.received.pop_front()
        {
            board.process(&request);
        }
        if board.to_host.is_empty() {
            board.now += timeout;
        }
        let count = buffer.len().min(board.to_host.len());
        for (place, byte) in buffer.iter_mut().zip(board.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        let mut board = self.board();
        for byte in bytes {
            if let Some(DecoderEvent::Frame(frame)) = board.decoder.push(*byte) {
                board.received.push_back(frame);
            }
        }
        Ok(())
    }
}

/// What a link has to do: the model that it is compared with.
struct Expected {
    link: Link,
    board: LyingBoard,
    /// The address and sequence number of each request in flight.
    in_flight: BTreeMap<RequestId, (u16, u8)>,
    next_address: u16,
    succeeded: u64,
    failed: u64,
    retries: u64,
    /// Requests were cancelled: the board still has them, unknown to the link.
    has_cancelled: bool,
}

impl Expected {
    fn new(faults: &[Fault], seq: u8) -> Self {
        let board = LyingBoard::new(faults);
        let mut link = board.link(WINDOW);
        link.set_seq(seq);
        Self {
            link,
            board,
            in_flight: BTreeMap::new(),
            next_address: 0,
            succeeded: 0,
            failed: 0,
            retries: 0,
            has_cancelled: false,
        }
    }

    fn spec(&mut self) -> (u16, RequestSpec) {
        self.next_address += 1;
        let address = self.next_address;
        (address, RequestSpec::new("reading", read_request(address), WORK))
    }

    fn call(&mut self, call: Call) -> Result<(), TestCaseError> {
        match call {
            Call::Submit => self.submit()?,
            Call::Request => self.request()?,
            Call::Next => {
                self.next()?;
            }
            Call::Cancel => {
                self.link.cancel_all();
                self.in_flight.clear();
                self.has_cancelled = true;
                // Completions of before stay: those requests had ended.
                self.link.take_completions();
            }
        }
        Ok(())
    }

    fn submit(&mut self) -> Result<(), TestCaseError> {
        let (address, spec) = self.spec();
        if !self.link.has_room(&spec.request) {
            return Ok(());
        }
        let id = self.link.submit(&spec).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let seq = self.link.seq();
        prop_assert_ne!(seq, 0);
        prop_assert!(self.in_flight.values().all(|(_, used)| *used != seq), "{} twice", seq);
        prop_assert!(self.in_flight.insert(id, (address, seq)).is_none());
        if !self.has_cancelled && self.link.stats().total_retries() == 0 {
            let board = self.board.board();
            let bytes: usize = board.received.iter().map(|frame| frame.encode().len()).sum();
            prop_assert!(bytes <= WINDOW.into(), "{bytes} bytes at the board");
        }
        Ok(())
    }

    fn request(&mut self) -> Result<(), TestCaseError> {
        let (address, spec) = self.spec();
        let outcome = self.link.request_all(&spec);
        self.judge(address, &outcome)
    }

    /// Waits for a completion; returns `false` if none is due.
    fn next(&mut self) -> Result<bool, TestCaseError> {
        let began = self.link.now();
        let completion = self.link.next_completion();
        prop_assert!(self.link.now() - began < LONGEST_WAIT);
        let completion = completion.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let Some(Completion { id, replies, retries, seq, .. }) = completion else {
            prop_assert!(self.in_flight.is_empty(), "{:?} never end", self.in_flight);
            return Ok(false);
        };
        let Some((address, sent_as)) = self.in_flight.remove(&id) else {
            return Err(TestCaseError::fail(format!("{id:?} was not in flight")));
        };
        prop_assert_eq!(seq, sent_as);
        prop_assert!(retries.total() - retries.timeout <= 8, "{retries:?}");
        // Three timeouts end a request. Each also repeats the others, which it does not end.
        prop_assert!(retries.timeout <= 3 * MOST_IN_FLIGHT, "{retries:?}");
        self.retries += retries.total();
        self.judge(address, &replies)?;
        Ok(true)
    }

    fn judge(
        &mut self,
        address: u16,
        outcome: &Result<Vec<Reply>, LinkError>,
    ) -> Result<(), TestCaseError> {
        let board = self.board.board();
        match outcome.as_deref() {
            Ok([reply]) => {
                self.succeeded += 1;
                let is_true = *reply == true_reply(address) || board.lies.contains(reply);
                prop_assert!(is_true, "{address}: {reply:?} was never sent");
            }
            Ok(replies) => prop_assert!(false, "{} replies", replies.len()),
            Err(LinkError::Timeout { attempts, .. }) => {
                self.failed += 1;
                prop_assert_eq!(*attempts, 3);
            }
            Err(LinkError::Corrupted { attempts, .. }) => {
                self.failed += 1;
                prop_assert!(*attempts >= 9, "{attempts} attempts");
            }
            Err(LinkError::Refused { .. } | LinkError::InvalidReply { .. }) => self.failed += 1,
            Err(other) => prop_assert!(false, "{other}"),
        }
        Ok(())
    }
}

/// Faults of the line and the board's receiver.
fn line_fault() -> impl Strategy<Value = Fault> {
    use Fault::{CorruptReply, CorruptRequest, DelayReply, DuplicateReply, LoseReply, LoseRequest};
    prop::sample::select(vec![
        Fault::None,
        LoseRequest,
        CorruptRequest,
        LoseReply,
        CorruptReply,
        DuplicateReply,
        DelayReply,
    ])
}

fn lie() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (0..40_u8).prop_map(Fault::OtherSeq),
        any::<u8>().prop_map(Fault::OtherType),
        (0..=240_u8).prop_map(Fault::OtherLength),
        (1..=255_u8).prop_map(Fault::OtherContent),
        (0..13_u8).prop_map(Fault::Refuse),
    ]
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => Just(Call::Submit),
        1 => Just(Call::Request),
        3 => Just(Call::Next),
        1 => Just(Call::Cancel),
    ];
    prop::collection::vec(call, 1..50)
}

/// Makes the calls, then waits for all that is in flight.
fn run(faults: &[Fault], calls: &[Call], seq: u8) -> Result<Expected, TestCaseError> {
    let mut expected = Expected::new(faults, seq);
    for call in calls {
        expected.call(*call)?;
    }
    while expected.next()? {}
    let Expected { link, succeeded, has_cancelled, .. } = &expected;
    // Requests that ended before they were cancelled are counted, too.
    prop_assert!(link.stats().requests == *succeeded || *has_cancelled);
    prop_assert!(link.stats().total_retries() >= expected.retries);
    Ok(expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn each_request_ends_once_and_with_its_own_reply(
        faults in prop::collection::vec(line_fault(), 0..60),
        calls in calls(),
        seq in prop_oneof![Just(0), 240..=255_u8],
    ) {
        run(&faults, &calls, seq)?;
    }

    #[test]
    fn a_few_faults_of_the_line_fail_no_request(
        faulty in prop::collection::vec((0..50_usize, line_fault()), 0..=2),
        calls in calls(),
    ) {
        let mut faults = [Fault::None; 50];
        faulty.iter().for_each(|(at, fault)| faults[*at] = *fault);
        prop_assert_eq!(run(&faults, &calls, 0)?.failed, 0);
    }

    #[test]
    fn lies_end_as_errors_or_as_what_was_sent(
        faults in prop::collection::vec(prop_oneof![Just(Fault::None), line_fault(), lie()], 0..60),
        calls in calls(),
        seq in prop_oneof![Just(0), 240..=255_u8],
    ) {
        run(&faults, &calls, seq)?;
    }
}

#[test]
fn no_two_requests_in_flight_have_the_same_sequence_number() {
    let board = LyingBoard::new(&[]);
    let mut link = board.link(u16::MAX); // it would have room for 5000 of them
    link.set_seq(200);
    let mut requests = BTreeMap::new();
    let mut submit = |link: &mut Link, address| {
        let spec = RequestSpec::new("reading", read_request(address), WORK);
        requests.insert(link.submit(&spec).expect("it is sent"), address);
    };
    let mut address = 0;
    while address < 1000 && link.has_room(&read_request(0)) {
        submit(&mut link, address);
        address += 1;
    }
    assert_eq!(address, 255, "1 to 255; 0 is not used");
    let in_flight: std::collections::BTreeSet<u8> =
        board.board().received.iter().map(|frame| frame.seq).collect();
    assert_eq!(in_flight, (1..=255).collect());
    submit(&mut link, address); // waits for a number
    while let Some(completion) = link.next_completion().expect("the line is there") {
        let address = requests.remove(&completion.id).expect("it ends once");
        assert_eq!(completion.replies.expect("it is sent"), [true_reply(address)]);
    }
    assert!(requests.is_empty());
    assert_eq!(link.stats().total_retries(), 0);
    assert_eq!(kind::READ + REPLY_BIT, 0x92);
}
