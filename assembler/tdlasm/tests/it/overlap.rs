//! Code that is assembled to addresses that have code already: the last bytes count.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tdlasm::module::{Module, SectionKind};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

/// Code at an address: bytes, or a word that is relocated.
#[derive(Debug, Clone)]
enum Code {
    Bytes(Vec<u8>),
    Word,
}

fn code() -> impl Strategy<Value = (u16, Code)> {
    let address = prop_oneof![0u16..24, 0xFFE8u16..=0xFFFF];
    let bytes = prop::collection::vec(any::<u8>(), 1..9).prop_map(Code::Bytes);
    (address, prop_oneof![3 => bytes, 1 => Just(Code::Word)])
}

fn assembled(program: &[(u16, Code)]) -> Module {
    let mut text = String::from(" .EXTERN OTHER\n");
    for (address, code) in program {
        let operands = match code {
            Code::Bytes(bytes) => bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
            Code::Word => "OTHER".into(),
        };
        let directive = if let Code::Word = code { ".WORD" } else { ".BYTE" };
        text += &format!(" .LOC {address}\n {directive} {operands}\n");
    }
    let loader = MemoryLoader::new().with("overlap.asm", text + " .END\n");
    let assembly = assemble(&loader, &["overlap.asm".into()], &Options::default());
    assembly.unwrap_or_else(|failure| panic!("{failure}")).modules.remove(0)
}

/// Writes the code to a memory in order. Returns the bytes by address, and the addresses of the
/// words of which both bytes remain.
fn expected(program: &[(u16, Code)]) -> (BTreeMap<u16, u8>, Vec<u16>) {
    let mut memory = BTreeMap::new();
    for (index, (address, code)) in program.iter().enumerate() {
        let bytes = if let Code::Bytes(bytes) = code { bytes } else { &vec![0; 2] };
        for (offset, byte) in (0..).zip(bytes) {
            memory.insert(address.wrapping_add(offset), (*byte, index));
        }
    }
    let is_whole = |(index, (address, code)): &(usize, &(u16, Code))| {
        // A word at FFFFH has no second byte to relocate.
        let last = address.checked_add(1);
        let is_own = |at: u16| memory.get(&at).is_some_and(|(_, owner)| owner == index);
        matches!(code, Code::Word) && is_own(*address) && last.is_some_and(is_own)
    };
    let words = program.iter().enumerate().filter(is_whole).map(|(_, (address, _))| *address);
    let mut words: Vec<u16> = words.collect();
    words.sort_unstable();
    (memory.into_iter().map(|(address, (byte, _))| (address, byte)).collect(), words)
}

proptest! {
    #[test]
    fn the_last_bytes_at_an_address_remain(program in prop::collection::vec(code(), 1..12)) {
        let module = assembled(&program);
        let section = module.section(SectionKind::Absolute).expect("code");
        let runs = section.runs.iter().flat_map(|run| (run.offset..=u16::MAX).zip(&run.bytes));
        let bytes: BTreeMap<u16, u8> = runs.map(|(address, byte)| (address, *byte)).collect();
        let words: Vec<u16> = section.relocs.iter().map(|reloc| reloc.offset).collect();
        prop_assert_eq!((bytes, words), expected(&program));
        let apart = section.runs.windows(2).all(|pair| {
            usize::from(pair[0].offset) + pair[0].bytes.len() < usize::from(pair[1].offset)
        });
        prop_assert!(apart, "runs that touch are one: {:?}", section.runs);
    }
}
