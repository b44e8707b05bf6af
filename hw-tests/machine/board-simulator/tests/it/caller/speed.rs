//! Figures of the caller, by the simulated board's clock: 7.3728 MHz and 115,200 baud.

use firmware_wire::{
    CALL_STACK_BYTES, Call, CountRequest, RegisterPair, RegisterSet, RegisterValues,
};

use super::bench::{BOARDS, Bench, CALL_TIME};
use RegisterPair::{Af, Bc, De, Hl};

const CLOCK_HZ: u64 = 7_372_800;
const CALLS: usize = 1000;

/// T-states and bytes on the line, both ways, of some work.
struct Figures {
    t_states: u64,
    sent: u64,
    received: u64,
}

/// Measures work, by the time that passes for the host.
fn measured(bench: &mut Bench, work: impl FnOnce(&mut Bench)) -> Figures {
    let (before, bytes) = (bench.link.now(), bench.link.stats().bytes);
    work(bench);
    let time = bench.link.now().saturating_duration_since(before);
    let after = bench.link.stats().bytes;
    assert_eq!(bench.link.stats().total_retries(), 0);
    Figures {
        t_states: (time.as_nanos() * u128::from(CLOCK_HZ) / 1_000_000_000) as u64,
        sent: after.0 - bytes.0,
        received: after.1 - bytes.1,
    }
}

/// T-states from the entry of a routine to the instruction after its RET, as the data sheet adds
/// them up: MVI 7, DJNZ 13 or 8, NOP, MOV and CMA 4, RET 10 (UM0080).
const ROUTINE: u64 = 7 + 11 * 13 + 8 + 8 * 4 + 10;

#[test]
fn small_calls_come_to_several_hundred_a_second() {
    assert_eq!(ROUTINE, 200);
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let wanted = RegisterSet::from([Af, Bc, De, Hl]);
        let call = |bench: &Bench, number: u16| Call {
            wanted,
            ..bench.call("SLOW", &[(Af, 0x1234), (Bc, 0x5678), (De, 0x9ABC), (Hl, number)])
        };
        let calls: Vec<_> = (0..CALLS as u16).map(|number| call(&bench, number)).collect();
        let figures = measured(&mut bench, |bench| {
            let results = bench.make(&calls).expect("made");
            let de = results.iter().map(|one| one.register(De));
            assert!(de.eq((0..CALLS as u16).map(|number| Some(!number))));
        });
        let rate = CALLS as u64 * CLOCK_HZ / figures.t_states;
        println!(
            "{board}: {rate} calls/s, {:.1} bytes to the board and {:.1} back a call, {} T-states",
            figures.sent as f64 / CALLS as f64,
            figures.received as f64 / CALLS as f64,
            figures.t_states / CALLS as u64,
        );
        assert!(rate >= 380, "{board}: {rate} calls/s");
        assert!(figures.sent <= 15 * CALLS as u64, "{board}: {} bytes", figures.sent);
        assert!(figures.received <= 11 * CALLS as u64, "{board}: {} bytes", figures.received);
    }
}

#[test]
fn counting_makes_more_than_three_thousand_calls_a_second() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let calls = 0x4000;
        for (results, least) in [(vec![4, 5], 3_000), (vec![0, 1, 4, 5], 3_000)] {
            let request = CountRequest {
                entry: bench.address("SLOW"),
                registers: RegisterValues::default(),
                counted: vec![6, 7],
                first: 0,
                calls,
                flags: 0xD7,
                results: results.clone(),
                crc: 0,
            };
            let figures = measured(&mut bench, |bench| {
                let reply = bench.caller.count(&mut bench.link, &request, CALL_TIME);
                assert_eq!(reply.expect("made").status.faults(), 0);
            });
            let t_states = figures.t_states / u64::from(calls);
            let rate = CLOCK_HZ / t_states;
            println!(
                "{board}: {} result bytes: {rate} calls/s, {t_states} T-states",
                results.len()
            );
            assert!(rate >= least, "{board}: {rate} calls/s");
        }
    }
}

#[test]
fn the_caller_is_small() {
    for board in BOARDS {
        let bench = Bench::new(board);
        println!("{board}: {} bytes", bench.image.bytes.len());
        assert!(bench.image.bytes.len() < 3_000, "{board}: {}", bench.image.bytes.len());
        let depth = bench.image.program.symbol("DEEP");
        assert_eq!(depth, Some(CALL_STACK_BYTES.into()));
    }
}
