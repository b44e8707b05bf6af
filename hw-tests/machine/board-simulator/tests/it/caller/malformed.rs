//! Requests that no encoder makes, and memory that does not store its bytes.

use board_simulator::{BoardSpec, board_spec};
use firmware::ProgramKind;
use firmware::profile::BoardProfile;
use firmware_wire::{Call, ErrorCode, REPLY_BIT, kind};
use rcflash_link::caller::CallerError;

use super::bench::{BOARDS, Bench};

/// The status at which a batch ends, by its cause.
const MALFORMED: u8 = 0x85;
const ADDRESS: u8 = 0x83;
const NO_ROOM: u8 = 0x82;

/// Sends a batch of calls and returns what follows the number in the reply.
fn results(bench: &mut Bench, number: &mut u8, calls: &[u8]) -> Vec<u8> {
    let reply = bench.send(kind::CALL, &[&[*number][..], calls].concat());
    assert_eq!(reply.kind, kind::CALL + REPLY_BIT, "{reply:?}");
    assert_eq!(reply.payload[0], *number);
    *number = number.wrapping_add(1);
    reply.payload[1..].to_vec()
}

/// A call of COUNTS with these masks, and what follows them.
fn call(bench: &Bench, given: u16, wanted: u16, rest: &[u8]) -> Vec<u8> {
    let head = [bench.address("COUNTS"), given, wanted];
    head.into_iter().flat_map(u16::to_le_bytes).chain(rest.iter().copied()).collect()
}

#[test]
fn every_part_of_a_call_is_malformed_and_not_made() {
    let mut bench = Bench::new(BOARDS[0]);
    let mut number = 0;
    let rest = [0x34, 0x12, 1, 0x00, 0x90, 2, 7, 8, 1, 0x00, 0x90, 2, 0];
    let whole = call(&bench, 0x8002, 0x8008, &rest);
    // One byte after the number is a limit instead.
    for length in 2..whole.len() {
        let reply = results(&mut bench, &mut number, &whole[..length]);
        assert_eq!(reply[0], MALFORMED, "{length} of {} bytes: {reply:02X?}", whole.len());
        assert_eq!((reply.len(), bench.tally()), (3, 0), "{length} bytes");
    }
    assert_eq!(results(&mut bench, &mut number, &whole), [0, 0, 1, 0, 7, 8]);
    let two = [&whole[..], &whole[..6]].concat();
    assert_eq!(results(&mut bench, &mut number, &two), [0, 0, 2, 0, 7, 8, MALFORMED, 0, 0]);
}

#[test]
fn masks_and_lengths_that_mean_nothing_are_malformed() {
    let mut bench = Bench::new(BOARDS[1]);
    let mut number = 0;
    let bad = [
        call(&bench, 0x0400, 0, &[1, 2]),
        call(&bench, 0, 0x4000, &[]),
        call(&bench, 0x8000, 0, &[1, 0x00, 0x90, 0]),
        call(&bench, 0x8000, 0, &[1, 0x00, 0x90, 3, 1, 2]),
        call(&bench, 0, 0x8000, &[2, 0x00, 0x90, 1, 0]),
    ];
    bench.board.poke(0x9000, &[0xEE; 3]);
    for request in &bad {
        assert_eq!(results(&mut bench, &mut number, request), [MALFORMED, 0, 0], "{request:02X?}");
    }
    assert_eq!((bench.tally(), bench.board.dump(0x9000, 3)), (0, vec![0xEE; 3]));
    // Only whether a length is 0 is found after the call.
    let none = call(&bench, 0, 0x8000, &[1, 0x00, 0x90, 0, 0]);
    assert_eq!(results(&mut bench, &mut number, &none), [MALFORMED, 0, 0]);
    let refused = call(&bench, 0x8000, 0, &[1, 0x00, 0x7F, 1, 9]);
    assert_eq!(results(&mut bench, &mut number, &refused), [ADDRESS, 0x00, 0x7F]);
}

#[test]
fn results_without_room_end_the_batch_after_the_call() {
    let mut bench = Bench::new(BOARDS[0]);
    let mut number = 0;
    let bytes = |bench: &Bench, count: u8| call(bench, 0, 0x8000, &[1, 0x00, 0x90, count, 0]);
    let fits = bytes(&bench, 234);
    assert_eq!(results(&mut bench, &mut number, &fits).len(), 236);
    let large = bytes(&bench, 235);
    assert_eq!(results(&mut bench, &mut number, &large), [NO_ROOM, 0, 0]);
    let two = [bytes(&bench, 120), bytes(&bench, 120)].concat();
    let reply = results(&mut bench, &mut number, &two);
    assert_eq!((reply.len(), &reply[122..]), (125, &[NO_ROOM, 0, 0][..]));
    assert_eq!(bench.tally(), 4);
}

#[test]
fn a_count_must_have_the_registers_of_its_mask_and_nothing_else() {
    let mut bench = Bench::new(BOARDS[0]);
    let [low, high] = bench.address("COUNTS").to_le_bytes();
    let fixed = [low, high, 0x02, 0, 3, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6];
    for rest in [&[][..], &[1], &[1, 2, 3]] {
        let reply = bench.send(kind::COUNT, &[&fixed, rest].concat());
        assert_eq!(reply.kind, 0xFF, "{rest:?}");
        assert_eq!(reply.payload[..3], [ErrorCode::BadArgument.code(), kind::COUNT, 2]);
    }
    assert_eq!(bench.tally(), 0);
    assert_eq!(bench.send(kind::COUNT, &[&fixed[..], &[1, 2]].concat()).kind, kind::COUNT + 0x80);
    assert_eq!(bench.tally(), 3);
}

#[test]
fn a_byte_of_ram_that_is_stuck_is_named() {
    let spec = board_spec(&BoardProfile::named(BOARDS[0]).expect("it ships"));
    let spec = BoardSpec { stuck: Some((0x9501, 0x10)), ..spec };
    let mut bench = Bench::with_spec(BOARDS[0], ProgramKind::Caller, spec);
    let call = Call { writes: vec![(0x9500, vec![0, 0, 0])], ..bench.call("COUNTS", &[]) };
    match bench.make(&[call]) {
        Err(CallerError::Refused { index: 0, refusal }) => {
            assert_eq!((refusal.code, refusal.detail), (ErrorCode::ReadBack, 0x9501));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.tally(), 0);
}
