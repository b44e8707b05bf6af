//! The instruction table's T-states and flags against the processor core, which is independent of
//! the table.

use std::collections::{BTreeMap, BTreeSet};

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, Registers};
use firmware::profile::BoardProfile;
use tdlasm::isa::decode;

/// Registers that make conditions true and false, and repeating instructions end and repeat.
const COUNTS: [u16; 3] = [0x0001, 0x0101, 0x0202];
const FLAGS: [u16; 2] = [0x0000, 0x00FF];

/// Runs an instruction at 0 and returns the board behind it.
fn run(code: &[u8], bc: u16, af: u16) -> BoardModel<QueueLine> {
    let spec = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
    let mut board = BoardModel::new(spec, code, QueueLine::default());
    let all = Registers {
        sp: 0x9000,
        hl: 0x8100,
        de: 0x8200,
        ix: 0x8300,
        iy: 0x8400,
        af_alt: !af,
        ..board.registers()
    };
    board.set_registers(&Registers { bc, af, ..all });
    board.step();
    board
}

fn time(code: &[u8], bc: u16, af: u16) -> u64 {
    run(code, bc, af).clock()
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

/// S, Z, H, P/V, N and C.
const FLAG_BITS: [u16; 6] = [0x80, 0x40, 0x10, 0x04, 0x02, 0x01];

#[test]
fn every_instruction_changes_the_flags_of_the_table() {
    let mut compared = 0;
    // The flags that the encodings of a form have changed.
    let mut changed = BTreeMap::<String, (&str, u16)>::new();
    for code in encodings() {
        let Some(decoded) = decode(&code) else { continue };
        let is_other_pop = decoded.form.mnemonic == "POP" && code[0] != 0xF1;
        let stated = if is_other_pop { "------" } else { decoded.form.flags() };
        let inputs =
            COUNTS.into_iter().flat_map(|bc| [0x00, 0x7F, 0x95, 0xFA].map(|a| (bc, a << 8)));
        let inputs = inputs.flat_map(|(bc, a)| [0x00, 0xFF, 0x01].map(|flags| (bc, a | flags)));
        // An instruction that repeats has not come to its end.
        let ends = |(bc, af): (u16, u16)| {
            let after = run(&code, bc, af).registers();
            let repeats = after.pc == 0 && code[0] == 0xED;
            (!repeats).then_some((af, after.af))
        };
        let runs: Vec<(u16, u16)> = inputs.filter_map(ends).collect();
        for (bit, effect) in FLAG_BITS.into_iter().zip(stated.chars()) {
            let is_as_stated = match effect {
                '-' => runs.iter().all(|(before, after)| before & bit == after & bit),
                '0' => runs.iter().all(|(_, after)| after & bit == 0),
                '1' => runs.iter().all(|(_, after)| after & bit != 0),
                _ => true,
            };
            let code = &code[..decoded.length];
            assert!(is_as_stated, "{code:02X?} {}: {stated}: {bit:02X}", decoded.form.mnemonic);
        }
        let all = changed.entry(decoded.form.pattern()).or_insert((stated, 0));
        all.1 |= runs.iter().fold(0, |all, (before, after)| all | (before ^ after));
        compared += 1;
    }
    for (form, (stated, changed)) in changed {
        let effects = FLAG_BITS.into_iter().zip(stated.chars());
        let mut by_result = effects.filter(|(_, effect)| effect.is_ascii_alphabetic());
        assert!(by_result.all(|(bit, _)| changed & bit != 0), "{form}: {stated}, {changed:02X}");
    }
    assert!(compared >= 698, "{compared} encodings");
}
