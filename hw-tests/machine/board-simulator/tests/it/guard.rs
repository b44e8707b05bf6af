//! The guard: what code under test must not do, instruction by instruction.

use board_simulator::{
    BoardModel, Guard, GuardConfig, Probe, QueueLine, Violation, ViolationKind, board_spec,
};
use firmware::profile::{BoardProfile, UartKind};

/// The application calls the routine at 0100H, then counts in 8000H and waits in HALT.
const APPLICATION: [u8; 20] = [
    0x31, 0x00, 0xF0, // LD SP,F000H
    0xED, 0x5E, // IM 2
    0xFB, // EI
    0xCD, 0x00, 0x01, // CALL 0100H
    0xF3, // DI
    0x31, 0x00, 0xF0, // LD SP,F000H
    0x21, 0x00, 0x80, // LD HL,8000H
    0x34, // INC (HL)
    0x76, // HALT
    0x18, 0xFD, // JR HALT
];
/// The address after the CALL.
const CALLER: u16 = 0x0009;
const ROUTINE: u16 = 0x0100;
/// T-states in which both characters of a pair arrive at 115,200 baud and 7.3728 MHz
/// (docs/BOARDS.md).
const CHARACTER_T_STATES: u64 = 640;

/// Returns what the guard records while the routine runs once.
fn violations(routine: &[u8]) -> Vec<Violation> {
    let mut rom = vec![0; 0x200];
    rom[..APPLICATION.len()].copy_from_slice(&APPLICATION);
    rom[usize::from(ROUTINE)..][..routine.len()].copy_from_slice(routine);
    let code = u32::from(ROUTINE);
    let guard = Guard::new(&GuardConfig {
        code: std::iter::once(code..code + 0x40).collect(),
        data: std::iter::once(0x9000..0x9100).collect(),
        stack_floor: 0xEF00,
        routines: vec![ROUTINE],
        request_tag: 0x8001,
        ..GuardConfig::default()
    });
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let mut board = BoardModel::new(board_spec(&profile), &rom, QueueLine::default());
    board.bus_mut().load(0x8001, &[7]);
    board.set_probe(Probe::default().with_guard(guard));
    board.run_for(100_000);
    board.take_violations()
}

#[test]
fn what_the_contract_allows_is_no_violation() {
    let allowed: [&[u8]; 7] = [
        &[0xC9],                                           // RET
        &[0x32, 0xFF, 0x90, 0xC9],                         // LD (90FFH),A
        &[0xE5, 0xC5, 0xC1, 0xE1, 0xC9],                   // PUSH and POP
        &[0xE1, 0xE5, 0xC9],                               // POP HL; PUSH HL; RET
        &[0xE1, 0xE9],                                     // POP HL; JP (HL)
        &[0xF3, 0x06, 0x10, 0x10, 0xFE, 0xFB, 0xC9],       // DI for 215 T-states
        &[0xCD, 0x05, 0x01, 0xC9, 0x00, 0x3A, 0, 0, 0xC9], // a call within
    ];
    for routine in allowed {
        assert_eq!(violations(routine), [], "{routine:02X?}");
    }
}

#[test]
fn each_violation_is_recorded_with_its_instruction() {
    use ViolationKind as Kind;
    let restored = Kind::StackNotRestored { sp: 0xEFFE, expected: 0xF000 };
    let wrong = Kind::WrongReturn { address: CALLER + 1, expected: CALLER };
    let latency = Kind::InterruptLatency { t_states: 0, max: CHARACTER_T_STATES - 114 };
    let cases: &[(&[u8], Kind, u16)] = &[
        (&[0xAF, 0x32, 0x00, 0x91, 0xC9], Kind::Write { address: 0x9100, value: 0 }, 1),
        (&[0xAF, 0x32, 0x3F, 0x01, 0xC9], Kind::CodeWrite { address: 0x13F, value: 0 }, 1),
        (&[0x31, 0x00, 0xD0, 0xC9], Kind::StackPointer { sp: 0xD000 }, 0),
        (&[0x33, 0x33, 0x33, 0xC9], Kind::StackPointer { sp: 0xF001 }, 2),
        (&[0xE1, 0xE5, 0xE5, 0xC9], restored, 3),
        (&[0xE3, 0x23, 0xE3, 0xC9], wrong, 3),
        (&[0xF3, 0xC9], Kind::InterruptsOff, 0),
        (&[0xF3, 0x06, 0x40, 0x10, 0xFE, 0xFB, 0xC9], latency, 0),
        (&[0xED, 0x56, 0xC9], Kind::InterruptVectoring { mode: 1, i: 0 }, 2),
        (&[0x3E, 5, 0xED, 0x47, 0xC9], Kind::InterruptVectoring { mode: 2, i: 5 }, 4),
        (&[0x3E, 5, 0xD3, 0x20, 0xC9], Kind::Output { port: 0x20, value: 5 }, 2),
        (&[0xDB, 0x81, 0xC9], Kind::Input { port: 0x81 }, 0),
        (&[0x76, 0xC9], Kind::Halt, 0),
        (&[0xC3, 0x40, 0x01], Kind::LeftCode { address: 0x140 }, 0),
        (&[0xC7], Kind::Restart, 0),
    ];
    for (routine, kind, offset) in cases {
        let all = violations(routine);
        let first = all.first().unwrap_or_else(|| panic!("{kind:?}"));
        let found = match first.kind {
            Kind::InterruptLatency { t_states, max } => {
                assert!(t_states > max);
                Kind::InterruptLatency { t_states: 0, max }
            }
            other => other,
        };
        assert_eq!((found, first.pc), (*kind, ROUTINE + offset), "{routine:02X?}: {all:?}");
        assert_eq!((first.routine, first.request_tag, first.case), (ROUTINE, 7, 0));
    }
}

#[test]
fn interrupts_may_be_off_for_as_many_characters_as_the_chip_keeps() {
    // The MC6850 has one data register before its shift register, the SIO three; of the sixteen of
    // a 16C550 three may be full without an interrupt.
    let spec = |kind| {
        let mut profile = BoardProfile::named("rc2014-classic").expect("it ships");
        profile.uart.kind = kind;
        board_spec(&profile)
    };
    for (kind, characters) in [(UartKind::Acia, 1), (UartKind::Sio, 3), (UartKind::Ns550, 13)] {
        let bound = spec(kind).max_interrupt_latency();
        let most = characters * CHARACTER_T_STATES;
        assert!(bound < most && bound > most - 200, "{bound}");
    }
}
