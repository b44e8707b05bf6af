//! All requests as docs/PROTOCOL.md and docs/KERNEL.md lay them out: least significant byte first.

use firmware_wire::{
    CountRequest, ExhaustRequest, FlashRequest, PositionWithMove, RegisterValues, Request,
    StopReason, StoppedState,
};

const SQUARES: [u8; 32] = [0x21; 32];
const ARRAY: [u8; 14] = [3; 14];

fn check(request: &Request, kind: u8, payload: &[u8]) {
    assert_eq!((request.kind(), request.payload()), (kind, payload.to_vec()), "{request:?}");
    let frame = request.frame(9).expect("it fits");
    assert_eq!((frame.seq, frame.kind, &frame.payload[..]), (9, kind, payload));
}

#[test]
fn requests_of_monitor_and_application() {
    let address = 0x8123;
    check(&Request::Identify, 0x01, &[]);
    check(&Request::Reset, 0x02, &[]);
    check(&Request::Idle, 0x03, &[]);
    check(&Request::Status, 0x04, &[]);
    check(&Request::Write { address, data: vec![7, 8] }, 0x10, &[0x23, 0x81, 7, 8]);
    check(&Request::Crc { address, length: 0x102 }, 0x11, &[0x23, 0x81, 2, 1]);
    check(&Request::Read { address, count: 236 }, 0x12, &[0x23, 0x81, 236]);
    check(&Request::Run { address }, 0x13, &[0x23, 0x81]);
    check(&Request::Flash(FlashRequest::Erase { sector: 0x102 }), 0x15, &[2, 1]);
    let exchange = Request::Exchange { piece: 0x85, array: ARRAY };
    check(&exchange, 0x20, &[&[0x85][..], &ARRAY].concat());
    let trace = Request::Trace { piece: 0x85, stake: 9, array: ARRAY };
    check(&trace, 0x25, &[&[0x85, 9][..], &ARRAY].concat());
}

#[test]
fn requests_with_positions() {
    let with_move = [&SQUARES[..], &[0x80, 55]].concat();
    let position = PositionWithMove { squares: SQUARES, side_moved: 0x80, moved_to: 55 };
    check(&Request::Position { squares: SQUARES }, 0x21, &SQUARES);
    check(&Request::PositionWithMove(position), 0x21, &with_move);
    check(&Request::Points { squares: SQUARES, mover: 0x80, moved: 55 }, 0x24, &with_move);
    let checks = Request::Checks { status: 2, positions: vec![position; 2] };
    check(&checks, 0x26, &[&[2][..], &with_move, &with_move].concat());
    let eight = Request::Checks { status: 2, positions: vec![position; 8] };
    assert_eq!(eight.frame(1).map_err(|error| error.0), Err(1 + 8 * 34), "240 bytes are the most");
}

#[test]
fn requests_of_spaces_and_of_the_caller() {
    let exhaust = ExhaustRequest {
        space: 1,
        attackers: 0x0203,
        defenders: 0x0405,
        piece: 0x81,
        count: 0x0607,
        crc: 0x0809_0A0B,
    };
    check(&Request::Exhaust(exhaust), 0x23, &[1, 3, 2, 5, 4, 0x81, 7, 6, 0x0B, 0x0A, 9, 8]);
    check(&Request::StartCalls { number: 200, ticks: 2 }, 0x27, &[200, 2]);
    let count = CountRequest {
        entry: 0x8123,
        registers: RegisterValues::default(),
        counted: vec![1],
        first: 5,
        calls: 0x102,
        flags: 1,
        results: vec![7],
        crc: 0,
    };
    let payload =
        [0x23, 0x81, 0, 0, 2, 1, 5, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 7].as_slice();
    check(&Request::Count(count), 0x28, payload);
}

#[test]
fn requests_of_the_debug_kernel() {
    check(&Request::State, 0x30, &[]);
    let state = StoppedState {
        stop_number: 4,
        reason: StopReason::Restart,
        registers: std::array::from_fn(|index| 0x100 + index as u16),
        i: 0x55,
        r: 0x66,
        interrupts_enabled: true,
    };
    // From the state's offset 2 on: without the number and the reason of the stop.
    let words = (0..12).flat_map(|low| [low, 1]).collect::<Vec<u8>>();
    check(&Request::SetRegisters(state), 0x31, &[&words[..], &[0x55, 0x66, 1]].concat());
    let go = Request::Go { number: 4, places: vec![0x8001, 0x9002] };
    check(&go, 0x32, &[4, 0x01, 0x80, 0x02, 0x90]);
}
