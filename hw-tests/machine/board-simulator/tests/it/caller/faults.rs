//! Lost frames, routines that do not return, and boards that restart.

use std::time::Duration;

use firmware::ProgramKind;
use firmware_wire::{
    Call, CallBatch, CallRefusal, CountRequest, ErrorCode, RegisterPair, RegisterValues, Reply,
    Request,
};
use rcflash_link::caller::{CallTimes, CallWatchdog, Caller, CallerError};
use rcflash_link::loader;

use super::bench::{BOARDS, Bench, CALL_TIME};

/// Calls that count themselves, of several batches.
fn counting_calls(bench: &Bench) -> Vec<Call> {
    vec![bench.call("COUNTS", &[]); 100]
}

fn assert_counted(results: Result<Vec<firmware_wire::CallResult>, CallerError>, what: &str) {
    let results = results.unwrap_or_else(|error| panic!("{what}: {error}"));
    let counted: Vec<_> = results.iter().map(|one| one.register(RegisterPair::Hl)).collect();
    assert_eq!(counted, (1..=100).map(Some).collect::<Vec<_>>(), "{what}");
}

#[test]
fn a_lost_request_is_made_once_and_in_order() {
    for board in BOARDS {
        for lost in 1..=3 {
            let mut bench = Bench::new(board);
            let calls = counting_calls(&bench);
            bench.board.lose_writes(lost);
            assert_counted(bench.make(&calls), "requests are lost");
            assert!(bench.link.stats().total_retries() > 0);
        }
    }
}

#[test]
fn calls_whose_reply_is_lost_are_not_made_again() {
    for board in BOARDS {
        for lost in 1..=3 {
            let mut bench = Bench::new(board);
            let calls = counting_calls(&bench);
            bench.board.lose_frames(lost);
            assert_counted(bench.make(&calls), "replies are lost");
            assert!(bench.link.stats().total_retries() > 0);
        }
    }
}

#[test]
fn each_call_is_made_once_and_in_order_however_bad_the_line_is() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let calls = counting_calls(&bench);
        let tally = bench.address("TALLY");
        let mut completed = 0;
        for seed in 0..60 {
            bench.board.set_noise(Some(seed));
            bench.board.poke(tally, &[0, 0]);
            let results = bench.make(&calls);
            bench.board.set_noise(None);
            let counted = bench.tally();
            match results {
                Ok(results) => {
                    assert_eq!(counted, 100, "{board}, seed {seed}");
                    assert_counted(Ok(results), &format!("{board}, seed {seed}"));
                    completed += 1;
                }
                Err(error) => assert!(counted <= 100, "{board}, seed {seed}: {error}"),
            }
            bench.make(&[]).expect("nothing to do");
            bench.link.cancel_all();
        }
        assert!(completed > 50, "{board}: {completed} of 60");
        assert!(bench.link.stats().total_retries() > 60, "{board}");
    }
}

#[test]
fn a_batch_with_another_number_is_not_made() {
    let mut bench = Bench::new(BOARDS[0]);
    let send = |bench: &mut Bench, number| {
        let calls = vec![bench.call("COUNTS", &[])];
        let request = Request::Call(CallBatch { number, calls });
        bench.link.request("calling", &request, CALL_TIME)
    };
    let results = |reply: Result<Reply, _>| match reply {
        Ok(Reply::Called { results, .. }) => results,
        other => panic!("{other:?}"),
    };
    let first = results(send(&mut bench, 0));
    let second = results(send(&mut bench, 1));
    assert_ne!(first, second, "HL has counted");
    assert_eq!(results(send(&mut bench, 0)), first, "the stored reply");
    assert_eq!(results(send(&mut bench, 1)), second);
    for number in [3, 255, 254, 128] {
        assert!(send(&mut bench, number).is_err(), "{number}");
    }
    results(send(&mut bench, 2));
    assert!(send(&mut bench, 0).is_err(), "its reply is no longer stored");
    assert_eq!(results(send(&mut bench, 1)), second);
    assert_eq!(bench.tally(), 3);
    let synchronize = Request::StartCalls { number: 3, ticks: 28 };
    bench.link.request("calling", &synchronize, CALL_TIME).expect("it is");
    assert!(send(&mut bench, 2).is_err(), "no reply is stored any more");
    assert_eq!(bench.tally(), 3);
}

#[test]
fn a_routine_that_does_not_return_is_located_and_the_board_usable_after_a_reset() {
    // A Z180's timer ends it.
    for board in BOARDS.into_iter().filter(|board| *board != "sc126") {
        let mut bench = Bench::new(board);
        let calls = [bench.call("SUM", &[]), bench.call("LOOP", &[]), bench.call("SUM", &[])];
        match bench.make(&calls) {
            Err(CallerError::NoReply { first: 0, calls: 3, program_counter, .. }) => {
                assert_eq!(program_counter, Some(bench.address("LOOP")), "{board}");
            }
            other => panic!("{board}: {other:?}"),
        }
        bench.board.reset();
        let image = &bench.image;
        let loaded = Caller::load(&mut bench.link, image.address, &image.bytes, image.build);
        bench.caller = loaded.unwrap_or_else(|error| panic!("{board}: {error}"));
        bench.make_one(bench.call("SUM", &[]));
    }
}

#[test]
fn on_a_z180_a_timer_ends_a_routine_that_does_not_return() {
    use ProgramKind::{Caller, HostedCaller};
    // A tick is 65,536 counts of 20 T-states, 71.1 ms at 18.432 MHz; the first may be shorter.
    // 1,000,000 T-states are less than one, 50,000,000 are 38.1; the default are 29.
    let limits = [
        (Caller, Some(1_000_000), 71..210),
        (Caller, Some(50_000_000), 2_773..2_910),
        (HostedCaller, None, 1_991..2_130),
    ];
    for (kind, t_states, milliseconds) in limits {
        let mut bench = Bench::with_caller("sc126", kind);
        let calls = [bench.call("SUM", &[]), bench.call("LOOP", &[]), bench.call("SUM", &[])];
        let watchdog = t_states.map(|t_states| CallWatchdog::new(t_states, 18_432_000));
        let call = Duration::from_secs(if watchdog.is_some() { 0 } else { 3 });
        let times = CallTimes { call, frame: call, watchdog };
        let began = bench.link.now();
        let (index, detail) = (1, bench.address("LOOP"));
        match bench.caller.call_batch(&mut bench.link, &calls, times) {
            Err(CallerError::Refused { index: at, refusal }) => {
                let expected = CallRefusal { code: ErrorCode::Timeout, detail };
                assert_eq!((at, refusal), (index, expected), "{kind:?}");
            }
            other => panic!("{kind:?}: {other:?}"),
        }
        let took = bench.link.now() - began;
        assert!(milliseconds.contains(&took.as_millis()), "{kind:?}, {t_states:?}: {took:?}");
        let results = bench.make(&[bench.call("DEEP", &[])]).expect("made without a reset");
        assert_eq!((results[0].status.faults(), results[0].stack_used), (0, 20), "{kind:?}");
        assert_eq!(bench.caller.identity().build_id, bench.image.build);
    }
}

#[test]
fn a_routine_that_does_not_return_while_counting_is_located() {
    let mut bench = Bench::new(BOARDS[0]);
    let request = CountRequest {
        entry: bench.address("LOOP"),
        registers: RegisterValues::default(),
        counted: vec![1],
        first: 0,
        calls: 10,
        flags: 0,
        results: vec![1],
        crc: 0,
    };
    let reply = bench.caller.count(&mut bench.link, &request, Duration::from_millis(1));
    match reply {
        Err(CallerError::NoReply { program_counter, .. }) => {
            assert_eq!(program_counter, Some(bench.address("LOOP")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn with_interrupts_off_the_place_is_not_known() {
    let mut bench = Bench::new(BOARDS[0]);
    let failed = bench.make(&[bench.call("DEAF", &[])]);
    let Err(error @ CallerError::NoReply { program_counter: None, .. }) = failed else {
        panic!("{failed:?}");
    };
    let message = error.to_string();
    assert!(message.starts_with("no reply to call 1; "), "{message}");
    assert!(message.contains("interrupts are off"), "{message}");
}

#[test]
fn a_restarted_caller_makes_no_batch_before_a_host_has_set_its_number() {
    let mut bench = Bench::new(BOARDS[0]);
    bench.make_one(bench.call("COUNTS", &[]));
    bench.board.reset();
    let address = bench.image.address;
    loader::run_build(&mut bench.link, address, bench.image.build).expect("it is still there");
    let calls = vec![bench.call("COUNTS", &[])];
    for number in 0..=255 {
        let batch = Request::Call(CallBatch { number, calls: calls.clone() });
        assert!(bench.link.request("calling", &batch, CALL_TIME).is_err(), "{number}");
    }
    let failed = bench.make(&calls);
    assert!(matches!(failed, Err(CallerError::OutOfSequence)), "{failed:?}");
    assert_eq!(bench.tally(), 1);
    let number = bench.make_one(calls[0].clone()).register(RegisterPair::Hl);
    assert_eq!(number, Some(2), "then the client attaches again");
}

#[test]
fn a_board_that_was_reset_within_a_batch_has_no_reply_to_it() {
    let mut bench = Bench::new(BOARDS[0]);
    let attach = Request::StartCalls { number: 6, ticks: 28 };
    bench.link.request("calling", &attach, CALL_TIME).expect("it is");
    let batch = |bench: &Bench, number, name| {
        Request::Call(CallBatch { number, calls: vec![bench.call(name, &[])] })
    };
    for number in [6, 7] {
        let request = batch(&bench, number, "COUNTS");
        bench.link.request("calling", &request, CALL_TIME).expect("made");
    }
    let stuck = batch(&bench, 8, "LOOP");
    assert!(bench.link.request("calling", &stuck, CALL_TIME).is_err());
    bench.link.cancel_all();
    let even = bench.image.program.symbol("EVEN").expect("the stored reply");
    assert_eq!(bench.board.dump(even, 1), [0], "that to 6 is no longer valid, that to 8 not yet");
}

#[test]
fn a_caller_that_has_restarted_is_noticed() {
    let mut bench = Bench::new(BOARDS[0]);
    bench.make_one(bench.call("SUM", &[]));
    bench.make_one(bench.call("SUM", &[]));
    let other = Caller::attach(&mut bench.link).expect("it is still there");
    assert_eq!(other.identity(), bench.caller.identity());
    let failed = bench.make(&[bench.call("COUNTS", &[])]);
    assert!(matches!(failed, Err(CallerError::OutOfSequence)), "{failed:?}");
    bench.make_one(bench.call("COUNTS", &[]));
    assert_eq!(bench.tally(), 1, "then it attaches again");
}
