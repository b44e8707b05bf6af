//! The simulated board as a whole: processor and interrupts, memory, and the pseudo-terminal.

use std::io::{Read, Write};
use std::time::Duration;

use board_simulator::board_spec;
use board_simulator::{
    BoardModel, BoardServer, BoardSpec, Pace, Probe, QueueLine, RunStop, ServerOptions,
};
use firmware::profile::BoardProfile;

fn spec() -> BoardSpec {
    board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"))
}

fn board(program: &[u8]) -> BoardModel<QueueLine> {
    BoardModel::new(spec(), program, QueueLine::default())
}

/// Reads characters and sends them back, by polling.
const ECHO: &[u8] = &[
    0x3E, 0x03, 0xD3, 0x80, 0x3E, 0x16, 0xD3, 0x80, 0xDB, 0x80, 0x0F, 0x30, 0xFB, 0xDB, 0x81, 0xD3,
    0x81, 0x18, 0xF5,
];

#[test]
fn instructions_take_the_times_of_the_manual() {
    // Zilog UM0080: T-states of one instruction each, on a fresh processor (B = 0, flags clear).
    let times: &[(&[u8], u64)] = &[
        (&[0x00], 4),                    // NOP
        (&[0x3E, 0x00], 7),              // LD A,n
        (&[0x21, 0x00, 0x00], 10),       // LD HL,nn
        (&[0x2A, 0x00, 0x80], 16),       // LD HL,(nn)
        (&[0xDD, 0x7E, 0x00], 19),       // LD A,(IX+d)
        (&[0xDD, 0x36, 0x00, 0x00], 19), // LD (IX+d),n
        (&[0xCB, 0x06], 15),             // RLC (HL)
        (&[0xDD, 0xCB, 0x00, 0x46], 20), // BIT 0,(IX+d)
        (&[0xED, 0x6F], 18),             // RLD
        (&[0xED, 0x4B, 0x00, 0x80], 20), // LD BC,(nn)
        (&[0xCD, 0x00, 0x00], 17),       // CALL nn
        (&[0xC8], 5),                    // RET Z, not taken
        (&[0xC0], 11),                   // RET NZ, taken
        (&[0x28, 0x00], 7),              // JR Z, not taken
        (&[0x20, 0x00], 12),             // JR NZ, taken
        (&[0x10, 0x00], 13),             // DJNZ, taken
        (&[0xE3], 19),                   // EX (SP),HL
        (&[0xED, 0xB0], 21),             // LDIR, repeats
        (&[0xD9], 4),                    // EXX
        (&[0xDB, 0x00], 11),             // IN A,(n)
    ];
    for (program, expected) in times {
        let mut board = board(program);
        let mut registers = board.registers();
        (registers.sp, registers.af) = (0x9000, 0);
        board.set_registers(&registers);
        board.step();
        assert_eq!(board.clock(), *expected, "{program:02X?}");
    }
}

#[test]
fn rom_keeps_its_bytes_and_ram_takes_them() {
    // LD HL,0010h; LD (HL),55h; LD HL,8010h; LD (HL),55h; HALT
    let program = [0x21, 0x10, 0x00, 0x36, 0x55, 0x21, 0x10, 0x80, 0x36, 0x55, 0x76];
    let mut board = board(&program);
    assert_eq!(board.run_for(1000), RunStop::Idle);
    let seen = |at| board.bus().dump(at, 1)[0];
    assert_ne!(seen(0x0010), 0x55);
    assert_eq!(seen(0x8010), 0x55);
}

#[test]
fn ram_survives_a_reset_and_differs_from_seed_to_seed() {
    let mut first = board(&[0x76]);
    let before = first.bus().dump(0x8000, 0x8000);
    first.run_for(100);
    first.reset();
    assert_eq!(first.bus().dump(0x8000, 0x8000), before);
    let other = BoardModel::new(BoardSpec { seed: 2, ..spec() }, &[0x76], QueueLine::default());
    assert_ne!(other.bus().dump(0x8000, 0x8000), before);
}

/// A board that continues with this program once its receiver interrupts. Service in mode 2, by a
/// table of 81h at 8000h, is IN A,(81h); EI; RETI at 8181h.
fn interrupted_board(program: &[u8]) -> BoardModel<QueueLine> {
    let set_up = [
        0x31, 0x00, 0xF0, // LD SP,F000h
        0x21, 0x00, 0x80, 0x36, 0x81, 0x11, 0x01, 0x80, 0x01, 0x00, 0x01, 0xED,
        0xB0, // fill 257
        0x3E, 0x80, 0xED, 0x47, 0xED, 0x5E, // LD I,80h; IM 2
        0x3E, 0x03, 0xD3, 0x80, 0x3E, 0x96, 0xD3, 0x80, // receive interrupt on
        0xFB, // EI
    ];
    let mut board = board(&[&set_up, program].concat());
    board.bus_mut().load(0x8181, &[0xDB, 0x81, 0xFB, 0xED, 0x4D]);
    board
}

#[test]
fn the_receiver_interrupts_wakes_from_halt_and_is_timed_apart() {
    // loop: HALT; INC A; JR loop
    let mut board = interrupted_board(&[0x76, 0x3C, 0x18, 0xFC]);
    assert_eq!(board.run_for(100_000), RunStop::Idle);
    board.line_mut().to_board.extend([0x41, 0x42, 0x43]);
    let before = board.service_time();
    assert_eq!(board.run_for(100_000), RunStop::Idle);
    assert_eq!(board.registers().af >> 8, 0x44, "the last character, incremented after HALT");
    // Acceptance in mode 2, IN A,(n), EI, RETI: 19 + 11 + 4 + 14 (UM0080).
    assert_eq!(board.service_time() - before, 3 * (19 + 11 + 4 + 14));
}

#[test]
fn the_probe_counts_a_call_exactly_and_keeps_the_registers_at_a_place() {
    // LD SP,F000h; CALL 0010h; HALT; at 0010h: NOP; LD E,7; RET
    let mut program = vec![0x31, 0x00, 0xF0, 0xCD, 0x10, 0x00, 0x76];
    program.resize(0x10, 0);
    program.extend([0x00, 0x1E, 0x07, 0xC9]);
    let mut board = board(&program);
    board.bus_mut().load(0x8000, &[0x2A]);
    board.set_probe(Probe::new([0x0010], 0x8000).with_hits_at([0x0013]));
    board.run_for(1000);
    // The probe sees the return when the next instruction starts; HALT is one.
    let probe = board.probe_mut().expect("just set");
    let record = probe.take()[0];
    assert_eq!((record.routine, record.t_states, record.tag), (0x0010, 4 + 7 + 10, 0x2A));
    let passages: Vec<_> = probe.take_hits().iter().map(|at| (at.pc, at.sp, at.de as u8)).collect();
    assert_eq!(passages, [(0x0013, 0xEFFE, 7)]);
}

#[test]
fn the_probe_counts_a_call_once_whenever_an_interrupt_comes() {
    // CALL 9000h; HALT; at 9000h: NOP; LD E,7; RET
    let fresh = || {
        let mut board = interrupted_board(&[0xCD, 0x00, 0x90, 0x76]);
        board.bus_mut().load(0x9000, &[0x00, 0x1E, 0x07, 0xC9]);
        board.set_probe(Probe::new([0x9000], 0x8000).with_hits_at([0x9003]));
        board
    };
    let mut undisturbed = fresh();
    undisturbed.run_for(100_000);
    let end = undisturbed.clock();
    for at in end - 45..=end {
        let mut board = fresh();
        board.run_for(end - 50);
        board.receive_at(0x41, at);
        board.run_for(100_000);
        assert!(board.service_time() > 0, "it was interrupted at {at}");
        let probe = board.probe_mut().expect("just set");
        let times: Vec<_> = probe.take().iter().map(|call| call.t_states).collect();
        assert_eq!((times, probe.take_hits().len()), (vec![4 + 7 + 10], 1), "at {at}");
    }
}

#[test]
fn a_real_serial_port_reaches_the_board_through_the_pseudo_terminal() {
    for pace in [Pace::Free, Pace::RealTime] {
        let options = ServerOptions { pace, ..ServerOptions::default() };
        let server = BoardServer::start(spec(), ECHO, options).expect("a pseudo-terminal");
        let mut port = serialport::new(server.path().to_string_lossy(), 115_200)
            .timeout(Duration::from_secs(5))
            .open()
            .expect("it opens like any port");
        let sent: Vec<u8> = (0..=255).collect();
        port.write_all(&sent).expect("it takes bytes");
        let mut received = vec![0; sent.len()];
        port.read_exact(&mut received).expect("it answers");
        assert_eq!(received, sent);
    }
}

#[test]
fn bytes_at_another_speed_are_corrupted() {
    let server =
        BoardServer::start(spec(), ECHO, ServerOptions::default()).expect("a pseudo-terminal");
    let mut port = serialport::new(server.path().to_string_lossy(), 9_600)
        .timeout(Duration::from_secs(5))
        .open()
        .expect("it opens");
    port.write_all(b"hello").expect("it takes bytes");
    let mut received = [0; 5];
    port.read_exact(&mut received).expect("it answers something");
    assert_ne!(&received, b"hello");
}
