//! CALL: registers, memory and what is reported about a routine.

use firmware_wire::{
    Call, CallRead, CallStatus, ErrorCode, MemoryResult, RegisterPair, RegisterSet, crc32,
};
use rcflash_link::caller::CallerError;

use super::bench::{BOARDS, Bench};
use RegisterPair::{Af, AfAlt, Bc, BcAlt, De, DeAlt, Hl, HlAlt, Ix, Iy};

#[test]
fn registers_of_both_sets_go_in_and_come_out() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let given = [
            (Af, 0x1257), // the two undocumented flags keep what they are given
            (Bc, 0x0102),
            (De, 0x1020),
            (Hl, 0x4000),
            (Ix, 0x1111),
            (Iy, 0x2222),
            (AfAlt, 0xA5FF),
            (BcAlt, 0xB00B),
            (DeAlt, 0xDEAD),
            (HlAlt, 0xBEEF),
        ];
        let result = bench.make_one(bench.call("MIX", &given));
        let after = |pair| result.register(pair).expect("wanted");
        assert_eq!(after(Hl), 0x4000 + 0x1020 + 0x0102, "{board}");
        assert_eq!((after(Bc), after(De)), (0x0102, 0x1020));
        assert_eq!((after(Ix), after(Iy)), (0x2222, 0x1111));
        assert_eq!((after(AfAlt), after(BcAlt)), (0xA5FF, 0xB00B));
        assert_eq!((after(DeAlt), after(HlAlt)), (0xBEEF, 0xDEAD));
        // DAD changes H, N and C only (UM0080), and C is clear: both sums are below 10000h.
        assert_eq!(after(Af) & 0xFFC4, 0x1257 & 0xFFC4);
        assert_eq!(after(Af) & 0x01, 0);
        assert_eq!(result.status, CallStatus(0));
        assert_eq!(result.stack_used, 4);
    }
}

#[test]
fn registers_that_are_not_given_are_zero_and_those_not_wanted_are_not_returned() {
    let mut bench = Bench::new(BOARDS[0]);
    bench.make_one(bench.call("MIX", &RegisterPair::ALL.map(|pair| (pair, 0xFFFF))));
    let result = bench.make_one(bench.call("SUM", &[(De, 0x0005)]));
    assert_eq!(result.register(Af).map(|af| af >> 8), Some(5), "A was 0");
    for pair in [Bc, Hl, Ix, Iy, AfAlt, BcAlt, DeAlt, HlAlt] {
        assert_eq!(result.register(pair), Some(0), "{pair:?}");
    }
    let wanted = RegisterSet::from([De, HlAlt]);
    let call = Call { wanted, ..bench.call("SUM", &[(De, 0x0005)]) };
    assert_eq!(bench.make_one(call).registers.pairs(), wanted);
}

#[test]
fn flags_go_in_and_come_out() {
    let mut bench = Bench::new(BOARDS[0]);
    let result = |bench: &mut Bench, a: u16, e: u16| {
        let result = bench.make_one(bench.call("SUM", &[(Af, a << 8), (De, e)]));
        result.register(Af).expect("wanted") & 0xFFD7 // without the undocumented flags
    };
    // 80h + 80h: zero, carry, overflow. 7Fh + 1: sign, half carry, overflow (UM0080).
    assert_eq!(result(&mut bench, 0x80, 0x80), 0x0045);
    assert_eq!(result(&mut bench, 0x7F, 0x01), 0x8094);
}

#[test]
fn memory_is_written_before_a_call_and_returned_after_it() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let text = b"the quick brown fox".to_vec();
        let count = text.len() as u16;
        let read = |address, as_crc| CallRead { address, length: count, as_crc };
        let call = Call {
            writes: vec![(0x9000, text.clone()), (0x9101, vec![1])],
            reads: vec![read(0x9200, false), read(0x9200, true), read(0x9000, true)],
            ..bench.call("COPY", &[(Hl, 0x9000), (De, 0x9200), (Bc, count)])
        };
        let result = bench.make_one(call);
        let crc = crc32(&text);
        let [copy, rest @ ..] = &result.memory[..] else { panic!("{result:?}") };
        assert_eq!(*copy, MemoryResult::Bytes(text), "{board}");
        assert_eq!(rest, [MemoryResult::Crc(crc), MemoryResult::Crc(crc)]);
        assert_eq!(bench.board.peek(0x9101), 1);
        assert_eq!(result.register(Hl), Some(0x9000 + count));
    }
}

#[test]
fn checksums_of_any_length_are_those_of_zlib() {
    let mut bench = Bench::new(BOARDS[1]);
    for length in [1, 255, 256, 257, 512, 1000] {
        let read = CallRead { address: 0x9003, length, as_crc: true };
        let call = Call { reads: vec![read], ..bench.call("SUM", &[]) };
        let expected = crc32(&bench.board.dump(0x9003, length.into()));
        assert_eq!(bench.make_one(call).memory, [MemoryResult::Crc(expected)], "{length}");
    }
}

#[test]
fn memory_that_no_frame_has_room_for_goes_apart() {
    let mut bench = Bench::new(BOARDS[0]);
    let bytes: Vec<u8> = (0..1000_u32).map(|number| (number * 7) as u8).collect();
    let read = |length, as_crc| CallRead { address: 0xA001, length, as_crc };
    let large = Call {
        writes: vec![(0x9000, bytes.clone())],
        reads: vec![read(1000, true), read(1000, false), read(500, true)],
        ..bench.call("COPY", &[(Hl, 0x9000), (De, 0xA001), (Bc, 1000)])
    };
    let small = bench.call("COUNTS", &[]);
    let results = bench.make(&[small.clone(), large, small]).expect("all are made");
    let [_, large, small] = &results[..] else { panic!("{results:?}") };
    let expected = [
        MemoryResult::Crc(crc32(&bytes)),
        MemoryResult::Bytes(bytes.clone()),
        MemoryResult::Crc(crc32(&bytes[..500])),
    ];
    assert_eq!(large.memory, expected);
    assert_eq!(small.register(Hl), Some(2));
}

#[test]
fn several_calls_keep_their_order_and_the_memory_between_them() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let calls = vec![bench.call("COUNTS", &[]); 300];
        let results = bench.make(&calls).expect("all are made");
        let counted: Vec<_> = results.iter().map(|result| result.register(Hl)).collect();
        assert_eq!(counted, (1..=300).map(Some).collect::<Vec<_>>(), "{board}");
        assert!(results.iter().all(|result| result.status.faults() == 0));
    }
}

/// Returns the status and the stack of a call by itself.
fn reported(bench: &mut Bench, name: &str) -> (u8, u8) {
    let result = bench.make_one(bench.call(name, &[]));
    (result.status.0, result.stack_used)
}

#[test]
fn the_depth_of_the_stack_is_measured_anew_for_each_call() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        for (name, depth) in [("DEEP", 20), ("SUM", 0), ("MIX", 4), ("SUM", 0), ("DEEP", 20)] {
            assert_eq!(reported(&mut bench, name), (0, depth), "{board}: {name}");
        }
        let depths = bench.make(&[bench.call("DEEP", &[]), bench.call("SUM", &[])]);
        let depths: Vec<_> = depths.expect("made").iter().map(|one| one.stack_used).collect();
        assert_eq!(depths, [20, 0]);
    }
}

#[test]
fn what_a_routine_leaves_wrong_is_reported_and_put_right() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let cases = [
            ("UNDER", CallStatus::STACK_POINTER),
            ("OVER1", CallStatus::STACK_POINTER),
            ("OVER2", CallStatus::STACK_POINTER),
            ("OVER3", CallStatus::STACK_POINTER),
            ("MUTE", CallStatus::INTERRUPTS_OFF),
            ("CHANGI", CallStatus::INTERRUPTS_OFF),
            ("DROWN", CallStatus::STACK_OVERFLOW),
        ];
        for (name, expected) in cases {
            assert_eq!(reported(&mut bench, name).0, expected, "{board}: {name}");
            assert_eq!(reported(&mut bench, "SUM"), (0, 0), "{board}: after {name}");
        }
    }
}

#[test]
fn bytes_that_come_or_get_lost_during_a_call_are_reported() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let mut calls = vec![bench.call("WAIT", &[])];
        calls.extend(vec![bench.call("COUNTS", &[]); 30]);
        let results = bench.make(&calls).expect("made");
        assert_eq!(results[0].status.0, CallStatus::INTERRUPTED, "{board}");
        assert!((6..=16).contains(&results[0].stack_used), "{board}: {}", results[0].stack_used);
        let hold = bench.call("HOLD", &[]);
        calls[0] = hold.clone();
        let results = bench.make(&calls).expect("the lost batch is sent again");
        let status = results[0].status;
        assert_eq!(status.faults(), CallStatus::BYTES_LOST, "{board}: {status:?}");
        assert_eq!(bench.tally(), 60);
        assert_eq!(bench.make_one(hold).status, CallStatus(0), "{board}: nothing comes");
    }
}

#[test]
fn the_stack_of_a_call_without_interrupts_is_exact_also_at_the_end_of_a_reply() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let call = |a| Call { wanted: RegisterSet::default(), ..bench.call("MUL", &[(Af, a)]) };
        let calls: Vec<_> = (0..8000).map(|number| call(0xE000 | (number & 31) << 8)).collect();
        let results = bench.make(&calls).expect("made");
        let exact: Vec<_> = results.iter().filter(|result| result.status.0 == 0).collect();
        assert!(exact.len() > 50, "{board}: {}", exact.len());
        assert!(exact.iter().all(|result| result.stack_used == 0), "{board}");
    }
}

#[test]
fn a_call_that_writes_elsewhere_than_programs_may_be_is_refused_and_ends_its_batch() {
    let mut bench = Bench::new(BOARDS[0]);
    let last = bench.caller.identity().load_range.1;
    let cases = [
        (0x7FFF, 1, ErrorCode::Address),
        (0x0000, 3, ErrorCode::Address),
        (last, 2, ErrorCode::Address),
        (0xFFFF, 2, ErrorCode::Address),
        (bench.image.address, 1, ErrorCode::Address),
    ];
    for (address, length, code) in cases {
        let bad = Call { writes: vec![(address, vec![0x55; length])], ..bench.call("SUM", &[]) };
        let calls = [bench.call("COUNTS", &[]), bad, bench.call("COUNTS", &[])];
        match bench.make(&calls) {
            Err(error @ CallerError::Refused { index: 1, refusal }) => {
                assert_eq!((refusal.code, refusal.detail), (code, address));
                let place = format!("call 2: memory at {address:04X}h");
                assert!(error.to_string().contains(&place), "{error}");
            }
            other => panic!("{address:04X}h: {other:?}"),
        }
    }
    let tally = bench.make_one(bench.call("COUNTS", &[])).register(Hl);
    assert_eq!(tally, Some(cases.len() as u16 + 1), "the calls after a refused one were not made");
    let good = Call { writes: vec![(last, vec![9])], ..bench.call("SUM", &[]) };
    bench.make_one(good);
    assert_eq!(bench.board.peek(last), 9);
}
