//! Every row of the opcode table assembles to the bytes that the table gives.

use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

const TABLE: &str = include_str!("data/opcodes.tsv");

/// Values for the table's placeholders: byte, word, displacement, distance of a relative jump.
const VALUES: [(u8, u16, i8, i8); 3] =
    [(5, 0x1234, 3, 0x10), (0xFF, 0xFFFE, -128, -128), (0x80, 0x80, 127, 127)];
const ORIGIN: u16 = 0x4000;

struct Row<'t> {
    mnemonic: &'t str,
    operands: &'t str,
    bytes: &'t str,
    cpu: &'t str,
}

fn rows() -> Vec<Row<'static>> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        Row { mnemonic: fields[0], operands: fields[1], bytes: fields[2], cpu: fields[5] }
    })
    .collect()
}

/// The operands with the placeholders replaced.
fn operands(pattern: &str, (byte, word, displacement, distance): (u8, u16, i8, i8)) -> String {
    let parts: Vec<String> = pattern
        .split(',')
        .map(|part| match part {
            "n" => byte.to_string(),
            "nn" => word.to_string(),
            "e" => format!(".+{}", i16::from(distance) + 2).replace("+-", "-"),
            _ => part.replace("d(", &format!("{displacement}(")),
        })
        .collect();
    parts.join(",")
}

fn bytes(pattern: &str, (byte, word, displacement, distance): (u8, u16, i8, i8)) -> Vec<u8> {
    let value = |token: &str| match token {
        "n" => byte,
        "lo" => word as u8,
        "hi" => (word >> 8) as u8,
        "d" => displacement as u8,
        "e" => distance as u8,
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
    assert_eq!(rows.len(), 704);
    for values in VALUES {
        let lines =
            rows.iter().map(|row| format!(" {} {}", row.mnemonic, operands(row.operands, values)));
        let loader = MemoryLoader::new().with("rows.asm", program(lines, " .Z80"));
        let options = Options { listing: true, ..Options::default() };
        let assembly = assemble(&loader, &["rows.asm".into()], &options).unwrap();
        let listed: Vec<_> =
            assembly.listing.lines.iter().filter(|line| line.clocks.is_some()).collect();
        assert_eq!(listed.len(), rows.len());
        for (row, line) in rows.iter().zip(listed) {
            assert_eq!(line.bytes, bytes(row.bytes, values), "{} {}", row.mnemonic, row.operands);
        }
    }
}

#[test]
fn i8080_mode_flags_just_the_rows_of_the_z80() {
    // Warnings of one run are bounded, so the table goes through in parts.
    for part in rows().chunks(100) {
        let lines = part
            .iter()
            .map(|row| format!(" {} {}", row.mnemonic, operands(row.operands, VALUES[0])));
        let loader = MemoryLoader::new().with("rows.asm", program(lines, " .I8080"));
        let assembly = assemble(&loader, &["rows.asm".into()], &Options::default()).unwrap();
        let flagged: Vec<u32> = assembly
            .warnings
            .iter()
            .filter(|warning| warning.code.id() == "Z01")
            .map(|warning| assembly.sources.location(warning.span.start).line - 3)
            .collect();
        let wanted: Vec<u32> =
            (0..).zip(part).filter(|(_, row)| row.cpu == "Z80").map(|(at, _)| at).collect();
        assert_eq!(flagged, wanted);
    }
}
