//! Any bytes as a TDL object, also with right checksums: it is read or refused, and what is read
//! comes back from a file of its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::link::{Layout, link};
use tdlasm::module::{Module, ObjectForm};
use tdlasm::object::{read_tdl, write_tdl};

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&sealed(bytes));
});

/// Takes a length and as many bytes for each record in plain bytes, and puts the checksum behind
/// it.
fn sealed(mut bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (record, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        file.extend_from_slice(record);
        let sum = record.iter().skip(1).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        file.push(sum.wrapping_neg());
        bytes = rest;
    }
    file
}

fn check(file: &[u8]) {
    let Ok(modules) = read_tdl(file, "FUZZ") else { return };
    let _ = link(&modules, &Layout::default());
    for binary in [false, true] {
        if let Some(once) = again(&modules, binary) {
            assert_eq!(again(&once, binary).as_ref(), Some(&once));
        }
    }
}

/// The modules by way of a file; symbols may come in another order.
fn again(modules: &[Module], binary: bool) -> Option<Vec<Module>> {
    let form = ObjectForm { binary, hex: false, linkage: true, symbols: true };
    let file = write_tdl(modules, form).ok()?;
    Some(read_tdl(&file, "FUZZ").expect("our own file"))
}
