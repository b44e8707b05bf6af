//! The caller on both of MAME's boards, an emulation independent of this project's.

use std::time::Duration;

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{
    Call, CallRead, CallStatus, CountRequest, MemoryResult, RegisterPair, RegisterSet,
    RegisterValues, crc32,
};
use hil_harness::board::{Board, MameBoard};
use rcflash_link::Link;
use rcflash_link::caller::{Caller, CallerError};
use tdlasm::link::{Layout, Program, link};

const ORIGIN: u16 = 0x8000;
const CALL_TIME: Duration = Duration::from_millis(20);

/// Complements HL and both bytes of HL', uses four bytes of stack, and copies a byte; does not
/// return.
const ROUTINES: &str = "
INVERT: PUSH H
        PUSH H
        POP D
        POP D
        MOV A,H
        CMA
        MOV H,A
        MOV A,L
        CMA
        MOV L,A
        STA 9000H
        EXX
        XCHG
        EXX
        RET
MUTE:   DI
        RET
LOOP:   JMP LOOP
";

fn routines() -> Program {
    let assembly = tdlasm::assemble_text(ROUTINES).unwrap_or_else(|error| panic!("{error}"));
    link(&assembly.modules, &Layout::flat(ORIGIN)).unwrap_or_else(|error| panic!("{error}"))
}

/// Calls with results that are checked.
fn check_calls(caller: &mut Caller, link: &mut Link, at: impl Fn(&str) -> u16) {
    let call = |number: u16| Call {
        entry: at("INVERT"),
        registers: RegisterValues::default()
            .with(RegisterPair::Hl, number)
            .with(RegisterPair::DeAlt, number ^ 0x5A5A),
        wanted: RegisterSet::from([RegisterPair::Hl, RegisterPair::HlAlt]),
        reads: vec![CallRead { address: 0x9000, length: 1, as_crc: false }],
        ..Call::default()
    };
    let calls: Vec<_> = (0..200).map(|number| call(number * 321)).collect();
    let results = caller.call_batch(link, &calls, CALL_TIME).unwrap_or_else(|e| panic!("{e}"));
    for (number, result) in (0..200).map(|number| number * 321).zip(results) {
        assert_eq!(result.register(RegisterPair::Hl), Some(!number));
        assert_eq!(result.register(RegisterPair::HlAlt), Some(number ^ 0x5A5A));
        assert_eq!(result.memory, [MemoryResult::Bytes(vec![!number as u8])]);
        assert_eq!(result.status.faults(), 0, "{number}");
        // An interrupt on the way back stores other bytes there, which may be as before.
        assert!(
            result.status.is_interrupted() || result.stack_used == 4,
            "{number}: {}",
            result.stack_used
        );
    }
    let mute = Call { entry: at("MUTE"), ..Call::default() };
    let results = caller.call_batch(link, &[mute], CALL_TIME).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(results[0].status.faults(), CallStatus::INTERRUPTS_OFF);
}

#[test]
fn the_caller_runs_on_mames_boards() {
    for name in ["rc2014-classic", "rc2014-zed"] {
        let profile = BoardProfile::named(name).expect("it ships");
        let built = |kind| build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
        let (rom, image) = (built(ProgramKind::Monitor), built(ProgramKind::Caller));
        let mut board =
            MameBoard::new(&profile, None, &rom.bytes).unwrap_or_else(|e| panic!("{e}"));
        let transport = board.open().unwrap_or_else(|error| panic!("{error}"));
        let mut link = Link::new(transport, profile.uart.baud);
        link.set_timeout_scale(board.slowdown_factor());
        let caller = Caller::load(&mut link, image.address, &image.bytes, image.build);
        let mut caller = caller.unwrap_or_else(|error| panic!("{name}: {error}"));
        let program = routines();
        let at = |routine: &str| program.symbol(routine).expect("it is there");
        let bytes = program.image.flat(0);
        caller.upload(&mut link, ORIGIN, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_calls(&mut caller, &mut link, at);
        let count = CountRequest {
            entry: at("INVERT"),
            registers: RegisterValues::default(),
            counted: vec![6, 7],
            first: 0,
            calls: 0x1000,
            flags: 0,
            results: vec![6, 7],
            crc: 0,
        };
        let reply = caller.count(&mut link, &count, CALL_TIME).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<u8> = (0..0x1000_u16).flat_map(|hl| (!hl).to_le_bytes()).collect();
        assert_eq!((reply.crc, reply.status.faults()), (crc32(&expected), 0), "{name}");
        let stuck = Call { entry: at("LOOP"), ..Call::default() };
        match caller.call_batch(&mut link, &[stuck], CALL_TIME) {
            Err(CallerError::NoReply { program_counter, .. }) => {
                assert_eq!(program_counter, Some(at("LOOP")), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
