//! The instruction table's T-states against the processor core, which is independent of the table.

use std::collections::BTreeSet;

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, Registers};
use firmware::profile::BoardProfile;
use tdlasm::isa::decode;

/// Registers that make conditions true and false, and repeating instructions end and repeat.
const COUNTS: [u16; 3] = [0x0001, 0x0101, 0x0202];
const FLAGS: [u16; 2] = [0x0000, 0x00FF];

fn time(code: &[u8], bc: u16, af: u16) -> u64 {
    let spec = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
    let mut board = BoardModel::new(spec, code, QueueLine::default());
    let all = Registers {
        sp: 0x9000,
        hl: 0x8100,
        de: 0x8200,
        ix: 0x8300,
        iy: 0x8400,
        ..board.registers()
    };
    board.set_registers(&Registers { bc, af, ..all });
    board.step();
    board.clock()
}

/// Every encoding: plain, and behind each prefix.
fn encodings() -> impl Iterator<Item = Vec<u8>> {
    let prefixes: [&[u8]; 7] =
        [&[], &[0xCB], &[0xED], &[0xDD], &[0xFD], &[0xDD, 0xCB, 0x01], &[0xFD, 0xCB, 0x01]];
    prefixes.into_iter().flat_map(|prefix| {
        (0..=255).map(move |opcode| [prefix, &[opcode], &[0x01, 0x01, 0x00]].concat())
    })
}

#[test]
fn every_instruction_takes_the_t_states_of_the_table() {
    let mut compared = 0;
    for code in encodings() {
        let Some(decoded) = decode(&code) else { continue };
        let clocks = decoded.form.clocks;
        let stated = BTreeSet::from([u64::from(clocks.taken), u64::from(clocks.not_taken)]);
        let taken: BTreeSet<u64> =
            COUNTS.into_iter().flat_map(|bc| FLAGS.map(|flags| time(&code, bc, flags))).collect();
        assert_eq!(taken, stated, "{:02X?} {}", &code[..decoded.length], decoded.form.mnemonic);
        compared += 1;
    }
    assert!(compared >= 698, "{compared} encodings");
}
