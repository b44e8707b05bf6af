//! The board's CRC-16 against the host's, and its T-states against its contract.

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::crc16;

/// Address of the bytes, and return address of calls.
const AT: u16 = 0xD800;
const HOME: u16 = 0xFFF0;
/// Limit of T-states, far above that of the longest call.
const TIMEOUT: u64 = 1_000_000;

/// Calls a routine with these values in HL and BC; returns its T-states.
fn call(board: &mut BoardModel<QueueLine>, entry: u16, hl: u16, bc: u16) -> u64 {
    let sp = 0xEFFE;
    board.bus_mut().load(sp, &HOME.to_le_bytes());
    let registers = board.registers();
    board.set_registers(&board_simulator::Registers { pc: entry, sp, hl, bc, ..registers });
    let began = board.clock();
    while board.registers().pc != HOME {
        assert!(board.clock() - began < TIMEOUT, "it does not return");
        board.step();
    }
    board.clock() - began
}

#[test]
fn the_crc_equals_the_hosts_and_takes_the_t_states_of_its_contract() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let app = build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let symbol = |name| app.program.symbol(name).expect("a routine");
    let mut board = BoardModel::new(board_spec(&profile), &[], QueueLine::default());
    board.bus_mut().load(app.address, &app.bytes);
    let bytes: Vec<u8> = (0..1024_u32).map(|at| ((at * 167) >> 3) as u8).collect();
    board.bus_mut().load(AT, &bytes);
    call(&mut board, symbol("C16INI"), 0, 0);
    for length in [1, 2, 255, 256, 257, 511, 512, 513, 1000] {
        let time = call(&mut board, symbol("CRC16"), AT, length);
        let after = board.registers();
        assert_eq!(after.de, crc16(&bytes[..usize::from(length)]), "of {length} bytes");
        assert_eq!((after.hl, after.bc), (AT + length, 0), "after {length} bytes");
        let contract = 98 + 64 * u64::from(length) + 35 * u64::from(length.div_ceil(256));
        assert_eq!(time, contract, "for {length} bytes");
    }
}
