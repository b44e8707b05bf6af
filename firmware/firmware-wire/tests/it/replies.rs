//! All replies as docs/PROTOCOL.md and docs/KERNEL.md lay them out: least significant byte first.
//! The tests of the modules have those about flash, spaces, counting calls and the status.

use firmware_wire::{PointsReply, Reply, SquareRecord, StepRecord, StopReason, StoppedState};

const POINTS: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

fn points() -> PointsReply {
    PointsReply { lost: 1, prizes: [2, 3], danger: 4, article: [5, 6], original: [7, 8], status: 9 }
}

fn check(kind: u8, payload: &[u8], expected: Reply) {
    assert_eq!(Reply::parse(kind, payload), Ok(expected), "{kind:02X}h");
    let cut = payload.split_last().map(|(_, rest)| Reply::parse(kind, rest));
    assert_ne!(cut, Some(Reply::parse(kind, payload)), "{kind:02X}h: a byte is missing");
}

#[test]
fn replies_of_monitor_and_application() {
    check(0x82, &[], Reply::Resetting);
    check(0x83, &[4, 3, 2, 1], Reply::IdleCount(0x0102_0304));
    check(0x90, &[0x23, 0x81, 236], Reply::Written { address: 0x8123, count: 236 });
    check(0x91, &[4, 3, 2, 1], Reply::Crc(0x0102_0304));
    check(0x92, &[0x23, 0x81, 7], Reply::Memory { address: 0x8123, data: vec![7] });
    check(0x93, &[0x23, 0x81], Reply::Running(0x8123));
    check(0xA0, &[3, 1], Reply::Residue { residue: 3, status: 1 });
    check(0xA7, &[200, 1, 2], Reply::Called { number: 200, results: vec![1, 2] });
    check(0xFE, &[0x23, 0x81], Reply::ProgramCounter(0x8123));
}

#[test]
fn replies_about_positions_and_exchanges() {
    let record = |square| SquareRecord {
        square,
        piece: 0x85,
        status: 1,
        residue: 9,
        array: std::array::from_fn(|index| index as u8 + 10),
    };
    let bytes = |square| [square, 0x85, 1, 9].into_iter().chain(10..24);
    let payload: Vec<u8> = [2, 2].into_iter().chain(bytes(21)).chain(bytes(98)).collect();
    check(0xA1, &payload, Reply::Squares { part: 2, records: vec![record(21), record(98)] });
    assert!(Reply::parse(0xA1, &[&[2, 1], &payload[2..]].concat()).is_err(), "two are there");
    check(0xA4, &POINTS, Reply::Points(points()));
    let end = [&[3, 32, 1, 25, 95, 24, 94, 0][..], &POINTS].concat();
    let Ok(Reply::PositionEnd(end)) = Reply::parse(0xA2, &end) else { panic!() };
    assert_eq!((end.parts, end.squares, end.status, end.points), (3, 32, 1, Some(points())));
    let step = StepRecord { action: 0x81, stake: 9, attacker: 3, defender: 0, residue: 0xFF };
    let trace = |steps| Reply::Trace { residue: 4, status: 1, steps };
    check(0xA5, &[4, 1, 0x81, 9, 3, 0, 0xFF], trace(vec![step]));
    check(0xA5, &[4, 1], trace(Vec::new()));
    check(0xA6, &[4, 3, 2, 1, 8, 7, 6, 5], Reply::Checks(vec![0x0102_0304, 0x0506_0708]));
}

#[test]
fn replies_of_the_debug_kernel() {
    let state = |reason| StoppedState {
        stop_number: 4,
        reason,
        registers: std::array::from_fn(|index| 0x100 + index as u16),
        i: 0x55,
        r: 0x66,
        interrupts_enabled: true,
    };
    let payload = |reason: u8| -> Vec<u8> {
        let words = (0..12).flat_map(|low| [low, 1]);
        [4, reason].into_iter().chain(words).chain([0x55, 0x66, 4]).collect()
    };
    check(0xB0, &payload(0), Reply::State(state(StopReason::Started)));
    check(0xB0, &payload(7), Reply::State(state(StopReason::Unknown(7))));
    check(0xFD, &payload(1), Reply::Stopped(state(StopReason::Restart)));
    check(0xB1, &[], Reply::RegistersSet);
    check(0xB2, &[], Reply::Resumed);
}
