//! Every row of the opcode table assembles to the bytes that the table gives.

use crate::opcode_table;

use opcode_table::{VALUES, Values, rows, source};
use std::collections::BTreeSet;

use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

const ORIGIN: u16 = 0x4000;

fn bytes(pattern: &str, values: Values) -> Vec<u8> {
    let value = |token: &str| match token {
        "n" => values.byte,
        "lo" => values.word as u8,
        "hi" => (values.word >> 8) as u8,
        "d" => values.displacement as u8,
        "e" => values.distance as u8,
        digits => u8::from_str_radix(digits, 16).expect("a byte in hexadecimal"),
    };
    pattern.split(' ').map(value).collect()
}

fn program(lines: impl Iterator<Item = String>, mode: &str) -> String {
    let lines: Vec<String> = lines.collect();
    format!("{mode}\n .LOC {ORIGIN}\n{}\n .END\n", lines.join("\n"))
}

#[test]
fn every_row_assembles_to_its_bytes_with_three_sets_of_operands() {
    let rows = rows();
    for values in VALUES {
        let lines = rows.iter().map(|row| source(row, values));
        let loader = MemoryLoader::new().with("rows.asm", program(lines, " .Z80"));
        let options = Options { listing: true, ..Options::default() };
        let assembly = assemble(&loader, &["rows.asm".into()], &options).unwrap();
        let listed: Vec<_> =
            assembly.listing.lines().filter(|line| line.clocks.is_some()).collect();
        assert_eq!(listed.len(), rows.len());
        for (row, line) in rows.iter().zip(listed) {
            assert_eq!(line.bytes, bytes(row[2], values), "{} {}", row[0], row[1]);
        }
    }
}

#[test]
fn i8080_mode_flags_just_the_rows_of_the_z80() {
    // The number of warnings per run is limited, so the table is assembled in parts.
    for part in rows().chunks(40) {
        let lines = part.iter().map(|row| source(row, VALUES[0]));
        let loader = MemoryLoader::new().with("rows.asm", program(lines, " .I8080"));
        let assembly = assemble(&loader, &["rows.asm".into()], &Options::default()).unwrap();
        // An index register is marked in addition to its instruction, as by the original.
        let flagged: BTreeSet<u32> = assembly
            .diagnostics
            .iter()
            .filter(|warning| warning.code.id() == "Z01")
            .map(|warning| assembly.sources.location(warning.span.start).line - 3)
            .collect();
        let wanted: BTreeSet<u32> =
            (0..).zip(part).filter(|(_, row)| row[5] == "Z80").map(|(at, _)| at).collect();
        assert_eq!(flagged, wanted);
    }
}
