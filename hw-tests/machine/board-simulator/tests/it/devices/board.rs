//! Devices on a board: paging, writing flash, power cuts, reset by button and by DTR, the CTC as
//! the serial chip's clock, and interrupts by vector.

use board_simulator::board_spec;
use board_simulator::{
    BoardModel, BoardSpec, ChipKind, MemoryMap, QueueLine, RunStop, SstModel, UartModel,
};
use firmware::profile::BoardProfile;

fn spec() -> BoardSpec {
    let classic = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
    BoardSpec {
        uart: UartModel::Sio,
        memory: MemoryMap::Banked,
        chip: ChipKind::Sst(SstModel::Sf040),
        writable: true,
        ..classic
    }
}

fn board(spec: BoardSpec, program: &[u8]) -> BoardModel<QueueLine> {
    BoardModel::new(spec, program, QueueLine::default())
}

/// Pages 0 and 1 of flash, 20h and 21h of RAM into the four windows; LD SP,0.
const SET_UP_PAGES: &[u8] = &[
    0xAF, 0xD3, 0x78, 0x3C, 0xD3, 0x79, 0x3E, 0x20, 0xD3, 0x7A, 0x3C, 0xD3, 0x7B, 0x3E, 0x01, 0xD3,
    0x7C, 0x31, 0x00, 0x00,
];

/// LD A,value; LD (address),A.
fn poke(address: u16, value: u8) -> [u8; 5] {
    let [low, high] = address.to_le_bytes();
    [0x3E, value, 0x32, low, high]
}

/// Sets up the pages, copies the code to 8000h and goes there.
fn in_ram(code: &[u8]) -> Vec<u8> {
    let start = SET_UP_PAGES.len() as u8 + 14;
    // LD HL,start; LD DE,8000h; LD BC,length; LDIR; JP 8000h
    let copy = [
        0x21,
        start,
        0x00,
        0x11,
        0x00,
        0x80,
        0x01,
        code.len() as u8,
        0x00,
        0xED,
        0xB0,
        0xC3,
        0x00,
        0x80,
    ];
    [SET_UP_PAGES, &copy, code].concat()
}

/// Code that programs 42h into 4000h of the chip, then loops: JR $.
fn programs_a_byte() -> Vec<u8> {
    let cycles = [(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0xA0), (0x4000, 0x42)];
    [&cycles.map(|(address, value)| poke(address, value)).concat()[..], &[0x18, 0xFE]].concat()
}

#[test]
fn code_in_ram_programs_the_flash_beside_it() {
    let mut board = board(spec(), &in_ram(&programs_a_byte()));
    board.run_for(100_000);
    assert_eq!(board.bus().peek(0x4000), 0x42);
    assert_eq!(board.bus().chip().as_sst().map(|chip| chip.cells()[0x4000]), Some(0x42));
}

#[test]
fn a_write_protected_socket_keeps_the_chip_as_it_is() {
    let mut board = board(BoardSpec { writable: false, ..spec() }, &in_ram(&programs_a_byte()));
    board.run_for(100_000);
    assert_eq!(board.bus().peek(0x4000), 0xFF);
}

#[test]
fn code_in_the_chip_itself_runs_into_its_status() {
    // Code in the chip that programs it: the following instructions are fetched from a busy chip,
    // which returns its status.
    let program = [SET_UP_PAGES, &programs_a_byte()].concat();
    let end = program.len() as u16 - 2;
    let mut board = board(spec(), &program);
    board.run_for(100_000);
    assert_ne!(board.registers().pc, end);
}

#[test]
fn a_chip_outlives_its_board_as_the_power_cut_leaves_it() {
    let mut first = board(spec(), &in_ram(&programs_a_byte()));
    first.run_for(100_000);
    let chip = first.chip_after_power_cut();
    let mut second = BoardModel::with_chip(spec(), chip, QueueLine::default());
    second.run_for(100);
    assert_eq!(second.bus().chip().as_sst().map(|chip| chip.cells()[0x4000]), Some(0x42));
    assert_eq!(second.registers().pc & 0xFF00, 0, "it runs from the start");
}

#[test]
fn the_reset_button_disables_paging_and_spares_ram() {
    let mut board = board(spec(), &in_ram(&[0x76]));
    board.run_for(100_000);
    assert_eq!(board.bus().peek(0x8000), 0x76);
    board.reset();
    assert_eq!(board.bus().peek(0x8000), SET_UP_PAGES[0], "flash page 0 in every window");
    board.run_for(1000);
    assert_eq!(board.bus().peek(0x8000), 0x76);
}

#[test]
fn dtr_resets_where_it_is_wired_and_nowhere_else() {
    // INC HL; JR back to it: HL counts how long it has run.
    for (wired, runs) in [(true, false), (false, true)] {
        let spec = BoardSpec { dtr_resets: wired, ..spec() };
        let mut board = board(spec, &[0x23, 0x18, 0xFD]);
        board.run_for(50_000);
        board.line_mut().dtr = true;
        board.run_for(50_000);
        let held = board.registers();
        board.run_for(50_000);
        assert_eq!(board.registers().hl != held.hl, runs);
        board.line_mut().dtr = false;
        board.run_for(50_000);
        assert_ne!(board.registers().hl, held.hl, "it runs again");
    }
}

#[test]
fn the_ctc_gives_the_serial_chip_its_clock() {
    // CTC channel 0 counts the crystal by 12; SIO channel A: x16, transmitter on; one character.
    let program = [
        0x3E, 0x47, 0xD3, 0x88, 0x3E, 0x0C, 0xD3, 0x88, // CTC
        0x3E, 0x04, 0xD3, 0x80, 0x3E, 0x44, 0xD3, 0x80, // WR4
        0x3E, 0x05, 0xD3, 0x80, 0x3E, 0xEA, 0xD3, 0x80, // WR5
        0x3E, 0x41, 0xD3, 0x81, 0x76,
    ];
    let mut board = board(BoardSpec { ctc: true, ..spec() }, &program);
    // 7 pairs of LD A,n and OUT (n),A at 7 + 11 T-states, then ten bits of 16 * 12.
    let begins = 6 * 18 + 7;
    while board.line_mut().from_board.is_empty() {
        board.run_for(1);
    }
    assert_eq!(board.line_mut().from_board, [0x41]);
    let took = board.clock() - begins;
    assert!((10 * 16 * 12..10 * 16 * 12 + 30).contains(&took), "{took}");
}

#[test]
fn the_sio_leads_to_its_service_by_vector_and_reti_ends_it() {
    let program = [
        0x31, 0x00, 0xF0, 0x3E, 0x00, 0xED, 0x47, 0xED, 0x5E, // LD SP,F000h; LD I,0; IM 2
        0x3E, 0x02, 0xD3, 0x82, 0x3E, 0x60, 0xD3, 0x82, // vector 60h
        0x3E, 0x01, 0xD3, 0x82, 0x3E, 0x04, 0xD3, 0x82, // status affects vector
        0x3E, 0x04, 0xD3, 0x80, 0x3E, 0xC4, 0xD3, 0x80, // x64, 1 stop bit
        0x3E, 0x03, 0xD3, 0x80, 0x3E, 0xC1, 0xD3, 0x80, // receiver on
        0x3E, 0x05, 0xD3, 0x80, 0x3E, 0xEA, 0xD3, 0x80, // RTS low
        0x3E, 0x01, 0xD3, 0x80, 0x3E, 0x18, 0xD3, 0x80, // receive interrupts
        0xFB, 0x76, 0x18, 0xFD, // EI; HALT; JR back to HALT
    ];
    let mut code = [SET_UP_PAGES, &program].concat();
    code.resize(0x70, 0);
    code[0x6C..0x6E].copy_from_slice(&[0x70, 0x00]); // the vector of "A received" leads to 0070h
    code.extend([0xDB, 0x81, 0x12, 0x13, 0xFB, 0xED, 0x4D]); // IN A,(81h); LD (DE),A; INC DE; EI; RETI
    let mut board = board(spec(), &code);
    let registers = board_simulator::Registers { de: 0x9000, ..board.registers() };
    board.set_registers(&registers);
    assert_eq!(board.run_for(100_000), RunStop::Idle);
    board.line_mut().to_board.extend(b"hello");
    assert_eq!(board.run_for(100_000), RunStop::Idle);
    assert_eq!(board.bus().dump(0x9000, 5), b"hello");
    assert_eq!(board.bus().lost(), 0);
}
