//! COUNT: blocks of arguments and the CRC-32 of their results, against the host's own.

use firmware_wire::{CallStatus, CountRequest, RegisterPair, RegisterValues, crc32};

use super::bench::{BOARDS, Bench, CALL_TIME};
use RegisterPair::{Af, De, Hl};

const A: u8 = 1;
const E: u8 = 4;
const L: u8 = 6;
const H: u8 = 7;

/// A block of calls of a routine, whose result is HL.
fn block(bench: &Bench, name: &str) -> CountRequest {
    CountRequest {
        entry: bench.address(name),
        registers: RegisterValues::default(),
        counted: vec![A, E],
        first: 0,
        calls: 1,
        flags: 0xFF,
        results: vec![L, H],
        crc: 0,
    }
}

fn count(bench: &mut Bench, request: &CountRequest) -> firmware_wire::CountReply {
    let reply = bench.caller.count(&mut bench.link, request, CALL_TIME);
    reply.unwrap_or_else(|error| panic!("{error}"))
}

/// The results of a multiplication for arguments from `first` on, the lower byte A.
fn products(first: u32, calls: u32) -> Vec<u8> {
    let product = |value: u32| ((value & 0xFF) * (value >> 8 & 0xFF)) as u16;
    (first..first + calls).flat_map(|value| product(value).to_le_bytes()).collect()
}

#[test]
fn the_numbers_of_bytes_are_those_of_the_registers() {
    assert_eq!([A, E, L, H], [Af.low_byte() + 1, De.low_byte(), Hl.low_byte(), Hl.low_byte() + 1]);
}

#[test]
fn two_registers_count_and_the_crc_covers_all_results() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        for (first, calls) in [(0, 1), (0xF0, 300), (0x02F0, 1000)] {
            let request = CountRequest { first, calls, ..block(&bench, "MUL") };
            let reply = count(&mut bench, &request);
            assert_eq!(reply.crc, crc32(&products(first, calls)), "{board}: {calls} from {first}");
            assert_eq!((reply.status.faults(), reply.stack_used), (0, 0), "{board}");
        }
    }
}

#[test]
fn blocks_continue_the_crc_of_those_before() {
    let mut bench = Bench::new(BOARDS[0]);
    let mut crc = 0;
    for (first, calls) in [(0x0300, 100), (0x0364, 57), (0x039D, 99)] {
        let request = CountRequest { first, calls, crc, ..block(&bench, "MUL") };
        crc = count(&mut bench, &request).crc;
    }
    assert_eq!(crc, crc32(&products(0x0300, 256)));
}

#[test]
fn sixteen_bits_are_counted_through_whole_in_one_block() {
    let mut bench = Bench::new(BOARDS[1]);
    let request = CountRequest {
        counted: vec![L, H],
        calls: 0x1_0000,
        results: vec![E, E + 1],
        ..block(&bench, "SLOW")
    };
    let expected: Vec<u8> = (0..=u16::MAX).flat_map(|value| (!value).to_le_bytes()).collect();
    assert_eq!(count(&mut bench, &request).crc, crc32(&expected));
    bench.board.poke(bench.address("SLOW") + 1, &[1]); // another duration, the same results
    assert_eq!(count(&mut bench, &request).crc, crc32(&expected));
}

#[test]
fn one_wrong_result_of_65536_changes_the_crc() {
    let mut bench = Bench::new(BOARDS[0]);
    // SUM with a fault at A = 12h, E = 34h: it starts with a jump to the code at 9000h.
    let [low, high] = bench.address("SUM").to_le_bytes();
    let faulty = [
        0xFE, 0x12, 0xC2, low, high, // CPI 12h; JNZ SUM
        0x7B, 0xFE, 0x34, 0x3E, 0x12, 0xC2, low, high, // MOV A,E; CPI 34h; MVI A,12h; JNZ SUM
        0x3E, 0x00, 0xC9, // MVI A,0; RET
    ];
    bench.board.poke(0x9000, &faulty);
    let request =
        CountRequest { calls: 0x1_0000, flags: 0, results: vec![A], ..block(&bench, "SUM") };
    let right: Vec<u8> =
        (0..=u16::MAX).map(|value| (value as u8).wrapping_add((value >> 8) as u8)).collect();
    let mut wrong = right.clone();
    wrong[0x3412] = 0;
    assert_eq!(count(&mut bench, &request).crc, crc32(&right));
    let request = CountRequest { entry: 0x9000, ..request };
    assert_eq!(count(&mut bench, &request).crc, crc32(&wrong));
}

#[test]
fn flags_count_only_by_the_mask_and_registers_are_given_anew_for_each_call() {
    let mut bench = Bench::new(BOARDS[0]);
    let request = CountRequest {
        registers: RegisterValues::default().with(De, 0x0080),
        counted: vec![A],
        calls: 256,
        flags: 0x41, // zero and carry
        results: vec![0, A],
        ..block(&bench, "SUM")
    };
    let result = |a: u16| {
        let sum = a + 0x80;
        let zero = if sum as u8 == 0 { 0x40 } else { 0 };
        [zero | (sum >> 8) as u8, sum as u8]
    };
    let expected: Vec<u8> = (0..256).flat_map(result).collect();
    assert_eq!(count(&mut bench, &request).crc, crc32(&expected));
}

#[test]
fn many_results_of_a_call_are_flushed_in_time() {
    let mut bench = Bench::new(BOARDS[0]);
    let results: Vec<u8> = (0..20).collect();
    let registers =
        RegisterPair::ALL.iter().zip(1..).fold(RegisterValues::default(), |all, one| {
            all.with(*one.0, 0x1111_u16.wrapping_mul(one.1))
        });
    let request = CountRequest {
        entry: bench.address("DEEP"),
        registers,
        counted: vec![L],
        calls: 50,
        results,
        ..block(&bench, "DEEP")
    };
    let values: Vec<u8> = (1..=10_u16).flat_map(|one| (one * 0x1111).to_le_bytes()).collect();
    let expected: Vec<u8> = (0..50)
        .flat_map(|value| {
            let mut values = values.clone();
            values[usize::from(L)] = value;
            values
        })
        .collect();
    let reply = count(&mut bench, &request);
    assert_eq!(reply.crc, crc32(&expected));
    assert_eq!(reply.stack_used, 20);
}

#[test]
fn what_any_call_leaves_wrong_is_reported() {
    let mut bench = Bench::new(BOARDS[0]);
    for (name, expected) in
        [("MUTE", CallStatus::INTERRUPTS_OFF), ("UNDER", CallStatus::STACK_POINTER), ("SUM", 0)]
    {
        let request = CountRequest { calls: 20, ..block(&bench, name) };
        assert_eq!(count(&mut bench, &request).status.faults(), expected, "{name}");
    }
}

#[test]
fn arguments_that_mean_nothing_are_refused() {
    let mut bench = Bench::new(BOARDS[0]);
    let good = block(&bench, "SUM");
    let bad = [
        CountRequest { counted: vec![], ..good.clone() },
        CountRequest { counted: vec![20], ..good.clone() },
        CountRequest { results: vec![20], ..good.clone() },
        CountRequest { results: vec![0xFF, 1], ..good.clone() },
        CountRequest { counted: vec![0, 1, 2, 3, 4], ..good.clone() },
    ];
    for request in bad {
        let refused = bench.caller.count(&mut bench.link, &request, CALL_TIME);
        assert!(refused.is_err(), "{request:?}");
        assert!(refused.is_err_and(|error| error.to_string().contains("refused")));
    }
    count(&mut bench, &good);
}
